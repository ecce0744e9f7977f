package kernrt

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// points are the points of a stream that somebody waits for in a channel. One
// goroutine waits for them, in their order, and ends with the last: a thread for
// each stream that is waited for, however many wait. It waits for events, since a
// function that the driver calls is not called after a device error.
type points struct {
	mu      sync.Mutex
	queue   []*point // the first is being waited for
	waiting bool
	all     sync.WaitGroup // the goroutine, for Close
}

type point struct {
	event   cuda.Event
	reached chan error
}

// Done returns a channel for all that is queued on the stream so far: once that is
// done it holds one value, nil or the error, and is closed. A fault in the call
// itself comes in the channel as well. The error may come from any work queued
// before; after an error of the device the channel does not stay open.
func (s *Stream) Done() <-chan error {
	p, err := s.newPoint("done")
	if err != nil {
		failed := make(chan error, 1)
		failed <- err
		close(failed)
		return failed
	}
	return p.reached
}

// SynchronizeContext is Synchronize that gives up when ctx is done, with its
// error. The work goes on all the same: what it uses must stay until a later
// Synchronize. To bound a copy from or to a Go slice, which must stay for the
// whole of it, wait with SynchronizeContext first.
func (s *Stream) SynchronizeContext(ctx context.Context) error {
	if ctx == nil {
		return faultf(ErrArgument, "synchronize: the context is nil")
	}
	if ctx.Done() == nil {
		return s.Synchronize()
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("synchronize: %w", err)
	}
	p, err := s.newPoint("synchronize")
	if err != nil {
		return err
	}
	select {
	case err := <-p.reached:
		return err
	case <-ctx.Done():
		s.abandon(p)
		return fmt.Errorf("synchronize: %w", ctx.Err())
	}
}

// newPoint records a point that the stream's goroutine waits for. It does not wait
// for a Close that waits for others.
func (s *Stream) newPoint(what string) (*point, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if !s.mu.TryRLock() {
		return nil, faultf(ErrClosed, "%s: the stream is being closed", what)
	}
	defer s.mu.RUnlock()
	if s.closed {
		return nil, fmt.Errorf("%s: %w", what, s.errClosed())
	}
	if err := s.refuseWait(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	s.points.mu.Lock() // so that points are queued as they are recorded
	defer s.points.mu.Unlock()
	event, status := s.dev.ctx.NewEvent(cuda.EventBlocking | cuda.EventUntimed)
	if status != cuda.OK {
		return nil, fmt.Errorf("%s, on a stream of %v: %w", what, s.dev, driverError(status))
	}
	if status := s.dev.ctx.Record(event, s.handle); status != cuda.OK {
		err := joined(driverError(status), driverError(s.dev.ctx.DestroyEvent(event)))
		return nil, fmt.Errorf("%s, on a stream of %v: %w", what, s.dev, err)
	}
	p := &point{event, make(chan error, 1)}
	s.points.queue = append(s.points.queue, p)
	if !s.points.waiting {
		s.points.waiting = true
		s.points.all.Go(s.await)
	}
	return p, nil
}

// await waits for the stream's points until none is left. Close waits for it, so
// that the device is there.
func (s *Stream) await() {
	for p := s.points.first(); p != nil; p = s.points.next() {
		err := joined(driverError(s.dev.ctx.SynchronizeEvent(p.event)), driverError(s.dev.ctx.DestroyEvent(p.event)))
		if err != nil {
			err = fmt.Errorf("wait for a stream of %v: %w", s.dev, err)
		}
		p.reached <- err
		close(p.reached)
	}
}

func (q *points) first() *point {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue[0]
}

// next drops the first point and returns the one after it; nil ends the waiting.
func (q *points) next() *point {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = q.queue[1:]
	if len(q.queue) == 0 {
		q.queue, q.waiting = nil, false
		return nil
	}
	return q.queue[0]
}

// abandon forgets a point that nobody waits for any more, unless the goroutine is
// at it: those who give up again and again must not fill the queue.
func (s *Stream) abandon(p *point) {
	s.points.mu.Lock()
	defer s.points.mu.Unlock()
	if i := slices.Index(s.points.queue, p); i > 0 {
		s.points.queue = slices.Delete(s.points.queue, i, i+1)
		s.dev.ctx.DestroyEvent(p.event) // there is nobody to tell
	}
}
