package kernrt

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// memory is one allocation on a device, which its Buffer and the Slices of that
// share, so that all of them know when it is freed.
type memory struct {
	dev     *Device
	address uint64
	bytes   uint64
	pooled  bool // from a Pool
	freed   atomic.Bool
}

// pinned is one allocation of pinned host memory, which a HostBuffer and the
// parts of it share.
type pinned struct {
	dev   *Device
	start unsafe.Pointer
	bytes uint64
	freed atomic.Bool
}

// MemoryStats is the memory that a Device's buffers hold, in bytes. The driver
// rounds allocations up, and has its own needs, so that more is in use.
type MemoryStats struct {
	InUse      uint64 // device memory of Buffers, those from pools included
	Peak       uint64 // the most that InUse has been
	Pinned     uint64 // host memory of HostBuffers
	PinnedPeak uint64 // the most that Pinned has been
}

// MemoryStats tells what the device's buffers hold. It asks no driver, so a
// service may call it as often as it likes. Scratch memory is not counted.
func (d *Device) MemoryStats() MemoryStats {
	if d.check() != nil {
		return MemoryStats{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

// FreeMemory is how many bytes of the device's memory nobody has taken, on the
// whole machine. It is the driver's figure, and out of date when it is read.
func (d *Device) FreeMemory() (uint64, error) {
	if err := d.acquire(); err != nil {
		return 0, fmt.Errorf("free memory: %w", err)
	}
	defer d.use.RUnlock()
	free, _, status := d.ctx.MemoryInfo()
	if status != cuda.OK {
		return 0, fmt.Errorf("free memory of %v: %w", d, driverError(status))
	}
	return free, nil
}

// sizeOf is the size in bytes of n Ts.
func sizeOf[T Elem](n int) (uint64, error) {
	high, size := bits.Mul64(uint64(n), uint64(elemSize[T]()))
	if n < 0 || high != 0 {
		return 0, faultf(ErrArgument, "allocate %d elements of %d bytes: not a size", n, elemSize[T]())
	}
	return size, nil
}

// keep makes an allocation the device's, which frees it when it closes.
func (d *Device) keep(m *memory) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory[m] = struct{}{}
	d.stats.InUse += m.bytes
	d.stats.Peak = max(d.stats.Peak, d.stats.InUse)
}

func (d *Device) forget(m *memory) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.memory, m)
	d.stats.InUse -= m.bytes
}

func (d *Device) keepPinned(m *pinned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pinned[m] = struct{}{}
	d.stats.Pinned += m.bytes
	d.stats.PinnedPeak = max(d.stats.PinnedPeak, d.stats.Pinned)
}

func (d *Device) forgetPinned(m *pinned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.pinned, m)
	d.stats.Pinned -= m.bytes
}

// freeAll frees what is left when the device closes; no stream is left that
// could use it.
func (d *Device) freeAll() []error {
	var errs []error
	for m := range d.memory {
		m.freed.Store(true)
		errs = append(errs, driverError(d.ctx.Free(m.address)))
	}
	for m := range d.pinned {
		m.freed.Store(true)
		errs = append(errs, driverError(d.ctx.FreeHost(m.start)))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.InUse, d.stats.Pinned = 0, 0
	return errs
}

// gone reports whether what was to be released is. It is not where the driver
// refused. Where only the thread could not be switched to the context and back,
// nobody knows which of the two it was, and a second release would be worse than
// none.
func gone(s cuda.Status) bool {
	if s == cuda.OK {
		return true
	}
	call := s.Call()
	return call == "cuCtxSetCurrent" || call == "cuThreadExchangeStreamCaptureMode"
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
