//go:build cgo && linux

#include "desc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_WORDS = 2 + 2 * KG_RANK,
	MAP_WORDS = sizeof(CUtensorMap) / 8,
	SETS = 64,
	WAYS = 2,
	TFLOAT32 = 11,          // CUtensorMapDataType
	PROMOTE_128 = 2,        // CUtensorMapL2promotion
	SMALL = 128 * 1024,     // bytes: see MapSpec.Unmarked
};
_Static_assert(sizeof(kg_desc) == 8 * MAX_WORDS, "a tensor is compared by words");
_Static_assert(sizeof(CUtensorMap) == 128, "a tensor map has 128 bytes");

// An entry is a tensor and its map. sequence is odd while they are written; who
// has read them and finds it changed has read nothing.
typedef struct {
	_Atomic uint64_t sequence; // 0: empty
	_Atomic uint64_t desc[MAX_WORDS], map[MAP_WORDS];
} entry;

struct kg_map {
	uint32_t param, rank, elem_size;
	int type, swizzle;
	uint32_t box[KG_RANK];
	bool fp4_padded, doubled_arg, unmarked;
	_Atomic uint32_t turn; // which way of a set is written next
	entry entries[SETS][WAYS];
};

kg_map *kg_maps_new(uint32_t count) { return calloc(count, sizeof(kg_map)); }

void kg_maps_free(kg_map *maps) { free(maps); }

void kg_map_set(kg_map *maps, uint32_t i, uint32_t param, uint32_t rank, uint32_t elem_size, int type, int swizzle,
	const uint32_t *box) {

	kg_map *m = &maps[i];
	m->param = param;
	m->rank = rank;
	m->elem_size = elem_size;
	m->type = type;
	m->swizzle = swizzle;
	memcpy(m->box, box, sizeof m->box);
}

void kg_map_options(kg_map *maps, uint32_t i, bool fp4_padded, bool doubled_arg, bool unmarked) {
	maps[i].fp4_padded = fp4_padded;
	maps[i].doubled_arg = doubled_arg;
	maps[i].unmarked = unmarked;
}

// words are those of a tensor's that can differ between launches, without what
// lies beyond its rank. It returns how many there are.
static inline uint32_t words(uint32_t rank, const kg_desc *d, uint64_t *to) {
	uint32_t n = 0;
	to[n++] = d->address;
	to[n++] = (uint64_t)d->nan << 1 | d->round_tf32;
	for (uint32_t i = 0; i < rank; i++) {
		to[n++] = (uint64_t)d->shape[i];
		to[n++] = (uint64_t)d->strides[i];
	}
	return n;
}

static inline entry *set_of(kg_map *m, const uint64_t *desc, uint32_t n) {
	// Words do not wait for each other; an odd factor of its own tells each from the rest.
	uint64_t hash = 0;
	for (uint64_t i = 0; i < n; i++) hash += desc[i] * (0x9e3779b97f4a7c15u + 2 * i * 0x632be59bd9b4e019u);
	return m->entries[hash >> 40 & (SETS - 1)];
}

static inline bool look_up(entry *e, const uint64_t *desc, uint32_t n, uint64_t *map) {
	uint64_t sequence = atomic_load_explicit(&e->sequence, memory_order_acquire);
	if (sequence == 0 || sequence % 2 != 0) return false;
	uint64_t differs = 0;
	for (uint32_t i = 0; i < n; i++) differs |= desc[i] ^ atomic_load_explicit(&e->desc[i], memory_order_relaxed);
	if (differs != 0) return false;
	for (int i = 0; i < MAP_WORDS; i++) map[i] = atomic_load_explicit(&e->map[i], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&e->sequence, memory_order_relaxed) == sequence;
}

// keep writes an entry, unless another thread is writing it.
static void keep(entry *e, const uint64_t *desc, uint32_t n, const uint64_t *map) {
	uint64_t sequence = atomic_load_explicit(&e->sequence, memory_order_relaxed);
	if (sequence % 2 != 0 || !atomic_compare_exchange_strong_explicit(&e->sequence, &sequence, sequence + 1,
		memory_order_acquire, memory_order_relaxed)) return;
	atomic_thread_fence(memory_order_release);
	for (uint32_t i = 0; i < n; i++) atomic_store_explicit(&e->desc[i], desc[i], memory_order_relaxed);
	for (int i = 0; i < MAP_WORDS; i++) atomic_store_explicit(&e->map[i], map[i], memory_order_relaxed);
	atomic_store_explicit(&e->sequence, sequence + 2, memory_order_release);
}

static kg_status encode(const kg_map *m, const kg_desc *d, CUtensorMap *map) {
	uint64_t dims[KG_RANK], strides[KG_RANK];
	uint64_t last = 0; // byte of the tensor
	for (uint32_t i = 0; i < m->rank; i++) {
		uint32_t from = m->rank - 1 - i; // the driver begins with the innermost dimension
		dims[i] = (uint64_t)d->shape[from];
		if (i == 0 && m->fp4_padded) dims[i] *= 2;
		uint64_t stride = i == 0 ? m->elem_size : (uint64_t)d->strides[from] * m->elem_size;
		if (i > 0) strides[i - 1] = stride;
		last += (dims[i] - 1) * stride;
	}
	static const uint32_t steps[KG_RANK] = { 1, 1, 1, 1, 1 };
	kg_status s = KG_OPTIONAL_CALL(cuTensorMapEncodeTiled, map, d->round_tf32 ? TFLOAT32 : m->type, m->rank,
		(void *)d->address, dims, strides, m->box, steps, 0, m->swizzle, PROMOTE_128, d->nan);
	if (s == 0 && m->unmarked && last + 1 < SMALL) map->opaque[1] &= ~(UINT64_C(1) << 21);
	return s;
}

static kg_status fill(kg_map *m, const kg_desc *d, CUtensorMap *map) {
	uint64_t desc[MAX_WORDS];
	uint32_t n = words(m->rank, d, desc);
	entry *set = set_of(m, desc, n);
	for (int i = 0; i < WAYS; i++) {
		if (look_up(&set[i], desc, n, map->opaque)) return 0;
	}
	kg_status s = encode(m, d, map);
	if (s == 0) keep(&set[atomic_fetch_add_explicit(&m->turn, 1, memory_order_relaxed) % WAYS], desc, n, map->opaque);
	return s;
}

kg_status kg_maps_fill(kg_map *maps, uint32_t count, void **params, CUtensorMap *storage, uint32_t *doubled) {
	for (uint32_t i = 0; i < count; i++) {
		kg_map *m = &maps[i];
		kg_status s = fill(m, params[m->param], &storage[i]);
		if (s != 0) return s;
		params[m->param] = &storage[i];
		if (!m->doubled_arg) continue;
		void **innermost = &params[m->param + m->rank];
		doubled[i] = 2 * *(uint32_t *)*innermost;
		*innermost = &doubled[i];
	}
	return 0;
}
