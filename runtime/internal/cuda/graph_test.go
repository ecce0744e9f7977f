package cuda_test

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// numbers is an array of the device's of which each test reads the beginning.
func numbers(t *testing.T, ctx cuda.Context, st cuda.Stream, value float32) uint64 {
	t.Helper()
	const n = 2048
	p := memory(t, ctx, 4*n)
	must(t, ctx.Fill32Async(st, p, *(*uint32)(unsafe.Pointer(&value)), n))
	return p
}

func TestGraph(t *testing.T) {
	_, ctx := start(t)
	f, plan := add(t, ctx)
	testGraph(t, ctx, f, plan)
}

// A driver of CUDA 11.8 has the first version of the functions for nodes only.
func TestGraphOnOldDriver(t *testing.T) {
	if !inOwnProcess(t, "FAKE_VERSION=11080") {
		return
	}
	_, ctx := start(t)
	if fake.Has("cuGraphExecKernelNodeSetParams_v2") {
		t.Fatal("the fake is too new")
	}
	f, plan := add(t, ctx)
	testGraph(t, ctx, f, plan)
}

func testGraph(t *testing.T, ctx cuda.Context, f cuda.Function, plan cuda.Plan) {
	st := stream(t, ctx)
	ones, twos, fours := numbers(t, ctx, st, 1), numbers(t, ctx, st, 2), numbers(t, ctx, st, 4)
	out := numbers(t, ctx, st, 0)
	host, s := ctx.AllocHost(4 * 2048)
	must(t, s)
	t.Cleanup(func() { must(t, ctx.FreeHost(host)) })
	must(t, ctx.Synchronize(st))

	args := addArgs{ones, twos, out, 1024}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	must(t, ctx.BeginCapture(st, cuda.CaptureThreadLocal))
	must(t, ctx.Fill32Async(st, out, 0, 2048))
	must(t, plan.Launch(st, 1, 1, 1, unsafe.Pointer(&args), 0, 0))
	info, s := ctx.CaptureInfo(st)
	must(t, s)
	must(t, ctx.CopyOutAsync(st, host, out, 4*2048))
	graph, s := ctx.EndCapture(st)
	must(t, s)
	if info.State != cuda.CaptureActive || info.ID == 0 || len(info.Nodes) != 1 {
		t.Fatalf("capture info %+v", info)
	}
	nodes, s := ctx.Nodes(graph)
	must(t, s)
	var types []int
	for _, n := range nodes {
		typ, s := ctx.NodeType(n)
		must(t, s)
		types = append(types, typ)
	}
	slices.Sort(types) // the driver promises no order
	if !slices.Equal(types, []int{cuda.NodeKernel, cuda.NodeCopy, cuda.NodeFill}) {
		t.Errorf("nodes of types %v", types)
	}
	launch := info.Nodes[0]
	k, s := ctx.NodeFunction(launch)
	must(t, s)
	if k != f {
		t.Errorf("the node launches %#x, want %#x", k, f)
	}

	exec, s := ctx.Instantiate(graph)
	must(t, s)
	must(t, ctx.UploadGraph(exec, st))
	must(t, ctx.LaunchGraph(exec, st))
	must(t, ctx.Synchronize(st))
	sums := unsafe.Slice((*float32)(host), 2048)
	first := slices.Clone(sums)

	args = addArgs{ones, fours, out, 2048}
	must(t, plan.Update(exec, launch, 2, 1, 1, unsafe.Pointer(&args), 0, 0))
	must(t, ctx.LaunchGraph(exec, st))
	must(t, ctx.Synchronize(st))
	expect(t, plan.Update(exec, launch, 0, 1, 1, unsafe.Pointer(&args), 0, 0), update(), cuda.InvalidValue)
	must(t, ctx.DestroyGraph(graph))
	must(t, ctx.LaunchGraph(exec, st))
	must(t, ctx.Synchronize(st))
	must(t, ctx.DestroyGraphExec(exec))

	if fake == nil {
		if first[0] != 3 || first[1023] != 3 || first[1024] != 0 {
			t.Errorf("first launch: %g, %g and %g, want 3, 3 and 0", first[0], first[1023], first[1024])
		}
		if sums[0] != 5 || sums[2047] != 5 {
			t.Errorf("after the update: %g and %g, want 5", sums[0], sums[2047])
		}
		return
	}
	launches := fake.Launches()
	if len(launches) != 3 {
		t.Fatalf("%d launches, want 3 replays", len(launches))
	}
	for i, l := range launches {
		want := [][3]uint32{{1, 1, 1}, {2, 1, 1}, {2, 1, 1}}[i]
		n := *(*int32)(unsafe.Pointer(&l.Params[3][0]))
		if l.Exec != uintptr(exec) || l.Stream != uintptr(st) || l.Grid != want || n != int32(1024*want[0]) {
			t.Errorf("replay %d: %+v", i, l)
		}
	}
	if copies := fake.Copies(); len(copies) != 3 || copies[0].Exec != uintptr(exec) || !copies[0].Pinned {
		t.Errorf("copies %+v", copies)
	}
	if sums[0] != 0 {
		t.Errorf("the replay's copy brought %g", sums[0])
	}
}

