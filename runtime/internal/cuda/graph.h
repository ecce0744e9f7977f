#ifndef KERNGEN_GRAPH_H
#define KERNGEN_GRAPH_H

#include "driver.h"

// Captures, graphs, their nodes and their executables.

kg_status kg_capture_begin(CUcontext ctx, CUstream stream, int mode);
kg_status kg_capture_end(CUcontext ctx, CUstream stream, CUgraph *graph);

// kg_capture_info tells a stream's capture and the nodes that its next node will
// follow, which stay the driver's and valid until the stream's next call. Only
// *state is set where there is no capture.
kg_status kg_capture_info(CUcontext ctx, CUstream stream, int *state, uint64_t *id, CUgraph *graph,
	const CUgraphNode **nodes, size_t *count);

kg_status kg_graph_destroy(CUcontext ctx, CUgraph graph);

// kg_graph_nodes: *count is the room in nodes, then how many were written; with
// nodes NULL, how many there are.
kg_status kg_graph_nodes(CUcontext ctx, CUgraph graph, CUgraphNode *nodes, size_t *count);
kg_status kg_node_type(CUcontext ctx, CUgraphNode node, int *type);
kg_status kg_node_function(CUcontext ctx, CUgraphNode node, CUfunction *function);

// kg_node_params tells all of a kernel node, what it points to being the graph's.
// The context is current.
kg_status kg_node_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params);

kg_status kg_exec_create(CUcontext ctx, CUgraph graph, CUgraphExec *exec);
kg_status kg_exec_destroy(CUcontext ctx, CUgraphExec exec);
kg_status kg_exec_upload(CUcontext ctx, CUgraphExec exec, CUstream stream);
kg_status kg_exec_launch(CUcontext ctx, CUgraphExec exec, CUstream stream);

#endif
