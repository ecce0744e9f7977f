package kernrt

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Event is a point in the work of a stream: it is reached once all that was
// queued before its Record is done. One that was never recorded counts as reached.
// It may be recorded again and again, and then stands for the last time. It is
// owned until Close or its device's. Goroutines may share an Event.
type Event struct {
	// Held for reading while the event is in use, as a Stream's, which comes first
	// where both are held; of two events that of the lower number comes first.
	mu     sync.RWMutex
	closed bool
	dev    *Device
	handle cuda.Event
	number uint64

	records  atomic.Uint64 // how often it was recorded
	captured atomic.Bool   // the last time into a graph

	waiting sync.Mutex // guards what follows
	last    *eventWait
}

var eventNumber atomic.Uint64

// NewEvent creates an event that takes the time. A thread that waits for it
// sleeps, where one in Stream.Synchronize may spin and so learn it sooner.
func (d *Device) NewEvent() (*Event, error) {
	if err := d.acquire(); err != nil {
		return nil, fmt.Errorf("new event: %w", err)
	}
	defer d.use.RUnlock()
	handle, status := d.ctx.NewEvent(cuda.EventBlocking)
	if status != cuda.OK {
		return nil, fmt.Errorf("new event on %v: %w", d, driverError(status))
	}
	e := &Event{dev: d, handle: handle, number: eventNumber.Add(1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events[e] = struct{}{}
	return e, nil
}

// Record makes the event stand for all that is queued on stream so far, in a
// capture too: then only streams can wait for it, which puts them into that
// capture.
func (e *Event) Record(stream *Stream) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := stream.acquire(); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer stream.mu.RUnlock()
	if err := e.acquire(); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer e.mu.RUnlock()
	if stream.dev != e.dev {
		return faultf(ErrOtherDevice, "record: the event is of %v, the stream of %v", e.dev, stream.dev)
	}
	capturing, status := e.dev.ctx.IsCapturing(stream.handle)
	if status == cuda.OK {
		status = e.dev.ctx.Record(e.handle, stream.handle)
	}
	if status != cuda.OK {
		return fmt.Errorf("record an event on a stream of %v: %w", e.dev, driverError(status))
	}
	e.captured.Store(capturing)
	e.records.Add(1)
	return nil
}

// Query reports whether the event is reached, and does not wait. Its error may
// come from any work queued before.
func (e *Event) Query() (reached bool, err error) {
	if err := e.acquireReal(); err != nil {
		return false, fmt.Errorf("query: %w", err)
	}
	defer e.mu.RUnlock()
	status := e.dev.ctx.QueryEvent(e.handle)
	if status.Result() == cuda.NotReady {
		return false, nil
	}
	if status != cuda.OK {
		return false, fmt.Errorf("query an event of %v: %w", e.dev, driverError(status))
	}
	return true, nil
}

// Synchronize waits until the event is reached. Its error may come from any work
// queued before.
func (e *Event) Synchronize() error {
	if err := e.acquireReal(); err != nil {
		return fmt.Errorf("synchronize: %w", err)
	}
	defer e.mu.RUnlock()
	return e.synchronize()
}

func (e *Event) synchronize() error {
	if status := e.dev.ctx.SynchronizeEvent(e.handle); status != cuda.OK {
		return fmt.Errorf("synchronize an event of %v: %w", e.dev, driverError(status))
	}
	return nil
}

// eventWait is a goroutine that waits for an event on behalf of all who can give
// up.
type eventWait struct {
	record  uint64 // which of the event's
	reached chan struct{}
	err     error // once reached is closed
}

// SynchronizeContext is Synchronize that gives up when ctx is done, with its
// error. The work goes on all the same, and a goroutine waits for it; the event
// cannot be closed before.
func (e *Event) SynchronizeContext(ctx context.Context) error {
	if ctx == nil {
		return faultf(ErrArgument, "synchronize: the context is nil")
	}
	if ctx.Done() == nil {
		return e.Synchronize()
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("synchronize: %w", err)
	}
	if err := e.acquireReal(); err != nil {
		return fmt.Errorf("synchronize: %w", err)
	}
	w := e.wait()
	select {
	case <-w.reached:
		return w.err
	case <-ctx.Done():
		return fmt.Errorf("synchronize: %w", ctx.Err())
	}
}

// wait starts to wait for the event, or joins who waits already, so that whoever
// gives up and tries again does not take a thread each time. It takes over the
// caller's hold on the event.
func (e *Event) wait() *eventWait {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	record := e.records.Load()
	if e.last != nil && e.last.record == record {
		e.mu.RUnlock()
		return e.last
	}
	w := &eventWait{record: record, reached: make(chan struct{})}
	e.last = w
	go func() {
		w.err = e.synchronize()
		e.waiting.Lock()
		if e.last == w {
			e.last = nil
		}
		e.waiting.Unlock()
		e.mu.RUnlock()
		close(w.reached)
	}()
	return w
}

// Since is the time from start to e on the device, to about half a microsecond.
// Both must be recorded and reached.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if err := e.check(); err != nil {
		return 0, fmt.Errorf("time since an event: %w", err)
	}
	if err := start.check(); err != nil {
		return 0, fmt.Errorf("time since an event: %w", err)
	}
	if start.dev != e.dev {
		return 0, faultf(ErrOtherDevice, "time since an event: it is of %v, the later one of %v", start.dev, e.dev)
	}
	both := []*Event{start, e}
	switch {
	case start == e:
		both = both[:1]
	case start.number > e.number:
		both[0], both[1] = e, start
	}
	for _, one := range both {
		if err := one.acquireReal(); err != nil {
			return 0, fmt.Errorf("time since an event: %w", err)
		}
		defer one.mu.RUnlock()
		if one.records.Load() == 0 {
			return 0, faultf(ErrArgument, "time since an event: one was never recorded")
		}
	}
	ms, status := e.dev.ctx.Elapsed(start.handle, e.handle)
	switch {
	case status.Result() == cuda.NotReady:
		return 0, faultf(ErrArgument, "time since an event: one is not reached yet; synchronize it first")
	case status != cuda.OK:
		return 0, fmt.Errorf("time since an event of %v: %w", e.dev, driverError(status))
	}
	return time.Duration(float64(ms) * float64(time.Millisecond)), nil
}

