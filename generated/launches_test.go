package generated_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/generated/attention"
	"github.com/kerngen/kerngen/generated/cooperative"
	"github.com/kerngen/kerngen/generated/descriptor"
	"github.com/kerngen/kerngen/generated/dropout"
	"github.com/kerngen/kerngen/generated/histogram"
	"github.com/kerngen/kerngen/generated/matmul"
	"github.com/kerngen/kerngen/generated/norm"
	"github.com/kerngen/kerngen/generated/pdl"
	"github.com/kerngen/kerngen/generated/scalars"
	"github.com/kerngen/kerngen/generated/softmax"
	"github.com/kerngen/kerngen/generated/tensor"
	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// referenceLaunch launches a case on a grid, which is none where the kernel
// declares its own.
type referenceLaunch = func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error

// referenceLaunches launch a case of each kernel through its Launch function.
var referenceLaunches = map[string]referenceLaunch{
	"vec.add":               byType{"fp32": launchAdd[float32], "fp16": launchAdd[kernrt.Float16], "bf16": launchAdd[kernrt.BFloat16]}.launch,
	"attention.attention":   byType{"fp16": launchAttention[kernrt.Float16], "bf16": launchAttention[kernrt.BFloat16]}.launch,
	"softmax.softmax":       byType{"fp32": launchSoftmax[float32], "fp16": launchSoftmax[kernrt.Float16], "bf16": launchSoftmax[kernrt.BFloat16]}.launch,
	"norm.layer_norm":       byType{"fp32": launchLayerNorm[float32], "fp16": launchLayerNorm[kernrt.Float16], "bf16": launchLayerNorm[kernrt.BFloat16]}.launch,
	"dropout.dropout":       byType{"fp32": launchDropout[float32], "fp16": launchDropout[kernrt.Float16], "bf16": launchDropout[kernrt.BFloat16]}.launch,
	"histogram.histogram":   byType{"i32": launchHistogram[int32], "i64": launchHistogram[int64]}.launch,
	"matmul.matmul":         byType{"fp16": launchMatmulConfig[kernrt.Float16], "bf16": launchMatmulConfig[kernrt.BFloat16]}.launch,
	"matmul.matmul_strided": byType{"fp16": launchMatmul(matmul.LaunchMatmulStrided[kernrt.Float16]), "bf16": launchMatmul(matmul.LaunchMatmulStrided[kernrt.BFloat16])}.launch,
	"matmul.matmul_cta2":    byType{"fp16": launchMatmul(matmul.LaunchMatmulCta2[kernrt.Float16]), "bf16": launchMatmul(matmul.LaunchMatmulCta2[kernrt.BFloat16])}.launch,
	"scalars.scalars": func(b *boundCase, s *kernrt.Stream, _ kernrt.Grid) error {
		return scalars.LaunchScalars(s, pointer[int64](b, "ints_ptr"), pointer[float64](b, "floats_ptr"),
			b.bits("i1", "i1") != 0, int8(b.bits("i8", "i8")), int16(b.bits("i16", "i16")), b.i32("i32"), int64(b.bits("i64", "i64")),
			uint8(b.bits("u8", "u8")), uint16(b.bits("u16", "u16")), uint32(b.bits("u32", "u32")), b.bits("u64", "u64"),
			kernrt.Float16(b.bits("fp16", "fp16")), kernrt.BFloat16(b.bits("bf16", "bf16")), b.fp32("fp32"),
			math.Float64frombits(b.bits("fp64", "fp64")))
	},
	"descriptor.scale": func(b *boundCase, s *kernrt.Stream, _ kernrt.Grid) error {
		return descriptor.LaunchScale(s, pointer[float32](b, "x_ptr"), pointer[float32](b, "out_ptr"), b.i32("n_rows"), b.i32("n_cols"), b.fp32("factor"))
	},
	"tensor.copy1": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return tensor.LaunchCopy1(s, grid, tensorOf[float32](b, "x"), tensorOf[float32](b, "out"), b.i32("shift"))
	},
	"tensor.copy2": byType{"fp16": launchCopy2(tensor.LaunchCopy2[kernrt.Float16]), "bf16": launchCopy2(tensor.LaunchCopy2[kernrt.BFloat16]),
		"fp32": launchCopy2(tensor.LaunchCopy2[float32]), "i8": launchCopy2(tensor.LaunchCopy2[int8]), "fp8e5": launchCopy2(tensor.LaunchCopy2[kernrt.Float8E5M2])}.launch,
	"tensor.copy2_fp8e4nv": launchCopy2(tensor.LaunchCopy2Fp8e4nv),
	"tensor.copy3": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return tensor.LaunchCopy3(s, grid, tensorOf[kernrt.Float16](b, "x"), tensorOf[kernrt.Float16](b, "out"), b.i32("shift"))
	},
	"tensor.copy4": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return tensor.LaunchCopy4(s, grid, tensorOf[int32](b, "x"), tensorOf[int32](b, "out"), b.i32("shift"))
	},
	"tensor.copy5": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return tensor.LaunchCopy5(s, grid, tensorOf[kernrt.BFloat16](b, "x"), tensorOf[kernrt.BFloat16](b, "out"), b.i32("shift"))
	},
	"tensor.product": byType{"fp16": launchProduct[kernrt.Float16], "bf16": launchProduct[kernrt.BFloat16]}.launch,
	"pdl.axpy": func(b *boundCase, s *kernrt.Stream, _ kernrt.Grid) error {
		return pdl.LaunchAxpy(s, pointer[float32](b, "x_ptr"), pointer[float32](b, "y_ptr"), b.i32("n"), b.fp32("a"))
	},
	"cooperative.normalize": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return cooperative.LaunchNormalize(s, grid, pointer[float32](b, "x_ptr"), pointer[float32](b, "out_ptr"), pointer[float32](b, "partial_ptr"),
			pointer[int64](b, "arrived_ptr"), b.i32("n"))
	},
}

