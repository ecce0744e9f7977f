//go:build cgo && linux

package fakecuda

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

func begin(t *testing.T, d *Driver, stream, mode uintptr) {
	t.Helper()
	must(t, d.Call("cuStreamBeginCapture_v2", stream, mode))
}

func end(d *Driver, stream uintptr) (graph uintptr, result int) {
	result = d.Call("cuStreamEndCapture", stream, uintptr(unsafe.Pointer(&graph)))
	return graph, result
}

func status(t *testing.T, d *Driver, stream uintptr) int {
	t.Helper()
	var s int32
	must(t, d.Call("cuStreamIsCapturing", stream, uintptr(unsafe.Pointer(&s))))
	return int(s)
}

// onThread makes calls on a thread that does nothing else, with the context
// current.
func onThread(d *Driver, context uintptr, calls func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		d.Call("cuCtxSetCurrent", context)
		calls()
	}()
	<-done
}

// The modes in which a capture bears a call, beside it or in it. What a driver of
// CUDA 13.0 on an H200 does.
func TestCaptureModes(t *testing.T) {
	const (
		bears   = 0
		refuses = 900
	)
	cubin := image(t, "add.sm90.cubin")
	var word [2]uint64
	out := func() uintptr { return uintptr(unsafe.Pointer(&word[0])) }
	tests := []struct {
		name string
		call func(d *Driver, captured, other, event uintptr) int
		want [3]int // by mode
	}{
		{"query", func(d *Driver, s, _, _ uintptr) int { return d.Call("cuStreamQuery", s) }, [3]int{refuses, refuses, refuses}},
		{"query of another stream", func(d *Driver, _, o, _ uintptr) int { return d.Call("cuStreamQuery", o) }, [3]int{refuses, refuses, bears}},
		{"wait for another stream", func(d *Driver, _, o, _ uintptr) int { return d.Call("cuStreamSynchronize", o) }, [3]int{refuses, refuses, bears}},
		{"wait for the context", func(d *Driver, _, _, _ uintptr) int { return d.Call("cuCtxSynchronize") }, [3]int{refuses, refuses, refuses}},
		{"query of an event", func(d *Driver, _, _, e uintptr) int { return d.Call("cuEventQuery", e) }, [3]int{refuses, refuses, bears}},
		{"wait for an event", func(d *Driver, _, _, e uintptr) int { return d.Call("cuEventSynchronize", e) }, [3]int{refuses, refuses, bears}},
		{"free memory", func(d *Driver, _, _, _ uintptr) int { return d.Call("cuMemGetInfo_v2", out(), out()+8) }, [3]int{bears, bears, bears}},
		{"new event", func(d *Driver, _, _, _ uintptr) int { return d.Call("cuEventCreate", out(), 0) }, [3]int{bears, bears, bears}},
		{"new stream", func(d *Driver, _, _, _ uintptr) int { return d.Call("cuStreamCreateWithPriority", out(), 1, 0) }, [3]int{bears, bears, bears}},
		{"upload", func(d *Driver, s, _, _ uintptr) int { return d.Call("cuGraphUpload", 0, s) }, [3]int{refuses, refuses, refuses}},
		{"launch of a graph", func(d *Driver, s, _, _ uintptr) int { return d.Call("cuGraphLaunch", 0, s) }, [3]int{refuses, refuses, refuses}},
		{"instantiation of no graph", func(d *Driver, _, _, _ uintptr) int {
			return d.Call("cuGraphInstantiateWithFlags", out(), 0, 0)
		}, [3]int{refuses, refuses, 1}},
		{"load of a module", func(d *Driver, _, _, _ uintptr) int {
			return d.Call("cuModuleLoadDataEx", out(), uintptr(unsafe.Pointer(&cubin[0])), 0, 0, 0)
		}, [3]int{bears, bears, bears}},
		{"unload of a module", func(d *Driver, _, _, _ uintptr) int {
			must(t, d.Call("cuModuleLoadDataEx", out(), uintptr(unsafe.Pointer(&cubin[0])), 0, 0, 0))
			return d.Call("cuModuleUnload", uintptr(word[0]))
		}, [3]int{refuses, refuses, bears}},
		{"pinned memory", func(d *Driver, _, _, _ uintptr) int {
			var p uintptr
			result := d.Call("cuMemHostAlloc", uintptr(unsafe.Pointer(&p)), 64, 0)
			if result == 0 {
				result = d.Call("cuMemFreeHost", p)
			}
			return result
		}, [3]int{refuses, refuses, bears}},
		{"memory", func(d *Driver, _, _, _ uintptr) int {
			var p uintptr
			result := d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 64)
			if result == 0 {
				result = d.Call("cuMemFree_v2", p)
			}
			return result
		}, [3]int{refuses, refuses, bears}},
		{"memory in another stream's order", func(d *Driver, _, o, _ uintptr) int {
			var p uintptr
			result := d.Call("cuMemAllocAsync", uintptr(unsafe.Pointer(&p)), 64, o)
			if result == 0 {
				result = d.Call("cuMemFreeAsync", p, o)
			}
			return result
		}, [3]int{refuses, refuses, bears}},
	}
	for _, test := range tests {
		for mode, wanted := range test.want {
			t.Run(fmt.Sprintf("%s, mode %d", test.name, mode), func(t *testing.T) {
				d, _ := open(t)
				s, o, e := newStream(t, d), newStream(t, d), newEvent(t, d, 0)
				must(t, d.Call("cuEventRecord", e, o))
				begin(t, d, s, uintptr(mode))
				result := test.call(d, s, o, e)
				_, ended := end(d, s)
				if result != wanted {
					t.Errorf("got %d, want %d", result, wanted)
				}
				if spoilt := wanted >= 900; spoilt != (ended == 901) || !spoilt && ended != 0 {
					t.Errorf("then the end of the capture is %d", ended)
				}
				must(t, d.Call("cuStreamSynchronize", s)) // in order again
			})
		}
	}
}

