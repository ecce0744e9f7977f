package kernrt

import (
	"fmt"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// HostBuffer is pinned memory of the host for a number of Ts: what asynchronous
// copies need, and what copies fastest. It is owned until Free or its device's
// Close, and is not the garbage collector's. Goroutines may share it as they may
// share a Go slice.
type HostBuffer[T Elem] struct {
	mem    *pinned
	values []T
	part   bool
}

// AllocHost allocates pinned memory for n Ts, set to zero. Streams of every
// device may copy to and from it. Pinned memory is taken from the whole machine
// and slow to allocate: keep it and use it again.
func AllocHost[T Elem](d *Device, n int) (*HostBuffer[T], error) {
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, err
	}
	if err := d.acquire(); err != nil {
		return nil, fmt.Errorf("allocate %s of pinned memory: %w", bytesText(size), err)
	}
	defer d.use.RUnlock()
	m := &pinned{dev: d, bytes: size}
	if n == 0 {
		return &HostBuffer[T]{mem: m}, nil
	}
	p, status := d.ctx.AllocHost(size)
	if status != cuda.OK {
		return nil, fmt.Errorf("allocate %s of pinned memory for %v: %w", bytesText(size), d, driverError(status))
	}
	m.start = p
	d.keepPinned(m)
	values := unsafe.Slice((*T)(p), n)
	clear(values)
	return &HostBuffer[T]{mem: m, values: values}, nil
}

// Values is the memory as a Go slice. Writing to it while a copy from it is
// queued, and touching it while a copy to it is, is a data race with the device.
// It must not be used once the buffer is freed, which crashes the program; from
// then on Values is nil. Of bools, a copy brings the bytes as the kernel wrote
// them; Triton writes 0 and 1.
func (h *HostBuffer[T]) Values() []T {
	if h.check() != nil || h.mem.freed.Load() {
		return nil
	}
	return h.values
}

// Len is the number of elements.
func (h *HostBuffer[T]) Len() int {
	if h == nil {
		return 0
	}
	return len(h.values)
}

// Slice is the elements from low up to, not including, high: a part, which owns
// nothing and cannot be freed.
func (h *HostBuffer[T]) Slice(low, high int) (*HostBuffer[T], error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("slice: %w", err)
	}
	if low < 0 || high < low || high > len(h.values) {
		return nil, faultf(ErrArgument, "slice [%d:%d] of %d elements is out of range", low, high, len(h.values))
	}
	return &HostBuffer[T]{h.mem, h.values[low:high:high], true}, nil
}

// Free frees the memory. The copies that use it must be done: synchronize their
// streams first. A second Free, or one after the device's Close, is ErrClosed;
// where the driver refuses, the buffer stays and Free may be tried again.
func (h *HostBuffer[T]) Free() error {
	if err := h.check(); err != nil {
		return fmt.Errorf("free: %w", err)
	}
	if h.part {
		return faultf(ErrArgument, "free: this is a part of a host buffer; free the whole")
	}
	m := h.mem
	if err := m.dev.acquire(); err != nil {
		return fmt.Errorf("free: %w, and with it its host buffers are freed", err)
	}
	defer m.dev.use.RUnlock()
	if m.freed.Swap(true) {
		return faultf(ErrClosed, "the host buffer is freed already")
	}
	if m.start == nil {
		return nil
	}
	m.dev.forgetPinned(m)
	if status := m.dev.ctx.FreeHost(m.start); status != cuda.OK {
		if !gone(status) {
			m.dev.keepPinned(m)
			m.freed.Store(false)
		}
		return fmt.Errorf("free %s of pinned memory of %v: %w", bytesText(m.bytes), m.dev, driverError(status))
	}
	return nil
}

// use is the elements for a copy.
func (h *HostBuffer[T]) use() ([]T, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	if h.mem.freed.Load() {
		return nil, faultf(ErrClosed, "the host buffer is freed")
	}
	return h.values, nil
}

// check refuses a nil HostBuffer and the zero one.
func (h *HostBuffer[T]) check() error {
	if h == nil || h.mem == nil {
		return faultf(ErrArgument, "there is no host buffer; make one with AllocHost")
	}
	return nil
}
