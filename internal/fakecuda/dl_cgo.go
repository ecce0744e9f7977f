//go:build cgo && linux

package fakecuda

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

static uintptr_t fakecuda_open(const char *path) { return (uintptr_t)dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static uintptr_t fakecuda_symbol(uintptr_t library, const char *name) { return (uintptr_t)dlsym((void *)library, name); }

// On amd64 and arm64 integers and pointers travel in registers and then in eight
// bytes each of the caller's stack, so that a function that takes fewer than it is
// passed ignores the rest.
typedef uintptr_t (*fakecuda_function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
	uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static uintptr_t fakecuda_call(uintptr_t f, const uintptr_t *a) {
	return ((fakecuda_function)f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
		a[8], a[9], a[10], a[11], a[12], a[13], a[14]);
}
*/
import "C"

import (
	"errors"
	"unsafe"
)

const maxArgs = 15

func dlopen(path string) (uintptr, error) {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	library := C.fakecuda_open(cpath)
	if library == 0 {
		return 0, errors.New(C.GoString(C.dlerror()))
	}
	return uintptr(library), nil
}

func dlsym(library uintptr, name string) uintptr {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return uintptr(C.fakecuda_symbol(C.uintptr_t(library), cname))
}

func call(function uintptr, args [maxArgs]uintptr) uintptr {
	return uintptr(C.fakecuda_call(C.uintptr_t(function), (*C.uintptr_t)(unsafe.Pointer(&args[0]))))
}
