package kernrt_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestChecksComeInOrder(t *testing.T) {
	d, dev, stream := onDevice0(t)
	closed := newStream(t, dev)
	must(t, closed.Close())
	// Each case breaks what the cases below it break, and one thing more.
	k := add(t, func(m *kernrt.Image) { m.Target = "sm_80" })
	big := kernrt.Grid3D(1, 1<<20, 1)
	null, odd := &addArgs{N: 3}, addArgsOf(3)
	tests := []struct {
		name   string
		stream *kernrt.Stream
		grid   kernrt.Grid
		args   *addArgs
		want   error
		text   string
	}{
		{"nil stream", nil, kernrt.Grid1D(0), nil, kernrt.ErrArgument,
			"launch add_kernel, grid (0, 1, 1): there is no stream; make one with Device.NewStream"},
		{"zero stream", new(kernrt.Stream), kernrt.Grid1D(0), nil, kernrt.ErrArgument,
			"launch add_kernel, grid (0, 1, 1): there is no stream; make one with Device.NewStream"},
		{"closed stream", closed, kernrt.Grid1D(0), nil, kernrt.ErrClosed, onH200 + "(0, 1, 1): the stream is closed"},
		{"grid that was never set", stream, kernrt.Grid{}, nil, kernrt.ErrArgument,
			onH200 + "(0, 0, 0): the grid is not set; make it with Grid1D, Grid2D or Grid3D"},
		{"zero and negative grid", stream, kernrt.Grid2D(0, -1), nil, kernrt.ErrArgument, onH200 + "(0, -1, 1): the grid has a negative dimension"},
		{"zero grid in x", stream, kernrt.Grid3D(0, 1<<20, 1), nil, nil, ""},
		{"zero grid in y", stream, kernrt.Grid2D(1, 0), nil, nil, ""},
		{"zero grid in z", stream, kernrt.Grid3D(1, 1<<20, 0), null, nil, ""},
		{"negative grid", stream, kernrt.Grid2D(-1, 1<<20), null, kernrt.ErrArgument, onH200 + "(-1, 1048576, 1): the grid has a negative dimension"},
		{"no args", stream, big, nil, kernrt.ErrArgument, onH200 + "(1, 1048576, 1): args is nil"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := kernrt.Launch(k, test.stream, test.grid, test.args)
			if test.want == nil {
				must(t, err)
				return
			}
			wantError(t, err, test.want, test.text)
		})
	}
	// So far the device has not been asked to load or to launch anything.
	if len(d.Launches()) != 0 || d.Count("cuModuleLoadDataEx") != 0 {
		t.Error("something was loaded or launched")
	}

	good := add(t)
	for _, test := range []struct {
		name string
		k    *kernrt.Kernel
		grid kernrt.Grid
		args *addArgs
		want error
	}{
		{"null before promise and limit", good, big, null, kernrt.ErrArgument},
		{"promise before limit", good, big, odd, kernrt.ErrArgument},
		{"image before limit", add(t, func(m *kernrt.Image) { m.Target = "sm_100a" }), big, addArgsOf(16), kernrt.ErrNoImage},
		{"limit", good, big, addArgsOf(16), kernrt.ErrLimit},
	} {
		if err := kernrt.Launch(test.k, stream, test.grid, test.args); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v is not %q", test.name, err, test.want)
		}
	}
	if n := len(d.Launches()); n != 0 {
		t.Errorf("%d launches, want none", n)
	}
}

type variantArgs struct {
	X, Bias kernrt.Ptr[float32]
	N       int32
	Stride  int64
}

// variants picks by all there is to pick by.
func variants() *kernrt.Kernel {
	return kernelOf([]kernrt.Param{
		{Name: "x", Type: "*fp32"}, {Name: "bias", Type: "*fp32", Nullable: true}, {Name: "n", Type: "i32"}, {Name: "stride", Type: "i64"},
	},
		[]kernrt.Guard{{Param: 1, Is: kernrt.Null}, {Param: 3, Is: kernrt.EqualTo1}, {Param: 2, Is: kernrt.DivisibleBy16}},
		[]kernrt.Guard{{Param: 3, Is: kernrt.EqualTo1}, {Param: 0, Is: kernrt.DivisibleBy16}},
		[]kernrt.Guard{{Param: 1, Is: kernrt.Null}},
		[]kernrt.Guard{{Param: 2, Is: kernrt.DivisibleBy16}},
	)
}

