package graph_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

// A kernel that the capture is the first to use is loaded, nothing runs before
// the graph is launched, and it may be launched on any stream.
func TestCaptureAndReplay(t *testing.T) {
	d, dev, stream := start(t)
	k := plain(t)
	g, err := graph.Capture(stream, func() error {
		return errors.Join(launch(k, stream, 2, 16), launch(k, stream, 3, 32))
	})
	must(t, err)
	if n := len(d.Launches()); n != 0 || len(d.Nodes()) != 2 {
		t.Errorf("%d launches and %d nodes after the capture, want 0 and 2", n, len(d.Nodes()))
	}
	exec, err := g.Instantiate()
	must(t, err)
	other := newStream(t, dev)
	must(t, exec.Upload(stream))
	must(t, exec.Launch(stream))
	must(t, exec.Launch(other))
	var grids []uint32
	var streams []uintptr
	for _, l := range d.Launches() {
		grids, streams = append(grids, l.Grid[0]), append(streams, l.Stream)
		if l.Exec == 0 {
			t.Error("a launch that no graph made")
		}
	}
	if diff := cmp.Diff([]uint32{2, 3, 2, 3}, grids); diff != "" {
		t.Errorf("grids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]uintptr{stream.Handle(), stream.Handle(), other.Handle(), other.Handle()}, streams); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
	must(t, g.Close())
	must(t, exec.Launch(stream)) // lives on
	must(t, exec.Close())
	for _, err := range []error{g.Close(), exec.Close(), exec.Launch(stream), exec.Upload(stream)} {
		if !errors.Is(err, kernrt.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	}
	if _, err := g.Instantiate(); !errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestForkedStreams(t *testing.T) {
	d, dev, stream := start(t)
	fork := newStream(t, dev)
	k := plain(t)
	g, err := graph.Capture(stream, func() error {
		must(t, launch(k, stream, 1, 16))
		after(t, fork, stream)
		must(t, launch(k, fork, 2, 16))
		must(t, launch(k, stream, 3, 16))
		after(t, stream, fork)
		return launch(k, stream, 4, 16)
	})
	must(t, err)
	nodes := d.Nodes()
	at := map[uint32]fakecuda.Node{}
	for _, n := range nodes {
		at[n.Launch.Grid[0]] = n
	}
	if len(nodes) != 4 || len(at[4].After) != 2 || len(at[2].After) != 1 || at[2].After[0] != at[1].Node {
		t.Errorf("nodes %+v", nodes)
	}
	must(t, g.Close())
	idle(t, stream)
	idle(t, fork)
}

func TestFailedCaptures(t *testing.T) {
	failure := errors.New("so it goes")
	tests := []struct {
		name   string
		record func(t *testing.T, dev *kernrt.Device, stream *kernrt.Stream) error
		is     error
		text   []string
	}{
		{"the closure fails", func(*testing.T, *kernrt.Device, *kernrt.Stream) error { return failure }, failure, []string{"capture on Fake H200 (device 0, sm_90): so it goes"}},
		{"the closure fails on spoilt ground", func(_ *testing.T, _ *kernrt.Device, s *kernrt.Stream) error {
			spoil(s)
			return failure
		}, failure, []string{"so it goes"}},
		{"a launch fails", func(t *testing.T, _ *kernrt.Device, s *kernrt.Stream) error {
			return kernrt.Launch(plain(t), s, kernrt.Grid1D(1), &addArgs{})
		}, kernrt.ErrArgument, []string{"launch add_kernel", "x_ptr is null"}},
		{"a wait for the stream", func(_ *testing.T, _ *kernrt.Device, s *kernrt.Stream) error { return s.Synchronize() },
			kernrt.ErrCapturing, []string{"nothing runs that the host could wait for"}},
		{"another library's wait", func(_ *testing.T, _ *kernrt.Device, s *kernrt.Stream) error {
			spoil(s)
			return nil
		}, kernrt.ErrCapturing, []string{"a call that cannot be captured, such as one that waits for the stream, has spoilt it", "cuStreamEndCapture"}},
		{"a launch after that", func(t *testing.T, _ *kernrt.Device, s *kernrt.Stream) error {
			spoil(s)
			return launch(withScratch(t, 64, 1), s, 1, 16)
		}, kernrt.ErrCapturing, []string{"capture"}},
		{"a copy from Go memory", func(t *testing.T, dev *kernrt.Device, s *kernrt.Stream) error {
			b, err := kernrt.Alloc[float32](dev, 4)
			must(t, err)
			return b.CopyFrom(s, make([]float32, 4))
		}, kernrt.ErrCapturing, []string{"copy to the device"}},
		{"a capture within", func(_ *testing.T, _ *kernrt.Device, s *kernrt.Stream) error {
			_, err := graph.Capture(s, func() error { return nil })
			return err
		}, kernrt.ErrCapturing, []string{"the stream is being captured already"}},
		{"the stream is closed", func(_ *testing.T, _ *kernrt.Device, s *kernrt.Stream) error { return s.Close() },
			kernrt.ErrCapturing, []string{"closing it would spoil the capture"}},
		{"a fork that is not joined", func(t *testing.T, dev *kernrt.Device, s *kernrt.Stream) error {
			fork := newStream(t, dev)
			must(t, launch(plain(t), s, 1, 16))
			after(t, fork, s)
			return launch(plain(t), fork, 1, 16)
		}, nil, []string{"stream 0x", "has work that the captured stream does not wait for", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"}},
		{"two forks that are not joined", func(t *testing.T, dev *kernrt.Device, s *kernrt.Stream) error {
			must(t, launch(plain(t), s, 1, 16))
			for range 2 {
				fork := newStream(t, dev)
				after(t, fork, s)
				must(t, launch(plain(t), fork, 1, 16))
			}
			return nil
		}, nil, []string{"one or more of the streams 0x", ", 0x", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, dev, stream := start(t)
			streams := []*kernrt.Stream{stream, newStream(t, dev)}
			g, err := graph.Capture(stream, func() error { return test.record(t, dev, stream) })
			if g != nil || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %v", err, test.is)
			}
			wantText(t, err, test.text...)
			for _, s := range streams {
				idle(t, s)
			}
		})
	}
}

// The fork that was left is named, not the one that was joined.
func TestForkIsNamed(t *testing.T) {
	_, dev, stream := start(t)
	joined, left := newStream(t, dev), newStream(t, dev)
	k := plain(t)
	_, err := graph.Capture(stream, func() error {
		must(t, launch(k, stream, 1, 16))
		after(t, joined, stream)
		after(t, left, stream)
		must(t, launch(k, joined, 1, 16))
		must(t, launch(k, left, 1, 16))
		after(t, stream, joined)
		return nil
	})
	wantText(t, err, "stream "+hex(left.Handle())+" has work")
	if strings.Contains(err.Error(), hex(joined.Handle())) {
		t.Errorf("%v names a stream that was joined", err)
	}
	idle(t, left)
}

// A closure that panics, or ends its goroutine, leaves the stream as usable.
func TestClosureThatDoesNotReturn(t *testing.T) {
	_, _, stream := start(t)
	func() {
		defer func() {
			if recover() != "so it goes" {
				t.Error("the panic was lost")
			}
		}()
		graph.Capture(stream, func() error { panic("so it goes") })
	}()
	idle(t, stream)
	done := make(chan struct{})
	go func() {
		defer close(done)
		graph.Capture(stream, func() error { runtime.Goexit(); return nil })
	}()
	<-done
	idle(t, stream)
}

func TestStreamsThatCannotBeCaptured(t *testing.T) {
	_, dev, stream := start(t)
	nothing := func() error { return nil }
	if _, err := graph.Capture(nil, nothing); !errors.Is(err, kernrt.ErrArgument) {
		t.Errorf("no stream: %v", err)
	}
	legacy, err := dev.StreamFromHandle(0)
	must(t, err)
	_, err = graph.Capture(legacy, nothing)
	if !errors.Is(err, kernrt.ErrArgument) {
		t.Errorf("the default stream: %v", err)
	}
	wantText(t, err, "the legacy default stream cannot be captured")
	must(t, stream.Close())
	if _, err := graph.Capture(stream, nothing); !errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("a closed stream: %v", err)
	}
}

func TestGraphOnWrongStream(t *testing.T) {
	d, _, stream := start(t)
	d.SetDeviceCount(2)
	elsewhere, err := kernrt.Open(1)
	must(t, err)
	defer elsewhere.Close()
	g, err := graph.Capture(stream, func() error { return launch(plain(t), stream, 1, 16) })
	must(t, err)
	exec, err := g.Instantiate()
	must(t, err)
	if err := exec.Launch(newStream(t, elsewhere)); !errors.Is(err, kernrt.ErrOtherDevice) {
		t.Errorf("on another device: %v", err)
	}
	_, err = graph.Capture(stream, func() error { return exec.Launch(stream) })
	if !errors.Is(err, kernrt.ErrCapturing) {
		t.Errorf("within a capture: %v", err)
	}
	wantText(t, err, "a graph cannot be captured into another")
	must(t, exec.Launch(stream))
}

// With KERNGEN_DEBUG=1 a launch of a graph waits, and its failure says so.
func TestDebug(t *testing.T) {
	t.Setenv("KERNGEN_DEBUG", "1")
	d, dev, stream := start(t)
	b, err := kernrt.Alloc[float32](dev, 16)
	must(t, err)
	args := &addArgs{b.Ptr(), b.Ptr(), b.Ptr(), 16}
	k := withScratch(t, 64, 1)
	g, err := graph.Capture(stream, func() error { return kernrt.Launch(k, stream, kernrt.Grid1D(1), args) })
	must(t, err)
	exec, err := g.Instantiate()
	must(t, err)
	must(t, exec.Launch(stream))
	d.FailNext("cuStreamSynchronize", 700, 0)
	wantText(t, exec.Launch(stream), "launch a graph on Fake H200 (device 0, sm_90): it was queued and failed", "CUDA_ERROR_ILLEGAL_ADDRESS")
}

// Copies and fills are captured with the launches, in their order.
func TestCopiesAndFills(t *testing.T) {
	d, dev, stream := start(t)
	const n = 16
	in, err := kernrt.AllocHost[float32](dev, n)
	must(t, err)
	out, err := kernrt.AllocHost[float32](dev, n)
	must(t, err)
	x, err := kernrt.Alloc[float32](dev, n)
	must(t, err)
	y, err := kernrt.Alloc[float32](dev, n)
	must(t, err)
	k := plain(t)
	g, err := graph.Capture(stream, func() error {
		return errors.Join(
			x.CopyFromAsync(stream, in),
			y.Fill(stream, 2),
			kernrt.Launch(k, stream, kernrt.Grid1D(1), &addArgs{x.Ptr(), y.Ptr(), x.Ptr(), n}),
			y.CopyToAsync(stream, out),
		)
	})
	must(t, err)
	if len(d.Copies())+len(d.Fills())+len(d.Launches()) != 0 {
		t.Error("something ran while it was captured")
	}
	exec, err := g.Instantiate()
	must(t, err)
	must(t, exec.Launch(stream))
	must(t, stream.Synchronize())
	if out.Values()[n-1] != 2 || len(d.Copies()) != 2 || len(d.Launches()) != 1 {
		t.Errorf("the replay copied %v; %d copies and %d launches", out.Values(), len(d.Copies()), len(d.Launches()))
	}
	must(t, errors.Join(exec.Close(), g.Close()))
}
