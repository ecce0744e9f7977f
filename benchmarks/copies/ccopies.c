//go:build cgo

#include "ccopies.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct ccopies {
	void *ctx;
	int (*set_current)(void *);
	int (*synchronize)(void *);
	int (*in)(uint64_t, const void *, size_t, void *);
	int (*out)(void *, uint64_t, size_t, void *);
};

#define TRY(call) do { if ((call) != 0) { *failed = #call; return NULL; } } while (0)
#define BIND(target, name) TRY((*(void **)&(target) = dlsym(lib, name)) == NULL)

ccopies *ccopies_new(const char *library, int ordinal, const char **failed) {
	static ccopies c;
	int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int);

	void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	TRY(lib == NULL);
	BIND(init, "cuInit");
	BIND(get, "cuDeviceGet");
	BIND(retain, "cuDevicePrimaryCtxRetain");
	BIND(c.set_current, "cuCtxSetCurrent");
	BIND(c.synchronize, "cuStreamSynchronize");
	BIND(c.in, "cuMemcpyHtoDAsync_v2");
	BIND(c.out, "cuMemcpyDtoHAsync_v2");
	int device;
	TRY(init(0));
	TRY(get(&device, ordinal));
	TRY(retain(&c.ctx, device));
	return &c;
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

typedef struct {
	ccopies *c;
	const ccopy *copy;
	int64_t count;
	pthread_barrier_t *start;
	int failed;
} worker;

static int run(ccopies *c, const ccopy *p, int64_t count) {
	void *stream = (void *)p->stream;
	if (c->set_current(c->ctx) != 0) return -1;
	for (int64_t i = 0; i < count; i++) {
		if (p->in && c->in(p->device, p->host, p->bytes, stream) != 0) return -1;
		if (p->out && c->out(p->host, p->device, p->bytes, stream) != 0) return -1;
	}
	return c->synchronize(stream);
}

static void *work(void *arg) {
	worker *w = arg;
	pthread_barrier_wait(w->start);
	w->failed = run(w->c, w->copy, w->count) != 0;
	return NULL;
}

static int64_t on_threads(ccopies *c, const ccopy *copies, int n, int64_t count) {
	pthread_t ids[64];
	worker workers[64];
	pthread_barrier_t start;
	if (n > 64 || pthread_barrier_init(&start, NULL, n + 1) != 0) return -1;
	for (int i = 0; i < n; i++) {
		workers[i] = (worker){ c, &copies[i], count, &start, 0 };
		if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0) abort();
	}
	int64_t begin = now(); // a thread may be done before this one runs again
	pthread_barrier_wait(&start);
	int failed = 0;
	for (int i = 0; i < n; i++) {
		pthread_join(ids[i], NULL);
		failed |= workers[i].failed;
	}
	int64_t took = now() - begin;
	pthread_barrier_destroy(&start);
	return failed ? -1 : took;
}

int64_t ccopies_run(ccopies *c, const ccopy *copies, int n, int64_t count) {
	if (n > 1) return on_threads(c, copies, n, count);
	int64_t begin = now();
	return run(c, copies, count) != 0 ? -1 : now() - begin;
}
