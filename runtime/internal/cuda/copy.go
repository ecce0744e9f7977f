//go:build cgo && linux

package cuda

/*
#cgo noescape kg_copy_in
#cgo nocallback kg_copy_in
#cgo noescape kg_copy_out
#cgo nocallback kg_copy_out
#cgo noescape kg_copy_in_async
#cgo nocallback kg_copy_in_async
#cgo noescape kg_copy_out_async
#cgo nocallback kg_copy_out_async
#cgo noescape kg_copy_async
#cgo nocallback kg_copy_async
#include "copy.h"
*/
import "C"

import "unsafe"

// CopyIn copies host memory to the device in the stream's order and waits.
func (c Context) CopyIn(stream Stream, to uint64, from unsafe.Pointer, bytes uint64) Status {
	return Status(C.kg_copy_in(c.c(), stream.c(), C.CUdeviceptr(to), (*C.uchar)(from), C.size_t(bytes)))
}

// CopyOut copies device memory to the host in the stream's order and waits.
func (c Context) CopyOut(stream Stream, to unsafe.Pointer, from, bytes uint64) Status {
	return Status(C.kg_copy_out(c.c(), stream.c(), (*C.uchar)(to), C.CUdeviceptr(from), C.size_t(bytes)))
}

// CopyInAsync queues a copy of pinned host memory to the device. From memory
// that is not pinned the driver copies too, but may wait.
func (c Context) CopyInAsync(stream Stream, to uint64, from unsafe.Pointer, bytes uint64) Status {
	return Status(C.kg_copy_in_async(c.c(), stream.c(), C.CUdeviceptr(to), (*C.uchar)(from), C.size_t(bytes)))
}

// CopyOutAsync queues a copy of device memory to pinned host memory.
func (c Context) CopyOutAsync(stream Stream, to unsafe.Pointer, from, bytes uint64) Status {
	return Status(C.kg_copy_out_async(c.c(), stream.c(), (*C.uchar)(to), C.CUdeviceptr(from), C.size_t(bytes)))
}

// CopyAsync queues a copy from device memory to device memory; the two do not
// overlap.
func (c Context) CopyAsync(stream Stream, to, from, bytes uint64) Status {
	return Status(C.kg_copy_async(c.c(), stream.c(), C.CUdeviceptr(to), C.CUdeviceptr(from), C.size_t(bytes)))
}