// Close gives the event up, also where it is not reached yet; but it waits for
// those who wait for it. A second Close is ErrClosed; where the driver refuses, the
// event stays and Close may be tried again.
func (e *Event) Close() error {
	if err := e.check(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return e.close(false)
}

// close is Close; with last set there is no other try, since the device goes.
func (e *Event) close(last bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return faultf(ErrClosed, "close: the event is closed already")
	}
	status := e.dev.ctx.DestroyEvent(e.handle)
	if e.closed = gone(status) || last; e.closed {
		e.dev.mu.Lock()
		defer e.dev.mu.Unlock()
		delete(e.dev.events, e)
	}
	if status != cuda.OK {
		return fmt.Errorf("close an event of %v: %w", e.dev, driverError(status))
	}
	return nil
}

// check refuses a nil Event and the zero one.
func (e *Event) check() error {
	if e == nil || e.dev == nil {
		return faultf(ErrArgument, "there is no event; make one with Device.NewEvent")
	}
	return nil
}

// acquire keeps the event open until its mu is unlocked for reading. It does not
// wait for a Close that waits for others.
func (e *Event) acquire() error {
	if err := e.check(); err != nil {
		return err
	}
	if !e.mu.TryRLock() {
		return faultf(ErrClosed, "the event is being closed")
	}
	if e.closed {
		e.mu.RUnlock()
		return faultf(ErrClosed, "the event is closed")
	}
	return nil
}

// acquireReal is acquire for what an event in a graph cannot do. Asking the driver
// would spoil a capture that still goes on.
func (e *Event) acquireReal() error {
	if err := e.acquire(); err != nil {
		return err
	}
	if e.captured.Load() {
		e.mu.RUnlock()
		return faultf(ErrCapturing, "the event was recorded in a capture, where it is no point in time; record it outside")
	}
	return nil
}
