//go:build cgo && linux

package cuda

/*
#cgo CFLAGS: -std=c11 -O2
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "calls.h"
#include "open.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"
)

// Where a driver installs libcuda: found by the loader, in WSL, in NixOS.
var candidates = []string{
	"libcuda.so.1",
	"libcuda.so",
	"/usr/lib/wsl/lib/libcuda.so.1",
	"/run/opengl-driver/lib/libcuda.so.1",
}

// Open opens libcuda and initialises it, once; later calls return the first
// one's error. A driver that is there but cannot be initialised (no device,
// say) is a *StartError.
var Open = sync.OnceValue(open)

// StartError says that cuInit failed.
type StartError struct{ Status Status }

func (e *StartError) Error() string {
	name, text := Describe(e.Status)
	return fmt.Sprintf("cuInit: %s: %s", name, text)
}

func open() error {
	names := candidates
	if name := os.Getenv(LibraryVariable); name != "" {
		names = []string{name}
	}
	var missing, wrong []string
	for _, name := range names {
		handle, err := openLibrary(name)
		// One that is there but needs a library that is not has that one's name.
		if err != nil && strings.HasPrefix(err.Error(), name+": ") && strings.HasSuffix(err.Error(), ": No such file or directory") {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		if symbol := C.kg_bind(handle); symbol != nil {
			wrong = append(wrong, fmt.Sprintf("%s has no %s: kerngen needs a driver of CUDA 11.8 (520.61.05) or later", name, C.GoString(symbol)))
			continue
		}
		if s := Status(C.kg_init()); s != OK {
			return &StartError{s}
		}
		return nil
	}
	if len(missing) > 0 {
		wrong = append(wrong, "there is no "+strings.Join(missing, ", "))
	}
	if len(names) == 1 {
		return fmt.Errorf("%s: %s", LibraryVariable, wrong[0])
	}
	return fmt.Errorf("%s; if it is elsewhere, set %s to its path", strings.Join(wrong, "; "), LibraryVariable)
}

func openLibrary(name string) (unsafe.Pointer, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var message [512]C.char
	handle := C.kg_open(cname, &message[0], C.size_t(len(message)))
	if handle == nil {
		return nil, errors.New(C.GoString(&message[0]))
	}
	return handle, nil
}

// Call is the driver function that failed.
func (s Status) Call() string { return C.GoString(C.kg_call_name(C.uint32_t(s >> 16))) }

// Describe returns the driver's name for the result and its text.
func Describe(s Status) (name, text string) {
	var n, t *C.char
	C.kg_describe(C.uint32_t(s.Result()), &n, &t)
	name, text = C.GoString(n), C.GoString(t)
	if name == "" {
		name = fmt.Sprintf("CUresult %d", s.Result())
	}
	return name, text
}
