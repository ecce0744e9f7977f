// A launch is checked as a driver checks it, then recorded; nothing runs.
#include "fake.h"
#include "image.h"

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

#if FAKE_VERSION >= 11080

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

static CUresult check_launch(const CUlaunchConfig *config, const struct function *f, void **params, void **extra) {
	struct context *c;
	TRY(current_context(&c));
	TRY(check_function(f, c));
	if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
	TRY(check_stream(config->stream, c));
	if (extra != NULL) return params != NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
	const struct device *d = &devices[device_of(c)];
	TRY(check_shape(d, f, config));
	TRY(check_attributes(d, f, config));
	if (f->kernel->param_count > 0 && params == NULL) return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < f->kernel->param_count; i++)
		if (params[i] == NULL) return CUDA_ERROR_INVALID_VALUE;
	return capture_of(config->stream) == CAPTURE_INVALIDATED ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

static void record_launch(const CUlaunchConfig *config, const struct function *f, void **params) {
	const struct kernel *k = f->kernel;
	pthread_mutex_lock(&lock);
	struct record *r = new_record(LAUNCHES);
	put_string(r, k->name);
	put32(r, f->module->number);
	put(r, config->grid, sizeof config->grid);
	put(r, config->block, sizeof config->block);
	put32(r, config->shared);
	put64(r, (uintptr_t)config->stream);
	put64(r, (uintptr_t)current());
	put64(r, thread_id());
	put32(r, config->num_attributes);
	for (unsigned i = 0; i < config->num_attributes; i++) {
		put32(r, config->attributes[i].id);
		put(r, config->attributes[i].value.bytes, sizeof config->attributes[i].value.bytes);
	}
	put32(r, k->param_count);
	for (unsigned i = 0; i < k->param_count; i++) put_bytes(r, params[i], k->params[i].size);
	pthread_mutex_unlock(&lock);
}

EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra) {
	ENTER();
	TRY(check_launch(config, f, params, extra));
	if (atomic_load_explicit(&special, memory_order_relaxed) & RECORDING) record_launch(config, f, params);
	return CUDA_SUCCESS;
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
#endif