// update is the function that updates a node.
func update() string {
	if fake != nil && !fake.Has("cuGraphExecKernelNodeSetParams_v2") {
		return "cuGraphExecKernelNodeSetParams"
	}
	return "cuGraphExecKernelNodeSetParams_v2"
}

func TestForkedCapture(t *testing.T) {
	_, ctx := start(t)
	a, b, e := stream(t, ctx), stream(t, ctx), event(t, ctx, cuda.EventUntimed)
	p := numbers(t, ctx, a, 0)
	must(t, ctx.Synchronize(a))
	for _, join := range []bool{true, false} {
		must(t, ctx.BeginCapture(a, cuda.CaptureRelaxed))
		must(t, ctx.Record(e, a))
		must(t, ctx.Wait(b, e))
		must(t, ctx.FillAsync(b, p, 1, 4))
		if join {
			must(t, ctx.Record(e, b))
			must(t, ctx.Wait(a, e))
		}
		graph, s := ctx.EndCapture(a)
		if join {
			must(t, s)
			must(t, ctx.DestroyGraph(graph))
		} else {
			expect(t, s, "cuStreamEndCapture", cuda.CaptureUnjoined)
		}
		for _, st := range []cuda.Stream{a, b} {
			must(t, ctx.FillAsync(st, p, 2, 4))
			must(t, ctx.Synchronize(st))
		}
	}
}

// What a capture in global mode forbids every thread is done beside it, and leaves
// it whole.
func TestBesideACapture(t *testing.T) {
	device, ctx := start(t)
	captured, st, e := stream(t, ctx), stream(t, ctx), event(t, ctx, 0)
	host := make([]byte, 64)
	p := memory(t, ctx, 64)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	must(t, ctx.BeginCapture(captured, cuda.CaptureGlobal))
	for range 2 {
		a, s := ctx.Alloc(64)
		must(t, s)
		must(t, ctx.Free(a))
		a, s = ctx.AllocAsync(st, 64)
		must(t, s)
		must(t, ctx.FreeAsync(st, a))
		pinned, s := ctx.AllocHost(64)
		must(t, s)
		must(t, ctx.FreeHost(pinned))
		pool, s := ctx.NewPool(device)
		must(t, s)
		a, s = ctx.AllocFromPool(pool, st, 64)
		must(t, s)
		must(t, ctx.FreeAsync(st, a))
		_, s = ctx.PoolAttribute(pool, cuda.PoolUsed)
		must(t, s)
		must(t, ctx.TrimPool(pool, 0))
		must(t, ctx.DestroyPool(pool))
		_, _, s = ctx.MemoryInfo()
		must(t, s)
		another, s := ctx.NewStream(-1)
		must(t, s)
		must(t, ctx.Destroy(another))
		other, s := ctx.NewEvent(cuda.EventBlocking)
		must(t, s)
		must(t, ctx.DestroyEvent(other))
		must(t, ctx.CopyIn(st, p, unsafe.Pointer(&host[0]), 64))
		must(t, ctx.CopyOut(st, unsafe.Pointer(&host[0]), p, 64))
		must(t, ctx.CopyRowsIn(st, p, unsafe.Pointer(&host[0]), rows, true))
		must(t, ctx.Record(e, st))
		must(t, ctx.SynchronizeEvent(e))
		must(t, ctx.QueryEvent(e))
		_, s = ctx.Elapsed(e, e)
		must(t, s)
		must(t, ctx.Synchronize(st))
		must(t, ctx.Query(st))
	}
	if mode := captureMode(); mode != cuda.CaptureGlobal {
		t.Errorf("the thread's mode is %d afterwards", mode)
	}
	info, s := ctx.CaptureInfo(captured)
	must(t, s)
	if info.State != cuda.CaptureActive {
		t.Errorf("the capture is in state %d", info.State)
	}
	graph, s := ctx.EndCapture(captured)
	must(t, s)
	must(t, ctx.DestroyGraph(graph))
}

// captureMode is the calling thread's on the fake driver, which it resets.
func captureMode() int {
	mode := int32(cuda.CaptureGlobal)
	if fake != nil {
		fake.Call("cuThreadExchangeStreamCaptureMode", uintptr(unsafe.Pointer(&mode)))
	}
	return int(mode)
}

func TestOccupancy(t *testing.T) {
	_, ctx := start(t)
	f, _ := add(t, ctx)
	blocks, s := ctx.ActiveBlocks(f, 128, 0)
	must(t, s)
	if blocks != 16 {
		t.Errorf("%d CTAs of 128 threads on one multiprocessor, want 16", blocks)
	}
	clusters, s := ctx.ActiveClusters(f, 128, 0, [3]int{4, 1, 1})
	must(t, s)
	if clusters < 1 || clusters > 16*256/4 {
		t.Errorf("%d clusters of 4", clusters)
	}
}
