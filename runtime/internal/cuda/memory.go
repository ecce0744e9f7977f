//go:build cgo && linux

package cuda

// #include "memory.h"
import "C"

// Alloc allocates device memory, at an address divisible by 256.
func (c Context) Alloc(bytes uint64) (address uint64, _ Status) {
	var p C.CUdeviceptr
	s := C.kg_alloc(c.c(), C.size_t(bytes), &p)
	return uint64(p), Status(s)
}

// Free frees device memory; the driver may wait for queued work.
func (c Context) Free(address uint64) Status { return Status(C.kg_free(c.c(), C.CUdeviceptr(address))) }

// AllocAsync allocates memory for work that is queued on the stream after it.
func (c Context) AllocAsync(stream Stream, bytes uint64) (address uint64, _ Status) {
	var p C.CUdeviceptr
	s := C.kg_alloc_async(c.c(), stream.c(), C.size_t(bytes), &p)
	return uint64(p), Status(s)
}

// FreeAsync frees memory once all that is queued on the stream so far is done.
func (c Context) FreeAsync(stream Stream, address uint64) Status {
	return Status(C.kg_free_async(c.c(), stream.c(), C.CUdeviceptr(address)))
}

// PointerOrdinal is the ordinal of the device that the memory at address
// belongs to; the driver refuses an address it does not know.
func (c Context) PointerOrdinal(address uint64) (int, Status) {
	var ordinal C.int
	s := C.kg_pointer_ordinal(c.c(), C.CUdeviceptr(address), &ordinal)
	return int(ordinal), Status(s)
}

// MemoryInfo is the device's free and total memory in bytes.
func (c Context) MemoryInfo() (free, total uint64, _ Status) {
	var f, t C.size_t
	s := C.kg_memory_info(c.c(), &f, &t)
	return uint64(f), uint64(t), Status(s)
}

// Reaches reports whether the context's kernels can use the memory at address:
// the device's own, that of a peer to which access is enabled, managed or pinned.
func (c Context) Reaches(address uint64) (bool, Status) {
	s := Status(C.kg_pointer_reach(c.c(), C.CUdeviceptr(address)))
	if s.Result() == InvalidValue {
		return false, OK
	}
	return s == OK, s
}
