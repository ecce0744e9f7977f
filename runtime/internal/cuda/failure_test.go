package cuda_test

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// world is one of everything that a call needs.
type world struct {
	device cuda.Device
	ctx    cuda.Context
	stream cuda.Stream
	event  cuda.Event
	pool   cuda.Pool
	f      cuda.Function
	plan   cuda.Plan
	graph  cuda.Graph
	node   cuda.GraphNode
	exec   cuda.GraphExec
	p      uint64
	host   unsafe.Pointer
}

func newWorld(t *testing.T) *world {
	w := &world{}
	var s cuda.Status
	w.device, w.ctx = start(t)
	w.stream, w.event = stream(t, w.ctx), event(t, w.ctx, 0)
	w.p = memory(t, w.ctx, 64)
	w.f, w.plan = add(t, w.ctx)
	w.host, s = w.ctx.AllocHost(64)
	must(t, s)
	t.Cleanup(func() { must(t, w.ctx.FreeHost(w.host)) })
	w.pool, s = w.ctx.NewPool(w.device)
	must(t, s)
	t.Cleanup(func() { must(t, w.ctx.DestroyPool(w.pool)) })
	must(t, w.ctx.BeginCapture(w.stream, cuda.CaptureRelaxed))
	must(t, w.plan.Launch(w.stream, 1, 1, 1, unsafe.Pointer(&addArgs{}), 0, 0))
	w.graph, s = w.ctx.EndCapture(w.stream)
	must(t, s)
	t.Cleanup(func() { must(t, w.ctx.DestroyGraph(w.graph)) })
	nodes, s := w.ctx.Nodes(w.graph)
	must(t, s)
	w.node = nodes[0]
	w.exec, s = w.ctx.Instantiate(w.graph)
	must(t, s)
	t.Cleanup(func() { must(t, w.ctx.DestroyGraphExec(w.exec)) })
	return w
}

