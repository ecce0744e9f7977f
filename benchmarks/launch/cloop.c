//go:build cgo

#include "cloop.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
	unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
	void *stream;
	void *attrs;
	unsigned attr_count;
} launch_config;

struct cloop {
	void *lib, *ctx, *function;
	int (*set_current)(void *);
	int (*synchronize)(void *);
	int (*launch)(const launch_config *, void *, void **, void **);
};

#define TRY(call) do { if ((call) != 0) { *failed = #call; return NULL; } } while (0)
#define BIND(target, name) TRY((*(void **)&(target) = dlsym(lib, name)) == NULL)

cloop *cloop_new(const char *library, int ordinal, const void *cubin, const char *symbol, const char **failed) {
	static cloop all[8];
	static int used;
	int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int);
	int (*load)(void **, const void *, unsigned, int *, void **), (*find)(void **, void *, const char *);

	void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	TRY(lib == NULL || used == 8);
	cloop *c = &all[used++];
	c->lib = lib;
	BIND(init, "cuInit");
	BIND(get, "cuDeviceGet");
	BIND(retain, "cuDevicePrimaryCtxRetain");
	BIND(load, "cuModuleLoadDataEx");
	BIND(find, "cuModuleGetFunction");
	BIND(c->set_current, "cuCtxSetCurrent");
	BIND(c->synchronize, "cuStreamSynchronize");
	BIND(c->launch, "cuLaunchKernelEx");
	int device;
	void *module;
	TRY(init(0));
	TRY(get(&device, ordinal));
	TRY(retain(&c->ctx, device));
	TRY(c->set_current(c->ctx));
	TRY(load(&module, cubin, 0, NULL, NULL));
	TRY(find(&c->function, module, symbol));
	return c;
}

void *cloop_symbol(cloop *c, const char *name) { return dlsym(c->lib, name); }

void *cloop_function(cloop *c) { return c->function; }

int64_t cloop_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int cloop_enter(cloop *c) { return c->set_current(c->ctx); }

int cloop_one(cloop *c, uintptr_t stream, unsigned threads, unsigned shared, void **params) {
	launch_config config = { 1, 1, 1, threads, 1, 1, shared, (void *)stream, NULL, 0 };
	return c->launch(&config, c->function, params, NULL);
}

int64_t cloop_launches(cloop *c, uintptr_t stream, unsigned threads, unsigned shared, void **params, int64_t count) {
	if (c->set_current(c->ctx) != 0) return -1;
	launch_config config = { 1, 1, 1, threads, 1, 1, shared, (void *)stream, NULL, 0 };
	int64_t start = cloop_now();
	for (int64_t i = 0; i < count; i++) {
		if (c->launch(&config, c->function, params, NULL) != 0) return -1;
	}
	return cloop_now() - start;
}

int cloop_map(cloop *c, uint64_t address, uint64_t rows, uint64_t cols, unsigned box_rows, unsigned box_cols,
	int swizzle, void *map) {

	int (*encode)(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *,
		int, int, int, int);
	*(void **)&encode = dlsym(c->lib, "cuTensorMapEncodeTiled");
	if (encode == NULL || c->set_current(c->ctx) != 0) return -1;
	enum { FLOAT16 = 6, PROMOTE_128 = 2 };
	uint64_t dims[] = { cols, rows }, strides[] = { 2 * cols };
	unsigned box[] = { box_cols, box_rows }, steps[] = { 1, 1 };
	return encode(map, FLOAT16, 2, (void *)address, dims, strides, box, steps, 0, swizzle, PROMOTE_128, 0);
}

typedef struct {
	cloop *c;
	uintptr_t stream;
	unsigned threads, shared;
	void **params;
	int64_t count;
	pthread_barrier_t *start;
	int failed;
} worker;

static void *work(void *arg) {
	worker *w = arg;
	pthread_barrier_wait(w->start);
	w->failed = cloop_launches(w->c, w->stream, w->threads, w->shared, w->params, w->count) < 0 ||
		w->c->synchronize((void *)w->stream) != 0;
	return NULL;
}

int64_t cloop_threads(cloop *c, const uintptr_t *streams, int n, unsigned threads, unsigned shared, void **params, int64_t count) {
	pthread_t ids[64];
	worker workers[64];
	pthread_barrier_t start;
	if (n > 64 || pthread_barrier_init(&start, NULL, n + 1) != 0) return -1;
	for (int i = 0; i < n; i++) {
		workers[i] = (worker){ c, streams[i], threads, shared, params, count, &start, 0 };
		if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0) abort();
	}
	pthread_barrier_wait(&start);
	int64_t begin = cloop_now();
	int failed = 0;
	for (int i = 0; i < n; i++) {
		pthread_join(ids[i], NULL);
		failed |= workers[i].failed;
	}
	int64_t took = cloop_now() - begin;
	pthread_barrier_destroy(&start);
	return failed ? -1 : took;
}
