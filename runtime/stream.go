package kernrt

import (
	"errors"
	"fmt"
	"sync"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Stream is a queue of work on a device: what is queued on one stream runs in
// order, what is queued on two may overlap. Goroutines may share a stream.
type Stream struct {
	// Held for reading while the stream is in use, so that Close cannot pull
	// it away from under a call.
	mu     sync.RWMutex
	closed bool
	owned  bool // created here, hence destroyed here
	zeroed bool // scratch memory is zeroed for each launch
	debug  bool // the device's
	dev    *Device
	handle cuda.Stream

	scratch scratch
}

// StreamOption changes what NewStream and StreamFromHandle make.
type StreamOption func(*Stream)

// WithZeroedScratch zeroes the scratch memory of every launch on the stream
// first. Triton's own launcher does not, and its kernels do not need it: they
// write scratch before they read it.
func WithZeroedScratch() StreamOption { return func(s *Stream) { s.zeroed = true } }

// perThreadStream is CU_STREAM_PER_THREAD.
const perThreadStream = 2

// NewStream creates a stream. It does not wait for the legacy default stream,
// nor that for it.
func (d *Device) NewStream(options ...StreamOption) (*Stream, error) {
	if err := d.acquire(); err != nil {
		return nil, fmt.Errorf("new stream: %w", err)
	}
	defer d.use.RUnlock()
	handle, status := d.ctx.NewStream()
	if status != cuda.OK {
		return nil, fmt.Errorf("new stream on %v: %w", d, driverError(status))
	}
	return d.keepStream(&Stream{dev: d, handle: handle, owned: true}, options), nil
}

// StreamFromHandle is a stream that another library created, by its CUstream; 0
// and 1 are the legacy default stream. The other library keeps it: Close gives
// up only what the runtime holds for it, and must come before it is destroyed.
// A stream of another context is ErrOtherDevice. The per-thread default stream
// (CU_STREAM_PER_THREAD) is refused, since goroutines move between threads.
func (d *Device) StreamFromHandle(handle uintptr, options ...StreamOption) (*Stream, error) {
	if handle == perThreadStream {
		return nil, faultf(ErrArgument, "stream handle %d is the per-thread default stream, but goroutines move between threads; create a stream", handle)
	}
	if err := d.acquire(); err != nil {
		return nil, fmt.Errorf("stream %#x: %w", handle, err)
	}
	defer d.use.RUnlock()
	stream := cuda.StreamOf(handle)
	ctx, status := d.ctx.ContextOf(stream)
	if status != cuda.OK {
		return nil, fmt.Errorf("stream %#x on %v: %w", handle, d, driverError(status))
	}
	if ctx != d.ctx {
		return nil, faultf(ErrOtherDevice, "stream %#x does not belong to the primary context of %v", handle, d)
	}
	return d.keepStream(&Stream{dev: d, handle: stream}, options), nil
}

func (d *Device) keepStream(s *Stream, options []StreamOption) *Stream {
	s.debug = d.debug
	for _, option := range options {
		option(s)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams[s] = struct{}{}
	return s
}

// Device is the stream's device.
func (s *Stream) Device() *Device { return s.dev }

// Handle is the stream's CUstream, for other libraries.
func (s *Stream) Handle() uintptr { return s.handle.Handle() }

// Synchronize waits until all that is queued on the stream is done. Its error
// may come from any work queued before.
func (s *Stream) Synchronize() error {
	if err := s.acquire(); err != nil {
		return fmt.Errorf("synchronize: %w", err)
	}
	defer s.mu.RUnlock()
	if status := s.dev.ctx.Synchronize(s.handle); status != cuda.OK {
		return fmt.Errorf("synchronize a stream of %v: %w", s.dev, driverError(status))
	}
	return nil
}

// Close waits for the stream's work, frees its scratch memory and, where
// NewStream made it, destroys it. A second Close is ErrClosed.
func (s *Stream) Close() error {
	if err := s.check(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return faultf(ErrClosed, "close: the stream is closed already")
	}
	s.closed = true
	errs := []error{
		driverError(s.dev.ctx.Synchronize(s.handle)),
		s.scratch.free(s),
	}
	if s.owned {
		errs = append(errs, driverError(s.dev.ctx.Destroy(s.handle)))
	}
	s.dev.mu.Lock()
	defer s.dev.mu.Unlock()
	delete(s.dev.streams, s)
	if err := errors.Join(errs...); err != nil {
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
		return faultf(ErrClosed, "the stream is closed")
	}
	return nil
}
