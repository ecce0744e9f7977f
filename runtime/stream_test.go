package kernrt_test

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"unsafe"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestForeignStreams(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(2)
	first, second := open(t, 0), open(t, 1)
	theirs := foreignStream(t, 0)

	stream, err := first.StreamFromHandle(theirs)
	must(t, err)
	if stream.Handle() != theirs || stream.Device() != first {
		t.Errorf("handle %#x on %v", stream.Handle(), stream.Device())
	}
	k := add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{}))
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16)))
	if l := only(t, d); l.Stream != theirs {
		t.Errorf("launched on %#x, want %#x", l.Stream, theirs)
	}
	must(t, stream.Close())
	wantAllocated(t, d)
	if d.Count("cuStreamDestroy_v2") != 0 {
		t.Error("another library's stream was destroyed")
	}

	for _, legacy := range []uintptr{0, 1} {
		s, err := first.StreamFromHandle(legacy)
		must(t, err)
		must(t, kernrt.Launch(k, s, kernrt.Grid1D(1), addArgsOf(16)))
	}

	_, err = first.StreamFromHandle(2)
	wantError(t, err, kernrt.ErrArgument, "stream handle 2 is the per-thread default stream, but goroutines move between threads; create a stream")
	if _, err = second.StreamFromHandle(theirs); !errors.Is(err, kernrt.ErrOtherDevice) {
		t.Errorf("error %v is not %q", err, kernrt.ErrOtherDevice)
	}
	_, err = first.StreamFromHandle(12345)
	wantCall(t, err, "cuStreamGetCtx")
	must(t, first.Close())
	_, err = first.StreamFromHandle(theirs)
	wantError(t, err, kernrt.ErrClosed, "stream 0x"+hex(theirs)+": "+h200+" is closed")
}

func hex(n uintptr) string {
	const digits = "0123456789abcdef"
	if n < 16 {
		return digits[n : n+1]
	}
	return hex(n/16) + digits[n%16:n%16+1]
}

// foreignStream is a stream that something else than the runtime creates, and
// destroys when the test ends.
func foreignStream(t *testing.T, device int) uintptr {
	t.Helper()
	runtime.LockOSThread()
	var context, stream uintptr
	fake.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&context)), uintptr(device))
	fake.Call("cuCtxSetCurrent", context)
	if r := fake.Call("cuStreamCreateWithPriority", uintptr(unsafe.Pointer(&stream)), 1, 0); r != 0 {
		t.Fatalf("CUresult %d", r)
	}
	fake.Call("cuCtxSetCurrent", 0)
	t.Cleanup(func() {
		defer runtime.UnlockOSThread()
		if r := fake.Call("cuStreamDestroy_v2", stream); r != 0 {
			t.Errorf("the stream is gone: CUresult %d", r)
		}
		fake.Call("cuDevicePrimaryCtxRelease_v2", uintptr(device))
	})
	return stream
}

func TestClosedStream(t *testing.T) {
	_, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[int8](dev, 1)
	must(t, err)
	must(t, stream.Close())
	wantError(t, kernrt.Launch(add(t), stream, kernrt.Grid1D(1), addArgsOf(16)), kernrt.ErrClosed, onH200+"(1, 1, 1): the stream is closed")
	wantError(t, stream.Synchronize(), kernrt.ErrClosed, "synchronize: the stream is closed")
	wantError(t, stream.Close(), kernrt.ErrClosed, "close: the stream is closed already")
	wantError(t, b.CopyFrom(stream, make([]int8, 1)), kernrt.ErrClosed, "copy to the device: the stream is closed")
	wantError(t, b.CopyTo(stream, make([]int8, 1)), kernrt.ErrClosed, "copy from the device: the stream is closed")
}

func TestStreamsThatWereNeverMade(t *testing.T) {
	_, dev, _ := onDevice0(t)
	b, err := kernrt.Alloc[int8](dev, 1)
	must(t, err)
	for _, s := range []*kernrt.Stream{nil, {}} {
		const text = "there is no stream; make one with Device.NewStream"
		wantError(t, s.Synchronize(), kernrt.ErrArgument, "synchronize: "+text)
		wantError(t, s.Close(), kernrt.ErrArgument, "close: "+text)
		wantError(t, b.CopyFrom(s, make([]int8, 1)), kernrt.ErrArgument, "copy to the device: "+text)
	}
}

func TestSynchronizeWaits(t *testing.T) {
	d, _, stream := onDevice0(t)
	must(t, stream.Synchronize())
	if d.Count("cuStreamSynchronize") != 1 {
		t.Error("the driver was not asked to wait")
	}
	d.FailNext("cuStreamSynchronize", 700, 0)
	err := stream.Synchronize()
	wantError(t, err, err, "synchronize a stream of "+h200+": cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered")
	wantCall(t, err, "cuStreamSynchronize")
}

func TestPriorities(t *testing.T) {
	_, dev, stream := onDevice0(t)
	priority := func(s *kernrt.Stream) int {
		t.Helper()
		p, err := s.Priority()
		must(t, err)
		return p
	}
	if p := priority(stream); p != 0 {
		t.Errorf("the default is %d", p)
	}
	for asked, want := range map[int]int{0: 0, -2: -2, 1: 0, -100: -5, math.MinInt: -5, math.MaxInt: 0} {
		if got := priority(newStream(t, dev, kernrt.WithPriority(asked))); got != want {
			t.Errorf("asked for %d, got %d, want %d", asked, got, want)
		}
	}
	_, err := dev.StreamFromHandle(0, kernrt.WithPriority(0))
	wantError(t, err, kernrt.ErrArgument, "stream 0x0 has a priority already; WithPriority is for NewStream")
}

func TestQuery(t *testing.T) {
	d, _, stream := onDevice0(t)
	for _, held := range []bool{false, true, false} {
		if held {
			d.Hold(stream.Handle())
		} else {
			d.Release(stream.Handle())
		}
		if done, err := stream.Query(); done == held || err != nil {
			t.Errorf("held %t: done %t, %v", held, done, err)
		}
	}
}
