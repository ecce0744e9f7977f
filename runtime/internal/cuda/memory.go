//go:build cgo && linux

package cuda

/*
#cgo noescape kg_copy_in
#cgo nocallback kg_copy_in
#cgo noescape kg_copy_out
#cgo nocallback kg_copy_out
#include "calls.h"
*/
import "C"

import "unsafe"

// Alloc allocates device memory, at an address divisible by 256.
func (c Context) Alloc(bytes uint64) (address uint64, _ Status) {
	var p C.CUdeviceptr
	s := C.kg_alloc(c.c, C.size_t(bytes), &p)
	return uint64(p), Status(s)
}

// Free frees device memory; the driver may wait for queued work.
func (c Context) Free(address uint64) Status { return Status(C.kg_free(c.c, C.CUdeviceptr(address))) }

// AllocAsync allocates memory for work that is queued on the stream after it.
func (c Context) AllocAsync(stream Stream, bytes uint64) (address uint64, _ Status) {
	var p C.CUdeviceptr
	s := C.kg_alloc_async(c.c, stream.c, C.size_t(bytes), &p)
	return uint64(p), Status(s)
}

// FreeAsync frees memory once all that is queued on the stream so far is done.
func (c Context) FreeAsync(stream Stream, address uint64) Status {
	return Status(C.kg_free_async(c.c, stream.c, C.CUdeviceptr(address)))
}

// FillAsync queues a fill with one byte value.
func (c Context) FillAsync(stream Stream, address uint64, value byte, bytes uint64) Status {
	return Status(C.kg_fill_async(c.c, stream.c, C.CUdeviceptr(address), C.uchar(value), C.size_t(bytes)))
}

// PointerOrdinal is the ordinal of the device that the memory at address
// belongs to; the driver refuses an address it does not know.
func (c Context) PointerOrdinal(address uint64) (int, Status) {
	var ordinal C.int
	s := C.kg_pointer_ordinal(c.c, C.CUdeviceptr(address), &ordinal)
	return int(ordinal), Status(s)
}

// CopyIn copies host memory to the device in the stream's order and waits.
func (c Context) CopyIn(stream Stream, to uint64, from unsafe.Pointer, bytes uint64) Status {
	return Status(C.kg_copy_in(c.c, stream.c, C.CUdeviceptr(to), (*C.uchar)(from), C.size_t(bytes)))
}

// CopyOut copies device memory to the host in the stream's order and waits.
func (c Context) CopyOut(stream Stream, to unsafe.Pointer, from, bytes uint64) Status {
	return Status(C.kg_copy_out(c.c, stream.c, (*C.uchar)(to), C.CUdeviceptr(from), C.size_t(bytes)))
}
