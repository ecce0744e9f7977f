package golden

import (
	"errors"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"

	"example.com/testdata/golden/add"
	"example.com/testdata/golden/everything"
	"example.com/testdata/golden/matmul"
	"example.com/testdata/golden/matmul_cta2"
	"example.com/testdata/golden/nothing"
	"example.com/testdata/golden/opt_none"
	"example.com/testdata/golden/scalars"
	"example.com/testdata/golden/tma_host"
	"example.com/testdata/golden/tma_scratch"
	"example.com/testdata/golden/tuned"
	"example.com/testdata/golden/tuple"
	"example.com/testdata/golden/widths"
)

func TestLaunchOnNoStream(t *testing.T) {
	if err := nothing.LaunchNop(nil, kernrt.Grid1D(1)); err == nil {
		t.Error("launched on no stream")
	}
	var x kernrt.Ptr[float32]
	if err := add.LaunchAddKernel(nil, kernrt.Grid1D(1), x, x, x, 1); err == nil {
		t.Error("launched on no stream")
	}
	if everything.EverythingOne != 1 || everything.EverythingOut != "fp16" || !everything.EverythingCausal {
		t.Error("constants have other values")
	}
}

// A launch on a real device would need real arguments; gen's tests give this one
// a driver that checks launches as CUDA's does, and runs nothing.
func TestLaunchOnFakeDriver(t *testing.T) {
	device, err := kernrt.Open(0)
	if err != nil {
		if errors.Is(err, kernrt.ErrNoDriver) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	if !strings.Contains(device.String(), "Fake") {
		t.Skip("this is a real device: ", device)
	}
	defer device.Close()
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()

	grid := kernrt.Grid1D(2)
	f32, f64 := pointer[float32](t, device), pointer[float64](t, device)
	f16, bf16 := pointer[kernrt.Float16](t, device), pointer[kernrt.BFloat16](t, device)
	odd := f32.Add(1)
	oddHalf := f16.Add(1)
	var null kernrt.Ptr[float32]

	for name, err := range map[string]error{
		"add":              add.LaunchAddKernel(stream, grid, f32, f32, f32, 32),
		"add, misaligned":  add.LaunchAddKernel(stream, grid, odd, f32, f32, 31),
		"widths, 32 bits":  widths.LaunchAddKernel(stream, grid, f32, f32, f32, 33),
		"widths, 64 bits":  widths.LaunchAddKernel(stream, grid, f32, f32, f32, 1<<40+1),
		"add, nothing":     add.LaunchAddKernel(stream, kernrt.Grid1D(0), null, null, null, 0),
		"matmul":           matmul.LaunchMatmulKernel(stream, grid, f16, f16, f16, 16, 16, 16, 16, 16, 16),
		"matmul, clusters": matmul_cta2.LaunchMatmulKernel(stream, grid, f16, f16, f16, 16, 16, 16, 16, 16, 16),
		"opt":              opt_none.LaunchOptKernel(stream, grid, bf16, bf16, 7, 0.5),
		"scalars": scalars.LaunchScalarsKernel(stream, grid, f64, true, 1, 2, 3, 4, 5, 6, 7, 8,
			kernrt.NewFloat16(1), kernrt.NewBFloat16(2), 3, 4),
		"descriptors": tma_host.LaunchTmaHostKernel(stream, grid, kernrt.NewTensorDesc(f16, 1, 8), kernrt.NewTensorDesc(f16, 1, 8)),
		"scratch":     tma_scratch.LaunchTmaScratchKernel(stream, grid, f16, f16, 64, 64),
		"tuple":       tuple.LaunchTupleKernel(stream, grid, f32, f32, 1, 2, 3),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"widths, odd":     widths.LaunchAddKernel(stream, grid, odd, f32, f32, 33),
		"add, null":       add.LaunchAddKernel(stream, grid, f32, null, f32, 32),
		"matmul, pointer": matmul.LaunchMatmulKernel(stream, grid, oddHalf, f16, f16, 16, 16, 16, 16, 16, 16),
		"matmul, integer": matmul.LaunchMatmulKernel(stream, grid, f16, f16, f16, 16, 17, 16, 16, 16, 16),
	} {
		if !errors.Is(err, kernrt.ErrArgument) {
			t.Errorf("%s: got %v, want an argument refused", name, err)
		}
	}
	testEverything(t, device, stream)
	testTuned(t, device, stream)
}

// Type variables, configurations and declared grids. The driver knows how many
// bytes each parameter has, so what is passed shows which kernel was launched.
func testTuned(t *testing.T, device *kernrt.Device, stream *kernrt.Stream) {
	f32, f16, bf16, i32 := pointer[float32](t, device), pointer[kernrt.Float16](t, device), pointer[kernrt.BFloat16](t, device), pointer[int32](t, device)
	var none kernrt.Ptr[kernrt.Float16]
	half := kernrt.NewFloat16(0.5)
	args := tuned.ScaleRowsArgs[kernrt.BFloat16]{XPtr: bf16, BiasPtr: bf16, OutPtr: bf16, Scale: kernrt.NewBFloat16(2), Rows: 9, Cols: 65, Stride: 80}
	odd := args
	odd.OutPtr = bf16.Add(1)
	grid := kernrt.Grid1D(2)
	for name, err := range map[string]error{
		"fp32":               tuned.LaunchScaleRows(stream, f32, f32, f32, 0.5, 9, 65, 80),
		"fp16":               tuned.LaunchScaleRows(stream, f16, f16, f16, half, 9, 65, 80),
		"fp16 without bias":  tuned.LaunchScaleRows(stream, f16, none, f16, half, 9, 65, 80),
		"no rows, no memory": tuned.LaunchScaleRows(stream, none, none, none, half, 0, 65, 80),
		"bf16 in the first":  tuned.LaunchScaleRowsConfig(stream, 0, &args),
		"bf16 in the second": tuned.LaunchScaleRowsConfig(stream, 1, &args),
		"two variables":      tuned.LaunchConvert(stream, f32, i32, 1000),
		"two others":         tuned.LaunchConvert(stream, f16, bf16, 1000),
		"32 bits":            tuned.LaunchFill(stream, grid, f32, 1, 33),
		"64 bits":            tuned.LaunchFill(stream, grid, f32, 1, 1<<40),
		"one":                tuned.LaunchFillConfig(stream, 1, grid, &tuned.FillArgs{OutPtr: f32, Value: 1, N: 1}),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		err  error
		kind error
		text string
	}{
		"misaligned":       {tuned.LaunchScaleRowsConfig(stream, 1, &odd), kernrt.ErrArgument, "launch scale_rows_bf16 with BLOCK_M=4,BLOCK_N=64,num_warps=2 on "},
		"negative":         {tuned.LaunchScaleRows(stream, f32, f32, f32, 0.5, -9, 65, 80), kernrt.ErrArgument, "the grid (cdiv(rows, 8), cdiv(cols, 128)), with rows = -9, cols = 65, cannot be computed"},
		"too large":        {tuned.LaunchScaleRows(stream, f32, f32, f32, 0.5, 9, 1<<30, 80), kernrt.ErrLimit, "the grid (cdiv(rows, 8), cdiv(cols, 128)), with rows = 9, cols = 1073741824, is too large"},
		"no configuration": {tuned.LaunchScaleRowsConfig(stream, len(tuned.ScaleRowsConfigs), &args), kernrt.ErrArgument, "there is no configuration 2; there are 2"},
		"no grid":          {tuned.LaunchFill(stream, kernrt.Grid{}, f32, 1, 33), kernrt.ErrArgument, "the grid is not set"},
		"no variant":       {tuned.LaunchFill(stream, grid, f32, 1, 1<<40+1), kernrt.ErrArgument, "n = 1099511627777 is not within 32 bits"},
	} {
		if !errors.Is(c.err, c.kind) || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("%s: got %v, want %s", name, c.err, c.text)
		}
	}
	if n := testing.AllocsPerRun(50, func() { tuned.LaunchScaleRows(stream, f16, none, f16, half, 9, 65, 80) }); n != 0 {
		t.Errorf("%v allocations a launch, want none", n)
	}
}