// A call on another thread than the capture's.
func TestCaptureBesideThread(t *testing.T) {
	alloc := func(d *Driver) int {
		var p uintptr
		result := d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 64)
		d.Call("cuMemFree_v2", p)
		return result
	}
	for _, test := range []struct {
		capture, thread int
		alloc           int
		end             int // by the other thread
	}{{0, 0, 900, 908}, {0, 1, 0, 908}, {0, 2, 0, 908}, {1, 0, 0, 908}, {2, 0, 0, 0}} {
		t.Run(fmt.Sprintf("capture %d, thread %d", test.capture, test.thread), func(t *testing.T) {
			d, context := open(t)
			stream := newStream(t, d)
			begin(t, d, stream, uintptr(test.capture))
			onThread(d, context, func() {
				mode := int32(test.thread)
				d.Call("cuThreadExchangeStreamCaptureMode", uintptr(unsafe.Pointer(&mode)))
				if got := alloc(d); got != test.alloc {
					t.Errorf("allocation %d, want %d", got, test.alloc)
				}
				graph, got := end(d, stream)
				if got != test.end {
					t.Errorf("end %d, want %d", got, test.end)
				}
				d.Call("cuGraphDestroy", graph)
			})
			_, again := end(d, stream)
			want(t, again, 401)
		})
	}
}

