package kernrt_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

func asDriverError(err error, to **kernrt.DriverError) bool { return errors.As(err, to) }

// wantError wants an error of a kind with a text.
func wantError(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %q is not %q", err, kind)
	}
	if err != nil && err.Error() != text {
		t.Errorf("error text\n got %s\nwant %s", err, text)
	}
}

const (
	h200         = "Fake H200 (device 0, sm_90)"
	onH200       = "launch add_kernel on " + h200 + ", grid "
	loadedOnH200 = "launch add_kernel (sm_90a cubin) on " + h200 + ", grid "
	maxInt32     = math.MaxInt32
)

func TestLaunchErrors(t *testing.T) {
	tests := []struct {
		name   string
		setup  func(*fakecuda.Driver) // before the device is opened
		change func(*kernrt.Image)
		grid   kernrt.Grid
		args   *addArgs
		kind   error
		text   string
	}{
		{name: "no grid", args: addArgsOf(16), kind: kernrt.ErrArgument,
			text: onH200 + "(0, 0, 0): the grid is not set; make it with Grid1D, Grid2D or Grid3D"},
		{name: "negative grid", grid: kernrt.Grid2D(2, -1), args: addArgsOf(16), kind: kernrt.ErrArgument,
			text: onH200 + "(2, -1, 1): the grid has a negative dimension"},
		{name: "no args", grid: kernrt.Grid1D(1), kind: kernrt.ErrArgument, text: onH200 + "(1, 1, 1): args is nil"},
		{name: "null pointer", grid: kernrt.Grid1D(1), args: &addArgs{N: 3}, kind: kernrt.ErrArgument,
			text: onH200 + "(1, 1, 1): x_ptr is null; pass device memory"},
		{name: "misaligned pointer", grid: kernrt.Grid1D(1), kind: kernrt.ErrArgument,
			args: &addArgs{kernrt.PtrFromAddr[float32](memory), kernrt.PtrFromAddr[float32](memory).Add(-1), kernrt.PtrFromAddr[float32](memory), 3},
			text: onH200 + "(1, 1, 1): y_ptr = 0x7efffffffffc is not divisible by 16, as the kernel was compiled for"},
		{name: "integer", grid: kernrt.Grid1D(1), args: addArgsOf(-3), kind: kernrt.ErrArgument,
			text: onH200 + "(1, 1, 1): n_elements = -3 is not divisible by 16, as the kernel was compiled for"},
		{name: "no image", setup: func(d *fakecuda.Driver) { d.SetAttribute(0, 75, 8) }, grid: kernrt.Grid1D(1), args: addArgsOf(16), kind: kernrt.ErrNoImage,
			text: "launch add_kernel on Fake H200 (device 0, sm_80), grid (1, 1, 1): no image runs on sm_80; there are sm_90a cubin"},
		{name: "refused image", setup: func(d *fakecuda.Driver) { d.FailNext("cuModuleLoadDataEx", 209, 0) },
			grid: kernrt.Grid1D(1), args: addArgsOf(16), kind: kernrt.ErrNoImage,
			text: onH200 + "(1, 1, 1): " + h200 + " with its driver, CUDA 13.0, takes none of the images: sm_90a cubin: " +
				"cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU (209): no kernel image is available for execution on the device"},
		{name: "grid in x", setup: func(d *fakecuda.Driver) { d.SetAttribute(0, 5, 1000) }, grid: kernrt.Grid1D(1001), args: addArgsOf(16), kind: kernrt.ErrLimit,
			text: loadedOnH200 + "(1001, 1, 1): a grid has at most 1000, 65535 and 65535 programs in x, y and z on this device"},
		{name: "grid in y", grid: kernrt.Grid2D(1, 65536), args: addArgsOf(16), kind: kernrt.ErrLimit,
			text: loadedOnH200 + "(1, 65536, 1): a grid has at most 2147483647, 65535 and 65535 programs in x, y and z on this device"},
		{name: "grid in z", grid: kernrt.Grid3D(1, 1, math.MaxInt), args: addArgsOf(16), kind: kernrt.ErrLimit,
			text: loadedOnH200 + "(1, 1, 9223372036854775807): a grid has at most 2147483647, 65535 and 65535 programs in x, y and z on this device"},
		{name: "registers", setup: func(d *fakecuda.Driver) { d.SetAttribute(0, 12, 1024) }, grid: kernrt.Grid1D(1), args: addArgsOf(16), kind: kernrt.ErrLimit,
			text: onH200 + "(1, 1, 1): image sm_90a cubin: a CTA has 128 threads, but " + h200 + " runs at most 32 of this kernel; compile it with fewer warps"},
		{name: "scratch", change: func(m *kernrt.Image) { m.GlobalScratch.Size = math.MaxInt }, grid: kernrt.Grid1D(3), args: addArgsOf(16), kind: kernrt.ErrLimit,
			text: loadedOnH200 + "(3, 1, 1): 3 CTAs x 9223372036854775807 bytes of scratch overflow 64 bits"},
		{name: "memory", change: func(m *kernrt.Image) { m.GlobalScratch.Size = 1 << 40 }, grid: kernrt.Grid1D(3), args: addArgsOf(16), kind: kernrt.ErrOutOfMemory,
			text: loadedOnH200 + "(3, 1, 1): scratch of 3072.0 GiB: cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"},
		{name: "missing symbol", change: func(m *kernrt.Image) { m.Symbol = "sub_kernel" }, grid: kernrt.Grid1D(1), args: addArgsOf(16), kind: &kernrt.DriverError{},
			text: onH200 + "(1, 1, 1): image sm_90a cubin: symbol sub_kernel: cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500): named symbol not found"},
		{name: "driver", setup: func(d *fakecuda.Driver) { d.FailNext("cuLaunchKernelEx", 12345, 0) }, grid: kernrt.Grid1D(1), args: addArgsOf(16), kind: &kernrt.DriverError{},
			text: loadedOnH200 + "(1, 1, 1): cuLaunchKernelEx: CUresult 12345 (12345): "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := driver(t)
			if test.setup != nil {
				test.setup(d)
			}
			stream := newStream(t, open(t, 0))
			if test.change == nil {
				test.change = func(*kernrt.Image) {}
			}
			err := kernrt.Launch(add(t, test.change), stream, test.grid, test.args)
			if _, any := test.kind.(*kernrt.DriverError); any {
				var de *kernrt.DriverError
				if !errors.As(err, &de) {
					t.Errorf("error %v holds no DriverError", err)
				}
				test.kind = err
			}
			wantError(t, err, test.kind, test.text)
			var le *kernrt.LaunchError
			if !errors.As(err, &le) || le.Kernel != "add_kernel" || le.Grid != test.grid || le.Err == nil {
				t.Errorf("error %#v is no LaunchError that says kernel, grid and cause", err)
			}
			if n := len(d.Launches()); n != 0 {
				t.Errorf("%d launches, want none", n)
			}
		})
	}
}