func TestFirstVariantThatHolds(t *testing.T) {
	p := kernrt.PtrFromAddr[float32](memory)
	tests := []struct {
		name    string
		args    variantArgs
		variant int // from 1
		params  int // passed, without scratch pointers
	}{
		{"all promises of the first", variantArgs{p, kernrt.Ptr[float32]{}, 32, 1}, 1, 2},
		{"zero is divisible", variantArgs{p, kernrt.Ptr[float32]{}, 0, 1}, 1, 2},
		{"a negative number is divisible", variantArgs{p, kernrt.Ptr[float32]{}, -48, 1}, 1, 2},
		{"not divisible", variantArgs{p, kernrt.Ptr[float32]{}, 33, 1}, 2, 3},
		{"with bias", variantArgs{p, p, 32, 1}, 2, 3},
		{"stride of another value", variantArgs{p, kernrt.Ptr[float32]{}, 33, 2}, 3, 3},
		{"stride that is 1 in its lower half only", variantArgs{p, kernrt.Ptr[float32]{}, 33, 1<<32 + 1}, 3, 3},
		{"the order of variants counts", variantArgs{p, kernrt.Ptr[float32]{}, 32, 2}, 3, 3},
		{"misaligned", variantArgs{p.Add(1), p, 32, 1}, 4, 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, _, stream := onDevice0(t)
			k := variants()
			for v := range k.Variants { // the block tells which it is
				k.Variants[v].Images[0].NumWarps = v + 1
			}
			must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &test.args))
			l := only(t, d)
			if int(l.Block[0]) != 32*test.variant || len(l.Params) != test.params+2 {
				t.Errorf("variant %d with %d parameters, want %d with %d", l.Block[0]/32, len(l.Params)-2, test.variant, test.params)
			}
			if len(d.Loads()) != 1 {
				t.Errorf("%d loads, want that of the variant alone", len(d.Loads()))
			}
		})
	}
}

func TestNoVariantHolds(t *testing.T) {
	d, _, stream := onDevice0(t)
	p := kernrt.PtrFromAddr[float32](memory)
	const prefix = "launch k on " + h200 + ", grid (1, 1, 1): "
	tests := []struct {
		args variantArgs
		text string
	}{
		{variantArgs{p.Add(1), p, 33, -7}, prefix +
			"variant 1: bias = 0x7f0000000000 is not null, as the kernel was compiled for; " +
			"variant 2: stride = -7 is not equal to 1, as the kernel was compiled for; " +
			"variant 3: bias = 0x7f0000000000 is not null, as the kernel was compiled for; " +
			"variant 4: n = 33 is not divisible by 16, as the kernel was compiled for"},
		{variantArgs{kernrt.Ptr[float32]{}, kernrt.Ptr[float32]{}, 32, 1}, prefix +
			"variant 1: x is null; pass device memory; variant 2: x is null; pass device memory; " +
			"variant 3: x is null; pass device memory; variant 4: x is null; pass device memory"},
	}
	for _, test := range tests {
		k := variants()
		k.Params[1].Nullable = true
		wantError(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &test.args), kernrt.ErrArgument, test.text)
	}
	if len(d.Loads()) != 0 {
		t.Error("a variant was loaded")
	}
}

func TestNullPointers(t *testing.T) {
	type args struct{ P, Q kernrt.Ptr[float32] }
	p := kernrt.PtrFromAddr[float32](memory)
	params := []kernrt.Param{{Name: "p", Type: "*fp32", Nullable: true}, {Name: "q", Type: "*kfp32"}}
	_, _, stream := onDevice0(t)
	k := kernelOf(params, []kernrt.Guard{{Param: 0, Is: kernrt.DivisibleBy16}}) // null is divisible
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &args{Q: p}))
	err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &args{P: p})
	wantError(t, err, kernrt.ErrArgument, "launch k on "+h200+", grid (1, 1, 1): q is null; pass device memory")
}

func TestIntegersOfEveryTypeInMessages(t *testing.T) {
	_, _, stream := onDevice0(t)
	refused(t, stream, "i8", int8(-128+1), "-127")
	refused(t, stream, "i16", int16(-32768+1), "-32767")
	refused(t, stream, "i32", int32(-2147483648+1), "-2147483647")
	refused(t, stream, "i64", int64(-1<<63+1), "-9223372036854775807")
	refused(t, stream, "u8", uint8(255), "255")
	refused(t, stream, "u16", uint16(65535), "65535")
	refused(t, stream, "u32", uint32(4294967295), "4294967295")
	refused(t, stream, "u64", uint64(1<<64-1), "18446744073709551615")
}

