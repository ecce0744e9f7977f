//go:build cgo && linux

package cuda

/*
#include "graph.h"
*/
import "C"

import "unsafe"

// BeginCapture makes the stream collect what is queued on it into a graph. Unless
// the mode is CaptureRelaxed, EndCapture must come on the same thread.
func (c Context) BeginCapture(stream Stream, mode int) Status {
	return Status(C.kg_capture_begin(c.c(), stream.c(), C.int(mode)))
}

// EndCapture ends the stream's capture, whether or not it fails: the stream takes
// work again. Only where the stream is not the one that the capture began on does
// the capture go on, spoilt.
func (c Context) EndCapture(stream Stream) (Graph, Status) {
	var g C.CUgraph
	s := C.kg_capture_end(c.c(), stream.c(), &g)
	return Graph(unsafe.Pointer(g)), Status(s)
}

// CaptureInfo tells what the stream is being captured into. Nothing else may be
// queued on the stream meanwhile.
func (c Context) CaptureInfo(stream Stream) (CaptureInfo, Status) {
	var (
		state C.int
		id    C.uint64_t
		g     C.CUgraph
		nodes *C.CUgraphNode
		count C.size_t
	)
	s := Status(C.kg_capture_info(c.c(), stream.c(), &state, &id, &g, &nodes, &count))
	info := CaptureInfo{State: int(state)}
	if s == OK && info.State == CaptureActive {
		info.ID, info.Graph = uint64(id), Graph(unsafe.Pointer(g))
		for _, node := range unsafe.Slice(nodes, count) {
			info.Nodes = append(info.Nodes, GraphNode(unsafe.Pointer(node)))
		}
	}
	return info, s
}
