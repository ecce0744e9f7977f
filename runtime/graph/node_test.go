package graph_test

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/kerngen/kerngen/internal/fakecuda"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"
)

// recorded captures one launch and makes an executable.
func recorded(t *testing.T, stream *kernrt.Stream, k *kernrt.Kernel, grid int, n int32) (*graph.Graph, *graph.Exec, *graph.Node[addArgs]) {
	t.Helper()
	var node *graph.Node[addArgs]
	g, err := graph.Capture(stream, func() (err error) {
		node, err = graph.Record[addArgs](stream, func() error { return launch(k, stream, grid, n) })
		return err
	})
	must(t, err)
	exec, err := g.Instantiate()
	must(t, err)
	return g, exec, node
}

func TestUpdate(t *testing.T) {
	d, _, stream := start(t)
	g, exec, node := recorded(t, stream, plain(t), 1, 16)
	other, err := g.Instantiate()
	must(t, err)
	must(t, g.Close())
	must(t, node.Update(exec, kernrt.Grid2D(3, 4), argsOf(99)))
	must(t, exec.Launch(stream))
	must(t, other.Launch(stream))
	launches := d.Launches()
	n := func(i int) uint32 { return binary.NativeEndian.Uint32(launches[i].Params[3]) }
	if launches[0].Grid != [3]uint32{3, 4, 1} || n(0) != 99 || launches[1].Grid != [3]uint32{1, 1, 1} || n(1) != 16 {
		t.Errorf("launches %+v", launches)
	}
}

func TestNoGraphAndNoExec(t *testing.T) {
	_, _, stream := start(t)
	_, exec, node := recorded(t, stream, plain(t), 1, 16)
	refused := func(err error, text string) {
		t.Helper()
		wantText(t, err, text)
		if !errors.Is(err, kernrt.ErrArgument) {
			t.Errorf("%v is not %v", err, kernrt.ErrArgument)
		}
	}
	for _, none := range []*graph.Graph{nil, {}} {
		_, err := none.Instantiate()
		refused(err, "instantiate a graph: there is no graph; make one with Capture")
		refused(none.Close(), "close a graph: there is no graph")
		if none.Device() != nil {
			t.Error("there is a device")
		}
	}
	for _, none := range []*graph.Exec{nil, {}} {
		refused(none.Upload(stream), "upload a graph: there is no executable; make one with Graph.Instantiate")
		refused(none.Launch(stream), "launch a graph: there is no executable")
		refused(none.Close(), "close an executable graph: there is no executable")
		refused(node.Update(none, kernrt.Grid1D(1), argsOf(16)), "update: there is no executable")
	}
	for _, none := range []*graph.Node[addArgs]{nil, {}} {
		refused(none.Update(exec, kernrt.Grid1D(1), argsOf(16)), "update: there is no node; make one with Record")
	}
	refused(node.Update(exec, kernrt.Grid1D(1), nil), "update: args is nil")
}

// An update may select another variant, as long as that is launched alike.
func TestUpdateToAnotherVariant(t *testing.T) {
	d, dev, stream := start(t)
	const folded = 3
	variants := [][]kernrt.Guard{{{Param: folded, Is: kernrt.DivisibleBy16}}, nil}
	alike := add(t, variants)
	_, exec, node := recorded(t, stream, alike, 1, 16)
	must(t, node.Update(exec, kernrt.Grid1D(1), argsOf(17)))
	must(t, exec.Launch(stream))
	if len(d.Loads()) != 2 || d.Launches()[0].Module != d.Loads()[1].Module {
		t.Errorf("launched %+v, want the second module", d.Launches())
	}
	for _, change := range []func(*kernrt.Image){
		func(m *kernrt.Image) { m.PDL = true },
		func(m *kernrt.Image) { m.Cooperative = true },
		func(m *kernrt.Image) { m.Cluster = [3]int{2, 1, 1} },
	} {
		k := add(t, variants, func(v int, m *kernrt.Image) {
			if v == 1 {
				change(m)
			}
		})
		_, exec, node := recorded(t, stream, k, 1, 16)
		err := node.Update(exec, kernrt.Grid1D(1), argsOf(17))
		if !errors.Is(err, graph.ErrRecapture) {
			t.Errorf("got %v, want ErrRecapture", err)
		}
		wantText(t, err, "launch add_kernel on Fake H200 (device 0, sm_90), grid (1, 1, 1): update: capture again: it was captured with")
		must(t, exec.Launch(stream)) // as it was
	}
	must(t, dev.Close())
}

type tensorArgs struct {
	X, Out kernrt.TensorDesc[kernrt.Float16]
	N      int32
}

