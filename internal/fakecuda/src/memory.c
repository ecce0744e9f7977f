// Device memory is host memory with a table of bounds. Queued work is done at
// once, so memory freed in a stream's order is free at once too.
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "fake.h"
#include "operation.h"

enum { ALIGNMENT = 512, POISONED = 1 << 20 };

struct allocation *allocations;
size_t allocation_count;
static size_t allocation_capacity;

static struct allocation *allocation_at(uint64_t address) {
	for (size_t i = 0; i < allocation_count; i++)
		if (address - allocations[i].address < allocations[i].size) return &allocations[i];
	return NULL;
}

bool in_bounds(CUdeviceptr address, size_t size) {
	const struct allocation *a = allocation_at(address);
	return size == 0 || (a != NULL && size <= a->size - (address - a->address));
}

static bool take(struct context *c, struct pool *pool, size_t size) {
	struct device *d = &devices[device_of(c)];
	if (pool != NULL) return reserve(pool, size, d);
	if (d->used > d->memory || size > d->memory - d->used) return false;
	d->used += size;
	return true;
}

static void give_back(const struct allocation *a) {
	if (a->pool != NULL)
		unreserve(a->pool, a->size);
	else
		devices[device_of(a->context)].used -= a->size;
}

static CUresult allocate(struct context *c, struct pool *pool, struct graph *graph, CUdeviceptr *out, size_t size) {
	if (!take(c, pool, size)) return CUDA_ERROR_OUT_OF_MEMORY;
	unsigned char *p = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	struct allocation a = {(uintptr_t)p, size, c, pool, graph};
	if (p == NULL) {
		give_back(&a);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	// What nobody wrote is not zero.
	memset(p, 0xcb, size < POISONED ? size : POISONED);
	if (allocation_count == allocation_capacity) {
		allocation_capacity = allocation_capacity * 2 + 64;
		allocations = realloc(allocations, allocation_capacity * sizeof *allocations);
		if (allocations == NULL) abort();
	}
	allocations[allocation_count++] = a;
	*out = a.address;
	return CUDA_SUCCESS;
}

static void drop(struct allocation *a) {
	give_back(a);
	free((void *)(uintptr_t)a->address);
	*a = allocations[--allocation_count];
}

static CUresult release(CUdeviceptr address) {
	struct allocation *a = allocation_at(address);
	if (a == NULL || a->address != address) return CUDA_ERROR_INVALID_VALUE;
	drop(a);
	return CUDA_SUCCESS;
}

void free_allocations(const struct context *c) {
	for (size_t i = allocation_count; i-- > 0;)
		if (allocations[i].context == c) drop(&allocations[i]);
}

void free_graph_memory(const struct graph *g) {
	for (size_t i = allocation_count; i-- > 0;)
		if (allocations[i].graph == g) drop(&allocations[i]);
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(refuse_in_capture());
	if (address == NULL || size == 0) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	CUresult result = allocate(c, NULL, NULL, address, size);
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(refuse_in_capture());
	if (address == 0) return CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	CUresult result = release(address);
	pthread_mutex_unlock(&lock);
	return result;
}

// For allocation in a stream's order: within a capture it becomes part of the
// graph, beside one it is refused.
static CUresult enter_pool(CUstream stream, struct context **c) {
	TRY(enter_stream(stream, c));
	if (!atomic_load(&devices[device_of(*c)].attributes[DEVICE_MEMORY_POOLS_SUPPORTED])) return CUDA_ERROR_NOT_SUPPORTED;
	return capture_of(stream) == CAPTURE_NONE ? refuse_in_capture() : CUDA_SUCCESS;
}

// Memory that a graph allocates is there from the capture on: nothing runs later
// than it was queued.
static CUresult allocate_async(CUdeviceptr *address, size_t size, struct pool *pool, CUstream stream) {
	struct context *c;
	TRY(enter_pool(stream, &c));
	if (address == NULL) return CUDA_ERROR_INVALID_VALUE;
	if (size == 0) return *address = 0, CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	CUresult result = pool == NULL || is_pool(pool, c) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	struct graph *g = graph_of(stream);
	if (result == CUDA_SUCCESS) result = allocate(c, pool, g, address, size);
	if (result == CUDA_SUCCESS && g != NULL)
		result = add_node(g, stream, &(struct operation){.type = NODE_ALLOC, .memory = *address});
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream) {
	ENTER();
	return allocate_async(address, size, NULL, stream);
}

EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool, CUstream stream) {
	ENTER();
	return pool == NULL ? CUDA_ERROR_INVALID_VALUE : allocate_async(address, size, pool, stream);
}

// A graph frees only what it allocates itself.
static CUresult free_async(CUdeviceptr address, CUstream stream) {
	struct graph *g = graph_of(stream);
	if (g == NULL) return release(address);
	const struct allocation *a = allocation_at(address);
	if (a == NULL || a->address != address || a->graph != g) return CUDA_ERROR_INVALID_VALUE;
	return add_node(g, stream, &(struct operation){.type = NODE_FREE, .memory = address});
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_pool(stream, &c));
	if (address == 0) return CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	CUresult result = free_async(address, stream);
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	if (available == NULL || total == NULL) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	const struct device *d = &devices[device_of(c)];
	*total = d->memory;
	*available = d->used < d->memory ? d->memory - d->used : 0;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

static atomic_bool peers; // kernels may use other devices' memory

int fake_set_peers(int on) {
	atomic_store(&peers, on != 0);
	return 1;
}

EXPORT CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr address) {
	ENTER();
	if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	const struct allocation *a = allocation_at(address);
	unsigned type = a != NULL ? MEMORY_TYPE_DEVICE : MEMORY_TYPE_HOST;
	if (a == NULL) a = pinned_at(address);
	if (a == NULL) {
		result = CUDA_ERROR_INVALID_VALUE;
	} else {
		switch (attribute) {
		case POINTER_CONTEXT: *(struct context **)out = a->context; break;
		case POINTER_MEMORY_TYPE: *(unsigned *)out = type; break;
		case POINTER_DEVICE_POINTER:
			*(CUdeviceptr *)out = address;
			if (type == MEMORY_TYPE_DEVICE && a->context != current() && !atomic_load(&peers)) result = CUDA_ERROR_INVALID_VALUE;
			break;
		case POINTER_IS_MANAGED: *(unsigned char *)out = 0; break;
		case POINTER_DEVICE_ORDINAL: *(int *)out = device_of(a->context); break;
		case POINTER_RANGE_START: *(CUdeviceptr *)out = a->address; break;
		case POINTER_RANGE_SIZE: *(size_t *)out = a->size; break;
		default: result = CUDA_ERROR_INVALID_VALUE;
		}
	}
	pthread_mutex_unlock(&lock);
	return result;
}
