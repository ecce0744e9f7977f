//go:build cgo && linux

package cuda

/*
#cgo noescape kg_exec_launch
#cgo nocallback kg_exec_launch
#include "graph.h"
*/
import "C"

import "unsafe"

// DestroyGraph gives the graph and its nodes up; its executables live on, but
// their nodes cannot be updated any more.
func (c Context) DestroyGraph(g Graph) Status { return Status(C.kg_graph_destroy(c.c(), g.c())) }

// Instantiate makes an executable of the graph.
func (c Context) Instantiate(g Graph) (GraphExec, Status) {
	var e C.CUgraphExec
	s := C.kg_exec_create(c.c(), g.c(), &e)
	return GraphExec(unsafe.Pointer(e)), Status(s)
}

// DestroyGraphExec gives the executable up once its launches so far are done.
func (c Context) DestroyGraphExec(e GraphExec) Status { return Status(C.kg_exec_destroy(c.c(), e.c())) }

// UploadGraph readies the executable on the stream, so that its first launch
// costs what the later ones do.
func (c Context) UploadGraph(e GraphExec, stream Stream) Status {
	return Status(C.kg_exec_upload(c.c(), e.c(), stream.c()))
}

// LaunchGraph queues a launch of the executable. One executable's launches run
// one after the other, on whatever streams.
func (c Context) LaunchGraph(e GraphExec, stream Stream) Status {
	return Status(C.kg_exec_launch(c.c(), e.c(), stream.c()))
}
