//go:build cgo

package main

/*
#cgo CFLAGS: -std=c11 -O2 -D_GNU_SOURCE
#cgo LDFLAGS: -ldl -lpthread
#cgo noescape cloop_one
#cgo nocallback cloop_one
#include <stdlib.h>
#include "cloop.h"

static void **params_new(int n) { return calloc(n, sizeof(void *)); }
static void param_set(void **params, int i, const void *bytes, size_t size) {
	params[i] = malloc(8);
	__builtin_memcpy(params[i], bytes, size);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// cLoop launches one kernel from C with fixed arguments.
type cLoop struct {
	c       *C.cloop
	threads C.uint
	shared  C.uint
	params  *unsafe.Pointer
}

// newCLoop loads a cubin's kernel for C. The params live in C memory for good.
func newCLoop(library string, ordinal int, cubin []byte, symbol string, threads, shared int, params ...uint64) (*cLoop, error) {
	lib, sym := C.CString(library), C.CString(symbol)
	defer C.free(unsafe.Pointer(lib))
	defer C.free(unsafe.Pointer(sym))
	var failed *C.char
	c := C.cloop_new(lib, C.int(ordinal), C.CBytes(cubin), sym, &failed)
	if c == nil {
		return nil, fmt.Errorf("the C loop: %s", C.GoString(failed))
	}
	p := C.params_new(C.int(len(params)))
	for i := range params {
		C.param_set(p, C.int(i), unsafe.Pointer(&params[i]), 8) // little-endian: a narrower kernel parameter reads the low bytes
	}
	return &cLoop{c, C.uint(threads), C.uint(shared), p}, nil
}

// setMap makes parameter i the tensor map of a tile, encoded once and for good.
func (l *cLoop) setMap(i int, address uint64, rows, cols, boxRows, boxCols, swizzle int) error {
	m := C.aligned_alloc(128, 128)
	s := C.cloop_map(l.c, C.uint64_t(address), C.uint64_t(rows), C.uint64_t(cols), C.uint(boxRows), C.uint(boxCols), C.int(swizzle), m)
	if s != 0 {
		return fmt.Errorf("the C loop: cuTensorMapEncodeTiled returns %d", int(s))
	}
	unsafe.Slice(l.params, i+1)[i] = m
	return nil
}

var errCLoop = errors.New("the C loop: a launch failed")

// launches makes count launches and returns the time on the host.
func (l *cLoop) launches(stream *kernrt.Stream, count int) (time.Duration, error) {
	ns := C.cloop_launches(l.c, C.uintptr_t(stream.Handle()), l.threads, l.shared, l.params, C.int64_t(count))
	if ns < 0 {
		return 0, errCLoop
	}
	return time.Duration(ns), nil
}

// enter readies the goroutine's thread, to which it must be locked, for one.
func (l *cLoop) enter() error {
	if C.cloop_enter(l.c) != 0 {
		return errCLoop
	}
	return nil
}

// one makes one launch from Go: what the cgo call alone adds to the C loop.
func (l *cLoop) one(stream *kernrt.Stream) error {
	if C.cloop_one(l.c, C.uintptr_t(stream.Handle()), l.threads, l.shared, l.params) != 0 {
		return errCLoop
	}
	return nil
}

// onThreads makes count launches on each stream, a thread each, and returns the
// time until all are done.
func (l *cLoop) onThreads(streams []*kernrt.Stream, count int) (time.Duration, error) {
	handles := make([]C.uintptr_t, len(streams))
	for i, s := range streams {
		handles[i] = C.uintptr_t(s.Handle())
	}
	ns := C.cloop_threads(l.c, &handles[0], C.int(len(handles)), l.threads, l.shared, l.params, C.int64_t(count))
	if ns < 0 {
		return 0, errCLoop
	}
	return time.Duration(ns), nil
}