// byType are the launches of one kernel, by what its type variable T stands for.
type byType map[string]referenceLaunch

func (l byType) launch(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
	b.t.Helper()
	launch := l[b.c.Types["T"]]
	if launch == nil {
		b.t.Fatalf("no launch for T = %q", b.c.Types["T"])
	}
	return launch(b, s, grid)
}

func launchAdd[T float32 | kernrt.Float16 | kernrt.BFloat16](b *boundCase, s *kernrt.Stream, _ kernrt.Grid) error {
	return vec.LaunchAdd(s, pointer[T](b, "x_ptr"), pointer[T](b, "y_ptr"), pointer[T](b, "out_ptr"), b.i32("n"))
}

func launchSoftmax[T float32 | kernrt.Float16 | kernrt.BFloat16](b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
	return softmax.LaunchSoftmax(s, grid, pointer[T](b, "out_ptr"), pointer[T](b, "x_ptr"), b.integer("out_stride"), b.integer("x_stride"), b.i32("n_cols"))
}

func launchLayerNorm[T float32 | kernrt.Float16 | kernrt.BFloat16](b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
	return norm.LaunchLayerNorm(s, grid, pointer[T](b, "x_ptr"), pointer[T](b, "weight_ptr"), pointer[T](b, "bias_ptr"), pointer[T](b, "out_ptr"),
		b.i32("x_stride"), b.i32("out_stride"), b.i32("n_cols"), b.fp32("eps"))
}

func launchAttention[T half](b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
	return attention.LaunchAttention(s, grid, pointer[T](b, "q_ptr"), pointer[T](b, "k_ptr"), pointer[T](b, "v_ptr"), pointer[T](b, "out_ptr"), b.fp32("scale"), b.i32("n"))
}

func launchDropout[T float32 | kernrt.Float16 | kernrt.BFloat16](b *boundCase, s *kernrt.Stream, _ kernrt.Grid) error {
	return dropout.LaunchDropout(s, pointer[T](b, "x_ptr"), pointer[T](b, "out_ptr"), b.i32("n"), b.fp32("p"), b.bits("seed", "u64"))
}

func launchHistogram[T int32 | int64](b *boundCase, s *kernrt.Stream, _ kernrt.Grid) error {
	return histogram.LaunchHistogram(s, pointer[T](b, "x_ptr"), pointer[int32](b, "counts_ptr"), b.i32("n"), b.i32("n_bins"))
}

