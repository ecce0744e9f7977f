//go:build cgo && linux

package cuda

// #include "driver.h"
import "C"

import "unsafe"

// C's handles are pointers to types that only the driver knows, so Go's garbage
// collector does not look at them; each has the size of its number.
func (h Context) c() C.CUcontext     { return *(*C.CUcontext)(unsafe.Pointer(&h)) }
func (h Stream) c() C.CUstream       { return *(*C.CUstream)(unsafe.Pointer(&h)) }
func (h Event) c() C.CUevent         { return *(*C.CUevent)(unsafe.Pointer(&h)) }
func (h Module) c() C.CUmodule       { return *(*C.CUmodule)(unsafe.Pointer(&h)) }
func (h Function) c() C.CUfunction   { return *(*C.CUfunction)(unsafe.Pointer(&h)) }
func (h Pool) c() C.CUmemoryPool     { return *(*C.CUmemoryPool)(unsafe.Pointer(&h)) }
func (h Graph) c() C.CUgraph         { return *(*C.CUgraph)(unsafe.Pointer(&h)) }
func (h GraphExec) c() C.CUgraphExec { return *(*C.CUgraphExec)(unsafe.Pointer(&h)) }
func (h GraphNode) c() C.CUgraphNode { return *(*C.CUgraphNode)(unsafe.Pointer(&h)) }
