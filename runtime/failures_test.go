package kernrt_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/fakecuda"
	"github.com/kerngen/kerngen/runtime/graph"
)

// bench is what the operations below work on.
type bench struct {
	t      *testing.T
	dev    *kernrt.Device
	stream *kernrt.Stream
	other  *kernrt.Stream
	pool   *kernrt.Pool
	plain  *kernrt.Buffer[float32] // of 8
	pooled *kernrt.Buffer[float32] // of 8
	eights *kernrt.Buffer[int64]
	host   *kernrt.HostBuffer[float32]
	values []float32
	first  *kernrt.Event // recorded, as the next
	last   *kernrt.Event
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dev: open(t, 0), values: make([]float32, 8)}
	b.stream, b.other = newStream(t, b.dev), newStream(t, b.dev)
	var err error
	b.pool, err = b.dev.NewPool(1 << 20)
	must(t, err)
	b.plain, err = kernrt.Alloc[float32](b.dev, 8)
	must(t, err)
	b.pooled, err = kernrt.AllocAsync[float32](b.pool, b.stream, 8)
	must(t, err)
	b.eights, err = kernrt.Alloc[int64](b.dev, 2)
	must(t, err)
	b.host, err = kernrt.AllocHost[float32](b.dev, 8)
	must(t, err)
	for _, e := range []**kernrt.Event{&b.first, &b.last} {
		*e, err = b.dev.NewEvent()
		must(t, err)
		must(t, (*e).Record(b.stream))
	}
	return b
}

// dynamic is Args of a kernel that was never launched.
func (b *bench) dynamic() *kernrt.Args {
	x := kernrt.PtrFromAddr[float32](memory)
	return newArgs(b.t, add(b.t), x, x, x, 16)
}

// graph captures a copy.
func (b *bench) graph(stream *kernrt.Stream) (*graph.Graph, error) {
	return graph.Capture(stream, func() error { return b.plain.CopyFromAsync(stream, b.host) })
}

var rows = kernrt.Rows{Count: 2, Width: 2, FromPitch: 3, ToPitch: 4}

