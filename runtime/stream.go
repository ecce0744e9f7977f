package kernrt

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Stream is a queue of work on a device: what is queued on one stream runs in
// order, what is queued on two may overlap. Goroutines may share a stream.
type Stream struct {
	// Held for reading while the stream is in use, so that Close cannot pull
	// it away from under a call.
	mu     sync.RWMutex
	closed bool // or it explains, and is never open
	owned  bool // created here, hence destroyed here
	zeroed bool // scratch memory is zeroed for each launch
	debug  bool // the device's
	dev    *Device
	handle cuda.Stream

	priority    int
	prioritized bool

	scratch scratch
	points  points

	explanations *explanations // of a stream of Explain's
}

// perThreadStream is CU_STREAM_PER_THREAD.
const perThreadStream = 2

// NewStream creates a stream. It does not wait for the legacy default stream,
// nor that for it.
func (d *Device) NewStream(options ...StreamOption) (*Stream, error) {
	if err := d.acquire(); err != nil {
		return nil, fmt.Errorf("new stream: %w", err)
	}
	defer d.use.RUnlock()
	s, err := d.configured(options)
	if err != nil {
		return nil, fmt.Errorf("new stream: %w", err)
	}
	// The driver's numbers are 32 bits, and it cuts them to what it has.
	handle, status := d.ctx.NewStream(min(max(s.priority, math.MinInt32), math.MaxInt32))
	if status != cuda.OK {
		return nil, fmt.Errorf("new stream on %v: %w", d, driverError(status))
	}
	s.handle, s.owned = handle, true
	d.keepStream(s)
	return s, nil
}

// StreamFromHandle is a stream that another library created, by its CUstream; 0
// and 1 are the legacy default stream. The other library keeps it: Close gives
// up only what the runtime holds for it, and must come before it is destroyed.
// A stream of another context is ErrOtherDevice. The per-thread default stream
// (CU_STREAM_PER_THREAD) is refused, since goroutines move between threads. A
// handle that is no stream's may crash the driver.
func (d *Device) StreamFromHandle(handle uintptr, options ...StreamOption) (*Stream, error) {
	if handle == perThreadStream {
		return nil, faultf(ErrArgument, "stream handle %d is the per-thread default stream, but goroutines move between threads; create a stream", handle)
	}
	if err := d.acquire(); err != nil {
		return nil, fmt.Errorf("stream %#x: %w", handle, err)
	}
	defer d.use.RUnlock()
	s, err := d.configured(options)
	if err != nil {
		return nil, fmt.Errorf("stream %#x: %w", handle, err)
	}
	if s.prioritized {
		return nil, faultf(ErrArgument, "stream %#x has a priority already; WithPriority is for NewStream", handle)
	}
	s.handle = cuda.Stream(handle)
	owns, status := d.ctx.Owns(s.handle)
	if status != cuda.OK {
		return nil, fmt.Errorf("stream %#x on %v: %w", handle, d, driverError(status))
	}
	if !owns {
		return nil, faultf(ErrOtherDevice, "stream %#x does not belong to the primary context of %v", handle, d)
	}
	d.keepStream(s)
	return s, nil
}

// configured is a stream with no handle yet.
func (d *Device) configured(options []StreamOption) (*Stream, error) {
	s := &Stream{dev: d, debug: d.debug}
	for i, option := range options {
		if option == nil {
			return nil, faultf(ErrArgument, "option %d of %d is nil", i+1, len(options))
		}
		option(s)
	}
	if given := s.scratch.given; given != nil {
		switch {
		case given.mem == nil || given.len == 0:
			return nil, faultf(ErrArgument, "the scratch memory is empty")
		case given.mem.dev != d:
			return nil, faultf(ErrOtherDevice, "the scratch memory is on %v, the stream on %v", given.mem.dev, d)
		}
	}
	return s, nil
}

func (d *Device) keepStream(s *Stream) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams[s] = struct{}{}
}

// Device is the stream's device.
func (s *Stream) Device() *Device { return s.dev }

// Handle is the stream's CUstream, for other libraries.
func (s *Stream) Handle() uintptr { return uintptr(s.handle) }

// Priority is the priority that the stream has, 0 being the lowest.
func (s *Stream) Priority() (int, error) {
	if err := s.acquire(); err != nil {
		return 0, fmt.Errorf("stream priority: %w", err)
	}
	defer s.mu.RUnlock()
	p, status := s.dev.ctx.Priority(s.handle)
	if status != cuda.OK {
		return 0, fmt.Errorf("priority of a stream of %v: %w", s.dev, driverError(status))
	}
	return p, nil
}

// Synchronize waits until all that is queued on the stream is done. Its error
// may come from any work queued before. A stream that is being captured has
// nothing to wait for: ErrCapturing, and the capture goes on.
func (s *Stream) Synchronize() error {
	if err := s.acquire(); err != nil {
		return fmt.Errorf("synchronize: %w", err)
	}
	defer s.mu.RUnlock()
	if err := s.refuseWait(); err != nil {
		return fmt.Errorf("synchronize: %w", err)
	}
	if status := s.dev.ctx.Synchronize(s.handle); status != cuda.OK {
		return fmt.Errorf("synchronize a stream of %v: %w", s.dev, driverError(status))
	}
	return nil
}

