//go:build cgo && linux

package cuda

// #include "memory.h"
import "C"

import "unsafe"

// AllocHost allocates pinned host memory, which every device's asynchronous
// copies can use. It is C memory: Go pointers must not be stored in it.
func (c Context) AllocHost(bytes uint64) (unsafe.Pointer, Status) {
	var p unsafe.Pointer
	s := C.kg_host_alloc(c.c(), C.size_t(bytes), &p)
	return p, Status(s)
}

// FreeHost frees pinned host memory; the driver may wait for queued work.
func (c Context) FreeHost(memory unsafe.Pointer) Status { return Status(C.kg_host_free(c.c(), memory)) }
