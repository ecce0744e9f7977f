package kernrt

import (
	"fmt"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Buffer is device memory for a number of Ts, owned until Free, FreeAsync or the
// device's Close. Its contents start out undefined. Goroutines may share it; what
// is queued on several streams has no order among them but what events give it.
type Buffer[T Elem] struct {
	all Slice[T]
}

// Alloc allocates memory for n Ts on the device, at an address divisible by
// 256. A Buffer of no elements has a null Ptr. The driver may wait for the
// device; a Pool does not.
func Alloc[T Elem](d *Device, n int) (*Buffer[T], error) {
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, err
	}
	if err := d.acquire(); err != nil {
		return nil, fmt.Errorf("allocate %s: %w", bytesText(size), err)
	}
	defer d.use.RUnlock()
	m := &memory{dev: d, bytes: size}
	if n > 0 {
		address, status := d.ctx.Alloc(size)
		if status != cuda.OK {
			return nil, fmt.Errorf("allocate %s on %v: %w", bytesText(size), d, driverError(status))
		}
		m.address = address
		d.keep(m)
	}
	return bufferOf[T](m, n), nil
}

func bufferOf[T Elem](m *memory, n int) *Buffer[T] {
	return &Buffer[T]{all: Slice[T]{mem: m, ptr: PtrFromAddr[T](m.address), len: n}}
}

// Upload allocates a Buffer for values and copies them there, in the order of
// stream, which it waits for.
func Upload[T Elem](stream *Stream, values []T) (*Buffer[T], error) {
	if err := stream.check(); err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	b, err := Alloc[T](stream.dev, len(values))
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	if err := b.CopyFrom(stream, values); err != nil {
		// A buffer that cannot be freed now is the device's to free.
		_ = b.Free()
		return nil, fmt.Errorf("upload: %w", err)
	}
	return b, nil
}

// All is all elements. Of a nil Buffer and the zero one it is none, and every
// method below is refused with ErrArgument.
func (b *Buffer[T]) All() Slice[T] {
	if b == nil {
		return Slice[T]{}
	}
	return b.all
}

// Ptr is the address of the first element, and null once the buffer is freed.
func (b *Buffer[T]) Ptr() Ptr[T] { return b.All().Ptr() }

// Len is the number of elements.
func (b *Buffer[T]) Len() int { return b.All().len }

// Device is the device whose memory it is.
func (b *Buffer[T]) Device() *Device {
	if b.check() != nil {
		return nil
	}
	return b.all.mem.dev
}

// Slice is the elements from low up to, not including, high.
func (b *Buffer[T]) Slice(low, high int) (Slice[T], error) {
	if err := b.check(); err != nil {
		return Slice[T]{}, fmt.Errorf("slice: %w", err)
	}
	return b.all.Slice(low, high)
}

// CopyFrom is Slice.CopyFrom of all elements.
func (b *Buffer[T]) CopyFrom(stream *Stream, src []T) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("%s: %w", toDevice, err)
	}
	return b.all.CopyFrom(stream, src)
}

// CopyTo is Slice.CopyTo of all elements.
func (b *Buffer[T]) CopyTo(stream *Stream, dst []T) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("%s: %w", fromDevice, err)
	}
	return b.all.CopyTo(stream, dst)
}

// CopyFromAsync is Slice.CopyFromAsync of all elements.
func (b *Buffer[T]) CopyFromAsync(stream *Stream, src *HostBuffer[T]) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("%s: %w", toDevice, err)
	}
	return b.all.CopyFromAsync(stream, src)
}

// CopyToAsync is Slice.CopyToAsync of all elements.
func (b *Buffer[T]) CopyToAsync(stream *Stream, dst *HostBuffer[T]) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("%s: %w", fromDevice, err)
	}
	return b.all.CopyToAsync(stream, dst)
}

// CopyFromDevice is Slice.CopyFromDevice of all elements.
func (b *Buffer[T]) CopyFromDevice(stream *Stream, src Slice[T]) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("%s: %w", onDeviceCopy, err)
	}
	return b.all.CopyFromDevice(stream, src)
}

// Download is Slice.Download of all elements.
func (b *Buffer[T]) Download(stream *Stream) ([]T, error) {
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", fromDevice, err)
	}
	return b.all.Download(stream)
}

// Fill is Slice.Fill of all elements.
func (b *Buffer[T]) Fill(stream *Stream, value T) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	return b.all.Fill(stream, value)
}

// Free frees the memory. The work that uses it must be done: synchronize its
// streams first, or use FreeAsync. A second Free, or one after the device's
// Close, is ErrClosed; where the driver refuses, the buffer stays and Free may
// be tried again.
func (b *Buffer[T]) Free() error {
	if err := b.check(); err != nil {
		return fmt.Errorf("free: %w", err)
	}
	m := b.all.mem
	d := m.dev
	if err := d.acquire(); err != nil {
		return fmt.Errorf("free: %w, and with it its buffers are freed", err)
	}
	defer d.use.RUnlock()
	return m.free(func() cuda.Status { return d.ctx.Free(m.address) })
}

// FreeAsync frees the memory of a Buffer from a Pool once all that is queued on
// stream so far is done; it does not wait. Work on other streams that uses the
// memory must be done by then: let stream wait for its events. From here on the
// Buffer is freed. Its errors are those of Free; while the stream is being
// captured it is ErrCapturing.
func (b *Buffer[T]) FreeAsync(stream *Stream) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("free: %w", err)
	}
	m := b.all.mem
	if !m.pooled {
		return faultf(ErrArgument, "free: the buffer is not from a pool; use Free")
	}
	if err := stream.acquire(); err != nil {
		return fmt.Errorf("free: %w", err)
	}
	defer stream.mu.RUnlock()
	if stream.dev != m.dev {
		return faultf(ErrOtherDevice, "free: the memory is on %v, the stream on %v", m.dev, stream.dev)
	}
	if err := stream.refuseCaptured("a graph frees only memory of its own"); err != nil {
		return fmt.Errorf("free: %w", err)
	}
	return m.free(func() cuda.Status { return m.dev.ctx.FreeAsync(stream.handle, m.address) })
}

// free has the driver free the memory, and takes that back where it refuses.
func (m *memory) free(do func() cuda.Status) error {
	if m.freed.Swap(true) {
		return faultf(ErrClosed, "the buffer is freed already")
	}
	if m.address == 0 {
		return nil
	}
	m.dev.forget(m)
	if status := do(); status != cuda.OK {
		if !gone(status) {
			m.dev.keep(m)
			m.freed.Store(false)
		}
		return fmt.Errorf("free %#x on %v: %w", m.address, m.dev, driverError(status))
	}
	return nil
}

// check refuses a nil Buffer and the zero one.
func (b *Buffer[T]) check() error {
	if b == nil || b.all.mem == nil {
		return faultf(ErrArgument, "there is no buffer; make one with Alloc, AllocAsync or Upload")
	}
	return nil
}