// refused launches with a value that is neither divisible by 16 nor 1, then
// with one that is.
func refused[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](t *testing.T, stream *kernrt.Stream, typ string, value T, text string) {
	t.Helper()
	type args struct {
		Before bool // so that the value is not the struct's first
		V      T
		After  uint8
	}
	params := []kernrt.Param{{Name: "before", Type: "i1"}, {Name: "v", Type: typ}, {Name: "after", Type: "u8"}}
	for is, good := range map[kernrt.GuardKind]T{kernrt.DivisibleBy16: 112, kernrt.EqualTo1: 1} {
		k := kernelOf(params, []kernrt.Guard{{Param: 1, Is: is}})
		err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &args{true, value, 255})
		wantError(t, err, kernrt.ErrArgument,
			"launch k on "+h200+", grid (1, 1, 1): v = "+text+" is not "+is.String()+", as the kernel was compiled for")
		must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &args{true, good, 255}))
	}
}

func TestVariantsWithoutImageForTheDevice(t *testing.T) {
	d, _, stream := onDevice0(t)
	p := kernrt.PtrFromAddr[float32](memory)
	elsewhere := func(k *kernrt.Kernel, variants ...int) *kernrt.Kernel {
		for _, v := range variants {
			k.Variants[v].Images[0].PTX, k.Variants[v].Images[0].Target = false, "sm_80"
		}
		return k
	}
	args := variantArgs{p, kernrt.Ptr[float32]{}, 33, 1} // for variant 2, also for 3
	must(t, kernrt.Launch(elsewhere(variants(), 1), stream, kernrt.Grid1D(1), &args))
	if n := len(only(t, d).Params); n != 3+2 {
		t.Errorf("%d parameters, want variant 3's", n)
	}
	const prefix = "launch k on " + h200 + ", grid (1, 1, 1): "
	wantError(t, kernrt.Launch(elsewhere(variants(), 1, 2), stream, kernrt.Grid1D(1), &args), kernrt.ErrArgument, prefix+
		"variant 1: n = 33 is not divisible by 16, as the kernel was compiled for; "+
		"variant 2: no image runs on sm_90; there are sm_80 cubin; variant 3: no image runs on sm_90; there are sm_80 cubin; "+
		"variant 4: n = 33 is not divisible by 16, as the kernel was compiled for")
	wantError(t, kernrt.Launch(elsewhere(variants(), 0, 1, 2, 3), stream, kernrt.Grid1D(1), &args), kernrt.ErrNoImage, prefix+
		"variant 1: no image runs on sm_90; there are sm_80 cubin; variant 2: no image runs on sm_90; there are sm_80 cubin; "+
		"variant 3: no image runs on sm_90; there are sm_80 cubin; variant 4: no image runs on sm_90; there are sm_80 cubin")
}

// manyArgs has more promises than a word has bits: each pointer is not null and
// perhaps divisible by 16.
type manyArgs struct {
	P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17,
	P18, P19, P20, P21, P22, P23, P24, P25, P26, P27, P28, P29, P30, P31, P32 kernrt.Ptr[float32]
}

func TestMorePromisesThanBits(t *testing.T) {
	d, _, stream := onDevice0(t)
	var params []kernrt.Param
	var aligned []kernrt.Guard
	for i := range 33 {
		params = append(params, kernrt.Param{Name: fmt.Sprintf("p%d", i), Type: "*fp32"})
		aligned = append(aligned, kernrt.Guard{Param: i, Is: kernrt.DivisibleBy16})
	}
	k := kernelOf(params, aligned, nil)
	k.Variants[1].Images[0].NumWarps = 2
	var args manyArgs
	fields := reflect.ValueOf(&args).Elem()
	for i := range fields.NumField() {
		fields.Field(i).Set(reflect.ValueOf(kernrt.PtrFromAddr[float32](memory)))
	}
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &args))
	args.P32 = args.P32.Add(1)
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &args))
	args.P31 = kernrt.Ptr[float32]{}
	if err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &args); !errors.Is(err, kernrt.ErrArgument) {
		t.Errorf("a null pointer gives %v", err)
	}
	var warps []uint32
	for _, l := range d.Launches() {
		warps = append(warps, l.Block[0]/32)
	}
	if !slices.Equal(warps, []uint32{1, 2}) {
		t.Errorf("launches with %v warps, want variant 1 then 2", warps)
	}
}
