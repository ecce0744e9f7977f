// Executables of graphs: what they launch is a copy of the graph's nodes.
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { MAX_EXECS = 1 << 16 };

struct exec {
	bool alive;
	struct context *context;
	struct graph *graph;
	struct nodes nodes; // only told apart: the graph may be gone
	struct operation *ops;
};

static struct exec execs[MAX_EXECS];
static int exec_count;

static CUresult check_exec(const struct exec *e) {
	return IN_SLOTS(e, execs) && e->alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void destroy(struct exec *e) {
	e->alive = false;
	for (size_t i = 0; i < e->nodes.count; i++)
		if (e->ops[i].type == NODE_KERNEL) free_launch(&e->ops[i].launch);
	free(e->ops);
	replace(&e->nodes, NULL);
	forget_exec(e->graph);
}

void destroy_execs(const struct context *c) {
	for (int i = 0; i < exec_count; i++)
		if (execs[i].alive && execs[i].context == c) destroy(&execs[i]);
}

void find_exec_leaks(void) {
	for (int i = 0; i < exec_count; i++)
		if (execs[i].alive) leak("exec", &execs[i], 1);
}

static CUresult instantiate(CUgraphExec *out, struct graph *g, struct context *c) {
	if (out == NULL || !is_graph(g)) return CUDA_ERROR_INVALID_VALUE;
	if (exec_count == MAX_EXECS) return CUDA_ERROR_OUT_OF_MEMORY;
	struct exec *e = &execs[exec_count++];
	*e = (struct exec){.alive = true, .context = c, .graph = g};
	include(&e->nodes, &g->nodes);
	e->ops = calloc(e->nodes.count + 1, sizeof *e->ops);
	if (e->ops == NULL) abort();
	for (size_t i = 0; i < e->nodes.count; i++) {
		e->ops[i] = g->nodes.list[i]->op;
		if (e->ops[i].type == NODE_KERNEL) e->ops[i].launch = copy_launch(&e->ops[i].launch);
	}
	g->execs++;
	*out = e;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(refuse_in_capture());
	if (flags > 15) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	CUresult result = instantiate(exec, graph, c);
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	pthread_mutex_lock(&lock);
	CUresult result = check_exec(exec);
	if (result == CUDA_SUCCESS) destroy(exec);
	pthread_mutex_unlock(&lock);
	return result;
}

// Neither can be captured.
static CUresult enter_exec(CUgraphExec exec, CUstream stream) {
	struct context *c;
	TRY(enter_stream(stream, &c));
	TRY(refuse_captured(stream));
	pthread_mutex_lock(&lock);
	CUresult result = check_exec(exec);
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
	ENTER();
	return enter_exec(exec, stream);
}

EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
	ENTER();
	TRY(enter_exec(exec, stream));
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < exec->nodes.count && result == CUDA_SUCCESS; i++) result = perform(stream, &exec->ops[i], exec);
	pthread_mutex_unlock(&lock);
	return result;
}

static CUresult update(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
	TRY(check_exec(exec));
	if (p == NULL || !is_node(node) || node->graph != exec->graph || node->op.type != NODE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
	size_t i = 0;
	while (i < exec->nodes.count && exec->nodes.list[i] != node) i++;
	if (i == exec->nodes.count || p->extra != NULL) return CUDA_ERROR_INVALID_VALUE;
	struct launch next = exec->ops[i].launch; // keeps its attributes
	next.function = p->function;
	memcpy(next.config.grid, p->grid, sizeof p->grid);
	memcpy(next.config.block, p->block, sizeof p->block);
	next.config.shared = p->shared;
	next.params = p->params;
	TRY(check_replay(&next));
	next = copy_launch(&next);
	free_launch(&exec->ops[i].launch);
	exec->ops[i].launch = next;
	return CUDA_SUCCESS;
}

static CUresult set_params(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
	struct context *c;
	TRY(current_context(&c));
	pthread_mutex_lock(&lock);
	CUresult result = update(exec, node, p);
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
	ENTER();
	return set_params(exec, node, p);
}

#if FAKE_VERSION >= 12000
EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
	ENTER();
	if (p != NULL && p->function == NULL) return CUDA_ERROR_INVALID_VALUE; // the fake has no CUkernel
	return set_params(exec, node, p);
}
#endif
