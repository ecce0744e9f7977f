//go:build cgo && linux

package cuda

// #include "memory.h"
import "C"

import "unsafe"

// NewPool creates a pool of the device's memory.
func (c Context) NewPool(device Device) (Pool, Status) {
	var p C.CUmemoryPool
	s := C.kg_pool_create(c.c(), C.CUdevice(device), &p)
	return Pool(unsafe.Pointer(p)), Status(s)
}

// DestroyPool gives the pool up; what is allocated from it stays usable until it
// is freed.
func (c Context) DestroyPool(p Pool) Status { return Status(C.kg_pool_destroy(c.c(), p.c())) }

// TrimPool gives memory that the pool reserves but does not use back, until it
// reserves at most keep bytes.
func (c Context) TrimPool(p Pool, keep uint64) Status {
	return Status(C.kg_pool_trim(c.c(), p.c(), C.size_t(keep)))
}

// SetPoolAttribute sets PoolReleaseThreshold, or puts a high-water mark back: 0
// is all that those take.
func (c Context) SetPoolAttribute(p Pool, attribute int, value uint64) Status {
	return Status(C.kg_pool_set_attribute(c.c(), p.c(), C.int(attribute), C.uint64_t(value)))
}

// PoolAttribute returns one of the attributes of poolspec.go, in bytes.
func (c Context) PoolAttribute(p Pool, attribute int) (uint64, Status) {
	var v C.uint64_t
	s := C.kg_pool_attribute(c.c(), p.c(), C.int(attribute), &v)
	return uint64(v), Status(s)
}

// AllocFromPool is AllocAsync from a pool; FreeAsync gives the memory back to it.
func (c Context) AllocFromPool(p Pool, stream Stream, bytes uint64) (address uint64, _ Status) {
	var a C.CUdeviceptr
	s := C.kg_pool_alloc(c.c(), p.c(), stream.c(), C.size_t(bytes), &a)
	return uint64(a), Status(s)
}
