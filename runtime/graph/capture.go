package graph

import (
	"fmt"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/internal/capture"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Capture makes a graph of all that record queues on the stream: launches, and
// stream-ordered copies and fills. Nothing of it runs. What is queued on another
// stream is captured too once that waits for an event of this one; this one must
// wait for an event of it before record returns. Until then, whatever any
// goroutine queues on those streams becomes part of the graph, and nothing can
// wait for them. Other streams, and allocations, are not affected; kernels that
// record uses for the first time are loaded.
//
// Where record fails, or does what cannot be captured, the error says so, there
// is no graph, and the streams take work again as before.
func Capture(stream *kernrt.Stream, record func() error) (*Graph, error) {
	c, err := begin(stream)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	ended := false
	defer func() {
		if !ended { // record has panicked, or ended its goroutine
			c.abandon()
		}
	}()
	err = record()
	ended = true
	if err != nil {
		return nil, fmt.Errorf("capture on %v: %w", stream.Device(), inside.Join(err, c.abandon()))
	}
	g, err := c.end()
	if err != nil {
		return nil, fmt.Errorf("capture on %v: %w", stream.Device(), err)
	}
	return g, nil
}

// capturing is a capture that goes on.
type capturing struct {
	stream  *kernrt.Stream
	id      uint64 // the driver's
	scratch capture.Scratch
}

func begin(stream *kernrt.Stream) (*capturing, error) {
	ctx, handle, err := inside.Acquire(stream)
	if err != nil {
		return nil, err
	}
	defer inside.Release(stream)
	// Relaxed, so that loading and allocating stay allowed, and that the capture
	// may end on another thread than this.
	switch status := ctx.BeginCapture(handle, cuda.CaptureRelaxed); {
	case status.Result() == cuda.IllegalState:
		return nil, inside.Fault(kernrt.ErrCapturing, "the stream is being captured already: %v", inside.DriverError(status))
	case status.Result() == cuda.CaptureUnsupported:
		return nil, inside.Fault(kernrt.ErrArgument, "the legacy default stream cannot be captured; create a stream: %v", inside.DriverError(status))
	case status != cuda.OK:
		return nil, inside.DriverError(status)
	}
	c := &capturing{stream: stream}
	info, status := ctx.CaptureInfo(handle)
	if status != cuda.OK {
		return nil, inside.Join(inside.DriverError(status), c.drop(ctx, handle))
	}
	c.id = info.ID
	inside.Captures(stream.Device(), c.id, &c.scratch)
	return c, nil
}

// stop ends the capture, so that the stream takes work again. It tries twice: a
// call that failed on its way there has not ended it.
func (c *capturing) stop(ctx cuda.Driver, handle cuda.Stream) (cuda.Graph, cuda.Status) {
	graph, status := ctx.EndCapture(handle)
	if status == cuda.OK {
		return graph, status
	}
	if info, asked := ctx.CaptureInfo(handle); asked == cuda.OK && info.State != cuda.CaptureNone {
		if spoilt, again := ctx.EndCapture(handle); again == cuda.OK {
			ctx.DestroyGraph(spoilt)
		}
	}
	return graph, status
}

// drop stops the capture and throws away what it has collected.
func (c *capturing) drop(ctx cuda.Driver, handle cuda.Stream) error {
	graph, status := c.stop(ctx, handle)
	if status == cuda.OK {
		status = ctx.DestroyGraph(graph)
	}
	if result := status.Result(); result == cuda.CaptureWasInvalidated || result == cuda.CaptureUnjoined {
		return nil // no graph, as is wanted
	}
	return inside.DriverError(status)
}

// abandon ends the capture of a record that failed.
func (c *capturing) abandon() error {
	defer inside.Captures(c.stream.Device(), c.id, nil)
	ctx, handle, err := inside.Acquire(c.stream)
	if err != nil {
		return err
	}
	defer inside.Release(c.stream)
	return c.drop(ctx, handle)
}

func (c *capturing) end() (*Graph, error) {
	defer inside.Captures(c.stream.Device(), c.id, nil)
	ctx, handle, err := inside.Acquire(c.stream)
	if err != nil {
		return nil, err
	}
	defer inside.Release(c.stream)
	forks, forksErr := c.forks(ctx, handle)
	graph, status := c.stop(ctx, handle)
	switch {
	case status.Result() == cuda.CaptureWasInvalidated:
		return nil, fmt.Errorf("a call that cannot be captured, such as one that waits for the stream, has spoilt it: %w", inside.DriverError(status))
	case status.Result() == cuda.CaptureUnjoined:
		return nil, fmt.Errorf("%s; let the captured stream wait for an event recorded on each: %w", forks, inside.DriverError(status))
	case status != cuda.OK:
		return nil, inside.DriverError(status)
	case forksErr != nil:
		return nil, inside.Join(forksErr, inside.DriverError(ctx.DestroyGraph(graph)))
	}
	return newGraph(c, ctx, graph)
}
