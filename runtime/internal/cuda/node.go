//go:build cgo && linux

package cuda

/*
#cgo noescape kg_update
#cgo nocallback kg_update
#include "graph.h"
#include "launch.h"
*/
import "C"

import "unsafe"

// Nodes returns the graph's nodes, which are gone when the graph is.
func (c Context) Nodes(g Graph) ([]GraphNode, Status) {
	var count C.size_t
	s := Status(C.kg_graph_nodes(c.c(), g.c(), nil, &count))
	if s != OK || count == 0 {
		return nil, s
	}
	nodes := make([]GraphNode, count)
	s = Status(C.kg_graph_nodes(c.c(), g.c(), (*C.CUgraphNode)(unsafe.Pointer(&nodes[0])), &count))
	return nodes[:min(int(count), len(nodes))], s
}

// NodeType returns a node's CUgraphNodeType.
func (c Context) NodeType(n GraphNode) (int, Status) {
	var t C.int
	s := C.kg_node_type(c.c(), n.c(), &t)
	return int(t), Status(s)
}

// NodeFunction returns what a kernel node launches, as the graph has it: an
// executable's update does not show.
func (c Context) NodeFunction(n GraphNode) (Function, Status) {
	var f C.CUfunction
	s := C.kg_node_function(c.c(), n.c(), &f)
	return Function(unsafe.Pointer(f)), Status(s)
}

// Update makes a kernel node of an executable launch the plan's function with
// other arguments and another grid, from the executable's next launch on. The
// node keeps the launch attributes (cluster, cooperative, PDL) that it was
// captured with, and so takes only a plan that has the same. args points to the
// args struct, which the driver has read when Update returns.
func (p Plan) Update(exec GraphExec, node GraphNode, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) Status {
	return Status(C.kg_update(p.c, exec.c(), node.c(), C.uint32_t(x), C.uint32_t(y), C.uint32_t(z),
		(*C.uchar)(args), C.CUdeviceptr(globalScratch), C.CUdeviceptr(profileScratch)))
}

// Scratch is the scratch memory, global and profile, of a graph's node that
// launches the plan.
func (p Plan) Scratch(node GraphNode) (scratch [2]uint64, _ Status) {
	var addresses [2]C.CUdeviceptr
	s := C.kg_node_scratch(p.c, node.c(), &addresses[0])
	return [2]uint64{uint64(addresses[0]), uint64(addresses[1])}, Status(s)
}

// SetScratch gives such a node other scratch memory in an executable, where
// nothing else of it changes.
func (p Plan) SetScratch(exec GraphExec, node GraphNode, scratch [2]uint64) Status {
	return Status(C.kg_node_set_scratch(p.c, exec.c(), node.c(), C.CUdeviceptr(scratch[0]), C.CUdeviceptr(scratch[1])))
}