// The two variants of everything: one for an absent pointer and a stride of 1,
// neither of which it passes, the other for all else. Only the former takes an
// absent pointer, so what succeeds and what is refused tells them apart.
func testEverything(t *testing.T, device *kernrt.Device, stream *kernrt.Stream) {
	a, b, none := pointer[float32](t, device), pointer[float32](t, device), kernrt.Ptr[float64]{}
	bias, ptr0 := pointer[kernrt.BFloat16](t, device), pointer[kernrt.Float8E4M3FN](t, device)
	ptr1 := kernrt.PtrFromAddr[kernrt.Ptr[kernrt.Float16]](a.Addr())
	present := pointer[float64](t, device)

	for _, c := range []struct {
		name   string
		b      kernrt.Ptr[float32]
		bias   kernrt.Ptr[kernrt.BFloat16]
		stride int64
		absent kernrt.Ptr[float64]
		fault  string
	}{
		{"first variant", b, bias, 1, none, ""},
		{"second variant", b, bias, 1, present, ""},
		{"second variant by stride", b, bias, 7, present, ""},
		{"second variant by alignment", b.Add(1), bias, 1, present, ""},
		{"nullable", b, kernrt.Ptr[kernrt.BFloat16]{}, 1, none, ""},
		{"absent with a stride", b, bias, 7, none, "variant 1: STRIDE_M = 7 is not equal to 1, as the kernel was compiled for; variant 2: absent is null"},
		{"absent and misaligned", b.Add(1), bias, 1, none, "is not divisible by 16, as the kernel was compiled for; variant 2: absent is null"},
		{"null where no variant allows it", kernrt.Ptr[float32]{}, bias, 1, none, "variant 1: b is null"},
	} {
		err := everything.LaunchEverything(stream, kernrt.Grid1D(2), true, a, c.b, c.bias, ptr0, ptr1, 1, 2, c.stride, kernrt.NewFloat16(1), c.absent)
		switch {
		case c.fault == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.fault != "" && (!errors.Is(err, kernrt.ErrArgument) || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%s: got %v, want an argument refused: %s", c.name, err, c.fault)
		}
	}
}

func pointer[T kernrt.Elem](t *testing.T, device *kernrt.Device) kernrt.Ptr[T] {
	t.Helper()
	buffer, err := kernrt.Alloc[T](device, 1024)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { buffer.Free() })
	return buffer.Ptr()
}
