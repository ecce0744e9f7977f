package generated_test

import (
	"math"
	"strings"

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

// referenceLaunches launches a case of each kernel through its Launch function.
var referenceLaunches = map[string]func(*boundCase, *kernrt.Stream, kernrt.Grid) error{
	"vec.add_fp32": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return vec.LaunchAddFp32(s, grid, b.fp32s("x_ptr"), b.fp32s("y_ptr"), b.fp32s("out_ptr"), b.i32("n"))
	},
	"vec.add_fp16": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return vec.LaunchAddFp16(s, grid, b.fp16s("x_ptr"), b.fp16s("y_ptr"), b.fp16s("out_ptr"), b.i32("n"))
	},
	"vec.add_bf16": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return vec.LaunchAddBf16(s, grid, b.bf16s("x_ptr"), b.bf16s("y_ptr"), b.bf16s("out_ptr"), b.i32("n"))
	},
	"softmax.softmax": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return softmax.LaunchSoftmax(s, grid, b.fp32s("out_ptr"), b.fp32s("x_ptr"), b.i32("out_stride"), b.i32("x_stride"), b.i32("n_cols"))
	},
	"norm.layer_norm_fp32": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return norm.LaunchLayerNormFp32(s, grid, b.fp32s("x_ptr"), b.fp32s("weight_ptr"), b.fp32s("bias_ptr"), b.fp32s("out_ptr"),
			b.i32("x_stride"), b.i32("out_stride"), b.i32("n_cols"), b.fp32("eps"))
	},
	"norm.layer_norm_fp16": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return norm.LaunchLayerNormFp16(s, grid, b.fp16s("x_ptr"), b.fp16s("weight_ptr"), b.fp16s("bias_ptr"), b.fp16s("out_ptr"),
			b.i32("x_stride"), b.i32("out_stride"), b.i32("n_cols"), b.fp32("eps"))
	},
	"matmul.matmul":      referenceMatmul(matmul.LaunchMatmul),
	"matmul.matmul_cta2": referenceMatmul(matmul.LaunchMatmulCta2),
	"scalars.scalars": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return scalars.LaunchScalars(s, grid, pointer[int64](b, "ints_ptr", "*i64"), pointer[float64](b, "floats_ptr", "*fp64"),
			b.bits("i1", "i1") != 0, int8(b.bits("i8", "i8")), int16(b.bits("i16", "i16")), b.i32("i32"), int64(b.bits("i64", "i64")),
			uint8(b.bits("u8", "u8")), uint16(b.bits("u16", "u16")), uint32(b.bits("u32", "u32")), b.bits("u64", "u64"),
			kernrt.Float16(b.bits("fp16", "fp16")), kernrt.BFloat16(b.bits("bf16", "bf16")), b.fp32("fp32"),
			math.Float64frombits(b.bits("fp64", "fp64")))
	},
	"dropout.dropout": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return dropout.LaunchDropout(s, grid, b.fp32s("x_ptr"), b.fp32s("out_ptr"), b.i32("n"), b.fp32("p"), b.bits("seed", "u64"))
	},
	"histogram.histogram": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return histogram.LaunchHistogram(s, grid, pointer[int32](b, "x_ptr", "*i32"), pointer[int32](b, "counts_ptr", "*i32"), b.i32("n"), b.i32("n_bins"))
	},
	"descriptor.scale": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return descriptor.LaunchScale(s, grid, b.fp32s("x_ptr"), b.fp32s("out_ptr"), b.i32("n_rows"), b.i32("n_cols"), b.fp32("factor"))
	},
	"tensor.copy1": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return tensor.LaunchCopy1(s, grid, tensorOf[float32](b, "x", "fp32"), tensorOf[float32](b, "out", "fp32"), b.i32("shift"))
	},
	"tensor.copy2": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		switch b.c.Variant {
		case "fp16":
			return referenceCopy2(b, s, grid, tensor.LaunchCopy2Fp16)
		case "bf16":
			return referenceCopy2(b, s, grid, tensor.LaunchCopy2Bf16)
		case "fp32":
			return referenceCopy2(b, s, grid, tensor.LaunchCopy2Fp32)
		case "i8":
			return referenceCopy2(b, s, grid, tensor.LaunchCopy2I8)
		case "fp8e5":
			return referenceCopy2(b, s, grid, tensor.LaunchCopy2Fp8e5)
		}
		return referenceCopy2(b, s, grid, tensor.LaunchCopy2Fp8e4nv)
	},
	"tensor.copy3": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return tensor.LaunchCopy3(s, grid, tensorOf[kernrt.Float16](b, "x", "fp16"), tensorOf[kernrt.Float16](b, "out", "fp16"), b.i32("shift"))
	},
	"tensor.copy4": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return tensor.LaunchCopy4(s, grid, tensorOf[int32](b, "x", "i32"), tensorOf[int32](b, "out", "i32"), b.i32("shift"))
	},
	"tensor.copy5": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return tensor.LaunchCopy5(s, grid, tensorOf[kernrt.BFloat16](b, "x", "bf16"), tensorOf[kernrt.BFloat16](b, "out", "bf16"), b.i32("shift"))
	},
	"tensor.product": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return tensor.LaunchProduct(s, grid, tensorOf[kernrt.Float16](b, "a", "fp16"), tensorOf[kernrt.Float16](b, "b", "fp16"),
			tensorOf[kernrt.Float16](b, "c", "fp16"), b.i32("K"))
	},
	"pdl.axpy": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return pdl.LaunchAxpy(s, grid, b.fp32s("x_ptr"), b.fp32s("y_ptr"), b.i32("n"), b.fp32("a"))
	},
	"cooperative.normalize": func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return cooperative.LaunchNormalize(s, grid, b.fp32s("x_ptr"), b.fp32s("out_ptr"), b.fp32s("partial_ptr"),
			pointer[int64](b, "arrived_ptr", "*i64"), b.i32("n"))
	},
}

