// Graphs, their nodes and their executables.
#include <stdlib.h>

#include "graph.h"
#include "operation.h"

enum { MAX_GRAPHS = 1 << 16, MAX_NODES = 1 << 18 };

static struct graph graphs[MAX_GRAPHS];
static struct node nodes[MAX_NODES];
static int graph_count, node_count;

bool is_graph(const struct graph *g) { return IN_SLOTS(g, graphs) && g->alive; }
bool is_node(const struct node *n) { return IN_SLOTS(n, nodes) && n->graph != NULL && n->graph->alive; }

struct graph *new_graph(struct context *c) {
	if (graph_count == MAX_GRAPHS) return NULL;
	struct graph *g = &graphs[graph_count++];
	*g = (struct graph){.alive = true, .context = c};
	return g;
}

// The memory that a graph allocates lives as long as its executables.
void forget_exec(struct graph *g) {
	if (--g->execs == 0 && !g->alive) free_graph_memory(g);
}

void destroy_graph(struct graph *g) {
	g->alive = false;
	for (size_t i = 0; i < g->nodes.count; i++) {
		struct node *n = g->nodes.list[i];
		if (n->op.type == NODE_KERNEL) free_launch(&n->op.launch);
		replace(&n->after, NULL);
	}
	replace(&g->nodes, NULL);
	if (g->execs == 0) free_graph_memory(g);
}

void destroy_graphs(const struct context *c) {
	destroy_execs(c);
	for (int i = 0; i < graph_count; i++)
		if (graphs[i].alive && graphs[i].context == c) destroy_graph(&graphs[i]);
}

void find_graph_leaks(void) {
	for (int i = 0; i < graph_count; i++)
		if (graphs[i].alive) leak("graph", &graphs[i], 1);
	find_exec_leaks();
}

CUresult add_node(struct graph *g, CUstream stream, const struct operation *op) {
	if (node_count == MAX_NODES) return CUDA_ERROR_OUT_OF_MEMORY;
	struct node *n = &nodes[node_count++];
	n->graph = g;
	n->op = *op;
	if (op->type == NODE_KERNEL) n->op.launch = copy_launch(&op->launch);
	include(&n->after, &stream->tail);
	replace(&stream->tail, n);
	include(&g->nodes, &stream->tail);
	if (!recording()) return CUDA_SUCCESS;
	struct record *r = new_record(NODES);
	put64(r, (uintptr_t)g);
	put64(r, (uintptr_t)n);
	put32(r, (uint32_t)op->type);
	put64(r, (uintptr_t)stream);
	put32(r, (uint32_t)n->after.count);
	for (size_t i = 0; i < n->after.count; i++) put64(r, (uintptr_t)n->after.list[i]);
	put_operation(r, op, stream, NULL);
	return CUDA_SUCCESS;
}

static bool follows(const struct node *last, const struct node *first) {
	if (last == first) return true;
	for (size_t i = 0; i < last->after.count; i++)
		if (follows(last->after.list[i], first)) return true;
	return false;
}

bool all_follow(const struct nodes *last, const struct nodes *first) {
	for (size_t i = 0; i < first->count; i++) {
		bool one = false;
		for (size_t j = 0; j < last->count && !one; j++) one = follows(last->list[j], first->list[i]);
		if (!one) return false;
	}
	return true;
}

EXPORT CUresult cuGraphDestroy(CUgraph graph) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	pthread_mutex_lock(&lock);
	bool is = is_graph(graph);
	if (is) destroy_graph(graph);
	pthread_mutex_unlock(&lock);
	return is ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *out, size_t *count) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	pthread_mutex_lock(&lock);
	CUresult result = count != NULL && is_graph(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) {
		size_t all = graph->nodes.count;
		for (size_t i = 0; out != NULL && i < *count; i++) out[i] = i < all ? graph->nodes.list[i] : NULL;
		if (out == NULL || *count > all) *count = all;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, int *type) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	pthread_mutex_lock(&lock);
	CUresult result = type != NULL && is_node(node) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) *type = node->op.type;
	pthread_mutex_unlock(&lock);
	return result;
}

// The first version of the parameters is the beginning of the second.
static CUresult kernel_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out, bool second) {
	struct context *c;
	TRY(current_context(&c));
	if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	CUresult result = is_node(node) && node->op.type == NODE_KERNEL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) {
		const struct launch *l = &node->op.launch;
		out->function = (CUfunction)l->function;
		for (int i = 0; i < 3; i++) out->grid[i] = l->config.grid[i], out->block[i] = l->config.block[i];
		out->shared = l->config.shared;
		out->params = l->params;
		out->extra = NULL;
		if (second) out->kernel = NULL, out->context = node->graph->context;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out) {
	ENTER();
	return kernel_params(node, out, false);
}

#if FAKE_VERSION >= 12000
EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out) {
	ENTER();
	return kernel_params(node, out, true);
}
#endif
