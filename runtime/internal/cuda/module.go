//go:build cgo && linux

package cuda

/*
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"strings"
	"unsafe"
)

// LoadModule loads a cubin, or PTX that ends in a zero byte. With a failure
// comes what the driver's compiler had to say.
func (c Context) LoadModule(image string) (Module, string, Status) {
	var m C.CUmodule
	var log [4096]C.char
	s := C.kg_module_load(c.c(), (*C.uchar)(unsafe.StringData(image)), &log[0], C.size_t(len(log)), &m)
	return Module(unsafe.Pointer(m)), strings.TrimSpace(C.GoString(&log[0])), Status(s)
}

// Unload unloads a module that nothing queued uses any more.
func (c Context) Unload(m Module) Status { return Status(C.kg_module_unload(c.c(), m.c())) }

// FunctionOf returns a module's kernel.
func (c Context) FunctionOf(m Module, symbol string) (Function, Status) {
	name := C.CString(symbol)
	defer C.free(unsafe.Pointer(name))
	var f C.CUfunction
	s := C.kg_module_function(c.c(), m.c(), name, &f)
	return Function(unsafe.Pointer(f)), Status(s)
}

// Attribute returns a CUfunction_attribute.
func (c Context) Attribute(f Function, attribute int) (int, Status) {
	var v C.int
	s := C.kg_function_attribute(c.c(), f.c(), C.int(attribute), &v)
	return int(v), Status(s)
}

// SetAttribute sets a CUfunction_attribute.
func (c Context) SetAttribute(f Function, attribute, value int) Status {
	return Status(C.kg_function_set_attribute(c.c(), f.c(), C.int(attribute), C.int(value)))
}

// ClusterLimit is the largest number of CTAs that a cluster of such CTAs can
// have, for a function that is launched in clusters of a shape.
func (c Context) ClusterLimit(f Function, cluster [3]int, threads, shared int) (int, Status) {
	var n C.int
	s := C.kg_function_cluster_limit(c.c(), f.c(), C.uint32_t(cluster[0]), C.uint32_t(cluster[1]), C.uint32_t(cluster[2]),
		C.uint32_t(threads), C.uint32_t(shared), &n)
	return int(n), Status(s)
}

// ParamSize is the size of a function's parameter in bytes. Past the last one
// the driver says InvalidValue; known is false where it is too old to say.
func (c Context) ParamSize(f Function, index int) (size int, known bool, _ Status) {
	var n C.size_t
	var k C.int
	s := C.kg_function_param(c.c(), f.c(), C.size_t(index), &n, &k)
	return int(n), k != 0, Status(s)
}
