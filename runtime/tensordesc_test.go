package kernrt_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

type hostArgs struct {
	X, Out kernrt.TensorDesc[kernrt.Float16]
	N      int32
}

// hostKernel is a kernel with two tensors that each release of Triton from 3.4 on
// compiled for sm_80, where they are taken apart, and for sm_90.
func hostKernel(t testing.TB, minor, sm int) *kernrt.Kernel {
	t.Helper()
	cubin, err := os.ReadFile(fmt.Sprintf("../gen/testdata/versions/3.%d/host.sm%d/host.cubin", minor, sm))
	must(t, err)
	text := string(cubin)
	d := kernrt.Descriptor{Box: []int{32, 32}, DataType: 6, Swizzle: 2}
	target := "sm_90a"
	if sm == 80 {
		d, target = kernrt.Descriptor{Flags: min(max(minor-4, 0), 1) + min(max(minor-6, 0), 1)}, "sm_80"
	}
	return hostOf(kernrt.Image{
		Target: target, Code: &text, Symbol: "host", Args: []int{0, 1, 2}, Hidden: min(minor-3, 2), NumWarps: 4,
		Descriptors: []kernrt.Descriptor{d, d},
	})
}

func hostOf(image kernrt.Image) *kernrt.Kernel {
	return &kernrt.Kernel{
		Name: "host",
		Params: []kernrt.Param{
			{Name: "x_desc", Type: "tensordesc<fp16[32, 32]>"}, {Name: "out_desc", Type: "tensordesc<fp16[32, 32]>"}, {Name: "n", Type: "i32"},
		},
		Variants: []kernrt.Variant{{Images: []kernrt.Image{image}}},
	}
}

func halfTensor(address uint64, shape ...int) kernrt.TensorDesc[kernrt.Float16] {
	return kernrt.NewTensorDesc(kernrt.PtrFromAddr[kernrt.Float16](address), shape...)
}

// wantRefused wants an error of a kind that says text.
func wantRefused(t *testing.T, err, kind error, text string) {
	t.Helper()
	if err == nil || !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want one of %q that says %s", err, kind, text)
	}
}

