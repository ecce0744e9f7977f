package kernrt_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func newArgs(t testing.TB, k *kernrt.Kernel, values ...any) *kernrt.Args {
	t.Helper()
	a, err := kernrt.NewArgs(k)
	must(t, err)
	must(t, a.SetAll(values...))
	return a
}

// The driver is given the same bytes by an args struct and by Args, whichever
// the kernel meets first, and each image is loaded once.
func TestArgsAreWhatTheStructIs(t *testing.T) {
	for _, structFirst := range []bool{true, false} {
		d, dev, stream := onDevice0(t)
		k := scalars(t)
		r := rand.New(rand.NewPCG(3, 4))
		for round := range 20 {
			s := scalarsArgs{
				Out: kernrt.PtrFromAddr[float64](r.Uint64() | 1), B: r.IntN(2) == 1,
				I8: int8(r.Uint32()), I16: int16(r.Uint32()), I32: int32(r.Uint32()), I64: int64(r.Uint64()),
				U8: uint8(r.Uint32()), U16: uint16(r.Uint32()), U32: r.Uint32(), U64: r.Uint64(),
				F16: kernrt.Float16(r.Uint32()), BF: kernrt.BFloat16(r.Uint32()), F32: r.Float32(), F64: r.NormFloat64(),
			}
			a := newArgs(t, k, s.Out, s.B, s.I8, s.I16, s.I32, s.I64, s.U8, s.U16, s.U32, s.U64, s.F16, s.BF, s.F32, s.F64)
			ways := []func() error{
				func() error { return kernrt.Launch(k, stream, kernrt.Grid1D(1), &s) },
				func() error { return a.Launch(stream, kernrt.Grid1D(1)) },
			}
			first := 0
			if !structFirst {
				first = 1
			}
			before := len(d.Launches())
			must(t, ways[first]())
			must(t, ways[1-first]())
			launches := d.Launches()[before:]
			if diff := cmp.Diff(launches[0], launches[1]); diff != "" {
				t.Fatalf("round %d (-first +second):\n%s", round, diff)
			}
		}
		if n := len(d.Loads()); n != 1 {
			t.Errorf("%d loads, want 1", n)
		}
		must(t, dev.Close())
	}
}

func TestArgsConvert(t *testing.T) {
	d, _, stream := onDevice0(t)
	k := scalars(t)
	p := kernrt.Address{Elem: "fp64", Addr: memory}
	a := newArgs(t, k, p, true, -128, uint64(32767), int8(-5), 1<<40, 255, int64(7), uint32(math.MaxUint32), uint64(math.MaxUint64), 1.5, float32(-2), 1e-3, float32(0.25))
	must(t, a.Launch(stream, kernrt.Grid1D(1)))
	want := scalarsArgs{kernrt.PtrFromAddr[float64](memory), true, -128, 32767, -5, 1 << 40, 255, 7, math.MaxUint32, math.MaxUint64,
		kernrt.NewFloat16(1.5), kernrt.NewBFloat16(-2), 1e-3, 0.25}
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &want))
	launches := d.Launches()
	if diff := cmp.Diff(launches[1].Params, launches[0].Params); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A float64 is rounded once, not by way of float32.