func referenceMatmul(launch matmulLaunch) func(*boundCase, *kernrt.Stream, kernrt.Grid) error {
	return func(b *boundCase, s *kernrt.Stream, grid kernrt.Grid) error {
		return launch(s, grid, b.fp16s("a_ptr"), b.fp16s("b_ptr"), b.fp16s("c_ptr"), b.i32("M"), b.i32("N"), b.i32("K"),
			b.i32("stride_am"), b.i32("stride_ak"), b.i32("stride_bk"), b.i32("stride_bn"), b.i32("stride_cm"), b.i32("stride_cn"))
	}
}

// copy2Launch is the Launch function of copy2 for one type.
type copy2Launch[T kernrt.Elem] = func(*kernrt.Stream, kernrt.Grid, kernrt.TensorDesc[T], kernrt.TensorDesc[T], int32, int32) error

func referenceCopy2[T kernrt.Elem](b *boundCase, s *kernrt.Stream, grid kernrt.Grid, launch copy2Launch[T]) error {
	return launch(s, grid, tensorOf[T](b, "x", b.c.Variant), tensorOf[T](b, "out", b.c.Variant), b.i32("shift_rows"), b.i32("shift_cols"))
}

// tensorOf describes the tensor in a buffer.
func tensorOf[T kernrt.Elem](b *boundCase, name, elem string) kernrt.TensorDesc[T] {
	b.t.Helper()
	a := b.args[name]
	if a == nil || !strings.HasPrefix(a.Type, "tensordesc<"+elem+"[") {
		b.t.Fatalf("no argument %s is a tensor of %s", name, elem)
	}
	a.used = true
	d := kernrt.NewTensorDesc(kernrt.PtrFromAddr[T](a.buffer.Ptr().Addr()+uint64(a.Offset)), a.Shape...).WithStrides(a.Strides...)
	if a.NaN {
		d = d.WithNaN()
	}
	return d
}

// pointer is a buffer's argument; misaligned cases have an offset.
func pointer[T kernrt.Elem](b *boundCase, name, triton string) kernrt.Ptr[T] {
	a := b.arg(name, triton)
	return kernrt.PtrFromAddr[T](a.buffer.Ptr().Addr() + uint64(a.Offset))
}

func (b *boundCase) fp32s(name string) kernrt.Ptr[float32] { return pointer[float32](b, name, "*fp32") }

func (b *boundCase) fp16s(name string) kernrt.Ptr[kernrt.Float16] {
	return pointer[kernrt.Float16](b, name, "*fp16")
}

func (b *boundCase) bf16s(name string) kernrt.Ptr[kernrt.BFloat16] {
	return pointer[kernrt.BFloat16](b, name, "*bf16")
}

func (b *boundCase) bits(name, triton string) uint64 { return b.arg(name, triton).bits }
func (b *boundCase) i32(name string) int32           { return int32(b.bits(name, "i32")) }
func (b *boundCase) fp32(name string) float32 {
	return math.Float32frombits(uint32(b.bits(name, "fp32")))
}