func TestTensorsArrive(t *testing.T) {
	x := halfTensor(memory, 1000, 48).WithStrides(64, 1)
	out := halfTensor(memory+1<<20, 1000, 48)
	for minor := 4; minor < 10; minor++ {
		x := x
		if minor > 4 {
			x = x.WithNaN()
		}
		t.Run(fmt.Sprintf("3.%d for sm_80", minor), func(t *testing.T) {
			d, _, stream := onDevice(t, 8)
			must(t, kernrt.Launch(hostKernel(t, minor, 80), stream, kernrt.Grid1D(32), &hostArgs{x, out, 1000}))
			var want [][]byte
			for i, tensor := range []struct {
				base    uint64
				strides []int64
			}{{memory, []int64{64, 1}}, {memory + 1<<20, []int64{48, 1}}} {
				want = append(want, bytesOf(tensor.base), bytesOf(int64(1000)), bytesOf(int64(48)), bytesOf(tensor.strides[0]), bytesOf(tensor.strides[1]))
				if minor > 4 {
					want = append(want, bytesOf(i == 0))
				}
				if minor > 6 {
					want = append(want, bytesOf(false))
				}
				want = append(want, bytesOf(int32(1000)), bytesOf(int32(48)), bytesOf(tensor.strides[0]), bytesOf(tensor.strides[1]))
			}
			want = append(want, bytesOf(int32(1000)))
			for range min(minor-3, 2) {
				want = append(want, make([]byte, 8))
			}
			if diff := cmp.Diff(want, only(t, d).Params); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n := len(d.TensorMaps()); n > 0 {
				t.Errorf("%d maps are encoded", n)
			}
		})
		t.Run(fmt.Sprintf("3.%d for sm_90", minor), func(t *testing.T) {
			d, _, stream := onDevice(t, 9)
			must(t, kernrt.Launch(hostKernel(t, minor, 90), stream, kernrt.Grid1D(32), &hostArgs{x.WithNaN(), out, 1000}))
			got := only(t, d).Params
			want := [][]byte{
				nil, bytesOf(int32(1000)), bytesOf(int32(48)), bytesOf(int64(64)), bytesOf(int64(1)),
				nil, bytesOf(int32(1000)), bytesOf(int32(48)), bytesOf(int64(48)), bytesOf(int64(1)), bytesOf(int32(1000)),
			}
			for range min(minor-3, 2) {
				want = append(want, make([]byte, 8))
			}
			wantMap := fakecuda.TensorMap{
				Type: 6, Address: memory, Dims: []uint64{48, 1000}, Strides: []uint64{128}, Box: []uint32{32, 32},
				Steps: []uint32{1, 1}, Swizzle: 2, Promotion: 2, Fill: 1,
			}
			for _, i := range []int{0, 5} {
				m, ok := fakecuda.DecodeTensorMap(got[i])
				if diff := cmp.Diff(wantMap, m); diff != "" || !ok {
					t.Errorf("parameter %d (-want +got):\n%s", i, diff)
				}
				wantMap.Address, wantMap.Strides, wantMap.Fill = memory+1<<20, []uint64{96}, 0
				got[i] = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// onDevice is onDevice0 of compute capability major.0.
func onDevice(t testing.TB, major int) (*fakecuda.Driver, *kernrt.Device, *kernrt.Stream) {
	t.Helper()
	d := driver(t)
	d.SetAttribute(0, 75, major)
	dev := open(t, 0)
	return d, dev, newStream(t, dev)
}

// tensors is a kernel that takes one tensor as a map.
func tensors(typ string, d kernrt.Descriptor, rank int) *kernrt.Kernel {
	params := ".param .align 64 .b8 map[128]"
	for i := range rank {
		params += fmt.Sprintf(", .param .u32 shape%d", i)
	}
	for i := range rank {
		params += fmt.Sprintf(", .param .u64 stride%d", i)
	}
	code := ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel(" + params + ")\n{\n\tret;\n}\n"
	return &kernrt.Kernel{
		Name: "k", Params: []kernrt.Param{{Name: "x", Type: typ}},
		Variants: []kernrt.Variant{{Images: []kernrt.Image{{
			Target: "sm_90a", PTX: true, Code: &code, Symbol: "kernel", Args: []int{0}, NumWarps: 1, Descriptors: []kernrt.Descriptor{d},
		}}}},
	}
}

type tensorArgs[T kernrt.Elem] struct{ X kernrt.TensorDesc[T] }

func TestTensorsOfEveryRank(t *testing.T) {
	shape := []int{3, 5, 7, 9, 16}
	for rank := 1; rank <= 5; rank++ {
		t.Run(fmt.Sprint(rank), func(t *testing.T) {
			d, _, stream := onDevice(t, 9)
			shape := shape[5-rank:]
			box := []int{1, 2, 4, 8, 16}[5-rank:]
			k := tensors("tensordesc<fp32["+strings.TrimSuffix(strings.Repeat("1, ", rank), ", ")+"]>", kernrt.Descriptor{Box: box, DataType: 7}, rank)
			x := kernrt.NewTensorDesc(kernrt.PtrFromAddr[float32](memory), shape...).WithTF32()
			must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &tensorArgs[float32]{x}))
			want := fakecuda.TensorMap{Type: 11, Address: memory, Promotion: 2}
			stride, strides := 1, []int{}
			for i := rank - 1; i >= 0; i-- {
				want.Dims = append(want.Dims, uint64(shape[i]))
				want.Box = append(want.Box, uint32(box[i]))
				want.Steps = append(want.Steps, 1)
				if i < rank-1 {
					want.Strides = append(want.Strides, uint64(4*stride))
				}
				strides = append(strides, stride)
				stride *= shape[i]
			}
			if diff := cmp.Diff([]fakecuda.TensorMap{mark(want, d.TensorMaps()[0])}, d.TensorMaps()); diff != "" {
				t.Errorf("rank %d (-want +got):\n%s", rank, diff)
			}
			var params [][]byte
			for _, n := range shape {
				params = append(params, bytesOf(int32(n)))
			}
			slices.Reverse(strides)
			for _, n := range strides {
				params = append(params, bytesOf(int64(n)))
			}
			if diff := cmp.Diff(params, only(t, d).Params[1:]); diff != "" {
				t.Errorf("rank %d (-want +got):\n%s", rank, diff)
			}
		})
	}
}

// mark is m marked as the driver marked got.
func mark(m, got fakecuda.TensorMap) fakecuda.TensorMap {
	m.Small = got.Small
	return m
}

// Drivers up to CUDA 13.1 mark the maps of tensors below 128 KiB, which has to
// be undone; later ones are left alone.
func TestMarkOfSmallTensors(t *testing.T) {
	for _, tt := range []struct {
		version     int
		rows        int
		marks, left bool
	}{{13000, 4, true, false}, {13010, 1023, true, false}, {13010, 1024, false, false}, {13020, 4, false, false}} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			d := driver(t)
			d.SetDriverVersion(tt.version)
			stream := newStream(t, open(t, 0))
			k := tensors("tensordesc<fp16[8, 64]>", kernrt.Descriptor{Box: []int{8, 64}, DataType: 6, Swizzle: 3}, 2)
			must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &tensorArgs[kernrt.Float16]{halfTensor(memory, tt.rows, 64)}))
			passed, _ := fakecuda.DecodeTensorMap(only(t, d).Params[0])
			if d.TensorMaps()[0].Small != tt.marks || passed.Small != tt.left {
				t.Errorf("driver %d, %d rows: marked %t, passed %t", tt.version, tt.rows, d.TensorMaps()[0].Small, passed.Small)
			}
		})
	}
}

