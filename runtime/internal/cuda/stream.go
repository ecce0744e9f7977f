//go:build cgo && linux

package cuda

/*
#cgo noescape kg_stream_capturing
#cgo nocallback kg_stream_capturing
#cgo noescape kg_stream_query
#cgo nocallback kg_stream_query
#cgo noescape kg_stream_wait
#cgo nocallback kg_stream_wait
#include "stream.h"
*/
import "C"

import "unsafe"

// NewStream creates a stream, which does not wait for the legacy default stream,
// of a priority: 0 is the default, and the lower the number, the sooner. The driver
// takes the nearest that it has.
func (c Context) NewStream(priority int) (Stream, Status) {
	var stream C.CUstream
	s := C.kg_stream_create(c.c(), C.int(priority), &stream)
	return Stream(unsafe.Pointer(stream)), Status(s)
}

// Priority is the priority that the stream really has.
func (c Context) Priority(stream Stream) (int, Status) {
	var priority C.int
	s := C.kg_stream_priority(c.c(), stream.c(), &priority)
	return int(priority), Status(s)
}

// Destroy gives the stream up; what is queued still runs.
func (c Context) Destroy(stream Stream) Status { return Status(C.kg_stream_destroy(c.c(), stream.c())) }

// Synchronize waits for all that is queued on the stream.
func (c Context) Synchronize(stream Stream) Status {
	return Status(C.kg_stream_synchronize(c.c(), stream.c()))
}

// Query reports whether all that is queued on the stream is done: OK, or a status
// whose Result is NotReady.
func (c Context) Query(stream Stream) Status { return Status(C.kg_stream_query(c.c(), stream.c())) }

// Wait lets what is queued on the stream from here on run only when the event, as
// it is recorded now, has been reached. The host does not wait. An event that was
// never recorded has been reached.
func (c Context) Wait(stream Stream, event Event) Status {
	return Status(C.kg_stream_wait(c.c(), stream.c(), event.c()))
}

// Owns reports whether the stream belongs to the context.
func (c Context) Owns(stream Stream) (bool, Status) {
	var of C.CUcontext
	s := C.kg_stream_context(c.c(), stream.c(), &of)
	return Context(unsafe.Pointer(of)) == c, Status(s)
}

// IsCapturing reports whether the stream is being captured into a graph.
func (c Context) IsCapturing(stream Stream) (bool, Status) {
	var capturing C.int
	s := C.kg_stream_capturing(c.c(), stream.c(), &capturing)
	return capturing != 0, Status(s)
}
