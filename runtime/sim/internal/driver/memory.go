package driver

import (
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
	"github.com/kerngen/kerngen/runtime/sim/internal/exec"
)

// Alloc allocates device memory.
func (d *Driver) Alloc(bytes uint64) (address uint64, _ cuda.Status) {
	failed := d.lock()
	d.mu.Unlock()
	if failed != cuda.OK {
		return 0, failed
	}
	address, err := d.device.Memory.Alloc(bytes)
	return address, memoryFault(err)
}

// Free frees device memory once all that is queued is done.
func (d *Driver) Free(address uint64) cuda.Status {
	d.drain()
	return d.free(address)
}

func (d *Driver) free(address uint64) cuda.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a, ok := d.pooled[address]; ok {
		a.pool.used -= a.bytes
		delete(d.pooled, address)
	}
	if err := d.device.Memory.Free(address); err != nil {
		return memoryFault(err)
	}
	return cuda.OK
}

// AllocAsync allocates memory for the stream's later work.
func (d *Driver) AllocAsync(on cuda.Stream, bytes uint64) (address uint64, _ cuda.Status) {
	if status := d.enqueue(on, node{kind: notCaptured, work: func() error { return nil }}); status != cuda.OK {
		return 0, status
	}
	return d.Alloc(bytes)
}

// FreeAsync frees memory once all that is queued on the stream so far is done.
func (d *Driver) FreeAsync(on cuda.Stream, address uint64) cuda.Status {
	if err := d.device.Memory.Read(nil, address); err != nil {
		return memoryFault(err)
	}
	return d.enqueue(on, node{kind: notCaptured, work: func() error {
		d.free(address) // checked above
		return nil
	}})
}

// AllocHost allocates host memory that copies may use later.
func (d *Driver) AllocHost(bytes uint64) (unsafe.Pointer, cuda.Status) {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return nil, failed
	}
	if err := exec.HostHas(bytes); err != nil {
		return nil, fault(cuda.OutOfMemory, err)
	}
	words := make([]uint64, (bytes+7)/8)
	p := unsafe.Pointer(unsafe.SliceData(words))
	d.pinned[uintptr(p)] = words
	return p, cuda.OK
}

// FreeHost gives host memory up once all that is queued is done.
func (d *Driver) FreeHost(p unsafe.Pointer) cuda.Status {
	d.drain()
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.pinned[uintptr(p)]; !ok {
		return faultf(cuda.InvalidValue, "%p is no host memory of the simulated device", p)
	}
	delete(d.pinned, uintptr(p))
	return cuda.OK
}

// Reaches reports whether memory is there.
func (d *Driver) Reaches(address uint64) (bool, cuda.Status) {
	return d.device.Memory.Read(nil, address) == nil, cuda.OK
}

// PointerOrdinal finds the device that memory belongs to: this one.
func (d *Driver) PointerOrdinal(address uint64) (int, cuda.Status) {
	return 0, memoryFault(d.device.Memory.Read(nil, address))
}

// MemoryInfo is the free and total memory.
func (d *Driver) MemoryInfo() (free, total uint64, _ cuda.Status) {
	used, total := d.device.Memory.Usage()
	return total - used, total, cuda.OK
}