// A node keeps the tensor maps of its capture until an update brings others.
func TestUpdateOfTensors(t *testing.T) {
	d, _, stream := start(t)
	cubin, err := os.ReadFile("../../gen/testdata/versions/3.6/host.sm90/host.cubin")
	must(t, err)
	code, asMap := string(cubin), kernrt.Descriptor{Box: []int{32, 32}, DataType: 6, Swizzle: 2}
	k := &kernrt.Kernel{
		Name: "host",
		Params: []kernrt.Param{
			{Name: "x_desc", Type: "tensordesc<fp16[32, 32]>"}, {Name: "out_desc", Type: "tensordesc<fp16[32, 32]>"}, {Name: "n", Type: "i32"},
		},
		Variants: []kernrt.Variant{{Images: []kernrt.Image{{
			Target: "sm_90a", Code: &code, Symbol: "host", Args: []int{0, 1, 2}, Hidden: 2, NumWarps: 4,
			Descriptors: []kernrt.Descriptor{asMap, asMap},
		}}}},
	}
	argsOf := func(address uint64) *tensorArgs {
		x := kernrt.NewTensorDesc(kernrt.PtrFromAddr[kernrt.Float16](address), 64, 32)
		return &tensorArgs{x, x, 64}
	}
	var node *graph.Node[tensorArgs]
	g, err := graph.Capture(stream, func() (err error) {
		node, err = graph.Record[tensorArgs](stream, func() error { return kernrt.Launch(k, stream, kernrt.Grid1D(1), argsOf(1<<20)) })
		return err
	})
	must(t, err)
	exec, err := g.Instantiate()
	must(t, err)
	must(t, exec.Launch(stream))
	must(t, node.Update(exec, kernrt.Grid1D(1), argsOf(1<<21)))
	must(t, exec.Launch(stream))
	err = node.Update(exec, kernrt.Grid1D(1), argsOf(8))
	if !errors.Is(err, kernrt.ErrArgument) {
		t.Errorf("got %v, want ErrArgument", err)
	}
	wantText(t, err, "update: x_desc begins at 0x8, which is not a multiple of 16 bytes")
	d.FailNext("cuTensorMapEncodeTiled", 999, 0)
	wantText(t, node.Update(exec, kernrt.Grid1D(1), argsOf(1<<22)), "update: cuTensorMapEncodeTiled: CUDA_ERROR_UNKNOWN (999)")
	must(t, exec.Launch(stream))
	for i, want := range []uintptr{1 << 20, 1 << 21, 1 << 21} {
		if m, ok := fakecuda.DecodeTensorMap(d.Launches()[i].Params[5]); !ok || m.Address != want {
			t.Errorf("launch %d: %+v, want address %#x", i, m, want)
		}
	}
}

func TestUpdateGrowsScratch(t *testing.T) {
	d, _, stream := start(t)
	_, exec, node := recorded(t, stream, withScratch(t, 64, 512), 10, 16)
	first := globals(t, d, exec, stream)[0]
	must(t, node.Update(exec, kernrt.Grid1D(5), argsOf(16)))
	if again := globals(t, d, exec, stream)[0]; again != first {
		t.Errorf("a smaller grid was given scratch at %#x, not %#x", again, first)
	}
	must(t, node.Update(exec, kernrt.Grid1D(11), argsOf(16)))
	grown := globals(t, d, exec, stream)[0]
	if grown == first || grown%512 != 0 || !holds(d, grown, 64*20) {
		t.Errorf("a larger grid was given scratch at %#x, after %#x", grown, first)
	}
	wantAllocated(t, d, 640+256, 1280+256) // what was queued may use the former
	must(t, node.Update(exec, kernrt.Grid1D(20), argsOf(16)))
	if again := globals(t, d, exec, stream)[0]; again != grown {
		t.Errorf("a grid with room was given scratch at %#x, not %#x", again, grown)
	}
	must(t, exec.Close())
	wantAllocated(t, d)
}

