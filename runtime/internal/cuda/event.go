//go:build cgo && linux

package cuda

/*
#cgo noescape kg_event_record
#cgo nocallback kg_event_record
#cgo noescape kg_event_query
#cgo nocallback kg_event_query
#cgo noescape kg_event_elapsed
#cgo nocallback kg_event_elapsed
#include "stream.h"
*/
import "C"

import "unsafe"

// NewEvent creates an event with the flags EventBlocking and EventUntimed, or 0.
func (c Context) NewEvent(flags uint32) (Event, Status) {
	var e C.CUevent
	s := C.kg_event_create(c.c(), C.uint(flags), &e)
	return Event(unsafe.Pointer(e)), Status(s)
}

// DestroyEvent gives the event up, also where it has not been reached yet.
func (c Context) DestroyEvent(e Event) Status { return Status(C.kg_event_destroy(c.c(), e.c())) }

// Record makes the event stand for all that is queued on the stream so far.
func (c Context) Record(e Event, stream Stream) Status {
	return Status(C.kg_event_record(c.c(), e.c(), stream.c()))
}

// QueryEvent reports whether the event has been reached: OK, or a status whose
// Result is NotReady. One that was never recorded has been.
func (c Context) QueryEvent(e Event) Status { return Status(C.kg_event_query(c.c(), e.c())) }

// SynchronizeEvent waits until the event has been reached.
func (c Context) SynchronizeEvent(e Event) Status {
	return Status(C.kg_event_synchronize(c.c(), e.c()))
}

// Elapsed is the time between two recorded events in milliseconds, to about half
// a microsecond. One that has not been reached is NotReady; one that was never
// recorded, or is untimed, is InvalidHandle.
func (c Context) Elapsed(start, end Event) (milliseconds float32, _ Status) {
	var ms C.float
	s := C.kg_event_elapsed(c.c(), start.c(), end.c(), &ms)
	return float32(ms), Status(s)
}
