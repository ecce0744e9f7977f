package graph

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/internal/capture"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Exec is an executable graph. Its launches run one after the other, whatever
// streams they are on; those of two executables of one graph may overlap.
type Exec struct {
	graph *Graph
	ctx   cuda.Driver // open until the device's Close has released e

	mu      sync.Mutex
	handle  cuda.GraphExec
	made    bool // the driver holds it
	closed  bool
	scratch map[cuda.GraphNode]*[2]region // of the nodes that need any
	memory  []uint64                      // all scratch memory, addresses
	last    *kernrt.Stream                // of those launched on
	streams map[*kernrt.Stream]struct{}
}

// region is the scratch memory of one kind that a node has been given.
type region struct{ address, size uint64 }

// make fills in e with what the driver makes; where it fails, free takes back
// what there is. The caller holds the graph.
func (e *Exec) make() error {
	g := e.graph
	regions := make([]region, len(g.buffers))
	for i, b := range g.buffers {
		var err error
		if regions[i], err = e.alloc(b.Size, b.Align); err != nil {
			return err
		}
	}
	var status cuda.Status
	if e.handle, status = e.ctx.Instantiate(g.handle); status != cuda.OK {
		return inside.DriverError(status)
	}
	e.made = true
	e.scratch = make(map[cuda.GraphNode]*[2]region, len(g.users))
	for _, user := range g.users {
		given := &[2]region{}
		for kind, i := range user.buffers {
			if i >= 0 {
				given[kind] = regions[i]
			}
		}
		if status := user.launch.SetNodeScratch(e.handle, user.node, [2]uint64{given[0].address, given[1].address}); status != cuda.OK {
			return inside.DriverError(status)
		}
		e.scratch[user.node] = given
	}
	return nil
}

const allocAlign = 256 // what the driver aligns allocations to, bytes

// alloc allocates scratch memory that stays until the executable goes.
func (e *Exec) alloc(size, align uint64) (region, error) {
	address, status := e.ctx.Alloc(size + max(align, allocAlign) - allocAlign)
	if status != cuda.OK {
		return region{}, fmt.Errorf("%d bytes of scratch: %w", size, inside.DriverError(status))
	}
	e.memory = append(e.memory, address)
	return region{(address + align - 1) &^ (align - 1), size}, nil
}

// grow allocates memory for a need that has outgrown what a node was given,
// with room, so that growing grids reallocate rarely.
func (e *Exec) grow(given region, need capture.Need) (region, error) {
	return e.alloc(max(need.Size, 2*given.size), need.Align)
}

// Upload readies the executable for its first launch, which otherwise takes
// longer than the later ones. It is queued on the stream and not waited for.
func (e *Exec) Upload(stream *kernrt.Stream) error {
	return e.queue(stream, "upload", cuda.Driver.UploadGraph)
}

// Launch queues all of the graph's work on the stream, which may be any of the
// graph's device, and does not wait for it.
func (e *Exec) Launch(stream *kernrt.Stream) error {
	if err := e.given(); err != nil {
		return fmt.Errorf("launch a graph: %w", err)
	}
	ctx, handle, err := inside.Acquire(stream)
	if err != nil {
		return fmt.Errorf("launch a graph: %w", err)
	}
	defer inside.Release(stream)
	if err := e.launch(ctx, handle, stream); err != nil {
		return fmt.Errorf("launch a graph on %v: %w", stream.Device(), err)
	}
	if inside.Debug(stream.Device()) {
		if status := ctx.Synchronize(handle); status != cuda.OK {
			return fmt.Errorf("launch a graph on %v: it was queued and failed: %w", stream.Device(), inside.DriverError(status))
		}
	}
	return nil
}

func (e *Exec) launch(ctx cuda.Driver, handle cuda.Stream, stream *kernrt.Stream) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.check(stream); err != nil {
		return err
	}
	return queueError(ctx.LaunchGraph(e.handle, handle))
}

