package generated_test

import (
	"errors"
	"testing"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"
)

// captured is the executable of a graph, given back with the test.
func captured(t *testing.T, s *kernrt.Stream, record func() error) (*graph.Graph, *graph.Exec) {
	t.Helper()
	g, err := graph.Capture(s, record)
	if err != nil {
		t.Fatal(err)
	}
	exec := instantiated(t, g)
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g, exec
}

func instantiated(t *testing.T, g *graph.Graph) *graph.Exec {
	t.Helper()
	exec, err := g.Instantiate()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := exec.Close(); err != nil {
			t.Error(err)
		}
	})
	return exec
}

func event(t *testing.T) *kernrt.Event {
	t.Helper()
	e, err := device(t).NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Kernels with scratch memory on two streams of one graph, in two executables
// that run at the same time.
func TestGraphWithScratch(t *testing.T) {
	s, fork := newStream(t), newStream(t)
	begin, end := event(t), event(t)
	tall := scaled(t, 1000, 100)
	first, second, third := newScaling(t, s, tall, 1008, -2.7), newScaling(t, s, 640, scaled(t, 512, 48), 3), newScaling(t, s, 64, 32, 0.5)
	g, exec := captured(t, s, func() error {
		return errors.Join(
			first.launch(s),
			begin.Record(s), fork.Wait(begin),
			second.launch(fork),
			third.launch(s),
			end.Record(fork), s.Wait(end),
		)
	})
	again := instantiated(t, g)
	for range scaled(t, 20, 5) {
		launched(t, exec.Launch(s))
		if simulated(t) { // where two that write one number at once race, be it the same
			launched(t, s.Synchronize())
		}
		launched(t, again.Launch(fork))
		if simulated(t) {
			launched(t, fork.Synchronize())
		}
		launched(t, first.launch(s)) // with the stream's own scratch memory
	}
	launched(t, fork.Synchronize())
	for _, c := range []scaling{first, second, third} {
		c.check(t, s)
	}
	stillWorks(t, s)
}

// An update changes one executable, to other memory, another size and another
// variant.
func TestGraphUpdate(t *testing.T) {
	s := newStream(t)
	r := random(7)
	const n, m = 1000, 100_003
	aligned := newAddition(t, s, patterns(r, n), patterns(r, n), [3]int{})
	misaligned := newAddition(t, s, patterns(r, m), patterns(r, m), [3]int{1, 0, 3})
	var node *graph.Node[vec.AddArgs[float32]]
	g, exec := captured(t, s, func() (err error) {
		node, err = graph.Record[vec.AddArgs[float32]](s, func() error { return aligned.launch(s) })
		return err
	})
	updated := instantiated(t, g)
	launched(t, node.Update(updated, kernrt.Grid{}, &vec.AddArgs[float32]{
		XPtr: misaligned.x.ptr(), YPtr: misaligned.y.ptr(), OutPtr: misaligned.out.ptr(), N: m,
	}))
	launched(t, updated.Upload(s))
	launched(t, updated.Launch(s))
	misaligned.check(t, s)
	equalBits(t, "out before", aligned.out.read(t, s), poisoned[float32](n))
	launched(t, exec.Launch(s))
	aligned.check(t, s)

	err := node.Update(updated, kernrt.Grid{}, &vec.AddArgs[float32]{N: m})
	if !errors.Is(err, kernrt.ErrArgument) {
		t.Errorf("null pointers: got %v, want ErrArgument", err)
	}
}

// A chain of kernels that overlap programmatically is right in a graph too.
func TestGraphOfPDL(t *testing.T) {
	s := newStream(t)
	c := newAxpyChain(t, s, 1_000_003)
	launchedFromSM90(t, c.launch(s, 1))
	_, exec := captured(t, s, func() error { return c.launch(s, 100) })
	for range 3 {
		launched(t, exec.Launch(s))
	}
	c.check(t, s, 301)
}

// A device opened anew has loaded nothing, so the capture loads.
func TestFirstLoadInACapture(t *testing.T) {
	device(t)
	dev, err := openAnother()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	scale := newScaling(t, s, 100, 48, 2)
	_, exec := captured(t, s, func() error { return scale.launch(s) })
	launched(t, exec.Launch(s))
	scale.check(t, s)
	failed, err := graph.Capture(s, func() error { return s.Synchronize() })
	if failed != nil || !errors.Is(err, kernrt.ErrCapturing) {
		t.Errorf("a wait within a capture: %v", err)
	}
	_, err = graph.Capture(s, func() error {
		fork, err := dev.NewStream()
		if err != nil {
			return err
		}
		e, err := dev.NewEvent()
		if err != nil {
			return err
		}
		return errors.Join(scale.launch(s), e.Record(s), fork.Wait(e), scale.launch(fork))
	})
	var unjoined *kernrt.DriverError
	if !errors.As(err, &unjoined) || unjoined.Name != "CUDA_ERROR_STREAM_CAPTURE_UNJOINED" {
		t.Errorf("a fork that is not joined: %v", err)
	}
	t.Log(err)
	launched(t, scale.launch(s))
	scale.check(t, s)
}
