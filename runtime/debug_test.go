package kernrt_test

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestDebugChecksPointersAndWaits(t *testing.T) {
	t.Setenv("KERNGEN_DEBUG", "1")
	d := driver(t)
	d.SetDeviceCount(2)
	dev, other := open(t, 0), open(t, 1)
	stream := newStream(t, dev)
	here, err := kernrt.Alloc[float32](dev, 4)
	must(t, err)
	there, err := kernrt.Alloc[float32](other, 4)
	must(t, err)
	x, y := here.Ptr(), there.Ptr()
	k := add(t)
	launch := func(a addArgs) error { return kernrt.Launch(k, stream, kernrt.Grid1D(1), &a) }

	d.Reset()
	d.SetDeviceCount(2)
	must(t, launch(addArgs{x, x, x.Add(4).Add(-4), 16}))
	if d.Count("cuStreamSynchronize") != 2 || d.Count("cuPointerGetAttribute") != 3 {
		t.Error("the launch did not check three pointers and wait")
	}
	wantError(t, launch(addArgs{x, kernrt.PtrFromAddr[float32](0x10), x, 16}), kernrt.ErrArgument,
		loadedOnH200+"(1, 1, 1): y_ptr = 0x10 is no address that the driver knows: cuPointerGetAttribute: CUDA_ERROR_INVALID_VALUE (1): invalid argument")
	wantError(t, launch(addArgs{x, x, y, 16}), kernrt.ErrOtherDevice,
		loadedOnH200+fmt.Sprintf("(1, 1, 1): out_ptr = %v is memory of device 1, which kernels on device 0 cannot use", y))
	d.SetPeers(true) // as another library may
	must(t, launch(addArgs{x, x, y, 16}))
	d.SetPeers(false)
	pinned, err := kernrt.AllocHost[float32](dev, 4)
	must(t, err)
	address := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(pinned.Values()))))
	must(t, launch(addArgs{x, x, kernrt.PtrFromAddr[float32](address), 16}))
	if n := len(d.Launches()); n != 3 {
		t.Errorf("%d launches, want 3", n)
	}
	const illegal = "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered"
	for nth, text := range []string{"what was queued before it failed: ", "it was queued and failed, or what another library or a copy did meanwhile: "} {
		d.FailNext("cuStreamSynchronize", 700, nth)
		err = launch(addArgs{x, x, x, 16})
		wantCall(t, err, "cuStreamSynchronize")
		wantError(t, err, err, loadedOnH200+"(1, 1, 1): "+text+illegal)
	}
	d.FailNext("cuLaunchKernelEx", 701, 0)
	wantCall(t, launch(addArgs{x, x, x, 16}), "cuLaunchKernelEx")

	// A launch that is captured is not waited for.
	d.SetCapture(stream.Handle(), 1)
	must(t, launch(addArgs{x, x, x, 16}))
	d.SetCapture(stream.Handle(), 0)
	d.FailNext("cuStreamIsCapturing", 906, 0)
	wantCall(t, launch(addArgs{x, x, x, 16}), "cuStreamIsCapturing")
}

func TestDebugTakesNullWhereDeclared(t *testing.T) {
	t.Setenv("KERNGEN_DEBUG", "1")
	_, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[float32](dev, 4)
	must(t, err)
	k := kernelOf([]kernrt.Param{{Name: "p", Type: "*fp32", Nullable: true}, {Name: "n", Type: "i32"}, {Name: "f", Type: "fp32"}}, nil)
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &mixedArgs{}))
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &mixedArgs{P: b.Ptr()}))
}

// The variable is read when a device is opened.
func TestNoDebug(t *testing.T) {
	for _, value := range []string{"", "0", "true"} {
		t.Setenv("KERNGEN_DEBUG", value)
		d, dev, stream := onDevice0(t)
		t.Setenv("KERNGEN_DEBUG", "1")
		must(t, kernrt.Launch(add(t), stream, kernrt.Grid1D(1), addArgsOf(16)))
		if d.Count("cuStreamSynchronize") != 0 || d.Count("cuPointerGetAttribute") != 0 {
			t.Errorf("KERNGEN_DEBUG=%q makes a launch check and wait", value)
		}
		if err := dev.Close(); err != nil && !errors.Is(err, kernrt.ErrClosed) {
			t.Error(err)
		}
	}
}
