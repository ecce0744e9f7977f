package driver

import (
	"time"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// event stands for a point of a stream.
type event struct {
	untimed  bool
	last     *point   // nil: never recorded
	captured *capture // its last record was in this one
	nodes    []*node  // there: the stream's last nodes
}

// point is one record of an event.
type point struct {
	reached chan struct{} // closed once it is
	at      time.Time
}

// NewEvent makes an event.
func (d *Driver) NewEvent(flags uint32) (cuda.Event, cuda.Status) {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return 0, failed
	}
	h := cuda.Event(d.handle())
	d.events[h] = &event{untimed: flags&cuda.EventUntimed != 0}
	return h, cuda.OK
}

// DestroyEvent gives the event up.
func (d *Driver) DestroyEvent(h cuda.Event) cuda.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, status := d.event(h); status != cuda.OK {
		return status
	}
	delete(d.events, h)
	return cuda.OK
}

// event finds an event. The caller holds d.mu.
func (d *Driver) event(h cuda.Event) (*event, cuda.Status) {
	if e := d.events[h]; e != nil {
		return e, cuda.OK
	}
	return nil, faultf(cuda.InvalidHandle, "%#x is no event of the simulated device", uintptr(h))
}

// Record makes the event stand for all that is queued on the stream so far.
func (d *Driver) Record(h cuda.Event, on cuda.Stream) cuda.Status {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return failed
	}
	e, status := d.event(h)
	if status != cuda.OK {
		return status
	}
	s, status := d.stream(on)
	if status != cuda.OK {
		return status
	}
	if s.capture != nil {
		if s.capture.spoilt {
			return errSpoilt()
		}
		e.captured, e.nodes = s.capture, s.tail
		return cuda.OK
	}
	p := &point{reached: make(chan struct{})}
	e.last, e.captured, e.nodes = p, nil, nil
	d.start(s, queued{reaches: p, work: func() error {
		p.at = time.Now()
		return nil
	}})
	return cuda.OK
}

// Wait lets the stream's later work run only once the event is reached.
func (d *Driver) Wait(on cuda.Stream, h cuda.Event) cuda.Status {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return failed
	}
	e, status := d.event(h)
	if status != cuda.OK {
		return status
	}
	s, status := d.stream(on)
	if status != cuda.OK {
		return status
	}
	if e.captured != nil || s.capture != nil {
		return s.join(e)
	}
	if p := e.last; p != nil {
		d.start(s, queued{work: func() error {
			<-p.reached
			return nil
		}})
	}
	return cuda.OK
}

// QueryEvent reports whether the event has been reached.
func (d *Driver) QueryEvent(h cuda.Event) cuda.Status {
	failed := d.lock()
	defer d.mu.Unlock()
	e, status := d.event(h)
	switch {
	case failed != cuda.OK:
		return failed
	case status != cuda.OK:
		return status
	case e.captured != nil:
		return e.captured.spoil(cuda.CapturedEvent, "the event was recorded in a capture")
	case e.last == nil || e.last.isReached():
		return cuda.OK
	}
	return faultf(cuda.NotReady, "the event has not been reached")
}

func (p *point) isReached() bool {
	select {
	case <-p.reached:
		return true
	default:
		return false
	}
}

// SynchronizeEvent waits until the event is reached.
func (d *Driver) SynchronizeEvent(h cuda.Event) cuda.Status {
	d.mu.Lock()
	e, status := d.event(h)
	if status != cuda.OK {
		d.mu.Unlock()
		return status
	}
	if e.captured != nil {
		defer d.mu.Unlock()
		return e.captured.spoil(cuda.CapturedEvent, "the event was recorded in a capture")
	}
	p := e.last
	d.mu.Unlock()
	if p != nil {
		<-p.reached
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// Elapsed is the time between two events that have been reached.
func (d *Driver) Elapsed(start, end cuda.Event) (milliseconds float32, _ cuda.Status) {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return 0, failed
	}
	var at [2]time.Time
	for i, h := range [2]cuda.Event{start, end} {
		e, status := d.event(h)
		switch {
		case status != cuda.OK:
			return 0, status
		case e.untimed || e.last == nil || e.captured != nil:
			return 0, faultf(cuda.InvalidHandle, "the event takes no time, or was not recorded on a stream")
		case !e.last.isReached():
			return 0, faultf(cuda.NotReady, "the event has not been reached")
		}
		at[i] = e.last.at
	}
	return float32(at[1].Sub(at[0]).Seconds() * 1000), cuda.OK
}
