// A launch is checked as a driver checks it, then recorded; nothing runs.
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "image.h"
#include "operation.h"

enum { PORTABLE_CLUSTER = 8 }; // CTAs

static int attribute(const struct device *d, int a) {
	return atomic_load_explicit(&d->attributes[a], memory_order_relaxed);
}

// Registers are given out in eights per thread.
static int warp_registers(const struct device *d, const struct kernel *k) {
	return ((int)k->registers + 7) / 8 * 8 * attribute(d, DEVICE_WARP_SIZE);
}

int most_threads(const struct device *d, const struct kernel *k) {
	int n = attribute(d, DEVICE_MAX_THREADS_PER_BLOCK);
	if (k->max_threads != 0 && (int)k->max_threads < n) n = (int)k->max_threads;
	if (k->registers == 0) return n;
	int limit = attribute(d, DEVICE_MAX_REGISTERS_PER_BLOCK) / warp_registers(d, k) * attribute(d, DEVICE_WARP_SIZE);
	return limit < n ? limit : n;
}

// The CTAs of a launch that one multiprocessor holds at once.
static int occupancy(const struct device *d, const struct kernel *k, int threads, int shared) {
	int n = attribute(d, DEVICE_MAX_BLOCKS_PER_MULTIPROCESSOR);
	int limit = attribute(d, DEVICE_MAX_THREADS_PER_MULTIPROCESSOR) / threads;
	if (limit < n) n = limit;
	limit = attribute(d, DEVICE_MAX_SHARED_PER_MULTIPROCESSOR) /
	        (shared + (int)k->static_shared + attribute(d, DEVICE_RESERVED_SHARED_PER_BLOCK) + 1);
	if (limit < n) n = limit;
	if (k->registers > 0) {
		int warps = (threads + attribute(d, DEVICE_WARP_SIZE) - 1) / attribute(d, DEVICE_WARP_SIZE);
		limit = attribute(d, DEVICE_MAX_REGISTERS_PER_MULTIPROCESSOR) / warp_registers(d, k) / warps;
		if (limit < n) n = limit;
	}
	return n;
}