func TestCaptureEnds(t *testing.T) {
	tests := []struct {
		name   string
		during func(t *testing.T, d *Driver, a, b, event, p uintptr)
		want   int
	}{
		{"nothing", func(*testing.T, *Driver, uintptr, uintptr, uintptr, uintptr) {}, 0},
		{"a fork without work", func(t *testing.T, d *Driver, a, b, event, p uintptr) {
			must(t, d.Call("cuMemsetD8Async", p, 1, 1, a))
			must(t, d.Call("cuEventRecord", event, a))
			must(t, d.Call("cuStreamWaitEvent", b, event, 0))
			want(t, status(t, d, b), 1)
		}, 0},
		{"a fork that is joined", func(t *testing.T, d *Driver, a, b, event, p uintptr) {
			must(t, d.Call("cuEventRecord", event, a))
			must(t, d.Call("cuStreamWaitEvent", b, event, 0))
			must(t, d.Call("cuMemsetD8Async", p, 1, 1, b))
			must(t, d.Call("cuEventRecord", event, b))
			must(t, d.Call("cuStreamWaitEvent", a, event, 0))
		}, 0},
		{"a fork that is not", func(t *testing.T, d *Driver, a, b, event, p uintptr) {
			must(t, d.Call("cuEventRecord", event, a))
			must(t, d.Call("cuStreamWaitEvent", b, event, 0))
			must(t, d.Call("cuMemsetD8Async", p, 1, 1, b))
		}, 904},
		{"the fork ends it", func(t *testing.T, d *Driver, a, b, event, _ uintptr) {
			must(t, d.Call("cuEventRecord", event, a))
			must(t, d.Call("cuStreamWaitEvent", b, event, 0))
			_, result := end(d, b)
			want(t, result, 903)
			want(t, status(t, d, a), 2)
		}, 901},
		{"an event from before", func(t *testing.T, d *Driver, a, b, event, _ uintptr) {
			must(t, d.Call("cuEventRecord", event, b))
			want(t, d.Call("cuStreamWaitEvent", a, event, 0), 905)
		}, 901},
		{"an event never recorded", func(t *testing.T, d *Driver, a, _, event, _ uintptr) {
			must(t, d.Call("cuStreamWaitEvent", a, event, 0))
		}, 0},
		{"an event of another capture", func(t *testing.T, d *Driver, a, b, event, _ uintptr) {
			begin(t, d, b, 2)
			must(t, d.Call("cuEventRecord", event, a))
			want(t, d.Call("cuStreamWaitEvent", b, event, 0), 902)
			_, result := end(d, b)
			want(t, result, 901)
		}, 901},
		{"query of its event", func(t *testing.T, d *Driver, a, _, event, _ uintptr) {
			must(t, d.Call("cuEventRecord", event, a))
			want(t, d.Call("cuEventQuery", event), 907)
		}, 901},
		{"wait for its event", func(t *testing.T, d *Driver, a, _, event, _ uintptr) {
			must(t, d.Call("cuEventRecord", event, a))
			want(t, d.Call("cuEventSynchronize", event), 907)
		}, 901},
		{"work after it was spoilt", func(t *testing.T, d *Driver, a, b, event, p uintptr) {
			want(t, d.Call("cuCtxSynchronize"), 900)
			want(t, d.Call("cuMemsetD8Async", p, 1, 1, a), 901)
			want(t, d.Call("cuEventRecord", event, a), 901)
			want(t, d.Call("cuStreamWaitEvent", a, event, 0), 901)
			want(t, d.Call("cuStreamQuery", a), 900)
			must(t, d.Call("cuMemsetD8Async", p, 1, 1, b)) // not captured
		}, 901},
		{"another beginning", func(t *testing.T, d *Driver, a, _, _, _ uintptr) {
			want(t, d.Call("cuStreamBeginCapture_v2", a, 0), 401)
		}, 0},
		{"freeing what it has not allocated", func(t *testing.T, d *Driver, a, _, _, p uintptr) {
			want(t, d.Call("cuMemFreeAsync", p, a), 1)
		}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, _ := open(t)
			a, b, event := newStream(t, d), newStream(t, d), newEvent(t, d, 0)
			var p uintptr
			must(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 64))
			begin(t, d, a, 2)
			test.during(t, d, a, b, event, p)
			graph, result := end(d, a)
			want(t, result, test.want)
			if result == 0 {
				must(t, d.Call("cuGraphDestroy", graph))
			}
			for _, stream := range []uintptr{a, b} { // both are in order again
				want(t, status(t, d, stream), 0)
				must(t, d.Call("cuMemsetD8Async", p, 1, 1, stream))
				must(t, d.Call("cuStreamSynchronize", stream))
			}
			if slices.ContainsFunc(d.Leaks(), func(l Leak) bool { return l.Kind == "graph" }) {
				t.Error("a graph is alive")
			}
			must(t, d.Call("cuEventRecord", event, b)) // and forgets the capture
			must(t, d.Call("cuEventQuery", event))
		})
	}
}

func TestStreamsWithoutCapture(t *testing.T) {
	d, _ := open(t)
	want(t, d.Call("cuStreamBeginCapture_v2", 0, 0), 900)
	_, result := end(d, newStream(t, d))
	want(t, result, 401)
	s := newStream(t, d)
	begin(t, d, s, 0)
	must(t, d.Call("cuStreamDestroy_v2", s)) // takes the capture with it
}