func TestDriverErrorsAreOfKinds(t *testing.T) {
	tests := []struct {
		code int
		kind error
	}{{2, kernrt.ErrOutOfMemory}, {100, kernrt.ErrNoDevice}}
	for _, test := range tests {
		err := error(&kernrt.LaunchError{Kernel: "k", Err: &kernrt.DriverError{Code: test.code}})
		for _, kind := range []error{kernrt.ErrOutOfMemory, kernrt.ErrNoDevice, kernrt.ErrLimit} {
			if got, want := errors.Is(err, kind), kind == test.kind; got != want {
				t.Errorf("code %d is %q: %t, want %t", test.code, kind, got, want)
			}
		}
	}
	if !errors.Is(&kernrt.DriverError{Code: 100}, kernrt.ErrNoGPU) || errors.Is(&kernrt.DriverError{Code: 2}, kernrt.ErrNoGPU) {
		t.Error("code 100 alone is no GPU")
	}
	if errors.Is(&kernrt.DriverError{Code: 1}, kernrt.ErrOutOfMemory) {
		t.Error("code 1 is out of memory")
	}
}

// A launch that fails once its image is known says which variant and image it was.
func TestLaunchErrorNamesVariantAndImage(t *testing.T) {
	d, _, stream := onDevice0(t)
	k := variants()
	args := variantArgs{kernrt.PtrFromAddr[float32](memory), kernrt.Ptr[float32]{}, 33, 1} // for the second
	d.FailNext("cuLaunchKernelEx", 701, 0)
	err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &args)
	var le *kernrt.LaunchError
	if !errors.As(err, &le) || le.Variant != 2 || le.Image != "sm_80 PTX" || !strings.HasPrefix(err.Error(), "launch k (variant 2, sm_80 PTX) on "+h200+", grid (1, 1, 1): cuLaunchKernelEx: ") {
		t.Errorf("error %v", err)
	}
	args.N = 32 // for the first, which is not loaded yet
	d.FailNext("cuModuleLoadDataEx", 999, 0)
	err = kernrt.Launch(k, stream, kernrt.Grid1D(1), &args)
	if !errors.As(err, &le) || !strings.HasPrefix(err.Error(), "launch k on "+h200+", grid (1, 1, 1): variant 1: image sm_80 PTX: cuModuleLoadDataEx: ") {
		t.Errorf("error %v", err)
	}
}
