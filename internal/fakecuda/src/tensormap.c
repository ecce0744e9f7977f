// Tensor maps. The image is not the hardware's: it holds the arguments, so that a
// test can read them back from a launch's parameter.
#include <stddef.h>
#include <string.h>

#include "fake.h"

#if FAKE_VERSION >= 12000

enum {
	MOST_RANK = 5,
	PACKED_4_ALIGN_8 = 13, // data types; those from here on are newer than compute capability 9.0
	PACKED_4_ALIGN_16 = 14,
	PACKED_6_ALIGN_16 = 15,
	TYPES = 16,
	SWIZZLE_32 = 1,
	SWIZZLE_64 = 2,
	SWIZZLE_128 = 3,
	SWIZZLES = 7,
	INTERLEAVE_32 = 2,
	INTERLEAVES = 3,
	PROMOTIONS = 4,
	OUTSIDE_FILLS = 2,
	SMALL = 128 * 1024, // bytes of a tensor that drivers up to CUDA 13.1 mark
	SMALL_MARK = 1 << 5, // bit 21 of the map's second word, as the hardware's
};

// Of 16 elements in shared memory, in bytes.
static const unsigned sixteen[TYPES] = {16, 32, 64, 64, 128, 128, 32, 64, 128, 32, 64, 64, 64, 8, 16, 16};

static bool is_float(int type) { return type >= 6 && type <= 12; }

struct tensor {
	int type;
	uint32_t rank;
	uint64_t address;
	const uint64_t *dims, *strides;
	const uint32_t *steps;
	int interleave, swizzle, promotion, fill;
};

static CUresult check_device(const void *map, const struct tensor *t) {
	struct context *c;
	TRY(current_context(&c));
	int major = atomic_load(&devices[device_of(c)].attributes[DEVICE_COMPUTE_CAPABILITY_MAJOR]);
	if (major < 9) return CUDA_ERROR_NOT_SUPPORTED;
	if (map == NULL || (uintptr_t)map % 64 != 0) return CUDA_ERROR_INVALID_VALUE;
	return t->type >= PACKED_4_ALIGN_8 && major < 10 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

#define REQUIRE(condition) \
	if (!(condition)) return CUDA_ERROR_INVALID_VALUE

static CUresult check_tensor(const struct tensor *t) {
	REQUIRE(t->type >= 0 && t->type < TYPES && t->rank >= 1 && t->rank <= MOST_RANK);
	REQUIRE(t->interleave >= 0 && t->interleave < INTERLEAVES && t->swizzle >= 0 && t->swizzle < SWIZZLES);
	REQUIRE(t->promotion >= 0 && t->promotion < PROMOTIONS && t->fill >= 0 && t->fill < OUTSIDE_FILLS);
	REQUIRE(t->fill == 0 || is_float(t->type));
	REQUIRE(t->interleave == 0 || t->rank >= 3);
	REQUIRE(t->interleave != INTERLEAVE_32 || t->swizzle == SWIZZLE_32);
	bool padded = t->type == PACKED_4_ALIGN_16 || t->type == PACKED_6_ALIGN_16;
	unsigned alignment = padded || t->interleave == INTERLEAVE_32 ? 32 : 16;
	REQUIRE(t->address % alignment == 0);
	REQUIRE(t->dims != NULL && t->steps != NULL && (t->rank == 1 || t->strides != NULL));
	for (uint32_t i = 0; i < t->rank; i++) {
		REQUIRE(t->dims[i] >= 1 && t->dims[i] <= (uint64_t)1 << 32);
		REQUIRE(t->steps[i] >= 1 && t->steps[i] <= 8);
		REQUIRE(i == 0 || (t->strides[i - 1] % alignment == 0 && t->strides[i - 1] < (uint64_t)1 << 40));
	}
	REQUIRE(!padded || t->dims[0] % 128 == 0);
	REQUIRE(t->type != PACKED_4_ALIGN_8 || t->dims[0] % 2 == 0);
	return CUDA_SUCCESS;
}

// A row of what is loaded at a time, in elements.
static CUresult check_row(const struct tensor *t, uint32_t row) {
	bool padded = t->type == PACKED_4_ALIGN_16 || t->type == PACKED_6_ALIGN_16;
	REQUIRE(row >= 1 && row <= 256 && (!padded || row == 128));
	if (t->interleave != 0) return CUDA_SUCCESS;
	unsigned bytes16 = row * sixteen[t->type]; // sixteen times the row's bytes
	REQUIRE(bytes16 % 256 == 0);
	unsigned span = t->swizzle == 0 ? 0 : t->swizzle >= SWIZZLE_128 ? 128 : t->swizzle == SWIZZLE_64 ? 64 : 32;
	REQUIRE(span == 0 || bytes16 <= 16 * span);
	return CUDA_SUCCESS;
}

// As record.go reads it.
struct image {
	char magic[4];
	uint8_t type, rank, interleave, swizzle, promotion, unused, fill, unused2[5];
	uint64_t address, strides[MOST_RANK - 1];
	uint32_t dims[MOST_RANK]; // less 1
	uint8_t steps[MOST_RANK], unused3[3];
	uint16_t box[MOST_RANK]; // less 1
};
_Static_assert(sizeof(struct image) <= 128, "a tensor map has 128 bytes");

static struct image image_of(const struct tensor *t) {
	struct image m = {
		.magic = "KGTM", .type = (uint8_t)t->type, .rank = (uint8_t)t->rank, .interleave = (uint8_t)t->interleave,
		.swizzle = (uint8_t)t->swizzle, .promotion = (uint8_t)t->promotion, .fill = (uint8_t)t->fill, .address = t->address,
	};
	for (uint32_t i = 0; i < t->rank; i++) {
		m.dims[i] = (uint32_t)(t->dims[i] - 1);
		m.steps[i] = (uint8_t)t->steps[i];
		if (i > 0) m.strides[i - 1] = t->strides[i - 1];
	}
	return m;
}

_Static_assert(offsetof(struct image, fill) == 10, "the mark lies where the hardware's does");

// The tensor's last byte.
static uint64_t extent(const struct tensor *t) {
	uint64_t last = (t->dims[0] * sixteen[t->type] + 15) / 16;
	for (uint32_t i = 1; i < t->rank; i++) last += (t->dims[i] - 1) * t->strides[i - 1];
	return last;
}

static void write_map(void *map, const struct image *m) {
	memset(map, 0, 128);
	memcpy(map, m, sizeof *m);
	if (!recording()) return;
	pthread_mutex_lock(&lock);
	put_bytes(new_record(ENCODINGS), map, 128);
	pthread_mutex_unlock(&lock);
}

EXPORT CUresult cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                                       const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                       int swizzle, int promotion, int fill) {
	ENTER();
	struct tensor t = {type, rank, (uintptr_t)address, dims, strides, steps, interleave, swizzle, promotion, fill};
	TRY(check_device(map, &t));
	TRY(check_tensor(&t));
	REQUIRE(box != NULL);
	for (uint32_t i = 0; i < rank; i++) REQUIRE(box[i] >= 1 && box[i] <= 256);
	TRY(check_row(&t, box[0]));
	struct image m = image_of(&t);
	for (uint32_t i = 0; i < rank; i++) m.box[i] = (uint16_t)(box[i] - 1);
	if (atomic_load(&driver_version) <= 13010 && extent(&t) < SMALL) m.fill |= SMALL_MARK;
	write_map(map, &m);
	return CUDA_SUCCESS;
}
#endif