func TestPaddedFP4(t *testing.T) {
	for _, doubled := range []bool{false, true} {
		t.Run(fmt.Sprint(doubled), func(t *testing.T) {
			d, _, stream := onDevice(t, 10)
			k := tensors("tensordesc<i8[128, 128]>", kernrt.Descriptor{Box: []int{128, 128}, DataType: 14, Swizzle: 3, FP4Padded: true, DoubledArg: doubled}, 2)
			k.Variants[0].Images[0].Target = "sm_100a"
			*k.Variants[0].Images[0].Code = strings.Replace(*k.Variants[0].Images[0].Code, "sm_90a", "sm_100a", 1)
			launch := func(x kernrt.TensorDesc[int8]) error {
				return kernrt.Launch(k, stream, kernrt.Grid1D(1), &tensorArgs[int8]{x})
			}
			p := kernrt.PtrFromAddr[int8](memory)
			must(t, launch(kernrt.NewTensorDesc(p, 256, 192)))
			innermost := int32(192)
			if doubled {
				innermost = 384
			}
			if got := only(t, d).Params; d.TensorMaps()[0].Dims[0] != 384 || binary.LittleEndian.Uint32(got[1]) != 256 || int32(binary.LittleEndian.Uint32(got[2])) != innermost {
				t.Errorf("doubled %t: map %+v, parameters %v", doubled, d.TensorMaps()[0], got)
			}
			wantRefused(t, launch(kernrt.NewTensorDesc(p.Add(16), 256, 192)), kernrt.ErrArgument, "x begins at 0x7f0000000010, which is not a multiple of 32 bytes")
			wantRefused(t, launch(kernrt.NewTensorDesc(p, 256, 208)), kernrt.ErrArgument, "x has stride 208 along dimension 0, 208 bytes, which is not a multiple of 32; pad its rows to a multiple of 32 elements")
			err := launch(kernrt.NewTensorDesc(p, 256, 224)) // padded rows are of multiples of 128 elements
			wantCall(t, err, "cuTensorMapEncodeTiled")
			wantRefused(t, err, err, "cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE (1): invalid argument; x is [256 224] elements with strides [224 1] at 0x7f0000000000")
		})
	}
}

