package kernrt_test

import (
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// What generated code has for a kernel with a type variable.
type pouredArgs[T float32 | kernrt.Float16 | kernrt.BFloat16] struct {
	Out   kernrt.Ptr[T]
	Value T
	N     int32
}

var pouredFP32, pouredFP16 kernrt.Kernel

func pouredKernel[T float32 | kernrt.Float16 | kernrt.BFloat16]() *kernrt.Kernel {
	switch any((func(T))(nil)).(type) {
	case func(float32):
		return &pouredFP32
	case func(kernrt.Float16):
		return &pouredFP16
	}
	return nil
}

func launchPoured[T float32 | kernrt.Float16 | kernrt.BFloat16](stream *kernrt.Stream, out kernrt.Ptr[T], value T, n int32) error {
	args := pouredArgs[T]{out, value, n}
	return kernrt.Launch(pouredKernel[T](), stream, kernrt.Grid{}, &args)
}

// setPoured describes the kernels anew, which a device knows until it is closed.
func setPoured() {
	for elem, k := range map[string]*kernrt.Kernel{"fp32": &pouredFP32, "fp16": &pouredFP16} {
		made := kernelOf([]kernrt.Param{{Name: "out", Type: "*" + elem}, {Name: "value", Type: elem}, {Name: "n", Type: "i32"}}, nil)
		k.Name, k.Params, k.Variants = "fill_"+elem, made.Params, made.Variants
		k.Configs = []kernrt.Config{{Grid: []string{"cdiv(n, 256)"}}}
	}
}

func TestTypeVariables(t *testing.T) {
	d, _, stream := onDevice0(t)
	setPoured()
	half := kernrt.NewFloat16(1.5)
	must(t, launchPoured(stream, kernrt.PtrFromAddr[float32](memory), 1.5, 1000))
	must(t, launchPoured(stream, kernrt.PtrFromAddr[kernrt.Float16](memory), half, 2000))
	launches := d.Launches()
	if len(launches) != 2 {
		t.Fatalf("%d launches, want 2", len(launches))
	}
	for i, want := range []struct {
		grid  uint32
		value []byte
	}{{4, bytesOf(float32(1.5))}, {8, bytesOf(half)}} {
		got := launches[i]
		if got.Grid[0] != want.grid || string(got.Params[1][:len(want.value)]) != string(want.value) {
			t.Errorf("launch %d: grid %v, value % x; want %d, % x", i, got.Grid, got.Params[1], want.grid, want.value)
		}
	}
	wantError(t, launchPoured(stream, kernrt.PtrFromAddr[kernrt.BFloat16](memory), kernrt.NewBFloat16(1), 1000), kernrt.ErrArgument,
		"launch nil on "+h200+", grid (0, 0, 0): there is no kernel: none was compiled for these element types")
}

func BenchmarkLaunchGeneric(b *testing.B) {
	stream := quietly(b)
	setPoured()
	p, half := kernrt.PtrFromAddr[kernrt.Float16](memory), kernrt.NewFloat16(1)
	for b.Loop() {
		if err := launchPoured(stream, p, half, 1000); err != nil {
			b.Fatal(err)
		}
	}
}