// Query reports whether all that was queued on the stream is done, and does not
// wait. Its error may come from any work queued before; on a stream that is
// being captured it is ErrCapturing, and the capture goes on.
func (s *Stream) Query() (done bool, err error) {
	if err := s.acquire(); err != nil {
		return false, fmt.Errorf("query: %w", err)
	}
	defer s.mu.RUnlock()
	if err := s.refuseWait(); err != nil {
		return false, fmt.Errorf("query: %w", err)
	}
	status := s.dev.ctx.Query(s.handle)
	if status.Result() == cuda.NotReady {
		return false, nil
	}
	if status != cuda.OK {
		return false, fmt.Errorf("query a stream of %v: %w", s.dev, driverError(status))
	}
	return true, nil
}

// Wait lets what is queued on the stream from here on run only when the event, as
// it is recorded now, is reached. The host does not wait. The event may be of
// another device. A stream that is being captured can only wait for events of its
// capture: one recorded outside is ErrCapturing, and the capture goes on.
func (s *Stream) Wait(e *Event) error {
	if err := s.acquire(); err != nil {
		return fmt.Errorf("wait for an event: %w", err)
	}
	defer s.mu.RUnlock()
	if err := e.acquire(); err != nil {
		return fmt.Errorf("wait for an event: %w", err)
	}
	defer e.mu.RUnlock()
	if !e.captured.Load() && e.records.Load() > 0 {
		if err := s.refuseCaptured("the event was recorded outside the capture"); err != nil {
			return fmt.Errorf("wait for an event: %w", err)
		}
	}
	if status := s.dev.ctx.Wait(s.handle, e.handle); status != cuda.OK {
		return fmt.Errorf("wait for an event, on a stream of %v: %w", s.dev, driverError(status))
	}
	return nil
}

// refuseWait refuses what the host would wait for while the stream is captured:
// it would never come, and the driver would spoil the capture.
func (s *Stream) refuseWait() error {
	return s.refuseCaptured("nothing runs that the host could wait for")
}

// refuseCaptured refuses, for a reason, what cannot be captured.
func (s *Stream) refuseCaptured(reason string) error {
	capturing, status := s.dev.ctx.IsCapturing(s.handle)
	switch {
	case capturing || status.Result() == cuda.CaptureImplicit:
		return faultf(ErrCapturing, "the stream is being captured, and %s; end the capture first", reason)
	case status != cuda.OK:
		return driverError(status)
	}
	return nil
}

// idle refuses to close a stream that is being captured.
func (s *Stream) idle() error {
	if err := s.acquire(); err != nil {
		return nil // closed meanwhile
	}
	defer s.mu.RUnlock()
	return s.refuseCaptured("closing it would spoil the capture")
}

// Close waits for the stream's work, frees its scratch memory and, where
// NewStream made it, destroys it. While the stream is being captured that is
// ErrCapturing, and changes nothing. Where the driver refuses to destroy it, it
// stays and Close may be tried again. Otherwise a second Close is ErrClosed.
func (s *Stream) Close() error {
	if err := s.check(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return s.close(false)
}

// close is Close; with last set there is no other try, since the device goes.
func (s *Stream) close(last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return faultf(ErrClosed, "close: the stream is closed already")
	}
	asked := s.refuseCaptured("closing it would spoil the capture")
	if errors.Is(asked, ErrCapturing) && !last {
		return fmt.Errorf("close: %w", asked)
	}
	errs := []error{asked, driverError(s.dev.ctx.Synchronize(s.handle))}
	s.points.all.Wait()
	errs = append(errs, s.scratch.free(s))
	destroyed := cuda.OK
	if s.owned {
		destroyed = s.dev.ctx.Destroy(s.handle)
		errs = append(errs, driverError(destroyed))
	}
	if s.closed = gone(destroyed) || last; s.closed {
		s.dev.mu.Lock()
		defer s.dev.mu.Unlock()
		delete(s.dev.streams, s)
	}
	if err := joined(errs...); err != nil {
		return fmt.Errorf("close a stream of %v: %w", s.dev, err)
	}
	return nil
}

// check refuses a nil Stream and the zero one.
func (s *Stream) check() error {
	if s == nil || s.dev == nil {
		return errNoStream()
	}
	return nil
}

// Out of line, so that check is inlined into a launch.
//
//go:noinline
func errNoStream() error {
	return faultf(ErrArgument, "there is no stream; make one with Device.NewStream")
}

// acquire keeps the stream open until its mu is unlocked for reading.
func (s *Stream) acquire() error {
	if err := s.check(); err != nil {
		return err
	}
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return s.errClosed()
	}
	return nil
}

func (s *Stream) errClosed() error {
	if s.explains() {
		return faultf(ErrArgument, "the stream only explains launches; nothing else can be queued on it or waited for")
	}
	return faultf(ErrClosed, "the stream is closed")
}
