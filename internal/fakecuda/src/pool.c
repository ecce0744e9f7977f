// Pools of device memory. What a pool reserves counts as the device's memory in
// use; a pool reserves what it needs, and keeps it until a synchronisation leaves
// it with no more than its threshold.
#include "fake.h"

enum { MAX_POOLS = 1 << 12, ALLOCATION_PINNED = 1, LOCATION_DEVICE = 1 };

struct pool {
	bool alive;
	struct context *context;
	uint64_t threshold, used, used_high, reserved, reserved_high; // bytes
};

static struct pool pools[MAX_POOLS];
static int pool_count;

bool is_pool(const struct pool *p, const struct context *c) { return IN_SLOTS(p, pools) && p->alive && p->context == c; }

static void shrink(struct pool *p, uint64_t keep) {
	if (keep < p->used) keep = p->used;
	if (p->reserved <= keep) return;
	devices[device_of(p->context)].used -= p->reserved - keep;
	p->reserved = keep;
}

bool reserve(struct pool *p, size_t size, struct device *d) {
	uint64_t spare = p->reserved - p->used, more = size > spare ? size - spare : 0;
	if (d->used > d->memory || more > d->memory - d->used) return false;
	d->used += more;
	p->reserved += more;
	p->used += size;
	if (p->used > p->used_high) p->used_high = p->used;
	if (p->reserved > p->reserved_high) p->reserved_high = p->reserved;
	return true;
}

void unreserve(struct pool *p, size_t size) {
	p->used -= size;
	if (!p->alive) shrink(p, 0);
}

void trim_pools(const struct context *c) {
	for (int i = 0; i < pool_count; i++)
		if (pools[i].context == c) shrink(&pools[i], pools[i].alive ? pools[i].threshold : 0);
}

static void destroy(struct pool *p) {
	p->alive = false;
	shrink(p, 0);
}

void destroy_pools(const struct context *c) {
	for (int i = 0; i < pool_count; i++)
		if (pools[i].alive && pools[i].context == c) destroy(&pools[i]);
}

void find_pool_leaks(void) {
	for (int i = 0; i < pool_count; i++)
		if (pools[i].alive) leak("pool", &pools[i], pools[i].reserved);
}

EXPORT CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(refuse_in_capture());
	if (pool == NULL || props == NULL || props->alloc_type != ALLOCATION_PINNED || props->handle_types != 0 ||
	    props->location_type != LOCATION_DEVICE || props->location < 0 || props->location >= atomic_load(&device_count))
		return CUDA_ERROR_INVALID_VALUE;
	if (!atomic_load(&devices[props->location].attributes[DEVICE_MEMORY_POOLS_SUPPORTED])) return CUDA_ERROR_NOT_SUPPORTED;
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	if (pool_count < MAX_POOLS) {
		*pool = &pools[pool_count++];
		**pool = (struct pool){.alive = true, .context = &contexts[props->location]};
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

static CUresult enter_pool(CUmemoryPool pool) {
	struct context *c;
	TRY(current_context(&c));
	pthread_mutex_lock(&lock);
	bool is = is_pool(pool, c);
	pthread_mutex_unlock(&lock);
	return is ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
	ENTER();
	TRY(enter_pool(pool));
	pthread_mutex_lock(&lock);
	destroy(pool);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
	ENTER();
	TRY(enter_pool(pool));
	pthread_mutex_lock(&lock);
	shrink(pool, keep);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

// NULL: no such attribute.
static uint64_t *attribute_of(struct pool *p, int attribute) {
	switch (attribute) {
	case POOL_RELEASE_THRESHOLD: return &p->threshold;
	case POOL_RESERVED: return &p->reserved;
	case POOL_RESERVED_HIGH: return &p->reserved_high;
	case POOL_USED: return &p->used;
	case POOL_USED_HIGH: return &p->used_high;
	default: return NULL;
	}
}

EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
	ENTER();
	TRY(enter_pool(pool));
	const uint64_t *a = attribute_of(pool, attribute);
	if (a == NULL || value == NULL) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	*(uint64_t *)value = *a;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

// A high-water mark can only be set to 0, which makes it what there is now.
EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
	ENTER();
	TRY(enter_pool(pool));
	uint64_t *a = attribute_of(pool, attribute);
	if (a == NULL || value == NULL) return CUDA_ERROR_INVALID_VALUE;
	uint64_t v = *(const uint64_t *)value;
	bool high = attribute == POOL_RESERVED_HIGH || attribute == POOL_USED_HIGH;
	if (attribute != POOL_RELEASE_THRESHOLD && !(high && v == 0)) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	*a = !high ? v : attribute == POOL_USED_HIGH ? pool->used : pool->reserved;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}