func TestGraphReplays(t *testing.T) {
	d, context := open(t)
	function := load(t, d, "add.sm90.cubin", "add_kernel")
	s, o := newStream(t, d), newStream(t, d)
	var p uintptr
	must(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 64))
	params := make([][]byte, 6)
	for i := range params {
		params[i] = make([]byte, 8)
		params[i][0] = byte(i + 1)
	}
	host := make([]byte, 4)
	var pin runtime.Pinner
	pin.Pin(&host[0])
	defer pin.Unpin()
	c := config{grid: [3]uint32{4, 1, 1}, block: [3]uint32{128, 1, 1}, stream: s, attributes: &attribute{id: 6, value: [16]uint32{1}}, count: 1}

	begin(t, d, s, 0)
	must(t, launch(d, function, &c, params...))
	must(t, d.Call("cuMemsetD8Async", p, 7, 4, s))
	must(t, d.Call("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(&host[0])), p, 4, s))
	graph, result := end(d, s)
	must(t, result)
	if len(d.Launches())+len(d.Fills())+len(d.Copies()) != 0 || host[0] != 0 {
		t.Error("what was captured was done")
	}
	params[0][0] = 99 // the graph has its own

	nodes := d.Nodes()
	if len(nodes) != 3 {
		t.Fatalf("nodes %+v", nodes)
	}
	for i, n := range nodes {
		var after []uintptr
		if i > 0 {
			after = []uintptr{nodes[i-1].Node}
		}
		if n.Graph != graph || n.Type != []int{0, 2, 1}[i] || n.Stream != s || !slices.Equal(n.After, after) {
			t.Errorf("node %d: %+v", i, n)
		}
	}
	if nodes[0].Launch == nil || nodes[1].Fill == nil || nodes[2].Copy == nil {
		t.Errorf("nodes %+v", nodes)
	}
	listed := make([]uintptr, 5)
	count := uintptr(5)
	must(t, d.Call("cuGraphGetNodes", graph, uintptr(unsafe.Pointer(&listed[0])), uintptr(unsafe.Pointer(&count))))
	if diff := cmp.Diff([]uintptr{nodes[0].Node, nodes[1].Node, nodes[2].Node, 0, 0}, listed); diff != "" || count != 3 {
		t.Errorf("%d nodes (-want +got):\n%s", count, diff)
	}

	var exec uintptr
	must(t, d.Call("cuGraphInstantiateWithFlags", uintptr(unsafe.Pointer(&exec)), graph, 0))
	must(t, d.Call("cuGraphUpload", exec, o))
	must(t, d.Call("cuGraphLaunch", exec, o))
	value := [64]byte{1}
	expected := Launch{
		Function: "add_kernel", Module: nodes[0].Launch.Module, Grid: c.grid, Block: c.block, Stream: o, Exec: exec,
		Context: context, Thread: nodes[0].Launch.Thread, Attributes: []Attribute{{6, value}},
		Params: [][]byte{{1, 0, 0, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 0, 0, 0, 0}, {3, 0, 0, 0, 0, 0, 0, 0}, {4, 0, 0, 0}, {5, 0, 0, 0, 0, 0, 0, 0}, {6, 0, 0, 0, 0, 0, 0, 0}},
	}
	if diff := cmp.Diff([]Launch{expected}, d.Launches()); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]byte{7, 7, 7, 7}, host); diff != "" {
		t.Errorf("copied (-want +got):\n%s", diff)
	}

	pointers := make([]unsafe.Pointer, len(params))
	for i := range params {
		params[i][0] += 10
		pointers[i] = unsafe.Pointer(&params[i][0])
		pin.Pin(pointers[i])
	}
	pin.Pin(&pointers[0])
	update := func(change func(u *nodeParams), node uintptr) int {
		u := nodeParams{function: function, grid: [3]uint32{5, 1, 1}, block: [3]uint32{128, 1, 1}, params: uintptr(unsafe.Pointer(&pointers[0]))}
		change(&u)
		return d.Call("cuGraphExecKernelNodeSetParams_v2", exec, node, uintptr(unsafe.Pointer(&u)))
	}
	node := nodes[0].Node
	for name, test := range map[string]struct {
		change func(u *nodeParams)
		node   uintptr
		want   int
	}{
		"zero grid":       {func(u *nodeParams) { u.grid[1] = 0 }, node, 1},
		"another block":   {func(u *nodeParams) { u.block[0] = 64 }, node, 1},
		"no parameters":   {func(u *nodeParams) { u.params = 0 }, node, 1},
		"no function":     {func(u *nodeParams) { u.function = 0 }, node, 1},
		"shared memory":   {func(u *nodeParams) { u.shared = 1 << 20 }, node, 1},
		"a copy's node":   {func(*nodeParams) {}, nodes[2].Node, 1},
		"no node of ours": {func(*nodeParams) {}, 64, 1},
		"as it should be": {func(*nodeParams) {}, node, 0},
	} {
		if got := update(test.change, test.node); got != test.want {
			t.Errorf("update with %s: %d, want %d", name, got, test.want)
		}
	}
	must(t, d.Call("cuGraphLaunch", exec, s))
	last := d.Launches()[1]
	if last.Grid != [3]uint32{5, 1, 1} || last.Params[1][0] != 12 || len(last.Attributes) != 1 {
		t.Errorf("launched after the update: %+v", last)
	}
	var u nodeParams
	must(t, d.Call("cuGraphKernelNodeGetParams_v2", node, uintptr(unsafe.Pointer(&u))))
	if u.function != function || u.grid != c.grid || u.context != context {
		t.Errorf("the graph's node: %+v", u)
	}

	must(t, d.Call("cuGraphDestroy", graph))
	want(t, d.Call("cuGraphDestroy", graph), 1)
	want(t, update(func(*nodeParams) {}, node), 1)
	want(t, d.Call("cuGraphNodeGetType", node, uintptr(unsafe.Pointer(&count))), 1)
	must(t, d.Call("cuGraphLaunch", exec, s))
	if leaks := d.Leaks(); leaks[len(leaks)-1] != (Leak{"exec", exec, 1}) {
		t.Errorf("alive: %+v, want the executable", leaks)
	}
	must(t, d.Call("cuMemFree_v2", p))
	want(t, d.Call("cuGraphLaunch", exec, s), 1) // what it fills is gone
	must(t, d.Call("cuGraphExecDestroy", exec))
	want(t, d.Call("cuGraphExecDestroy", exec), 1)
	want(t, d.Call("cuGraphLaunch", exec, s), 1)
}

