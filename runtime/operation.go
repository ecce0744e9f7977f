package kernrt

import (
	"fmt"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// What messages call the operations on memory.
const (
	toDevice     = "copy to the device"
	fromDevice   = "copy from the device"
	onDeviceCopy = "copy on the device"
)

// Whether an operation waits for the stream.
const (
	queued  = false
	waiting = true
)

// operation is work on a Slice's memory that is about to be queued: its stream is
// held open until end.
type operation struct {
	what    string
	stream  *Stream
	address uint64
	bytes   uint64
}

// begin checks an operation on all of s with count elements on the other side.
// One of no bytes is nothing to do and holds nothing.
func (s Slice[T]) begin(stream *Stream, what string, count int, wait bool) (operation, error) {
	if s.mem != nil && s.mem.freed.Load() {
		return operation{}, faultf(ErrClosed, "%s: the buffer is freed", what)
	}
	if count != s.len {
		return operation{}, faultf(ErrArgument, "%s: %d elements here, %d there; take a Slice of equal length", what, count, s.len)
	}
	return s.hold(stream, what, uint64(s.len)*uint64(elemSize[T]()), wait)
}

// hold checks that an operation of so many bytes of s may be queued on stream.
func (s Slice[T]) hold(stream *Stream, what string, bytes uint64, wait bool) (operation, error) {
	if err := stream.acquire(); err != nil {
		return operation{}, fmt.Errorf("%s: %w", what, err)
	}
	if bytes == 0 {
		stream.mu.RUnlock()
		return operation{}, nil
	}
	if stream.dev != s.mem.dev {
		stream.mu.RUnlock()
		return operation{}, faultf(ErrOtherDevice, "%s: the memory is on %v, the stream on %v", what, s.mem.dev, stream.dev)
	}
	if wait {
		if err := stream.refuseWait(); err != nil {
			stream.mu.RUnlock()
			return operation{}, fmt.Errorf("%s: %w", what, err)
		}
	}
	return operation{what, stream, s.ptr.address, bytes}, nil
}

// refuse refuses s as the source of a copy to another Slice.
func (s Slice[T]) refuse(what string, to Slice[T]) error {
	switch {
	case s.mem == nil || to.mem == nil:
		return nil // of no elements
	case s.mem.freed.Load():
		return faultf(ErrClosed, "%s: the buffer copied from is freed", what)
	case s.mem.dev != to.mem.dev:
		return faultf(ErrOtherDevice, "%s: the memory is on %v, that copied from on %v", what, to.mem.dev, s.mem.dev)
	}
	return nil
}

func (o *operation) end() { o.stream.mu.RUnlock() }

func (o *operation) result(status cuda.Status) error {
	if status == cuda.OK {
		return nil
	}
	return fmt.Errorf("%s, %s at %#x on %v: %w", o.what, bytesText(o.bytes), o.address, o.stream.dev, driverError(status))
}
