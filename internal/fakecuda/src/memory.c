// Device memory is host memory with a table of bounds. Queued work is done at
// once, so memory freed in a stream's order is free at once too.
#include <stdlib.h>
#include <string.h>

#include "fake.h"

enum { ALIGNMENT = 512, POISONED = 1 << 20 };

struct allocation *allocations;
size_t allocation_count;
static size_t allocation_capacity;

static struct allocation *allocation_at(uint64_t address) {
	for (size_t i = 0; i < allocation_count; i++)
		if (address - allocations[i].address < allocations[i].size) return &allocations[i];
	return NULL;
}

static bool in_bounds(CUdeviceptr address, size_t size) {
	const struct allocation *a = allocation_at(address);
	return size == 0 || (a != NULL && size <= a->size - (address - a->address));
}

static CUresult allocate(struct context *c, CUdeviceptr *out, size_t size) {
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	struct device *d = &devices[device_of(c)];
	unsigned char *p = NULL;
	if (d->used <= d->memory && size <= d->memory - d->used)
		p = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	if (p != NULL) {
		// What nobody wrote is not zero.
		memset(p, 0xcb, size < POISONED ? size : POISONED);
		if (allocation_count == allocation_capacity) {
			allocation_capacity = allocation_capacity * 2 + 64;
			allocations = realloc(allocations, allocation_capacity * sizeof *allocations);
			if (allocations == NULL) abort();
		}
		allocations[allocation_count++] = (struct allocation){(uintptr_t)p, size, c};
		d->used += size;
		*out = (uintptr_t)p;
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

static void drop(struct allocation *a) {
	devices[device_of(a->context)].used -= a->size;
	free((void *)(uintptr_t)a->address);
	*a = allocations[--allocation_count];
}

static CUresult release(CUdeviceptr address) {
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	struct allocation *a = allocation_at(address);
	if (a != NULL && a->address == address) {
		drop(a);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

void free_allocations(const struct context *c) {
	for (size_t i = allocation_count; i-- > 0;)
		if (allocations[i].context == c) drop(&allocations[i]);
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(refuse_in_capture(false));
	if (address == NULL || size == 0) return CUDA_ERROR_INVALID_VALUE;
	return allocate(c, address, size);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(refuse_in_capture(false));
	return address == 0 ? CUDA_SUCCESS : release(address);
}

// For work on a stream: the current context, which must be the stream's.
static CUresult enter_stream(CUstream stream, struct context **c) {
	TRY(current_context(c));
	TRY(check_stream(stream, *c));
	return capture_of(stream) == CAPTURE_INVALIDATED ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

// For allocation in a stream's order: within a capture it becomes part of the
// graph, beside one it is refused.
static CUresult enter_pool(CUstream stream, struct context **c) {
	TRY(enter_stream(stream, c));
	if (!atomic_load(&devices[device_of(*c)].attributes[DEVICE_MEMORY_POOLS_SUPPORTED])) return CUDA_ERROR_NOT_SUPPORTED;
	return capture_of(stream) == CAPTURE_NONE ? refuse_in_capture(false) : CUDA_SUCCESS;
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_pool(stream, &c));
	if (address == NULL) return CUDA_ERROR_INVALID_VALUE;
	if (size == 0) return *address = 0, CUDA_SUCCESS;
	return allocate(c, address, size);
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_pool(stream, &c));
	return address == 0 ? CUDA_SUCCESS : release(address);
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_stream(stream, &c));
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (in_bounds(to, size) && (from != NULL || size == 0)) {
		if (size > 0) memcpy((void *)(uintptr_t)to, from, size);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_stream(stream, &c));
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (in_bounds(from, size) && (to != NULL || size == 0)) {
		if (size > 0) memcpy(to, (const void *)(uintptr_t)from, size);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_stream(stream, &c));
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (in_bounds(to, size) && in_bounds(from, size)) {
		if (size > 0) memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_stream(stream, &c));
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (in_bounds(to, size)) {
		if (size > 0) memset((void *)(uintptr_t)to, value, size);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr address) {
	ENTER();
	if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	const struct allocation *a = allocation_at(address);
	if (a == NULL) {
		result = CUDA_ERROR_INVALID_VALUE;
	} else {
		switch (attribute) {
		case POINTER_CONTEXT: *(struct context **)out = a->context; break;
		case POINTER_MEMORY_TYPE: *(unsigned *)out = MEMORY_TYPE_DEVICE; break;
		case POINTER_DEVICE_POINTER: *(CUdeviceptr *)out = address; break;
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