// operations is everything that makes driver calls of its own. What each must succeed in on a sound device, and which kind of call it is sure
// to make.
var operations = []struct {
	name string
	call string
	do   func(b *bench) error
}{
	{"Alloc", "cuMemAlloc_v2", func(b *bench) error { _, err := kernrt.Alloc[float32](b.dev, 8); return err }},
	{"Free", "cuMemFree_v2", func(b *bench) error { return b.plain.Free() }},
	{"Free of a pool's", "cuMemFree_v2", func(b *bench) error { return b.pooled.Free() }},
	{"NewPool", "cuMemPoolSetAttribute", func(b *bench) error { _, err := b.dev.NewPool(1); return err }},
	{"AllocAsync", "cuMemAllocFromPoolAsync", func(b *bench) error { _, err := kernrt.AllocAsync[int8](b.pool, b.stream, 8); return err }},
	{"FreeAsync", "cuMemFreeAsync", func(b *bench) error { return b.pooled.FreeAsync(b.stream) }},
	{"Pool.Trim", "cuMemPoolTrimTo", func(b *bench) error { return b.pool.Trim(0) }},
	{"Pool.Stats", "cuMemPoolGetAttribute", func(b *bench) error { _, err := b.pool.Stats(); return err }},
	{"Pool.Close", "cuMemPoolDestroy", func(b *bench) error { return b.pool.Close() }},
	{"FreeMemory", "cuMemGetInfo_v2", func(b *bench) error { _, err := b.dev.FreeMemory(); return err }},
	{"AllocHost", "cuMemHostAlloc", func(b *bench) error { _, err := kernrt.AllocHost[int8](b.dev, 8); return err }},
	{"HostBuffer.Free", "cuMemFreeHost", func(b *bench) error { return b.host.Free() }},
	{"Upload", "cuMemcpyHtoDAsync_v2", func(b *bench) error { _, err := kernrt.Upload(b.stream, b.values); return err }},
	{"Download", "cuMemcpyDtoHAsync_v2", func(b *bench) error { _, err := b.plain.Download(b.stream); return err }},
	{"CopyFrom", "cuStreamSynchronize", func(b *bench) error { return b.plain.CopyFrom(b.stream, b.values) }},
	{"CopyTo", "cuStreamSynchronize", func(b *bench) error { return b.plain.CopyTo(b.stream, b.values) }},
	{"CopyFromAsync", "cuMemcpyHtoDAsync_v2", func(b *bench) error { return b.plain.CopyFromAsync(b.stream, b.host) }},
	{"CopyToAsync", "cuMemcpyDtoHAsync_v2", func(b *bench) error { return b.plain.CopyToAsync(b.stream, b.host) }},
	{"CopyFromDevice", "cuMemcpyDtoDAsync_v2", func(b *bench) error { return b.plain.CopyFromDevice(b.stream, b.pooled.All()) }},
	{"CopyRowsFrom", "cuMemcpy2DAsync_v2", func(b *bench) error { return b.plain.All().CopyRowsFrom(b.stream, b.values, rows) }},
	{"CopyRowsTo", "cuMemcpy2DAsync_v2", func(b *bench) error { return b.plain.All().CopyRowsTo(b.stream, b.values, rows) }},
	{"CopyRowsFromAsync", "cuMemcpy2DAsync_v2", func(b *bench) error { return b.plain.All().CopyRowsFromAsync(b.stream, b.host, rows) }},
	{"CopyRowsToAsync", "cuMemcpy2DAsync_v2", func(b *bench) error { return b.plain.All().CopyRowsToAsync(b.stream, b.host, rows) }},
	{"CopyRowsFromDevice", "cuMemcpy2DAsync_v2", func(b *bench) error {
		return b.plain.All().CopyRowsFromDevice(b.stream, b.pooled.All(), rows)
	}},
	{"Fill", "cuMemsetD32Async", func(b *bench) error { return b.plain.Fill(b.stream, 1) }},
	{"Fill of 8 bytes", "cuMemsetD32Async", func(b *bench) error { return b.eights.Fill(b.stream, -1) }},
	{"NewStream", "cuStreamCreateWithPriority", func(b *bench) error { _, err := b.dev.NewStream(kernrt.WithPriority(-1)); return err }},
	{"Stream.Priority", "cuStreamGetPriority", func(b *bench) error { _, err := b.stream.Priority(); return err }},
	{"Stream.Query", "cuStreamQuery", func(b *bench) error { _, err := b.stream.Query(); return err }},
	{"Stream.Synchronize", "cuStreamSynchronize", func(b *bench) error { return b.stream.Synchronize() }},
	{"Stream.Close", "cuStreamDestroy_v2", func(b *bench) error { return b.other.Close() }},
	{"Stream.SynchronizeContext", "cuEventSynchronize", func(b *bench) error { return b.stream.SynchronizeContext(b.t.Context()) }},
	{"Stream.Done", "cuEventSynchronize", func(b *bench) error { return <-b.stream.Done() }},
	{"Stream.Wait", "cuStreamWaitEvent", func(b *bench) error { return b.stream.Wait(b.last) }},
	{"Stream.Wait of another", "cuStreamWaitEvent", func(b *bench) error { return b.other.Wait(b.last) }},
	{"NewEvent", "cuEventCreate", func(b *bench) error { _, err := b.dev.NewEvent(); return err }},
	{"Event.Record", "cuEventRecord", func(b *bench) error { return b.last.Record(b.stream) }},
	{"Event.Query", "cuEventQuery", func(b *bench) error { _, err := b.last.Query(); return err }},
	{"Event.Synchronize", "cuEventSynchronize", func(b *bench) error { return b.last.Synchronize() }},
	{"Event.SynchronizeContext", "cuEventSynchronize", func(b *bench) error { return b.last.SynchronizeContext(b.t.Context()) }},
	{"Event.Since", "cuEventElapsedTime", func(b *bench) error { _, err := b.last.Since(b.first); return err }},
	{"Event.Close", "cuEventDestroy_v2", func(b *bench) error { return b.last.Close() }},
	{"StreamFromHandle", "cuStreamGetCtx", func(b *bench) error { _, err := b.dev.StreamFromHandle(0); return err }},
	{"Launch", "cuLaunchKernelEx", func(b *bench) error { return kernrt.Launch(add(b.t), b.stream, kernrt.Grid1D(1), addArgsOf(16)) }},
	{"Launch of tensors", "cuTensorMapEncodeTiled", func(b *bench) error {
		x := kernrt.NewTensorDesc(kernrt.PtrFromAddr[kernrt.Float16](memory), 2, 8)
		return kernrt.Launch(hostKernel(b.t, 6, 90), b.stream, kernrt.Grid1D(1), &hostArgs{x, x, 2})
	}},
	{"Launch of a resident grid", "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", func(b *bench) error {
		return kernrt.Launch(add(b.t), b.stream, kernrt.ResidentGrid(), addArgsOf(16))
	}},
	{"Args.Launch", "cuLaunchKernelEx", func(b *bench) error { return b.dynamic().Launch(b.stream, kernrt.Grid1D(1)) }},
	{"Args.Occupancy", "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", func(b *bench) error { _, err := b.dynamic().Occupancy(b.dev); return err }},
	{"OccupancyOf clusters", "cuOccupancyMaxActiveClusters", func(b *bench) error {
		_, err := kernrt.OccupancyOf(matmul(b.t), b.dev, matmulArgsOf())
		return err
	}},
	{"graph.Capture", "cuStreamEndCapture", func(b *bench) error { _, err := b.graph(b.stream); return err }},
	{"Graph.Instantiate", "cuGraphInstantiateWithFlags", func(b *bench) error {
		g, err := b.graph(b.other)
		if err == nil {
			_, err = g.Instantiate()
		}
		return err
	}},
	{"Exec.Launch", "cuGraphLaunch", func(b *bench) error {
		g, err := b.graph(b.other)
		if err != nil {
			return err
		}
		exec, err := g.Instantiate()
		if err != nil {
			return err
		}
		return errors.Join(exec.Upload(b.other), exec.Launch(b.other), exec.Close(), g.Close())
	}},
	{"Device.Close", "cuMemFreeHost", func(b *bench) error { return b.dev.Close() }},
}