// Each wrapper, by the driver function that it calls.
var wrappers = []struct {
	function string
	call     func(w *world) cuda.Status
}{
	{"cuStreamCreateWithPriority", func(w *world) cuda.Status { _, s := w.ctx.NewStream(-1); return s }},
	{"cuStreamGetPriority", func(w *world) cuda.Status { _, s := w.ctx.Priority(w.stream); return s }},
	{"cuStreamQuery", func(w *world) cuda.Status { return w.ctx.Query(w.stream) }},
	{"cuStreamWaitEvent", func(w *world) cuda.Status { return w.ctx.Wait(w.stream, w.event) }},
	{"cuEventCreate", func(w *world) cuda.Status { _, s := w.ctx.NewEvent(0); return s }},
	{"cuEventDestroy_v2", func(w *world) cuda.Status { return w.ctx.DestroyEvent(w.event) }},
	{"cuEventRecord", func(w *world) cuda.Status { return w.ctx.Record(w.event, w.stream) }},
	{"cuEventQuery", func(w *world) cuda.Status { return w.ctx.QueryEvent(w.event) }},
	{"cuEventSynchronize", func(w *world) cuda.Status { return w.ctx.SynchronizeEvent(w.event) }},
	{"cuEventElapsedTime", func(w *world) cuda.Status { _, s := w.ctx.Elapsed(w.event, w.event); return s }},
	{"cuMemGetInfo_v2", func(w *world) cuda.Status { _, _, s := w.ctx.MemoryInfo(); return s }},
	{"cuMemHostAlloc", func(w *world) cuda.Status { _, s := w.ctx.AllocHost(64); return s }},
	{"cuMemFreeHost", func(w *world) cuda.Status { return w.ctx.FreeHost(w.host) }},
	{"cuMemPoolCreate", func(w *world) cuda.Status { _, s := w.ctx.NewPool(w.device); return s }},
	{"cuMemPoolDestroy", func(w *world) cuda.Status { return w.ctx.DestroyPool(w.pool) }},
	{"cuMemPoolTrimTo", func(w *world) cuda.Status { return w.ctx.TrimPool(w.pool, 0) }},
	{"cuMemPoolSetAttribute", func(w *world) cuda.Status { return w.ctx.SetPoolAttribute(w.pool, cuda.PoolReleaseThreshold, 1) }},
	{"cuMemPoolGetAttribute", func(w *world) cuda.Status { _, s := w.ctx.PoolAttribute(w.pool, cuda.PoolUsed); return s }},
	{"cuMemAllocFromPoolAsync", func(w *world) cuda.Status { _, s := w.ctx.AllocFromPool(w.pool, w.stream, 64); return s }},
	{"cuMemcpyHtoDAsync_v2", func(w *world) cuda.Status { return w.ctx.CopyInAsync(w.stream, w.p, w.host, 64) }},
	{"cuMemcpyDtoHAsync_v2", func(w *world) cuda.Status { return w.ctx.CopyOutAsync(w.stream, w.host, w.p, 64) }},
	{"cuMemcpyDtoDAsync_v2", func(w *world) cuda.Status { return w.ctx.CopyAsync(w.stream, w.p, w.p+32, 32) }},
	{"cuMemcpy2DAsync_v2", func(w *world) cuda.Status { return w.ctx.CopyRowsIn(w.stream, w.p, w.host, rows, true) }},
	{"cuStreamSynchronize", func(w *world) cuda.Status { return w.ctx.CopyRowsIn(w.stream, w.p, w.host, rows, true) }},
	{"cuMemcpy2DAsync_v2", func(w *world) cuda.Status { return w.ctx.CopyRowsOut(w.stream, w.host, w.p, rows, false) }},
	{"cuStreamSynchronize", func(w *world) cuda.Status { return w.ctx.CopyRowsOut(w.stream, w.host, w.p, rows, true) }},
	{"cuMemcpy2DAsync_v2", func(w *world) cuda.Status { return w.ctx.CopyRowsAsync(w.stream, w.p, w.p+32, rows) }},
	{"cuMemsetD8Async", func(w *world) cuda.Status { return w.ctx.FillAsync(w.stream, w.p, 1, 1) }},
	{"cuMemsetD16Async", func(w *world) cuda.Status { return w.ctx.Fill16Async(w.stream, w.p, 1, 1) }},
	{"cuMemsetD32Async", func(w *world) cuda.Status { return w.ctx.Fill32Async(w.stream, w.p, 1, 1) }},
	{"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", func(w *world) cuda.Status { _, s := w.ctx.ActiveBlocks(w.f, 128, 0); return s }},
	{"cuOccupancyMaxActiveClusters", func(w *world) cuda.Status { _, s := w.ctx.ActiveClusters(w.f, 128, 0, [3]int{2, 1, 1}); return s }},
	{"cuStreamBeginCapture_v2", func(w *world) cuda.Status { return w.ctx.BeginCapture(w.stream, cuda.CaptureRelaxed) }},
	{"cuStreamEndCapture", func(w *world) cuda.Status { _, s := w.ctx.EndCapture(w.stream); return s }},
	{"cuStreamGetCaptureInfo_v2", func(w *world) cuda.Status { _, s := w.ctx.CaptureInfo(w.stream); return s }},
	{"cuGraphDestroy", func(w *world) cuda.Status { return w.ctx.DestroyGraph(w.graph) }},
	{"cuGraphGetNodes", func(w *world) cuda.Status { _, s := w.ctx.Nodes(w.graph); return s }},
	{"cuGraphNodeGetType", func(w *world) cuda.Status { _, s := w.ctx.NodeType(w.node); return s }},
	{"cuGraphKernelNodeGetParams_v2", func(w *world) cuda.Status { _, s := w.ctx.NodeFunction(w.node); return s }},
	{"cuGraphInstantiateWithFlags", func(w *world) cuda.Status { _, s := w.ctx.Instantiate(w.graph); return s }},
	{"cuGraphExecDestroy", func(w *world) cuda.Status { return w.ctx.DestroyGraphExec(w.exec) }},
	{"cuGraphExecKernelNodeSetParams_v2", func(w *world) cuda.Status {
		return w.plan.Update(w.exec, w.node, 1, 1, 1, unsafe.Pointer(&addArgs{}), 0, 0)
	}},
	{"cuGraphKernelNodeGetParams_v2", func(w *world) cuda.Status { return w.plan.SetScratch(w.exec, w.node, [2]uint64{}) }},
	{"cuGraphKernelNodeGetParams_v2", func(w *world) cuda.Status { _, s := w.plan.Scratch(w.node); return s }},
	{"cuLaunchKernelEx", func(w *world) cuda.Status {
		return w.plan.LaunchCaptured(w.stream, 1, 1, 1, unsafe.Pointer(&addArgs{}), 0, 0)
	}},
	{"cuPointerGetAttribute", func(w *world) cuda.Status { _, s := w.ctx.Reaches(w.p); return s }},
	{"cuGraphUpload", func(w *world) cuda.Status { return w.ctx.UploadGraph(w.exec, w.stream) }},
	{"cuGraphLaunch", func(w *world) cuda.Status { return w.ctx.LaunchGraph(w.exec, w.stream) }},
}