// As the driver's CUDA_KERNEL_NODE_PARAMS_v2.
type nodeParams struct {
	function        uintptr
	grid, block     [3]uint32
	shared          uint32
	params, extra   uintptr
	kernel, context uintptr
}

// What a graph allocates lives as long as the graph and its executables.
func TestGraphMemory(t *testing.T) {
	d, _ := open(t)
	s := newStream(t, d)
	var p, exec uintptr
	begin(t, d, s, 0)
	must(t, d.Call("cuMemAllocAsync", uintptr(unsafe.Pointer(&p)), 64, s))
	must(t, d.Call("cuMemsetD8Async", p, 1, 64, s))
	must(t, d.Call("cuMemFreeAsync", p, s))
	graph, result := end(d, s)
	must(t, result)
	var types []int
	for _, n := range d.Nodes() {
		types = append(types, n.Type)
	}
	if !slices.Equal(types, []int{10, 2, 11}) {
		t.Errorf("nodes of types %v, want an allocation, a fill and a free", types)
	}
	must(t, d.Call("cuGraphInstantiateWithFlags", uintptr(unsafe.Pointer(&exec)), graph, 0))
	must(t, d.Call("cuGraphDestroy", graph))
	must(t, d.Call("cuGraphLaunch", exec, s))
	must(t, d.Call("cuGraphExecDestroy", exec))
	want(t, d.Call("cuMemsetD8Async", p, 1, 1, s), 1)

	begin(t, d, s, 0)
	must(t, d.Call("cuMemAllocAsync", uintptr(unsafe.Pointer(&p)), 64, s))
	want(t, d.Call("cuCtxSynchronize"), 900)
	_, result = end(d, s)
	want(t, result, 901)
	want(t, d.Call("cuMemsetD8Async", p, 1, 1, s), 1)
}

func TestCaptureInfo(t *testing.T) {
	d, _ := open(t)
	s := newStream(t, d)
	var (
		state       int32
		id          uint64
		graph, list uintptr
		count       uintptr
	)
	info := func() {
		t.Helper()
		must(t, d.Call("cuStreamGetCaptureInfo_v2", s, uintptr(unsafe.Pointer(&state)), uintptr(unsafe.Pointer(&id)),
			uintptr(unsafe.Pointer(&graph)), uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&count))))
	}
	info()
	if state != 0 || id != 0 || graph != 0 {
		t.Errorf("without a capture: state %d, capture %d, graph %#x", state, id, graph)
	}
	var p uintptr
	must(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 64))
	begin(t, d, s, 2)
	info()
	if state != 1 || id == 0 || graph == 0 || count != 0 {
		t.Errorf("at the beginning: state %d, capture %d, graph %#x, %d nodes", state, id, graph, count)
	}
	must(t, d.Call("cuMemsetD8Async", p, 1, 1, s))
	info()
	if nodes := d.Nodes(); count != 1 || nodes[0].Graph != graph {
		t.Errorf("after a fill: %d nodes, %+v", count, nodes)
	}
	ended, result := end(d, s)
	must(t, result)
	if ended != graph {
		t.Errorf("graph %#x, want %#x", ended, graph)
	}
	must(t, d.Call("cuGraphDestroy", graph))
}