// mayLose are the calls whose failure leaves one thing alive that nobody holds any
// more: what was made but could not be returned, or could not be given back when
// the device went.
var mayLose = []string{"cuCtxGetCurrent", "cuCtxSetCurrent", "cuThreadExchangeStreamCaptureMode", "cuMemPoolDestroy",
	"cuMemFree_v2", "cuMemFreeHost", "cuEventDestroy_v2", "cuGraphDestroy", "cuGraphExecDestroy", "cuStreamDestroy_v2", "cuDevicePrimaryCtxRelease_v2"}

// elsewhere are the operations that make calls on other goroutines.
var elsewhere = []string{"Stream.SynchronizeContext", "Stream.Done", "Event.SynchronizeContext"}

// Whichever call of an operation fails, the operation's error names it, nothing
// is left, and the device closes.
func TestEveryCallOfEveryOperationThatFails(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := driver(t)
	d.SetDeviceCount(2)
	// Held throughout: the end of the context would hide what leaks. Another one is
	// current, so that each call has a switch to it and back.
	var held, other uintptr
	d.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&held)), 0)
	d.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&other)), 1)
	defer func() {
		d.Reset()
		d.SetDeviceCount(2)
		d.Call("cuCtxSetCurrent", 0)
		d.Call("cuDevicePrimaryCtxRelease_v2", 0)
		d.Call("cuDevicePrimaryCtxRelease_v2", 1)
	}()
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer d.Call("cuCtxSetCurrent", 0)
			play := func(fail string, nth int) ([]fakecuda.Call, error) {
				d.Reset()
				d.SetDeviceCount(2)
				d.Call("cuCtxSetCurrent", other)
				b := newBench(t)
				before := len(d.Calls())
				if fail != "" {
					d.FailNext(fail, 999, nth)
				}
				err := op.do(b)
				calls := d.Calls()[before:]
				if closed := b.dev.Close(); closed != nil && !errors.Is(closed, kernrt.ErrClosed) {
					t.Errorf("%s fails: the device does not close: %v", fail, closed)
				}
				return calls, err
			}
			clean, err := play("", 0)
			must(t, err)
			if !slices.ContainsFunc(clean, func(c fakecuda.Call) bool { return c.Name == op.call }) {
				t.Errorf("%s was not called: %+v", op.call, clean)
			}
			if left := leaked(d); len(left) > 0 {
				t.Fatalf("still alive: %+v", left)
			}
			nth := map[string]int{}
			for i, call := range clean {
				if call.Name == "cuCtxSetCurrent" && slices.Contains(elsewhere, op.name) {
					continue // the other goroutine's thread may be in the context already, or not
				}
				_, err := play(call.Name, nth[call.Name])
				nth[call.Name]++
				where := fmt.Sprintf("call %d of %d, %s", i+1, len(clean), call.Name)
				// The way back from the question for one parameter too many, which fails
				// itself, tells of that.
				lost := call.Name == "cuCtxSetCurrent" && clean[i-1].Name == "cuFuncGetParamInfo" && err == nil
				if !lost && (err == nil || !strings.Contains(err.Error(), call.Name+": CUDA_ERROR_UNKNOWN (999)")) {
					t.Errorf("%s: error %v does not name the call", where, err)
				}
				left := leaked(d)
				if len(left) > 1 || len(left) == 1 && !slices.Contains(mayLose, call.Name) {
					t.Errorf("%s: still alive: %+v", where, left)
				}
				sweep(d, held, left)
			}
		})
	}
}

// After an error that the device does not recover from each operation ends with
// it, or with success where the driver is not asked.
func TestEveryOperationOnABrokenDevice(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			d := driver(t)
			b := newBench(t)
			d.Break(0, 700)
			wantOnce(t, op.do(b), 700)
			if op.name != "Device.Close" {
				wantOnce(t, b.dev.Close(), 700)
			}
		})
	}
}

func TestEveryErrorThatBreaksADevice(t *testing.T) {
	for _, code := range []int{214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911} {
		d := driver(t)
		b := newBench(t)
		d.Break(0, code)
		wantOnce(t, b.dev.Close(), code)
	}
}

