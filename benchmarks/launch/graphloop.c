//go:build cgo

#include "graphloop.h"

#include <stddef.h>

typedef struct {
	void *function;
	unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
	void **params, **extra;
	void *kernel, *ctx;
} node_params;

struct graphloop {
	cloop *c;
	void *exec, *node;
	node_params params;
	int (*launch)(void *, void *);
	int (*update)(void *, void *, const node_params *);
};

#define TRY(call) do { if ((call) != 0) { *failed = #call; return NULL; } } while (0)
#define BIND(target, name) TRY((*(void **)&(target) = cloop_symbol(c, name)) == NULL)

graphloop *graphloop_new(cloop *c, uintptr_t stream, unsigned threads, unsigned shared, void **params, int launches,
	const char **failed) {

	static graphloop all[8];
	static int used;
	int (*begin)(void *, int), (*end)(void *, void **);
	int (*info)(void *, int *, uint64_t *, void **, void *const **, size_t *);
	int (*instantiate)(void **, void *, unsigned long long);

	TRY(used == 8);
	graphloop *g = &all[used++];
	g->c = c;
	BIND(begin, "cuStreamBeginCapture_v2");
	BIND(end, "cuStreamEndCapture");
	BIND(info, "cuStreamGetCaptureInfo_v2");
	BIND(instantiate, "cuGraphInstantiateWithFlags");
	BIND(g->launch, "cuGraphLaunch");
	BIND(g->update, "cuGraphExecKernelNodeSetParams_v2");
	TRY(cloop_enter(c));
	TRY(begin((void *)stream, 2)); // relaxed
	for (int i = 0; i < launches; i++) TRY(cloop_one(c, stream, threads, shared, params));
	int state;
	uint64_t id;
	void *graph, *const *nodes;
	size_t count;
	TRY(info((void *)stream, &state, &id, &graph, &nodes, &count));
	g->node = nodes[0];
	TRY(end((void *)stream, &graph));
	TRY(instantiate(&g->exec, graph, 0));
	g->params = (node_params){ cloop_function(c), 1, 1, 1, threads, 1, 1, shared, params, NULL, NULL, NULL };
	return g;
}

int64_t graphloop_launches(graphloop *g, uintptr_t stream, int64_t count) {
	if (cloop_enter(g->c) != 0) return -1;
	int64_t start = cloop_now();
	for (int64_t i = 0; i < count; i++) {
		if (g->launch(g->exec, (void *)stream) != 0) return -1;
	}
	return cloop_now() - start;
}

int64_t graphloop_updates(graphloop *g, int64_t count) {
	if (cloop_enter(g->c) != 0) return -1;
	int64_t start = cloop_now();
	for (int64_t i = 0; i < count; i++) {
		if (g->update(g->exec, g->node, &g->params) != 0) return -1;
	}
	return cloop_now() - start;
}