func launchMatmul[T half](launch matmulLaunch[T]) referenceLaunch {
	return func(b *boundCase, s *kernrt.Stream, _ kernrt.Grid) error {
		return launch(s, pointer[T](b, "a_ptr"), pointer[T](b, "b_ptr"), pointer[T](b, "c_ptr"), b.i32("M"), b.i32("N"), b.i32("K"),
			b.i32("stride_am"), b.i32("stride_ak"), b.i32("stride_bk"), b.i32("stride_bn"), b.i32("stride_cm"), b.i32("stride_cn"))
	}
}

// launchMatmulConfig launches matmul in the case's configuration.
func launchMatmulConfig[T half](b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
	b.t.Helper()
	config := slices.Index(matmul.MatmulConfigs[:], b.c.Config)
	if config < 0 {
		b.t.Fatalf("no configuration %q", b.c.Config)
	}
	launch := func(s *kernrt.Stream, a, b, c kernrt.Ptr[T], m, n, k, am, ak, bk, bn, cm, cn int32) error {
		return matmul.LaunchMatmulConfig(s, config, &matmul.MatmulArgs[T]{APtr: a, BPtr: b, CPtr: c, M: m, N: n, K: k,
			StrideAm: am, StrideAk: ak, StrideBk: bk, StrideBn: bn, StrideCm: cm, StrideCn: cn})
	}
	return launchMatmul(launch)(b, s, grid)
}

// copy2Launch is the Launch function of copy2 for one type.
type copy2Launch[T kernrt.Elem] = func(*kernrt.Stream, kernrt.Grid, kernrt.TensorDesc[T], kernrt.TensorDesc[T], int32, int32) error

func launchCopy2[T kernrt.Elem](launch copy2Launch[T]) referenceLaunch {
	return func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return launch(s, grid, tensorOf[T](b, "x"), tensorOf[T](b, "out"), b.i32("shift_rows"), b.i32("shift_cols"))
	}
}

func launchProduct[T half](b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
	return tensor.LaunchProduct(s, grid, tensorOf[T](b, "a"), tensorOf[T](b, "b"), tensorOf[T](b, "c"), b.i32("K"))
}

// tritonType is Triton's name of an element type.
func tritonType[T kernrt.Elem]() string {
	var zero T
	switch any(zero).(type) {
	case int8:
		return "i8"
	case int32:
		return "i32"
	case int64:
		return "i64"
	case kernrt.Float8E5M2:
		return "fp8e5"
	case kernrt.Float8E4M3FN:
		return "fp8e4nv"
	case kernrt.Float16:
		return "fp16"
	case kernrt.BFloat16:
		return "bf16"
	case float32:
		return "fp32"
	case float64:
		return "fp64"
	}
	return fmt.Sprintf("%T, which no case has", zero)
}

// tensorOf describes the tensor in a buffer.
func tensorOf[T kernrt.Elem](b *boundCase, name string) kernrt.TensorDesc[T] {
	b.t.Helper()
	a := b.args[name]
	if a == nil || !strings.HasPrefix(a.Type, "tensordesc<"+tritonType[T]()+"[") {
		b.t.Fatalf("no argument %s is a tensor of %s", name, tritonType[T]())
	}
	a.used = true
	d := kernrt.NewTensorDesc(kernrt.PtrFromAddr[T](a.buffer.Ptr().Addr()+uint64(a.Offset)), a.Shape...).WithStrides(a.Strides...)
	if a.NaN {
		d = d.WithNaN()
	}
	return d
}

// pointer is a buffer's argument, misaligned where the case has an offset, or null.
func pointer[T kernrt.Elem](b *boundCase, name string) kernrt.Ptr[T] {
	b.t.Helper()
	a := b.arg(name, "*"+tritonType[T]())
	if a.Kind == "null" {
		return kernrt.Ptr[T]{}
	}
	return kernrt.PtrFromAddr[T](a.buffer.Ptr().Addr() + uint64(a.Offset))
}

func (b *boundCase) bits(name, triton string) uint64 { return b.arg(name, triton).bits }
func (b *boundCase) i32(name string) int32           { return int32(b.bits(name, "i32")) }

// integer is an argument of the kernel's that has 32 or 64 bits, by variant.
func (b *boundCase) integer(name string) int64 {
	if a := b.args[name]; a != nil && a.Type == "i64" {
		return int64(b.bits(name, "i64"))
	}
	return int64(b.i32(name))
}

func (b *boundCase) fp32(name string) float32 {
	return math.Float32frombits(uint32(b.bits(name, "fp32")))
}