func TestTensorsRefused(t *testing.T) {
	d, _, stream := onDevice(t, 9)
	k := hostKernel(t, 6, 90)
	// What an image for another GPU cannot do is refused here too.
	apart := &kernrt.Kernel{Name: k.Name, Params: k.Params, Variants: []kernrt.Variant{{Images: append(slices.Clone(k.Variants[0].Images), hostKernel(t, 4, 80).Variants[0].Images...)}}}
	good := halfTensor(memory, 64, 64)
	for _, tt := range []struct {
		name   string
		kernel *kernrt.Kernel
		x      kernrt.TensorDesc[kernrt.Float16]
		text   string
	}{
		{"zero", k, kernrt.TensorDesc[kernrt.Float16]{}, "x_desc is the zero TensorDesc; use NewTensorDesc"},
		{"null", k, halfTensor(0, 64, 64), "x_desc is null; pass device memory"},
		{"no dimensions", k, halfTensor(memory), "x_desc has 0 dimensions, but the kernel was compiled for 2; give as many extents"},
		{"one dimension", k, halfTensor(memory, 64), "x_desc has 1 dimensions, but the kernel was compiled for 2; give as many extents"},
		{"six dimensions", k, halfTensor(memory, 1, 2, 3, 4, 5, 6), "x_desc has 6 dimensions, but the kernel was compiled for 2; give as many extents"},
		{"too many dimensions", k, halfTensor(memory, make([]int, 1000)...), "x_desc has 255 dimensions, but the kernel was compiled for 2; give as many extents"},
		{"a stride less", k, good.WithStrides(1), "x_desc has 2 dimensions, but 1 strides; give a stride for each"},
		{"six strides", k, good.WithStrides(64, 1, 1, 1, 1, 1), "x_desc has 2 dimensions, but 6 strides; give a stride for each"},
		{"base", k, halfTensor(memory+8, 64, 64), "x_desc begins at 0x7f0000000008, which is not a multiple of 16 bytes; begin at an element that is aligned"},
		{"no rows", k, halfTensor(memory, 0, 64), "x_desc has 0 elements along dimension 0; a tensor has 1 to 2147483647"},
		{"less than no columns", k, halfTensor(memory, 64, -64).WithStrides(64, 1), "x_desc has -64 elements along dimension 1; a tensor has 1 to 2147483647"},
		{"too many rows", k, halfTensor(memory, 1<<31, 64), "x_desc has 2147483648 elements along dimension 0; a tensor has 1 to 2147483647"},
		{"more than 64 bits of elements", k, halfTensor(memory, 8, 1<<62, 1<<62), "x_desc has 3 dimensions, but the kernel was compiled for 2; give as many extents"},
		{"innermost stride", k, good.WithStrides(64, 2), "x_desc has stride 2 along dimension 1, the innermost, which must be 1; transpose the tensor or copy it"},
		{"stride", k, good.WithStrides(68, 1), "x_desc has stride 68 along dimension 0, 136 bytes, which is not a multiple of 16; pad its rows to a multiple of 8 elements"},
		{"negative stride", k, good.WithStrides(-64, 1), "x_desc has stride -64 along dimension 0, which is not 0 to 549755813887 elements"},
		{"large stride", k, good.WithStrides(1<<39, 1), "x_desc has stride 549755813888 along dimension 0, which is not 0 to 549755813887 elements"},
		{"stride that overflows", k, good.WithStrides(1<<62, 1), "x_desc has stride 4611686018427387904 along dimension 0, which is not 0 to 549755813887 elements"},
		{"rounding of halves", k, good.WithTF32(), "x_desc is to be rounded to TF32: its elements are fp16, not fp32"},
		{"NaN of an image without", apart, good.WithNaN(), "x_desc is to have NaN outside: the kernel's image for sm_80 cannot; compile it with Triton 3.5 or later"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := len(d.TensorMaps())
			err := kernrt.Launch(tt.kernel, stream, kernrt.Grid1D(1), &hostArgs{tt.x, good, 64})
			wantRefused(t, err, kernrt.ErrArgument, tt.text)
			if len(d.TensorMaps()) != before || len(d.Launches()) > 0 {
				t.Error("the driver saw it")
			}
			// The second tensor is looked at as well.
			err = kernrt.Launch(tt.kernel, stream, kernrt.Grid1D(1), &hostArgs{good, tt.x, 64})
			wantRefused(t, err, kernrt.ErrArgument, strings.Replace(tt.text, "x_desc", "out_desc", 1))
		})
	}
	// As everywhere, an empty grid comes first.
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(0), &hostArgs{}))
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &hostArgs{good, good.WithStrides(0, 1), 64}))

	overflow := tensors("tensordesc<fp16[1, 1, 1, 1, 8]>", kernrt.Descriptor{Box: []int{1, 1, 1, 1, 8}, DataType: 6}, 5)
	wantRefused(t, kernrt.Launch(overflow, stream, kernrt.Grid1D(1), &tensorArgs[kernrt.Float16]{halfTensor(memory, 8, 1<<30, 1<<30, 1<<30, 1<<30)}),
		kernrt.ErrArgument, "x has stride 9223372036854775807 along dimension 0, which is not 0 to 549755813887 elements")
	bytes := tensors("tensordesc<fp8e5[16, 16]>", kernrt.Descriptor{Box: []int{16, 16}}, 2)
	wantRefused(t, kernrt.Launch(bytes, stream, kernrt.Grid1D(1), &tensorArgs[kernrt.Float8E5M2]{kernrt.NewTensorDesc(kernrt.PtrFromAddr[kernrt.Float8E5M2](memory), 16, 16).WithNaN()}),
		kernrt.ErrArgument, "x is to have NaN outside: a tensor map has no NaN of fp8e5")
	floats := tensors("tensordesc<fp32[16, 16]>", kernrt.Descriptor{Box: []int{16, 16}, DataType: 7}, 2)
	floats.Variants[0].Images = append(floats.Variants[0].Images, kernrt.Image{
		Target: "sm_80", Code: floats.Variants[0].Images[0].Code, Symbol: "kernel", Args: []int{0}, NumWarps: 1, Descriptors: []kernrt.Descriptor{{Flags: 1}},
	})
	wantRefused(t, kernrt.Launch(floats, stream, kernrt.Grid1D(1), &tensorArgs[float32]{kernrt.NewTensorDesc(kernrt.PtrFromAddr[float32](memory), 16, 16).WithTF32()}),
		kernrt.ErrArgument, "x is to be rounded to TF32: the kernel's image for sm_80 cannot; compile it with Triton 3.7 or later")
}