func (e *Exec) queue(stream *kernrt.Stream, what string, do func(cuda.Driver, cuda.GraphExec, cuda.Stream) cuda.Status) error {
	if err := e.given(); err != nil {
		return fmt.Errorf("%s a graph: %w", what, err)
	}
	ctx, handle, err := inside.Acquire(stream)
	if err != nil {
		return fmt.Errorf("%s a graph: %w", what, err)
	}
	defer inside.Release(stream)
	e.mu.Lock()
	defer e.mu.Unlock()
	err = e.check(stream)
	if err == nil {
		err = queueError(do(ctx, e.handle, handle))
	}
	if err != nil {
		return fmt.Errorf("%s a graph on %v: %w", what, stream.Device(), err)
	}
	return nil
}

// given refuses a nil Exec and the zero one.
func (e *Exec) given() error {
	if e == nil || e.graph == nil {
		return inside.Fault(kernrt.ErrArgument, "there is no executable; make one with Graph.Instantiate")
	}
	return nil
}

// check also remembers the stream, so that Close knows what to wait for.
func (e *Exec) check(stream *kernrt.Stream) error {
	if e.closed {
		return inside.Fault(kernrt.ErrClosed, "the executable is closed")
	}
	if stream == e.last {
		return nil
	}
	if stream.Device() != e.graph.dev {
		return inside.Fault(kernrt.ErrOtherDevice, "the graph was captured on %v", e.graph.dev)
	}
	e.last = stream
	if e.streams == nil {
		e.streams = map[*kernrt.Stream]struct{}{}
	}
	e.streams[stream] = struct{}{}
	return nil
}

func queueError(status cuda.Status) error {
	if status.Result() == cuda.CaptureUnsupported {
		return inside.Fault(kernrt.ErrCapturing, "a graph cannot be captured into another; launch it on a stream that is not being captured: %v", inside.DriverError(status))
	}
	return inside.DriverError(status)
}

// Close waits for the launches, where they use scratch memory, and gives the
// executable up. Where the driver refuses, Close may be tried again; a second
// Close after one that succeeded is ErrClosed.
func (e *Exec) Close() error {
	if err := e.given(); err != nil {
		return fmt.Errorf("close an executable graph: %w", err)
	}
	g := e.graph
	if _, err := inside.AcquireDevice(g.dev); err != nil {
		return fmt.Errorf("close an executable graph: %w", err)
	}
	defer inside.ReleaseDevice(g.dev)
	e.mu.Lock()
	if e.closed && !e.holds() {
		e.mu.Unlock()
		return inside.Fault(kernrt.ErrClosed, "close: the executable graph is closed already")
	}
	e.closed = true // so that no launch follows
	var errs []error
	if len(e.memory) > 0 {
		streams := e.streams
		e.mu.Unlock() // a launch takes the stream before the executable
		for s := range streams {
			if err := s.Synchronize(); err != nil && !errors.Is(err, kernrt.ErrClosed) { // Stream.Close has waited
				errs = append(errs, err)
			}
		}
		e.mu.Lock()
	}
	defer e.mu.Unlock()
	errs = append(errs, e.release())
	if err := inside.Join(errs...); err != nil {
		return fmt.Errorf("close an executable graph on %v: %w", g.dev, err)
	}
	return nil
}

// Release is for the device's Close: the streams are idle.
func (e *Exec) Release(cuda.Driver) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	return e.release()
}

// release gives everything back and lets the graph go, unless that was done.
func (e *Exec) release() error {
	if !e.holds() {
		return nil
	}
	err := e.free()
	if e.holds() {
		return err
	}
	g := e.graph
	inside.Disown(g.dev, e)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.execs--
	if !g.closed {
		return err
	}
	return inside.Join(err, g.close(e.ctx))
}

func (e *Exec) holds() bool { return e.made || len(e.memory) > 0 }

// free gives back what the driver holds, and keeps what it refuses: then e still
// holds something. Nothing of it is in use any more.
func (e *Exec) free() error {
	var errs []error
	if e.made {
		status := e.ctx.DestroyGraphExec(e.handle)
		errs = append(errs, inside.DriverError(status))
		e.made = !inside.Gone(status)
	}
	e.memory = slices.DeleteFunc(e.memory, func(address uint64) bool {
		status := e.ctx.Free(address)
		errs = append(errs, inside.DriverError(status))
		return inside.Gone(status)
	})
	return inside.Join(errs...)
}
