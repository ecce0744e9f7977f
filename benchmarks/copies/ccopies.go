//go:build cgo

package main

/*
#cgo CFLAGS: -std=c11 -O2 -D_GNU_SOURCE
#cgo LDFLAGS: -ldl -lpthread
#include <stdlib.h>
#include "ccopies.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// lane is a stream with memory on both sides, and what is copied in each round.
type lane struct {
	stream  *kernrt.Stream
	device  *kernrt.Buffer[uint8]
	host    *kernrt.HostBuffer[uint8]
	in, out bool
}

// cCopies makes copies from C.
type cCopies struct{ c *C.ccopies }

func newCCopies(ordinal int) (cCopies, error) {
	library := os.Getenv("KERNGEN_LIBCUDA")
	if library == "" {
		library = "libcuda.so.1"
	}
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	var failed *C.char
	c := C.ccopies_new(name, C.int(ordinal), &failed)
	if c == nil {
		return cCopies{}, fmt.Errorf("the C loop: %s", C.GoString(failed))
	}
	return cCopies{c}, nil
}

// run makes count rounds on each lane, a thread each where there are several, and
// returns the time until all are done.
func (c cCopies) run(lanes []lane, count int) (time.Duration, error) {
	copies := make([]C.ccopy, len(lanes))
	for i, l := range lanes {
		copies[i] = C.ccopy{
			stream: C.uintptr_t(l.stream.Handle()),
			device: C.uint64_t(l.device.Ptr().Addr()),
			host:   unsafe.Pointer(unsafe.SliceData(l.host.Values())), // C's memory
			bytes:  C.uint64_t(l.device.Len()),
			in:     asInt(l.in),
			out:    asInt(l.out),
		}
	}
	ns := C.ccopies_run(c.c, &copies[0], C.int(len(copies)), C.int64_t(count))
	if ns < 0 {
		return 0, errors.New("the C loop: a copy failed")
	}
	return time.Duration(ns), nil
}

func asInt(on bool) C.int {
	if on {
		return 1
	}
	return 0
}