func TestMalformedTensors(t *testing.T) {
	_, _, stream := onDevice(t, 9)
	for name, tt := range map[string]struct {
		change func(*kernrt.Kernel)
		text   string
	}{
		"no descriptors":      {func(k *kernrt.Kernel) { k.Variants[0].Images[0].Descriptors = nil }, "it does not say how it takes each of its tensor descriptors"},
		"one too few":         {func(k *kernrt.Kernel) { k.Variants[0].Images[0].Descriptors = k.Variants[0].Images[0].Descriptors[:1] }, "it does not say how it takes each of its tensor descriptors"},
		"box of another rank": {func(k *kernrt.Kernel) { k.Variants[0].Images[0].Descriptors[1].Box = []int{32} }, "a descriptor contradicts itself"},
		"empty box":           {func(k *kernrt.Kernel) { k.Variants[0].Images[0].Descriptors[1].Box = []int{32, 0} }, "a descriptor's box has an extent that is none"},
		"flags of a map":      {func(k *kernrt.Kernel) { k.Variants[0].Images[0].Descriptors[1].Flags = 1 }, "a descriptor contradicts itself"},
		"too many flags":      {func(k *kernrt.Kernel) { k.Variants[0].Images[0].Descriptors[1] = kernrt.Descriptor{Flags: 3} }, "a descriptor contradicts itself"},
		"swizzle of pieces":   {func(k *kernrt.Kernel) { k.Variants[0].Images[0].Descriptors[1] = kernrt.Descriptor{Swizzle: 3} }, "a descriptor contradicts itself"},
		"unknown elements":    {func(k *kernrt.Kernel) { k.Params[0].Type = "tensordesc<fp17[1, 1]>" }, `parameter x_desc has unknown type "tensordesc<fp17[1, 1]>"`},
		"six dimensions":      {func(k *kernrt.Kernel) { k.Params[0].Type = "tensordesc<fp16[1, 1, 1, 1, 1, 1]>" }, `parameter x_desc has unknown type "tensordesc<fp16[1, 1, 1, 1, 1, 1]>"`},
		"no block":            {func(k *kernrt.Kernel) { k.Params[0].Type = "tensordesc<fp16>" }, `parameter x_desc has unknown type "tensordesc<fp16>"`},
		"other elements":      {func(k *kernrt.Kernel) { k.Params[0].Type = "tensordesc<bf16[1, 1]>" }, "field X of kernrt_test.hostArgs is kernrt.TensorDesc["},
		"pointer": {func(k *kernrt.Kernel) {
			k.Params[0].Type = "*fp16"
			k.Variants[0].Images[0].Descriptors = k.Variants[0].Images[0].Descriptors[:1]
		}, "but parameter x_desc is *fp16"},
		"taken apart": {func(k *kernrt.Kernel) { k.Variants[0].Images[0].Descriptors[1] = kernrt.Descriptor{Flags: 1} }, "image's parameter 5 has 128 bytes, but 8 would be passed"},
		"nullable":    {func(k *kernrt.Kernel) { k.Params[0].Nullable = true }, "parameter x_desc is nullable but"},
		"a promise": {func(k *kernrt.Kernel) {
			k.Variants[0].Guards = []kernrt.Guard{{Param: 0, Is: kernrt.DivisibleBy16}}
		}, "guard divisible by 16 does not suit parameter x_desc, a tensordesc<fp16[32, 32]>"},
	} {
		t.Run(name, func(t *testing.T) {
			k := hostKernel(t, 6, 90)
			tt.change(k)
			wantRefused(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &hostArgs{halfTensor(memory, 64, 64), halfTensor(memory, 64, 64), 64}), kernrt.ErrMalformed, tt.text)
		})
	}
}