var rows = cuda.Rows{Width: 8, Count: 2, ToPitch: 16, FromPitch: 16}

// A failure comes back with the name of the call, whether it is the call itself
// or the switch to the context before it.
func TestFailures(t *testing.T) {
	w := newWorld(t)
	if fake == nil {
		t.Skip("no fake driver")
	}
	for _, wrapper := range wrappers {
		for _, function := range []string{wrapper.function, "cuCtxGetCurrent"} {
			t.Run(wrapper.function+"/"+function, func(t *testing.T) {
				fake.FailNext(function, 999, 0)
				expect(t, wrapper.call(w), function, 999)
			})
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for nth, call := range []func() cuda.Status{
		func() cuda.Status { return w.ctx.Synchronize(w.stream) },
		func() cuda.Status { _, s := w.ctx.Alloc(64); return s },
	} {
		fake.FailNext("cuThreadExchangeStreamCaptureMode", 999, 0)
		expect(t, call(), "cuThreadExchangeStreamCaptureMode", 999)
		if nth == 0 {
			fake.FailNext("cuThreadExchangeStreamCaptureMode", 999, 1)
			expect(t, call(), "cuThreadExchangeStreamCaptureMode", 999)
			captureMode()
		}
	}
}

// After an error that the device does not recover from, whatever is asked says so.
func TestBrokenDevice(t *testing.T) {
	w := newWorld(t)
	if fake == nil {
		t.Skip("no fake driver")
	}
	for _, wrapper := range wrappers {
		// A broken launch or copy is seen by the call, not by the wait after it; a
		// question about an address needs no context.
		if wrapper.function == "cuStreamSynchronize" || wrapper.function == "cuPointerGetAttribute" {
			continue
		}
		fake.Break(0, 700)
		expect(t, wrapper.call(w), wrapper.function, 700)
		fake.Break(0, 0)
	}
}

// What a program does again and again allocates nothing.
func TestAllocations(t *testing.T) {
	w := newWorld(t)
	if fake != nil {
		fake.Record(false)
	}
	args := addArgs{}
	must(t, w.ctx.Record(w.event, w.stream))
	must(t, w.ctx.Synchronize(w.stream))
	for name, call := range map[string]func() cuda.Status{
		"update": func() cuda.Status { return w.plan.Update(w.exec, w.node, 1, 1, 1, unsafe.Pointer(&args), 0, 0) },
		"rows":   func() cuda.Status { return w.ctx.CopyRowsAsync(w.stream, w.p, w.p+32, rows) },
		"time":   func() cuda.Status { _, s := w.ctx.Elapsed(w.event, w.event); return s },
	} {
		if n := testing.AllocsPerRun(100, func() { call() }); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
	for _, wrapper := range wrappers {
		switch name := wrapper.function; {
		case strings.HasPrefix(name, "cuMemcpy"), strings.HasPrefix(name, "cuMemset"), name == "cuGraphLaunch",
			name == "cuEventRecord", name == "cuEventQuery", name == "cuStreamWaitEvent", name == "cuStreamQuery":
			if n := testing.AllocsPerRun(100, func() { wrapper.call(w) }); n != 0 {
				t.Errorf("%s: %g allocations", name, n)
			}
		}
	}
	must(t, w.ctx.Synchronize(w.stream))
}