// wantOnce wants an error that says only once what every call returned.
func wantOnce(t *testing.T, err error, code int) {
	t.Helper()
	if err == nil || strings.Count(err.Error(), fmt.Sprintf("(%d)", code)) != 1 {
		t.Errorf("error %v does not say %d once", err, code)
	}
}

// What else fails on a broken device is told all the same.
func TestOtherFailuresOnABrokenDevice(t *testing.T) {
	d, dev, stream := onDevice0(t)
	must(t, kernrt.Launch(add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{})), stream, kernrt.Grid1D(1), addArgsOf(16)))
	for call, code := range map[string]int{"cuStreamSynchronize": 715, "cuMemFreeAsync": 999, "cuStreamDestroy_v2": 715, "cuMemFree_v2": 1, "cuModuleUnload": 719} {
		d.FailAlways(call, code)
	}
	err := dev.Close()
	d.Reset()
	for _, text := range []string{"(715)", "(999)", "(1)", "(719)"} {
		if err == nil || strings.Count(err.Error(), text) < 1 || strings.Count(err.Error(), "cuStreamDestroy_v2") != 0 {
			t.Errorf("error %v does not tell what failed", err)
		}
	}
}

// While a stream is being captured each operation does no harm to the capture,
// whether it is on that stream or on another.
func TestEveryOperationWhileAStreamIsCaptured(t *testing.T) {
	queued := []string{"CopyFromAsync", "CopyToAsync", "CopyFromDevice", "CopyRowsFromAsync", "CopyRowsToAsync", "CopyRowsFromDevice",
		"Fill", "Fill of 8 bytes", "Launch", "Launch of tensors", "Launch of a resident grid", "Args.Launch", "Stream.Priority", "Event.Record"}
	waits := []string{"Upload", "Download", "CopyFrom", "CopyTo", "CopyRowsFrom", "CopyRowsTo", "AllocAsync", "FreeAsync",
		"Stream.Query", "Stream.Synchronize", "Stream.SynchronizeContext", "Stream.Done", "Stream.Wait", "graph.Capture", "Device.Close"}
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			d := driver(t)
			b := newBench(t)
			d.SetCapture(b.stream.Handle(), 1)
			err := op.do(b)
			if slices.Contains(waits, op.name) {
				if !errors.Is(err, kernrt.ErrCapturing) {
					t.Errorf("error %v is not %q", err, kernrt.ErrCapturing)
				}
			} else if err != nil {
				t.Errorf("on or beside the captured stream: %v", err)
			}
			if got := captureState(d, b.stream.Handle()); got != 1 {
				t.Errorf("the capture is in state %d afterwards", got)
			}
			d.SetCapture(b.stream.Handle(), 0)
			if slices.Contains(waits, op.name) || slices.Contains(queued, op.name) {
				must(t, op.do(b))
			}
			if op.name != "Device.Close" {
				must(t, b.dev.Close())
			}
		})
	}
}

// captureState is what the driver says of a stream: 0 for none, 1 for being
// captured, 2 for a capture that is spoilt.
func captureState(d *fakecuda.Driver, stream uintptr) int {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var context uintptr
	var state int32
	d.Call("cuStreamGetCtx", stream, uintptr(unsafe.Pointer(&context)))
	d.Call("cuCtxSetCurrent", context)
	d.Call("cuStreamIsCapturing", stream, uintptr(unsafe.Pointer(&state)))
	d.Call("cuCtxSetCurrent", 0)
	return int(state)
}

func TestClosingAStreamThatIsCapturedMayBeTriedAgain(t *testing.T) {
	d, dev, stream := onDevice0(t)
	k := add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{Size: 32}))
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16)))
	const text = "close: the stream is being captured, and closing it would spoil the capture; end the capture first"
	d.SetCapture(stream.Handle(), 1)
	wantError(t, stream.Close(), kernrt.ErrCapturing, text)
	wantError(t, dev.Close(), kernrt.ErrCapturing, "close "+h200+text[len("close"):])
	wantAllocated(t, d, 32, 64)
	d.SetCapture(stream.Handle(), 0)
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16)))
	must(t, stream.Close())
	wantAllocated(t, d)
	must(t, dev.Close())
}

func TestClosingAStreamThatCannotBeDestroyedMayBeTriedAgain(t *testing.T) {
	d, dev, stream := onDevice0(t)
	k := add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{}))
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16)))
	d.FailNext("cuStreamDestroy_v2", 999, 0)
	wantCall(t, stream.Close(), "cuStreamDestroy_v2")
	wantAllocated(t, d)
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16)))
	must(t, stream.Close())
	wantError(t, stream.Close(), kernrt.ErrClosed, "close: the stream is closed already")
	must(t, dev.Close())
}
