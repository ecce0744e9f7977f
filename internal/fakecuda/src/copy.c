// Copies and fills, in the order of a stream.
#include <string.h>

#include "fake.h"
#include "operation.h"

enum { MOST_PITCH = 2147483647 };

static size_t extent(const struct copy *c, size_t pitch) { return c->rows == 0 ? 0 : (c->rows - 1) * pitch + c->width; }

static bool reachable(uint64_t address, size_t size, bool host) {
	return host ? address != 0 || size == 0 : in_bounds(address, size);
}

CUresult check_copy(const struct copy *c) {
	if (c->rows != 1 && c->width > 0) {
		if (c->to_pitch < c->width || c->from_pitch < c->width) return CUDA_ERROR_INVALID_VALUE;
		if (c->to_pitch > MOST_PITCH || c->from_pitch > MOST_PITCH) return CUDA_ERROR_INVALID_VALUE;
	}
	if (c->width == 0) return CUDA_SUCCESS;
	return reachable(c->to, extent(c, c->to_pitch), c->to_host) && reachable(c->from, extent(c, c->from_pitch), c->from_host)
	           ? CUDA_SUCCESS
	           : CUDA_ERROR_INVALID_VALUE;
}

void do_copy(const struct copy *c) {
	for (size_t i = 0; i < c->rows && c->width > 0; i++)
		memmove((void *)(uintptr_t)(c->to + i * c->to_pitch), (const void *)(uintptr_t)(c->from + i * c->from_pitch), c->width);
}

void put_copy(struct record *r, const struct copy *c, CUstream stream, const struct exec *exec) {
	put32(r, c->to_host);
	put32(r, c->from_host);
	put64(r, c->to);
	put64(r, c->from);
	put64(r, c->width);
	put64(r, c->rows);
	put64(r, c->to_pitch);
	put64(r, c->from_pitch);
	put32(r, (!c->to_host || pinned(c->to, extent(c, c->to_pitch))) && (!c->from_host || pinned(c->from, extent(c, c->from_pitch))));
	put64(r, (uintptr_t)stream);
	put64(r, (uintptr_t)exec);
}

static CUresult queue(CUstream stream, const struct operation *op) {
	struct context *c;
	TRY(enter_stream(stream, &c));
	pthread_mutex_lock(&lock);
	CUresult result = submit(stream, op);
	pthread_mutex_unlock(&lock);
	return result;
}

static CUresult queue_copy(CUstream stream, uint64_t to, bool to_host, uint64_t from, bool from_host, size_t size) {
	return queue(stream, &(struct operation){
	                         .type = NODE_COPY,
	                         .copy = {to, from, to_host, from_host, size, 1, 0, 0},
	                     });
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
	ENTER();
	return queue_copy(stream, to, false, (uintptr_t)from, true, size);
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
	ENTER();
	return queue_copy(stream, (uintptr_t)to, true, from, false, size);
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
	ENTER();
	return queue_copy(stream, to, false, from, false, size);
}

// NULL: not host or device memory.
static const uint64_t *base(const CUcopyEnd *e) {
	return e->type == MEMORY_TYPE_HOST ? &e->host : e->type == MEMORY_TYPE_DEVICE ? &e->device : NULL;
}

EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream stream) {
	ENTER();
	if (p == NULL || base(&p->to) == NULL || base(&p->from) == NULL) return CUDA_ERROR_INVALID_VALUE;
	if (p->width + p->to.x > p->to.pitch || p->width + p->from.x > p->from.pitch) return CUDA_ERROR_INVALID_VALUE;
	return queue(stream, &(struct operation){
	                         .type = NODE_COPY,
	                         .copy = {
	                             *base(&p->to) + p->to.y * p->to.pitch + p->to.x,
	                             *base(&p->from) + p->from.y * p->from.pitch + p->from.x,
	                             p->to.type == MEMORY_TYPE_HOST,
	                             p->from.type == MEMORY_TYPE_HOST,
	                             p->width,
	                             p->rows,
	                             p->to.pitch,
	                             p->from.pitch,
	                         },
	                     });
}

CUresult check_fill(const struct fill *f) {
	return f->to % f->size == 0 && f->count <= SIZE_MAX / f->size && in_bounds(f->to, f->count * f->size)
	           ? CUDA_SUCCESS
	           : CUDA_ERROR_INVALID_VALUE;
}

void do_fill(const struct fill *f) {
	for (size_t i = 0; i < f->count; i++) memcpy((unsigned char *)(uintptr_t)f->to + i * f->size, &f->value, f->size);
}

void put_fill(struct record *r, const struct fill *f, CUstream stream, const struct exec *exec) {
	put64(r, f->to);
	put32(r, f->value);
	put32(r, f->size);
	put64(r, f->count);
	put64(r, (uintptr_t)stream);
	put64(r, (uintptr_t)exec);
}

static CUresult queue_fill(CUstream stream, CUdeviceptr to, uint32_t value, unsigned size, size_t count) {
	return queue(stream, &(struct operation){.type = NODE_FILL, .fill = {to, value, size, count}});
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
	ENTER();
	return queue_fill(stream, to, value, 1, count);
}

EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
	ENTER();
	return queue_fill(stream, to, value, 2, count);
}

EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
	ENTER();
	return queue_fill(stream, to, value, 4, count);
}
