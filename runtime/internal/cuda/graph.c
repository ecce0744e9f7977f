//go:build cgo && linux

#include "graph.h"

kg_status kg_capture_begin(CUcontext ctx, CUstream stream, int mode) {
	CUcontext before;
	kg_status s = kg_enter(ctx, &before);
	if (s != 0) return s;
	s = KG_CALL(cuStreamBeginCapture_v2, stream, mode);
	kg_status back = kg_leave(ctx, before, s);
	if (s == 0 && back != 0) { // a capture that failed to begin must not go on
		CUgraph graph = NULL;
		if (kg_driver.cuStreamEndCapture(stream, &graph) == 0) kg_driver.cuGraphDestroy(graph);
	}
	return back;
}

kg_status kg_capture_end(CUcontext ctx, CUstream stream, CUgraph *graph) {
	KG_IN(ctx, KG_CALL(cuStreamEndCapture, stream, graph));
}

kg_status kg_capture_info(CUcontext ctx, CUstream stream, int *state, uint64_t *id, CUgraph *graph,
	const CUgraphNode **nodes, size_t *count) {

	KG_IN(ctx, KG_CALL(cuStreamGetCaptureInfo_v2, stream, state, id, graph, nodes, count));
}

kg_status kg_graph_destroy(CUcontext ctx, CUgraph graph) { KG_IN(ctx, KG_CALL(cuGraphDestroy, graph)); }

kg_status kg_graph_nodes(CUcontext ctx, CUgraph graph, CUgraphNode *nodes, size_t *count) {
	KG_IN(ctx, KG_CALL(cuGraphGetNodes, graph, nodes, count));
}

kg_status kg_node_type(CUcontext ctx, CUgraphNode node, int *type) { KG_IN(ctx, KG_CALL(cuGraphNodeGetType, node, type)); }

kg_status kg_node_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params) {
	return kg_driver.cuGraphKernelNodeGetParams_v2 != NULL ? KG_CALL(cuGraphKernelNodeGetParams_v2, node, params)
	                                                       : KG_CALL(cuGraphKernelNodeGetParams, node, params);
}

kg_status kg_node_function(CUcontext ctx, CUgraphNode node, CUfunction *function) {
	CUDA_KERNEL_NODE_PARAMS p = { 0 };
	CUcontext before;
	kg_status s = kg_enter(ctx, &before);
	if (s != 0) return s;
	s = kg_node_params(node, &p);
	*function = p.func;
	return kg_leave(ctx, before, s);
}

kg_status kg_exec_create(CUcontext ctx, CUgraph graph, CUgraphExec *exec) {
	KG_IN_RELAXED(ctx, KG_CALL(cuGraphInstantiateWithFlags, exec, graph, 0));
}

kg_status kg_exec_destroy(CUcontext ctx, CUgraphExec exec) { KG_IN(ctx, KG_CALL(cuGraphExecDestroy, exec)); }

kg_status kg_exec_upload(CUcontext ctx, CUgraphExec exec, CUstream stream) {
	KG_IN(ctx, KG_CALL(cuGraphUpload, exec, stream));
}

kg_status kg_exec_launch(CUcontext ctx, CUgraphExec exec, CUstream stream) {
	KG_IN(ctx, KG_CALL(cuGraphLaunch, exec, stream));
}