static CUresult check_shape(const struct device *d, const struct function *f, const CUlaunchConfig *config) {
	const struct kernel *k = f->kernel;
	uint64_t threads = 1;
	for (int i = 0; i < 3; i++) {
		if (config->grid[i] == 0 || config->grid[i] > (unsigned)attribute(d, DEVICE_MAX_GRID_DIM_X + i)) return CUDA_ERROR_INVALID_VALUE;
		if (config->block[i] == 0 || config->block[i] > (unsigned)attribute(d, DEVICE_MAX_BLOCK_DIM_X + i)) return CUDA_ERROR_INVALID_VALUE;
		if (k->block[0] != 0 && config->block[i] != k->block[i]) return CUDA_ERROR_INVALID_VALUE;
		threads *= config->block[i];
	}
	if (threads > (unsigned)most_threads(d, k)) return CUDA_ERROR_INVALID_VALUE;
	int shared = atomic_load_explicit(&f->max_dynamic_shared, memory_order_relaxed);
	return config->shared > (unsigned)shared ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult check_cluster(const struct device *d, const struct function *f, const CUlaunchConfig *config,
                              const unsigned cluster[3]) {
	if (!attribute(d, DEVICE_CLUSTER_LAUNCH)) return CUDA_ERROR_INVALID_VALUE;
	uint64_t ctas = 1;
	for (int i = 0; i < 3; i++) {
		if (cluster[i] == 0 || config->grid[i] % cluster[i] != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
		if (f->kernel->cluster[0] != 0 && cluster[i] != f->kernel->cluster[i]) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
		ctas *= cluster[i];
	}
	int limit = PORTABLE_CLUSTER;
	if (atomic_load_explicit(&f->non_portable_cluster, memory_order_relaxed)) limit = atomic_load(&d->largest_cluster);
	return ctas > (unsigned)limit ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

static CUresult check_attributes(const struct device *d, const struct function *f, const CUlaunchConfig *config) {
	if (config->num_attributes > 0 && config->attributes == NULL) return CUDA_ERROR_INVALID_VALUE;
	const unsigned *cluster = f->kernel->cluster[0] != 0 ? f->kernel->cluster : NULL;
	bool cooperative = false;
	for (unsigned i = 0; i < config->num_attributes; i++) {
		const CUlaunchAttribute *a = &config->attributes[i];
		if (a->id >= LAUNCH_ATTRIBUTES) return CUDA_ERROR_INVALID_VALUE;
		if (a->id == LAUNCH_COOPERATIVE) cooperative = a->value.number != 0;
		if (a->id == LAUNCH_CLUSTER_DIMENSION) cluster = a->value.dim;
	}
	if (f->kernel->explicit_cluster && cluster == NULL) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	if (cluster != NULL) TRY(check_cluster(d, f, config, cluster));
	if (!cooperative) return CUDA_SUCCESS;
	if (!attribute(d, DEVICE_COOPERATIVE_LAUNCH)) return CUDA_ERROR_NOT_SUPPORTED;
	int threads = (int)(config->block[0] * config->block[1] * config->block[2]);
	uint64_t room = (uint64_t)occupancy(d, f->kernel, threads, (int)config->shared) * (uint64_t)attribute(d, DEVICE_MULTIPROCESSOR_COUNT);
	uint64_t ctas = (uint64_t)config->grid[0] * config->grid[1];
	if (ctas > room || ctas * config->grid[2] > room) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	return CUDA_SUCCESS;
}

static CUresult check_function(const struct function *f, const struct context *c) {
	if (!IN_SLOTS(f, functions) || f->module == NULL || f->module->context != c) return CUDA_ERROR_INVALID_HANDLE;
	return atomic_load_explicit(&f->module->alive, memory_order_relaxed) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult check_params(const struct kernel *k, void *const *params) {
	if (k->param_count > 0 && params == NULL) return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < k->param_count; i++)
		if (params[i] == NULL) return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

// All but the stream.
static CUresult check_work(const struct function *f, const CUlaunchConfig *config, void *const *params, const struct context *c) {
	const struct device *d = &devices[device_of(c)];
	TRY(check_shape(d, f, config));
	TRY(check_attributes(d, f, config));
	return check_params(f->kernel, params);
}

CUresult check_replay(const struct launch *l) {
	struct context *c;
	TRY(current_context(&c));
	TRY(check_function(l->function, c));
	return check_work(l->function, &l->config, l->params, c);
}

#if FAKE_VERSION >= 11080
static CUresult check_launch(const CUlaunchConfig *config, const struct function *f, void **params, void **extra) {
	struct context *c;
	TRY(current_context(&c));
	TRY(check_function(f, c));
	if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
	TRY(check_stream(config->stream, c));
	if (extra != NULL) return params != NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
	TRY(check_work(f, config, params, c));
	return capture_of(config->stream) == CAPTURE_INVALIDATED ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}
#endif

// One block holds the array, the parameters and the attributes.
struct launch copy_launch(const struct launch *l) {
	const struct kernel *k = l->function->kernel;
	size_t array = k->param_count * sizeof(void *), params = 0;
	size_t attributes = l->config.num_attributes * sizeof *l->config.attributes;
	for (unsigned i = 0; i < k->param_count; i++) params += (k->params[i].size + 15) / 16 * 16;
	unsigned char *block = malloc(array + params + attributes + 32);
	if (block == NULL) abort();
	struct launch copy = *l;
	copy.params = (void **)block;
	unsigned char *p = block + (array + 15) / 16 * 16;
	for (unsigned i = 0; i < k->param_count; i++) {
		copy.params[i] = memcpy(p, l->params[i], k->params[i].size);
		p += (k->params[i].size + 15) / 16 * 16;
	}
	copy.config.attributes = attributes == 0 ? NULL : memcpy(p, l->config.attributes, attributes);
	copy.config.stream = NULL;
	return copy;
}

void free_launch(struct launch *l) { free(l->params); }

void put_launch(struct record *r, const struct launch *l, CUstream stream, const struct exec *exec) {
	const CUlaunchConfig *config = &l->config;
	const struct kernel *k = l->function->kernel;
	put_string(r, k->name);
	put32(r, l->function->module->number);
	put(r, config->grid, sizeof config->grid);
	put(r, config->block, sizeof config->block);
	put32(r, config->shared);
	put64(r, (uintptr_t)stream);
	put64(r, (uintptr_t)exec);
	put64(r, (uintptr_t)current());
	put64(r, thread_id());
	put32(r, config->num_attributes);
	for (unsigned i = 0; i < config->num_attributes; i++) {
		put32(r, config->attributes[i].id);
		put(r, config->attributes[i].value.bytes, sizeof config->attributes[i].value.bytes);
	}
	put32(r, k->param_count);
	for (unsigned i = 0; i < k->param_count; i++) put_bytes(r, l->params[i], k->params[i].size);
}

void record_launch(const struct launch *l, CUstream stream, const struct exec *exec) {
	if (recording()) put_launch(new_record(LAUNCHES), l, stream, exec);
}

#if FAKE_VERSION >= 11080
// Neither recorded nor captured, a launch takes no lock.
EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra) {
	ENTER();
	TRY(check_launch(config, f, params, extra));
	if (!recording() && capture_of(config->stream) == CAPTURE_NONE) return CUDA_SUCCESS;
	struct operation op = {.type = NODE_KERNEL, .launch = {f, *config, params}};
	pthread_mutex_lock(&lock);
	CUresult result = submit(config->stream, &op);
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction f, const CUlaunchConfig *config) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(check_function(f, c));
	if (size == NULL || config == NULL) return CUDA_ERROR_INVALID_VALUE;
	const struct device *d = &devices[device_of(c)];
	if (!attribute(d, DEVICE_CLUSTER_LAUNCH)) return CUDA_ERROR_NOT_SUPPORTED;
	if (config->grid[0] == 0 || config->grid[1] == 0 || config->grid[2] == 0) return CUDA_ERROR_INVALID_VALUE;
	TRY(check_attributes(d, f, config));
	int largest = atomic_load(&d->largest_cluster);
	*size = atomic_load(&f->non_portable_cluster) || largest < PORTABLE_CLUSTER ? largest : PORTABLE_CLUSTER;
	return CUDA_SUCCESS;
}

static CUresult check_occupancy(CUfunction f, const void *out, const CUlaunchConfig *config, struct context **c) {
	TRY(current_context(c));
	TRY(check_function(f, *c));
	const struct device *d = &devices[device_of(*c)];
	if (out == NULL || config == NULL) return CUDA_ERROR_INVALID_VALUE;
	TRY(check_shape(d, f, config));
	return check_attributes(d, f, config);
}

static int blocks_per_multiprocessor(const struct context *c, CUfunction f, const CUlaunchConfig *config) {
	int threads = (int)(config->block[0] * config->block[1] * config->block[2]);
	return occupancy(&devices[device_of(c)], f->kernel, threads, (int)config->shared);
}

// What a launch would refuse is 0.
EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f, int threads, size_t shared,
                                                                     unsigned flags) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(check_function(f, c));
	if (blocks == NULL || threads <= 0 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
	const struct device *d = &devices[device_of(c)];
	CUlaunchConfig config = {{1, 1, 1}, {(unsigned)threads, 1, 1}, (unsigned)shared, NULL, NULL, 0};
	bool fits = threads <= most_threads(d, f->kernel) && shared <= (unsigned)attribute(d, DEVICE_MAX_SHARED_PER_BLOCK_OPTIN);
	*blocks = fits ? blocks_per_multiprocessor(c, f, &config) : 0;
	return CUDA_SUCCESS;
}

// As if every multiprocessor could be in a cluster with every other.
EXPORT CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction f, const CUlaunchConfig *config) {
	ENTER();
	struct context *c;
	TRY(check_occupancy(f, clusters, config, &c));
	const unsigned *cluster = f->kernel->cluster[0] != 0 ? f->kernel->cluster : NULL;
	for (unsigned i = 0; i < config->num_attributes; i++)
		if (config->attributes[i].id == LAUNCH_CLUSTER_DIMENSION) cluster = config->attributes[i].value.dim;
	if (cluster == NULL) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	int ctas = (int)(cluster[0] * cluster[1] * cluster[2]);
	int multiprocessors = attribute(&devices[device_of(c)], DEVICE_MULTIPROCESSOR_COUNT);
	*clusters = blocks_per_multiprocessor(c, f, config) * multiprocessors / ctas;
	return CUDA_SUCCESS;
}
#endif
