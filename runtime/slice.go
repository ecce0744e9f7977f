package kernrt

import (
	"fmt"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Slice is a run of Ts in device memory whose bounds are known. Like a Go
// slice it owns nothing; its memory must outlive it.
type Slice[T Elem] struct {
	dev *Device
	ptr Ptr[T]
	len int
}

// Ptr is the address of the first element, null for an empty Slice of no buffer.
func (s Slice[T]) Ptr() Ptr[T] { return s.ptr }

// Len is the number of elements.
func (s Slice[T]) Len() int { return s.len }

// Slice is the elements from low up to, not including, high.
func (s Slice[T]) Slice(low, high int) (Slice[T], error) {
	if low < 0 || high < low || high > s.len {
		return Slice[T]{}, faultf(ErrArgument, "slice [%d:%d] of %d elements is out of range", low, high, s.len)
	}
	return Slice[T]{s.dev, s.ptr.Add(low), high - low}, nil
}

// CopyFrom copies src, of the same length, to the device, after what is queued
// on stream. It returns when the copy is done, so src may be changed at once.
func (s Slice[T]) CopyFrom(stream *Stream, src []T) error {
	return s.copy(stream, "copy to the device", src, func(c cuda.Context, handle cuda.Stream, host unsafe.Pointer, bytes uint64) cuda.Status {
		return c.CopyIn(handle, s.ptr.address, host, bytes)
	})
}

// CopyTo copies the elements to dst, of the same length, after what is queued on
// stream, and returns when they are there.
func (s Slice[T]) CopyTo(stream *Stream, dst []T) error {
	err := s.copy(stream, "copy from the device", dst, func(c cuda.Context, handle cuda.Stream, host unsafe.Pointer, bytes uint64) cuda.Status {
		return c.CopyOut(handle, host, s.ptr.address, bytes)
	})
	normalizeBools(dst)
	return err
}

func (s Slice[T]) copy(stream *Stream, what string, host []T, do func(cuda.Context, cuda.Stream, unsafe.Pointer, uint64) cuda.Status) error {
	if len(host) != s.len {
		return faultf(ErrArgument, "%s: %d elements here, %d there; take a Slice of equal length", what, len(host), s.len)
	}
	if err := stream.acquire(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer stream.mu.RUnlock()
	if s.len == 0 {
		return nil
	}
	if stream.dev != s.dev {
		return faultf(ErrOtherDevice, "%s: the memory is on %v, the stream on %v", what, s.dev, stream.dev)
	}
	bytes := uint64(s.len) * uint64(elemSize[T]())
	if status := do(stream.dev.ctx, stream.handle, unsafe.Pointer(unsafe.SliceData(host)), bytes); status != cuda.OK {
		return fmt.Errorf("%s, %s at %v on %v: %w", what, bytesText(bytes), s.ptr, s.dev, driverError(status))
	}
	return nil
}

// normalizeBools makes what a kernel wrote as i1 valid Go bools: any byte but 0
// is true.
func normalizeBools[T Elem](values []T) {
	bools, ok := any(values).([]bool)
	if !ok {
		return
	}
	raw := unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(bools))), len(bools))
	for i, b := range raw {
		if b > 1 {
			raw[i] = 1
		}
	}
}