// A map is encoded once for each value, and again only where more values come
// between than are kept.
func TestTensorMapsAreKept(t *testing.T) {
	d, _, stream := onDevice(t, 9)
	k := tensors("tensordesc<fp16[8, 64]>", kernrt.Descriptor{Box: []int{8, 64}, DataType: 6, Swizzle: 3}, 2)
	launch := func(x kernrt.TensorDesc[kernrt.Float16]) {
		t.Helper()
		must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &tensorArgs[kernrt.Float16]{x}))
	}
	x := halfTensor(memory, 64, 64)
	variants := []kernrt.TensorDesc[kernrt.Float16]{
		x, x.WithNaN(), x.WithStrides(128, 1), halfTensor(memory, 32, 64), halfTensor(memory, 64, 32).WithStrides(64, 1), halfTensor(memory+16, 64, 64),
	}
	for round := range 3 {
		for _, v := range variants {
			launch(v)
		}
		if n := len(d.TensorMaps()); n != len(variants) {
			t.Fatalf("round %d: %d maps are encoded of %d values", round, n, len(variants))
		}
	}
	for round := range 2 { // more than any cache holds
		d.Reset()
		for i := range 5000 {
			launch(halfTensor(memory+16*uint64(i), 64, 64))
		}
		for i, l := range d.Launches() {
			if m, _ := fakecuda.DecodeTensorMap(l.Params[0]); m.Address != uintptr(memory+16*i) {
				t.Fatalf("round %d, launch %d: %+v", round, i, m)
			}
		}
	}
	d.FailNext("cuTensorMapEncodeTiled", 1, 0)
	odd := halfTensor(memory+1<<30, 64, 64)
	err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &tensorArgs[kernrt.Float16]{odd})
	wantCall(t, err, "cuTensorMapEncodeTiled")
	launch(odd) // a failure is not kept
}

