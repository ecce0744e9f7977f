package graph_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

func hex(n uintptr) string { return fmt.Sprintf("%#x", n) }

// globals is the global scratch of each launch of an executable's last replay.
func globals(t *testing.T, d *fakecuda.Driver, exec *graph.Exec, s *kernrt.Stream) []uint64 {
	t.Helper()
	before := len(d.Launches())
	must(t, exec.Launch(s))
	var all []uint64
	for _, l := range d.Launches()[before:] {
		all = append(all, binary.NativeEndian.Uint64(l.Params[len(l.Params)-2]))
	}
	return all
}

// allocated is the sizes of the memory that is alive, ascending.
func allocated(d *fakecuda.Driver) []int {
	sizes := []int{}
	for _, leak := range d.Leaks() {
		if leak.Kind == "memory" {
			sizes = append(sizes, int(leak.Amount))
		}
	}
	slices.Sort(sizes)
	return sizes
}

func wantAllocated(t *testing.T, d *fakecuda.Driver, want ...int) {
	t.Helper()
	if diff := cmp.Diff(append([]int{}, want...), allocated(d)); diff != "" {
		t.Errorf("memory that is alive (-want +got):\n%s", diff)
	}
}

// holds reports whether so many bytes from address are in one allocation.
func holds(d *fakecuda.Driver, address, size uint64) bool {
	return slices.ContainsFunc(d.Leaks(), func(l fakecuda.Leak) bool {
		return l.Kind == "memory" && uint64(l.Handle) <= address && address+size <= uint64(l.Handle)+l.Amount
	})
}

func TestScratchOfExecutables(t *testing.T) {
	d, dev, stream := start(t)
	fork := newStream(t, dev)
	small, large, none := withScratch(t, 64, 1024), withScratch(t, 128, 1), plain(t)
	g, err := graph.Capture(stream, func() error {
		must(t, launch(small, stream, 10, 16)) // 640 bytes
		after(t, fork, stream)
		must(t, launch(small, fork, 5, 16)) // 320
		must(t, launch(none, stream, 7, 16))
		must(t, launch(large, stream, 10, 16)) // 1280, in the place of the first
		after(t, stream, fork)
		return nil
	})
	must(t, err)
	wantAllocated(t, d) // an executable needs memory, a graph does not
	first, err := g.Instantiate()
	must(t, err)
	const onStream, onFork = 1280 + 1024 - 256, 320 + 1024 - 256
	wantAllocated(t, d, onFork, onStream)
	second, err := g.Instantiate()
	must(t, err)
	wantAllocated(t, d, onFork, onFork, onStream, onStream)
	must(t, g.Close())

	a, b := globals(t, d, first, stream), globals(t, d, second, fork)
	for _, s := range [][]uint64{a, b} {
		if s[0] != s[3] || s[0] == s[1] || s[2] != 0 || s[0]%1024 != 0 || s[1]%1024 != 0 || !holds(d, s[0], 1280) || !holds(d, s[1], 320) {
			t.Errorf("scratch %#x", s)
		}
	}
	if a[0] == b[0] || a[1] == b[1] {
		t.Errorf("two executables share scratch: %#x and %#x", a, b)
	}
	// Launches beside the graph have the stream's own.
	must(t, launch(small, stream, 1, 16))
	wantAllocated(t, d, 64+768, onFork, onFork, onStream, onStream)

	d.Reset()
	must(t, first.Close())
	if n := d.Count("cuStreamSynchronize"); n != 1 {
		t.Errorf("Close waited for %d streams, want the one that it was launched on", n)
	}
	wantAllocated(t, d, 64+768, onFork, onStream)
	must(t, second.Close())
	wantAllocated(t, d, 64+768)
}

// A stream that was closed needs no waiting for, and the device's Close takes
// what is left.
func TestCloseInAnyOrder(t *testing.T) {
	d, dev, stream := start(t)
	other := newStream(t, dev)
	k := withScratch(t, 64, 1)
	make := func() (*graph.Graph, *graph.Exec) {
		g, err := graph.Capture(stream, func() error { return launch(k, stream, 1, 16) })
		must(t, err)
		e, err := g.Instantiate()
		must(t, err)
		must(t, e.Launch(other))
		return g, e
	}
	g1, e1 := make()
	make()
	g3, e3 := make()
	must(t, other.Close())
	must(t, e1.Close())
	must(t, g1.Close())
	must(t, g3.Close())
	must(t, dev.Close())
	for _, err := range []error{e3.Close(), g3.Close(), e3.Launch(stream)} {
		if !errors.Is(err, kernrt.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	}
	for _, leak := range d.Leaks() {
		t.Errorf("still alive: %+v", leak)
	}
}

func TestScratchThatCannotBeCaptured(t *testing.T) {
	_, dev, _ := start(t)
	zeroed, err := dev.NewStream(kernrt.WithZeroedScratch())
	must(t, err)
	k := withScratch(t, 64, 1)
	_, err = graph.Capture(zeroed, func() error { return launch(k, zeroed, 1, 16) })
	if !errors.Is(err, kernrt.ErrCapturing) {
		t.Errorf("zeroed: %v", err)
	}
	wantText(t, err, "capture a stream without WithZeroedScratch")
	huge := withScratch(t, 1<<40, 1)
	s := newStream(t, dev)
	_, err = graph.Capture(s, func() error { return launch(huge, s, 1<<30, 16) })
	if !errors.Is(err, kernrt.ErrLimit) {
		t.Errorf("overflow: %v", err)
	}
	_, err = graph.Capture(s, func() error { return launch(huge, s, 1, 16) })
	must(t, err)
	g, err := graph.Capture(s, func() error { return launch(huge, s, 1, 16) })
	must(t, err)
	if _, err = g.Instantiate(); !errors.Is(err, kernrt.ErrOutOfMemory) {
		t.Errorf("too much: %v", err)
	}
	wantText(t, err, "instantiate a graph on Fake H200 (device 0, sm_90): 1099511627776 bytes of scratch")
}

// Another library's capture has nobody to keep scratch memory for it.
func TestForeignCapture(t *testing.T) {
	d, _, stream := start(t)
	k := withScratch(t, 64, 1)
	d.SetCapture(stream.Handle(), 1)
	err := launch(k, stream, 1, 16)
	if !errors.Is(err, kernrt.ErrCapturing) {
		t.Errorf("got %v, want ErrCapturing", err)
	}
	wantText(t, err, "it was not begun by graph.Capture")
	_, err = graph.Record[addArgs](stream, func() error { return launch(plain(t), stream, 1, 16) })
	if !errors.Is(err, kernrt.ErrArgument) {
		t.Errorf("got %v, want ErrArgument", err)
	}
	d.SetCapture(stream.Handle(), 0)
	must(t, launch(k, stream, 1, 16))
}
