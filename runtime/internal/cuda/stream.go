//go:build cgo && linux

package cuda

/*
#cgo noescape kg_stream_capturing
#cgo nocallback kg_stream_capturing
#include "calls.h"

static CUstream kg_stream(uintptr_t handle) { return (CUstream)handle; }
*/
import "C"

import "unsafe"

// Stream is a CUstream.
type Stream struct{ c C.CUstream }

// StreamOf is the stream of a handle.
func StreamOf(handle uintptr) Stream { return Stream{C.kg_stream(C.uintptr_t(handle))} }

// Handle is the CUstream as a number.
func (s Stream) Handle() uintptr { return uintptr(unsafe.Pointer(s.c)) }

// NewStream creates a stream that does not wait for the legacy default stream.
func (c Context) NewStream() (Stream, Status) {
	var stream C.CUstream
	s := C.kg_stream_create(c.c, &stream)
	return Stream{stream}, Status(s)
}

// Destroy gives the stream up; what is queued still runs.
func (c Context) Destroy(stream Stream) Status { return Status(C.kg_stream_destroy(c.c, stream.c)) }

// Synchronize waits for all that is queued on the stream.
func (c Context) Synchronize(stream Stream) Status {
	return Status(C.kg_stream_synchronize(c.c, stream.c))
}

// ContextOf returns the context that the stream belongs to.
func (c Context) ContextOf(stream Stream) (Context, Status) {
	var of C.CUcontext
	s := C.kg_stream_context(c.c, stream.c, &of)
	return Context{of}, Status(s)
}

// IsCapturing reports whether the stream is being captured into a graph.
func (c Context) IsCapturing(stream Stream) (bool, Status) {
	var capturing C.int
	s := C.kg_stream_capturing(c.c, stream.c, &capturing)
	return capturing != 0, Status(s)
}
