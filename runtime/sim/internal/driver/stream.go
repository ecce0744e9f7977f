package driver

import (
	"maps"
	"slices"
	"sync"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// stream runs its work one after the other, in a goroutine that lives while
// there is some.
type stream struct {
	priority int
	capture  *capture // what its work goes to instead
	tail     []*node  // the capture's last nodes on this stream
	queue    []queued
	running  bool
	idle     *sync.Cond // on Driver.mu: the queue is empty and nothing runs
}

// work is one operation on the device.
type work func() error

// queued is work on a stream, and the point that is reached once it is done, if any.
type queued struct {
	work    work
	reaches *point
}

// The priorities that a stream can have. All run alike.
const leastPriority, greatestPriority = 0, -5

// NewStream makes a stream of the nearest priority there is.
func (d *Driver) NewStream(priority int) (cuda.Stream, cuda.Status) {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return 0, failed
	}
	h := cuda.Stream(d.handle())
	d.streams[h] = &stream{priority: max(greatestPriority, min(priority, leastPriority)), idle: sync.NewCond(&d.mu)}
	return h, cuda.OK
}

// Priority is the stream's priority.
func (d *Driver) Priority(h cuda.Stream) (int, cuda.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, status := d.stream(h)
	if status != cuda.OK {
		return 0, status
	}
	return s.priority, cuda.OK
}

// Owns reports whether the device has such a stream.
func (d *Driver) Owns(h cuda.Stream) (bool, cuda.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.streams[h] != nil, cuda.OK
}

// Destroy gives the stream up; what is queued still runs.
func (d *Driver) Destroy(h cuda.Stream) cuda.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, status := d.stream(h)
	if status != cuda.OK {
		return status
	}
	s.spoil()
	delete(d.streams, h)
	return cuda.OK
}

// stream finds a stream. The caller holds d.mu.
func (d *Driver) stream(h cuda.Stream) (*stream, cuda.Status) {
	if s := d.streams[h]; s != nil {
		return s, cuda.OK
	}
	return nil, faultf(cuda.InvalidHandle, "%#x is no stream of the simulated device", uintptr(h))
}

// enqueue queues work on a stream, or makes a node of it where the stream is
// being captured.
func (d *Driver) enqueue(h cuda.Stream, n node) cuda.Status {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return failed
	}
	s, status := d.stream(h)
	if status != cuda.OK {
		return status
	}
	if s.capture != nil {
		return d.captureNode(s, n)
	}
	d.start(s, queued{work: n.work})
	return cuda.OK
}

// start queues work. The caller holds d.mu.
func (d *Driver) start(s *stream, q queued) {
	s.queue = append(s.queue, q)
	if !s.running {
		s.running, d.busy[s] = true, true
		go d.run(s)
	}
}

// run does a stream's work until there is none. After a failure nothing is done
// any more, but events are reached, so that no wait hangs.
func (d *Driver) run(s *stream) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for s.running {
		q := s.queue[0]
		s.queue = s.queue[1:]
		d.mu.Unlock()
		err := q.work()
		d.mu.Lock()
		if err != nil && d.failed == cuda.OK {
			d.failed = workFault(err)
		}
		if len(s.queue) == 0 {
			s.running = false
			delete(d.busy, s)
			s.idle.Broadcast()
		}
		if q.reaches != nil { // now that whoever waits for it finds the stream as it is
			close(q.reaches.reached)
		}
	}
}

// isFailed reports whether work should be left undone.
func (d *Driver) isFailed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed != cuda.OK
}

// unlessFailed is work that is not done on a device that has failed.
func (d *Driver) unlessFailed(w work) work {
	return func() error {
		if d.isFailed() {
			return nil
		}
		return w()
	}
}

// Query reports whether all work of the stream is done.
func (d *Driver) Query(h cuda.Stream) cuda.Status {
	failed := d.lock()
	defer d.mu.Unlock()
	s, status := d.stream(h)
	switch {
	case failed != cuda.OK:
		return failed
	case status != cuda.OK:
		return status
	case s.capture != nil:
		return s.spoil()
	case s.running:
		return faultf(cuda.NotReady, "the stream has work to do")
	}
	return cuda.OK
}

// Synchronize waits for all work of the stream.
func (d *Driver) Synchronize(h cuda.Stream) cuda.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, status := d.stream(h)
	if status != cuda.OK {
		return status
	}
	if s.capture != nil {
		return s.spoil()
	}
	for s.running {
		s.idle.Wait()
	}
	return d.failed
}

// drain waits for all streams that run, those that have been given up among them.
func (d *Driver) drain() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range slices.Collect(maps.Keys(d.busy)) {
		for s.running {
			s.idle.Wait()
		}
	}
}
