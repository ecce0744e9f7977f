package kernrt

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Buffer is device memory for a number of Ts, owned until Free or the device's
// Close. Its contents start out undefined.
type Buffer[T Elem] struct {
	all   Slice[T]
	freed atomic.Bool
}

// Alloc allocates memory for n Ts on the device, at an address divisible by
// 256. A Buffer of no elements has a null Ptr.
func Alloc[T Elem](d *Device, n int) (*Buffer[T], error) {
	high, size := bits.Mul64(uint64(n), uint64(elemSize[T]()))
	if n < 0 || high != 0 {
		return nil, faultf(ErrArgument, "allocate %d elements of %d bytes: not a size", n, elemSize[T]())
	}
	if err := d.acquire(); err != nil {
		return nil, fmt.Errorf("allocate %s: %w", bytesText(size), err)
	}
	defer d.use.RUnlock()
	b := &Buffer[T]{all: Slice[T]{dev: d, len: n}}
	if n == 0 {
		return b, nil
	}
	address, status := d.ctx.Alloc(size)
	if status != cuda.OK {
		return nil, fmt.Errorf("allocate %s on %v: %w", bytesText(size), d, driverError(status))
	}
	b.all.ptr = PtrFromAddr[T](address)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.buffers[address] = struct{}{}
	return b, nil
}

// Ptr is the address of the first element.
func (b *Buffer[T]) Ptr() Ptr[T] { return b.all.ptr }

// Len is the number of elements.
func (b *Buffer[T]) Len() int { return b.all.len }

// Slice is the elements from low up to, not including, high.
func (b *Buffer[T]) Slice(low, high int) (Slice[T], error) { return b.all.Slice(low, high) }

// CopyFrom copies src, of the buffer's length, to the device, after what is
// queued on stream. It returns when the copy is done, so src may be changed at
// once.
func (b *Buffer[T]) CopyFrom(stream *Stream, src []T) error {
	if b.freed.Load() {
		return faultf(ErrClosed, "copy to the device: the buffer is freed")
	}
	return b.all.CopyFrom(stream, src)
}

// CopyTo copies the buffer to dst, of its length, after what is queued on
// stream, and returns when it is there.
func (b *Buffer[T]) CopyTo(stream *Stream, dst []T) error {
	if b.freed.Load() {
		return faultf(ErrClosed, "copy from the device: the buffer is freed")
	}
	return b.all.CopyTo(stream, dst)
}

// Free frees the memory. The work that uses it must be done: synchronize its
// streams first. A second Free, or one after the device's Close, is ErrClosed;
// where the driver refuses, the buffer stays and Free may be tried again.
func (b *Buffer[T]) Free() error {
	d := b.all.dev
	if b.freed.Swap(true) {
		return faultf(ErrClosed, "the buffer is freed already")
	}
	if b.all.ptr.IsNull() {
		return nil
	}
	if err := d.acquire(); err != nil {
		return fmt.Errorf("free: %w, and with it its buffers are freed", err)
	}
	defer d.use.RUnlock()
	// Forgotten first: once freed, the address may be another Alloc's.
	d.mu.Lock()
	delete(d.buffers, b.all.ptr.address)
	d.mu.Unlock()
	if status := d.ctx.Free(b.all.ptr.address); status != cuda.OK {
		d.mu.Lock()
		d.buffers[b.all.ptr.address] = struct{}{}
		d.mu.Unlock()
		b.freed.Store(false)
		return fmt.Errorf("free %v on %v: %w", b.all.ptr, d, driverError(status))
	}
	return nil
}

// bytesText is a size for messages.
func bytesText(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