func TestRefusedUpdates(t *testing.T) {
	d, _, stream := start(t)
	k := add(t, [][]kernrt.Guard{{{Param: 0, Is: kernrt.DivisibleBy16}}})
	_, exec, node := recorded(t, stream, k, 1, 16)
	_, another, _ := recorded(t, stream, k, 1, 16)
	closed, err := graph.Capture(stream, func() error { return nil })
	must(t, err)
	gone, err := closed.Instantiate()
	must(t, err)
	must(t, gone.Close())
	misaligned := argsOf(16)
	misaligned.X = misaligned.X.Add(1)
	huge := kernrt.Grid3D(1, 1<<16, 1)
	tests := []struct {
		name string
		exec *graph.Exec
		grid kernrt.Grid
		args *addArgs
		is   error
		text string
	}{
		{"closed", gone, kernrt.Grid1D(1), argsOf(16), kernrt.ErrClosed, "the executable is closed"},
		{"of another graph", another, kernrt.Grid1D(1), argsOf(16), kernrt.ErrArgument, "the node is of another graph"},
		{"empty grid", exec, kernrt.Grid1D(0), argsOf(16), kernrt.ErrArgument, "the grid is empty"},
		{"no grid", exec, kernrt.Grid{}, argsOf(16), kernrt.ErrArgument, "the grid is not set"},
		{"negative grid", exec, kernrt.Grid1D(-1), argsOf(16), kernrt.ErrArgument, "negative"},
		{"grid beyond the device's", exec, huge, argsOf(16), kernrt.ErrLimit, "a grid has at most"},
		{"no args", exec, kernrt.Grid1D(1), nil, kernrt.ErrArgument, "args is nil"},
		{"null pointer", exec, kernrt.Grid1D(1), &addArgs{}, kernrt.ErrArgument, "x_ptr is null"},
		{"broken promise", exec, kernrt.Grid1D(1), misaligned, kernrt.ErrArgument, "x_ptr = 0x7f0000000004 is not divisible by 16"},
	}
	for _, test := range tests {
		err := node.Update(test.exec, test.grid, test.args)
		var launch *kernrt.LaunchError
		if !errors.Is(err, test.is) || !errors.As(err, &launch) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.is)
			continue
		}
		wantText(t, err, "launch add_kernel on Fake H200", "update: ", test.text)
	}
	if d.Count("cuGraphExecKernelNodeSetParams_v2") != 0 {
		t.Error("a refused update reached the driver")
	}
	d.FailNext("cuGraphExecKernelNodeSetParams_v2", 910, 0)
	wantText(t, node.Update(exec, kernrt.Grid1D(1), argsOf(16)), "cuGraphExecKernelNodeSetParams_v2")
}

func TestRecordIsOfOneLaunch(t *testing.T) {
	_, dev, stream := start(t)
	k := plain(t)
	b, err := kernrt.Alloc[float32](dev, 4)
	must(t, err)
	fails := errors.New("so it goes")
	type others struct{ X kernrt.Ptr[float32] }
	tests := []struct {
		name   string
		record func() error
		text   string
	}{
		{"the launch fails", func() error {
			_, err := graph.Record[addArgs](stream, func() error { return fails })
			return err
		}, "so it goes"},
		{"an empty grid", func() error {
			_, err := graph.Record[addArgs](stream, func() error { return launch(k, stream, 0, 16) })
			return err
		}, "nothing was launched on the stream"},
		{"an empty grid after a launch", func() error {
			must(t, launch(k, stream, 1, 16))
			_, err := graph.Record[addArgs](stream, func() error { return launch(k, stream, 0, 16) })
			return err
		}, "nothing was launched on the stream"},
		{"another args struct", func() error {
			_, err := graph.Record[others](stream, func() error { return launch(k, stream, 1, 16) })
			return err
		}, "the kernel is add_kernel, whose args struct is no graph_test.others"},
		{"a fill", func() error {
			_, err := graph.Record[addArgs](stream, func() error { return fill(stream, b) })
			return err
		}, "what was queued last is no launch of a kernel"},
		{"a launch that spoils the capture", func() error {
			_, err := graph.Record[addArgs](stream, func() error { spoil(stream); return nil })
			return err
		}, "the stream is not being captured, or no longer"},
	}
	for _, test := range tests {
		_, err := graph.Capture(stream, test.record)
		wantText(t, err, test.text)
		idle(t, stream)
	}
	_, err = graph.Record[addArgs](stream, func() error { return launch(k, stream, 1, 16) })
	wantText(t, err, "the stream is not being captured, or no longer; call it within Capture")
}

// fill queues a fill.
func fill(s *kernrt.Stream, b *kernrt.Buffer[float32]) error {
	var inside kernrt.Inside
	ctx, handle, err := inside.Acquire(s)
	if err != nil {
		return err
	}
	defer inside.Release(s)
	return inside.DriverError(ctx.FillAsync(handle, b.Ptr().Addr(), 0, 4))
}

func TestUpdateAllocatesNothing(t *testing.T) {
	d, _, stream := start(t)
	_, exec, node := recorded(t, stream, plain(t), 1, 16)
	args := *argsOf(16)
	d.Record(false)
	defer d.Record(true)
	if n := testing.AllocsPerRun(100, func() {
		local := args
		if node.Update(exec, kernrt.Grid1D(2), &local) != nil || exec.Launch(stream) != nil {
			t.Error("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations an update and a launch", n)
	}
}

// What the driver would refuse at the graph's launch, an update refuses.
func TestUpdateOfCooperativeNode(t *testing.T) {
	_, _, stream := start(t)
	k := add(t, [][]kernrt.Guard{nil}, func(_ int, m *kernrt.Image) { m.Cooperative = true })
	_, exec, node := recorded(t, stream, k, 1, 16)
	err := node.Update(exec, kernrt.Grid1D(1<<20), argsOf(16))
	if !errors.Is(err, kernrt.ErrLimit) {
		t.Errorf("got %v, want ErrLimit", err)
	}
	wantText(t, err, "the programs of a cooperative launch run all at once")
	must(t, node.Update(exec, kernrt.ResidentGrid(), argsOf(16)))
	must(t, exec.Launch(stream))
}