// Many goroutines share what is kept, and none gets another's map.
func TestTensorMapsOfManyGoroutines(t *testing.T) {
	d, dev, _ := onDevice(t, 9)
	k := tensors("tensordesc<fp16[8, 64]>", kernrt.Descriptor{Box: []int{8, 64}, DataType: 6, Swizzle: 3}, 2)
	var all sync.WaitGroup
	for g := range 8 {
		stream := newStream(t, dev)
		all.Go(func() {
			for i := range 400 {
				rows := 1 + (i*7+g*13)%300 // the shape tells which address belongs to it
				x := halfTensor(memory+16*uint64(rows), rows, 64)
				if err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &tensorArgs[kernrt.Float16]{x}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	launches := d.Launches()
	for _, l := range launches {
		rows := binary.LittleEndian.Uint32(l.Params[1])
		if m, ok := fakecuda.DecodeTensorMap(l.Params[0]); !ok || m.Address != uintptr(memory+16*uint64(rows)) || m.Dims[1] != uint64(rows) {
			t.Fatalf("%d rows: map %+v", rows, m)
		}
	}
	if len(launches) != 8*400 {
		t.Errorf("%d launches", len(launches))
	}
}

// A driver before CUDA 12.0 encodes no maps.
func TestTensorMapsOnOldDriver(t *testing.T) {
	if !inOwnProcess(t, func() string { return fakeLibrary(t, "FAKE_VERSION=11080") }) {
		return
	}
	_, _, stream := onDevice(t, 9)
	x := halfTensor(memory, 64, 64)
	err := kernrt.Launch(hostKernel(t, 6, 90), stream, kernrt.Grid1D(1), &hostArgs{x, x, 64})
	wantCall(t, err, "cuTensorMapEncodeTiled")
	var failed *kernrt.DriverError
	if !errors.As(err, &failed) || failed.Code != 801 {
		t.Error(err)
	}
}

func TestDebugChecksTensors(t *testing.T) {
	t.Setenv("KERNGEN_DEBUG", "1")
	_, dev, stream := onDevice(t, 9)
	b, err := kernrt.Alloc[kernrt.Float16](dev, 64*64)
	must(t, err)
	k := hostKernel(t, 6, 90)
	launch := func(x kernrt.TensorDesc[kernrt.Float16]) error {
		return kernrt.Launch(k, stream, kernrt.Grid1D(1), &hostArgs{x, halfTensor(b.Ptr().Addr(), 64, 64), 64})
	}
	must(t, launch(halfTensor(b.Ptr().Addr(), 64, 64)))
	wantRefused(t, launch(halfTensor(0x10, 64, 64)), kernrt.ErrArgument, "x_desc = 0x10 is no address that the driver knows")
	wantRefused(t, launch(halfTensor(b.Ptr().Addr(), 1<<20, 64)), kernrt.ErrArgument, "the last byte of x_desc = ")
	// Its bytes are more than 64 bits count, and were they wrapped it would fit.
	wantRefused(t, launch(halfTensor(b.Ptr().Addr(), 1<<30+1, 64).WithStrides(1<<38, 1)), kernrt.ErrArgument, "the last byte of x_desc = 0xffffffffffffffff")
}

func TestTensorDescText(t *testing.T) {
	d := kernrt.NewTensorDesc(kernrt.PtrFromAddr[float32](0x100), 4, 8).WithStrides(16, 1).WithNaN().WithTF32()
	if got, want := d.String(), "[4 8] elements with strides [16 1] at 0x100, NaN outside, rounded to TF32"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if d.Base().Addr() != 0x100 || d != d.WithNaN() || d == d.WithStrides(8, 1) {
		t.Error("a TensorDesc is not the value that it was made of")
	}
	if got, want := halfTensor(16, 1, 2, 3, 4, 5, 6).String(), "[1 2 3 4 5] elements with strides [120 60 20 5 1] at 0x10"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