func TestArgsRoundOnce(t *testing.T) {
	d, _, stream := onDevice0(t)
	k := scalars(t)
	a := newArgs(t, k, kernrt.PtrFromAddr[float64](memory), false, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
	f16 := func(v float64) kernrt.Float16 {
		t.Helper()
		must(t, a.Set(10, v))
		d.Reset()
		must(t, a.Launch(stream, kernrt.Grid1D(1)))
		b := only(t, d).Params[10]
		return kernrt.Float16(uint16(b[0]) | uint16(b[1])<<8)
	}
	one, next := kernrt.NewFloat16(1), kernrt.NewFloat16(1)+1
	tie := 1 + 0x1p-11 // half way between 1 and its neighbour
	for _, c := range []struct {
		v    float64
		want kernrt.Float16
	}{
		{1, one}, {tie, one}, {tie + 0x1p-50, next}, {tie - 0x1p-50, one}, {-tie - 0x1p-50, next | 0x8000},
		{math.Inf(-1), 0xfc00}, {1e300, 0x7c00}, {65519.999999999, 0x7bff}, {65520, 0x7c00}, {0x1p-25, 0}, {0x1p-25 + 0x1p-70, 1},
	} {
		if got := f16(c.v); got != c.want {
			t.Errorf("%v becomes %#x, want %#x", c.v, uint16(got), uint16(c.want))
		}
	}
	if got := f16(math.NaN()); got&0x7fff <= 0x7c00 {
		t.Errorf("NaN becomes %#x", uint16(got))
	}
}

func TestArgsThatAreRefused(t *testing.T) {
	_, _, stream := onDevice0(t)
	k := scalars(t)
	a, err := kernrt.NewArgs(k)
	must(t, err)
	tests := []struct {
		i     int
		value any
		text  string
	}{
		{-1, 1, "scalars_kernel has no parameter -1; it has 14, from 0"},
		{14, 1, "scalars_kernel has no parameter 14; it has 14, from 0"},
		{0, nil, "scalars_kernel: p_*fp64 is *fp64, but got nil"},
		{0, uint64(16), "scalars_kernel: p_*fp64 is *fp64, but got uint64"},
		{0, kernrt.PtrFromAddr[float32](16), "scalars_kernel: p_*fp64 is *fp64, but got kernrt.Ptr[float32]"},
		{0, kernrt.Address{Elem: "fp32"}, `scalars_kernel: p_*fp64 is *fp64, but got the address of "fp32"`},
		{1, 1, "scalars_kernel: p_i1 is i1, but got int"},
		{2, 128, "scalars_kernel: p_i8 is i8, which cannot be 128"},
		{2, -129, "scalars_kernel: p_i8 is i8, which cannot be -129"},
		{4, uint64(1) << 31, "scalars_kernel: p_i32 is i32, which cannot be 2147483648"},
		{4, 1.0, "scalars_kernel: p_i32 is i32, but got float64"},
		{4, true, "scalars_kernel: p_i32 is i32, but got bool"},
		{5, uint64(1) << 63, "scalars_kernel: p_i64 is i64, which cannot be 9223372036854775808"},
		{6, -1, "scalars_kernel: p_u8 is u8, which cannot be -1"},
		{8, 1 << 32, "scalars_kernel: p_u32 is u32, which cannot be 4294967296"},
		{10, kernrt.NewBFloat16(1), "scalars_kernel: p_fp16 is fp16, but got kernrt.BFloat16"},
		{12, 1, "scalars_kernel: p_fp32 is fp32, but got int"},
		{12, kernrt.Address{Elem: "fp32"}, "scalars_kernel: p_fp32 is fp32, but got kernrt.Address"},
	}
	for _, test := range tests {
		wantError(t, a.Set(test.i, test.value), kernrt.ErrArgument, test.text)
	}
	wantError(t, a.SetAll(1), kernrt.ErrArgument, "scalars_kernel has 14 parameters, not 1")
	must(t, a.Set(0, kernrt.PtrFromAddr[float64](memory)))
	for i := 2; i < 14; i++ {
		var zero any = 0
		if i >= 10 {
			zero = 0.0
		}
		must(t, a.Set(i, zero))
	}
	err = a.Launch(stream, kernrt.Grid1D(1))
	wantError(t, err, kernrt.ErrArgument, "launch scalars_kernel on "+h200+", grid (1, 1, 1): no value is set for p_i1")
	must(t, a.Set(1, false))
	must(t, a.Launch(stream, kernrt.Grid1D(1)))
	must(t, a.Launch(stream, kernrt.Grid1D(0)))

	// What a launch checks of a struct it checks of Args.
	add := newArgs(t, add(t), kernrt.PtrFromAddr[float32](memory), kernrt.PtrFromAddr[float32](memory), kernrt.PtrFromAddr[float32](memory+4), 16)
	wantError(t, add.Launch(stream, kernrt.Grid1D(1)), kernrt.ErrArgument, onH200+"(1, 1, 1): out_ptr = 0x7f0000000004 is not divisible by 16, as the kernel was compiled for")
	must(t, add.Set(2, kernrt.Ptr[float32]{}))
	wantError(t, add.Launch(stream, kernrt.Grid1D(1)), kernrt.ErrArgument, onH200+"(1, 1, 1): out_ptr is null; pass device memory")
	wantError(t, add.Launch(nil, kernrt.Grid1D(1)), kernrt.ErrArgument, "launch add_kernel, grid (1, 1, 1): there is no stream; make one with Device.NewStream")

	for _, none := range []*kernrt.Args{nil, {}} {
		_, occupancy := none.Occupancy(stream.Device())
		for _, err := range []error{none.Set(0, 1), none.SetAll(), none.Launch(stream, kernrt.Grid1D(1)), occupancy} {
			wantError(t, err, kernrt.ErrArgument, "there are no arguments; make them with NewArgs")
		}
		if none.Kernel() != nil {
			t.Error("there is a kernel")
		}
	}
	if _, err := kernrt.NewArgs(nil); !errors.Is(err, kernrt.ErrArgument) {
		t.Errorf("no kernel: %v", err)
	}
	if _, err := kernrt.NewArgs(&kernrt.Kernel{Name: "k"}); !errors.Is(err, kernrt.ErrMalformed) {
		t.Errorf("no variants: %v", err)
	}
	type none struct{}
	err = kernrt.Launch(k, stream, kernrt.Grid1D(1), &none{})
	if !errors.Is(err, kernrt.ErrMalformed) {
		t.Errorf("another struct after Args: %v", err)
	}
}

func TestArgsAllocateNothing(t *testing.T) {
	d, _, stream := onDevice0(t)
	x := kernrt.PtrFromAddr[float32](memory)
	a := newArgs(t, add(t), x, x, x, 16)
	must(t, a.Launch(stream, kernrt.Grid1D(1)))
	d.Record(false)
	defer d.Record(true)
	n, f := int32(1<<20), 3.5
	fs, err := kernrt.NewArgs(scalars(t))
	must(t, err)
	if allocs := testing.AllocsPerRun(100, func() {
		if a.Set(0, x) != nil || a.Set(3, n) != nil || a.Set(3, int(n)) != nil || a.Launch(stream, kernrt.Grid1D(1)) != nil {
			t.Error("refused")
		}
		if fs.Set(0, kernrt.Address{Elem: "fp64", Addr: uint64(n)}) != nil || fs.Set(12, f) != nil {
			t.Error("refused")
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// Goroutines share the kernel, one with a struct, others with Args.
func TestArgsAndStructAtOnce(t *testing.T) {
	d, _, stream := onDevice0(t)
	k := add(t)
	x := kernrt.PtrFromAddr[float32](memory)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 20 {
				var err error
				if i%2 == 0 {
					err = kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16))
				} else {
					err = newArgs(t, k, x, x, x, 16).Launch(stream, kernrt.Grid1D(1))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := len(d.Loads()); n != 1 {
		t.Errorf("%d loads, want 1", n)
	}
}

func BenchmarkLaunchArgs(b *testing.B) {
	d, _, stream := onDevice0(b)
	x := kernrt.PtrFromAddr[float32](memory)
	a := newArgs(b, add(b), x, x, x, 16)
	must(b, a.Launch(stream, kernrt.Grid1D(1)))
	d.Record(false)
	defer d.Record(true)
	for b.Loop() {
		if a.Set(0, x) != nil || a.Set(1, x) != nil || a.Set(2, x) != nil || a.Set(3, int32(16)) != nil || a.Launch(stream, kernrt.Grid1D(1)) != nil {
			b.Fatal("refused")
		}
	}
}

// Tensors, which the struct holds as values, arrive alike too, and the checks of
// them are made.
func TestArgsOfTensors(t *testing.T) {
	for _, sm := range []int{80, 90} {
		d, dev, stream := onDevice(t, sm/10)
		k := hostKernel(t, 9, sm)
		x, out := halfTensor(memory, 1000, 48), halfTensor(memory+1<<20, 1000, 48)
		args := newArgs(t, k, x, out, 1000)
		must(t, args.Launch(stream, kernrt.Grid1D(32)))
		must(t, kernrt.Launch(k, stream, kernrt.Grid1D(32), &hostArgs{x, out, 1000}))
		launches := d.Launches()
		if diff := cmp.Diff(launches[1].Params, launches[0].Params); diff != "" {
			t.Errorf("sm_%d (-struct +args):\n%s", sm, diff)
		}
		must(t, args.Set(0, halfTensor(memory+2, 1000, 48)))
		wantRefused(t, args.Launch(stream, kernrt.Grid1D(32)), kernrt.ErrArgument, "x_desc")
		wantRefused(t, args.Set(0, kernrt.TensorDesc[float32]{}), kernrt.ErrArgument, "but got kernrt.TensorDesc[float32]")
		must(t, dev.Close())
	}
}
