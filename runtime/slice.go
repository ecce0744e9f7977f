package kernrt

import (
	"fmt"
	"unsafe"
)

// Slice is a run of Ts in device memory whose bounds are known. Like a Go slice
// it owns nothing. Once its Buffer is freed all that would use it is ErrClosed.
type Slice[T Elem] struct {
	mem *memory
	ptr Ptr[T]
	len int
}

// Ptr is the address of the first element. It is null for a Slice of no buffer
// and of one that is freed.
func (s Slice[T]) Ptr() Ptr[T] {
	if s.mem == nil || s.mem.freed.Load() {
		return Ptr[T]{}
	}
	return s.ptr
}

// Len is the number of elements.
func (s Slice[T]) Len() int { return s.len }

// Slice is the elements from low up to, not including, high.
func (s Slice[T]) Slice(low, high int) (Slice[T], error) {
	if low < 0 || high < low || high > s.len {
		return Slice[T]{}, faultf(ErrArgument, "slice [%d:%d] of %d elements is out of range", low, high, s.len)
	}
	return Slice[T]{s.mem, s.ptr.Add(low), high - low}, nil
}

// CopyFrom copies src, of the same length, to the device, after what is queued
// on stream. It returns when the copy is done, so src may be changed at once. On
// a stream that is being captured it is ErrCapturing.
func (s Slice[T]) CopyFrom(stream *Stream, src []T) error {
	o, err := s.begin(stream, toDevice, len(src), waiting)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	return o.result(stream.dev.ctx.CopyIn(stream.handle, s.ptr.address, start(src), o.bytes))
}

// CopyTo copies the elements to dst, of the same length, after what is queued on
// stream, and returns when they are there. On a stream that is being captured it
// is ErrCapturing.
func (s Slice[T]) CopyTo(stream *Stream, dst []T) error {
	o, err := s.begin(stream, fromDevice, len(dst), waiting)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	err = o.result(stream.dev.ctx.CopyOut(stream.handle, start(dst), s.ptr.address, o.bytes))
	normalizeBools(dst)
	return err
}

// Download is CopyTo of a new Go slice.
func (s Slice[T]) Download(stream *Stream) ([]T, error) {
	dst := make([]T, s.len)
	if err := s.CopyTo(stream, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// CopyFromAsync queues a copy of src, of the same length, to the device, and does
// not wait: src must not be changed or freed before stream has done it. It may be
// captured; then the graph reads src at each launch.
func (s Slice[T]) CopyFromAsync(stream *Stream, src *HostBuffer[T]) error {
	host, err := src.use()
	if err != nil {
		return fmt.Errorf("%s: %w", toDevice, err)
	}
	o, err := s.begin(stream, toDevice, len(host), queued)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	return o.result(stream.dev.ctx.CopyInAsync(stream.handle, s.ptr.address, start(host), o.bytes))
}

// CopyToAsync queues a copy of the elements to dst, of the same length, and does
// not wait: dst must not be read, changed or freed before stream has done it. It
// may be captured.
func (s Slice[T]) CopyToAsync(stream *Stream, dst *HostBuffer[T]) error {
	host, err := dst.use()
	if err != nil {
		return fmt.Errorf("%s: %w", fromDevice, err)
	}
	o, err := s.begin(stream, fromDevice, len(host), queued)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	return o.result(stream.dev.ctx.CopyOutAsync(stream.handle, start(host), s.ptr.address, o.bytes))
}

// CopyFromDevice queues a copy of src, of the same length and on the same device,
// and does not wait. The two must not overlap. It may be captured.
func (s Slice[T]) CopyFromDevice(stream *Stream, src Slice[T]) error {
	if err := src.refuse(onDeviceCopy, s); err != nil {
		return err
	}
	o, err := s.begin(stream, onDeviceCopy, src.len, queued)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	if to, from := s.ptr.address, src.ptr.address; to < from+o.bytes && from < to+o.bytes {
		return faultf(ErrArgument, "%s: %s at %v and at %v overlap", onDeviceCopy, bytesText(o.bytes), s.ptr, src.ptr)
	}
	return o.result(stream.dev.ctx.CopyAsync(stream.handle, s.ptr.address, src.ptr.address, o.bytes))
}

// Fill queues setting each element to value, and does not wait. Values of 8 bytes
// must have equal halves, as 0 and -1 have: the device fills with 1, 2 or 4 bytes,
// and others are ErrArgument. It may be captured.
func (s Slice[T]) Fill(stream *Stream, value T) error {
	o, err := s.begin(stream, "fill", s.len, queued)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	c, count, bits := stream.dev.ctx, uint64(s.len), unsafe.Pointer(&value)
	switch unsafe.Sizeof(value) {
	case 1:
		return o.result(c.FillAsync(stream.handle, s.ptr.address, *(*uint8)(bits), count))
	case 2:
		return o.result(c.Fill16Async(stream.handle, s.ptr.address, *(*uint16)(bits), count))
	case 4:
		return o.result(c.Fill32Async(stream.handle, s.ptr.address, *(*uint32)(bits), count))
	}
	halves := *(*[2]uint32)(bits)
	if halves[0] != halves[1] {
		return faultf(ErrArgument, "fill: the halves of %v differ, and the device fills with 4 bytes at most; copy the values", value)
	}
	return o.result(c.Fill32Async(stream.handle, s.ptr.address, halves[0], 2*count))
}

// start is the address of a slice's elements.
func start[T Elem](values []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(values)) }

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
