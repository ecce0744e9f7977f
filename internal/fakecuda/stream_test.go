//go:build cgo && linux

package fakecuda

import (
	"runtime"
	"testing"
	"unsafe"
)

func newStream(t *testing.T, d *Driver) uintptr {
	t.Helper()
	var stream uintptr
	must(t, d.Call("cuStreamCreateWithPriority", uintptr(unsafe.Pointer(&stream)), 1, 0))
	return stream
}

func newEvent(t *testing.T, d *Driver, flags uintptr) uintptr {
	t.Helper()
	var event uintptr
	must(t, d.Call("cuEventCreate", uintptr(unsafe.Pointer(&event)), flags))
	return event
}

func TestEventTimes(t *testing.T) {
	d, _ := open(t)
	stream := newStream(t, d)
	first, last, untimed, unused := newEvent(t, d, 0), newEvent(t, d, 1), newEvent(t, d, 2), newEvent(t, d, 0)
	elapsed := func(a, b uintptr) (float32, int) {
		var ms float32
		result := d.Call("cuEventElapsedTime", uintptr(unsafe.Pointer(&ms)), a, b)
		return ms, result
	}
	for _, e := range []uintptr{first, untimed, last} {
		must(t, d.Call("cuEventRecord", e, stream))
	}
	there, result := elapsed(first, last)
	must(t, result)
	back, result := elapsed(last, first)
	must(t, result)
	if there <= 0 || back != -there {
		t.Errorf("%g ms there and %g back", there, back)
	}
	for _, e := range []uintptr{untimed, unused, 64} {
		_, result := elapsed(first, e)
		want(t, result, 400)
	}
	want(t, d.Call("cuEventCreate", uintptr(unsafe.Pointer(&there)), 8), 1)
	must(t, d.Call("cuEventQuery", unused))
	must(t, d.Call("cuEventSynchronize", unused))
	must(t, d.Call("cuStreamWaitEvent", stream, unused, 0))
	must(t, d.Call("cuEventDestroy_v2", last))
	for name, result := range map[string]int{
		"destroy": d.Call("cuEventDestroy_v2", last),
		"record":  d.Call("cuEventRecord", last, stream),
		"wait":    d.Call("cuStreamWaitEvent", stream, last, 0),
		"query":   d.Call("cuEventQuery", last),
	} {
		if result != 400 {
			t.Errorf("%s of an event that is gone: %d, want 400", name, result)
		}
	}
	if leaks := d.Leaks(); len(leaks) != 5 || leaks[2].Kind != "event" || leaks[2].Handle != first {
		t.Errorf("alive: %+v, want the context, the stream and three events", leaks)
	}
}

// What waits for a held stream, directly or through events, waits with it.
func TestHold(t *testing.T) {
	d, _ := open(t)
	a, b, c := newStream(t, d), newStream(t, d), newStream(t, d)
	before, e := newEvent(t, d, 0), newEvent(t, d, 0)
	must(t, d.Call("cuEventRecord", before, a))
	d.Hold(a)
	must(t, d.Call("cuEventRecord", e, a))
	must(t, d.Call("cuStreamWaitEvent", b, e, 0))
	must(t, d.Call("cuEventRecord", e, b))

	must(t, d.Call("cuEventQuery", before))
	must(t, d.Call("cuStreamSynchronize", c))
	must(t, d.Call("cuStreamQuery", c))
	want(t, d.Call("cuStreamQuery", a), 600)
	want(t, d.Call("cuStreamQuery", b), 600)
	want(t, d.Call("cuEventQuery", e), 600)
	var ms float32
	want(t, d.Call("cuEventElapsedTime", uintptr(unsafe.Pointer(&ms)), before, e), 600)

	d.Release(a)
	must(t, d.Call("cuStreamQuery", b))
	must(t, d.Call("cuEventQuery", e))
	must(t, d.Call("cuEventElapsedTime", uintptr(unsafe.Pointer(&ms)), before, e))

	d.Hold(a)
	must(t, d.Call("cuStreamQuery", b)) // waited for an earlier hold
	d.Reset()
	must(t, d.Call("cuStreamSynchronize", a))
}

// Whoever waits is let go by the end of the hold, and by the device's end.
func TestWaits(t *testing.T) {
	tests := []struct {
		name string
		end  func(d *Driver, held uintptr)
		want int
	}{
		{"release", func(d *Driver, held uintptr) { d.Release(held) }, 0},
		{"break", func(d *Driver, held uintptr) { d.Break(0, 700) }, 700},
		{"reset", func(d *Driver, held uintptr) { d.Reset() }, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, context := open(t)
			stream, event := newStream(t, d), newEvent(t, d, 0)
			d.Hold(stream)
			must(t, d.Call("cuEventRecord", event, stream))
			results := make(chan int)
			waits := [][]uintptr{{stream}, {event}, nil}
			for i, name := range []string{"cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize"} {
				go func() {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
					d.Call("cuCtxSetCurrent", context)
					results <- d.Call(name, waits[i]...)
				}()
			}
			for d.Count("cuStreamSynchronize")+d.Count("cuEventSynchronize")+d.Count("cuCtxSynchronize") < 3 {
				runtime.Gosched()
			}
			select {
			case result := <-results:
				t.Fatalf("a wait ended with %d while the stream was held", result)
			default:
			}
			test.end(d, stream)
			for range waits {
				want(t, <-results, test.want)
			}
		})
	}
}

// A broken device refuses everything, until its context goes.
func TestBreak(t *testing.T) {
	d, context := open(t)
	stream, event := newStream(t, d), newEvent(t, d, 0)
	var p, q uintptr
	must(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 64))
	d.Break(0, 719)
	for name, args := range map[string][]uintptr{
		"cuStreamSynchronize": {stream}, "cuStreamQuery": {stream}, "cuStreamDestroy_v2": {stream},
		"cuEventQuery": {event}, "cuEventSynchronize": {event}, "cuEventRecord": {event, stream}, "cuEventDestroy_v2": {event},
		"cuMemFree_v2": {p}, "cuMemsetD8Async": {p, 0, 1, stream}, "cuCtxSynchronize": nil,
		"cuStreamGetCtx": {stream, uintptr(unsafe.Pointer(&q))}, "cuMemAlloc_v2": {uintptr(unsafe.Pointer(&q)), 64},
	} {
		if result := d.Call(name, args...); result != 719 {
			t.Errorf("%s: %d, want 719", name, result)
		}
	}
	must(t, d.Call("cuDevicePrimaryCtxRelease_v2", 0))
	must(t, d.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&context)), 0))
	must(t, d.Call("cuCtxSynchronize"))
	if leaks := d.Leaks(); len(leaks) != 1 {
		t.Errorf("the context has taken all but %+v with it", leaks[1:])
	}
}
