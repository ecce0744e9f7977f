#ifndef KERNGEN_DESC_H
#define KERNGEN_DESC_H

#include <stdbool.h>

#include "driver.h"

enum { KG_RANK = 5 };

// A tensor in device memory; descspec.go has the same, and says what is what.
typedef struct {
	CUdeviceptr address;
	int64_t shape[KG_RANK], strides[KG_RANK];
	bool nan, round_tf32;
	uint8_t rank, strided, unused[4];
} kg_desc;

// A kg_map is how a kernel takes one tensor as a CUtensorMap, with the maps that
// it was last passed.
typedef struct kg_map kg_map;

// kg_maps_new makes maps, to be freed by kg_maps_free, or returns NULL.
kg_map *kg_maps_new(uint32_t count);
void kg_maps_free(kg_map *maps);

// kg_map_set says how map i is encoded; box begins with the innermost dimension.
void kg_map_set(kg_map *maps, uint32_t i, uint32_t param, uint32_t rank, uint32_t elem_size, int type, int swizzle,
	const uint32_t *box);
void kg_map_options(kg_map *maps, uint32_t i, bool fp4_padded, bool doubled_arg, bool unmarked);

// kg_maps_fill points those parameters that are maps to ready ones. desc_of each
// is what its parameter points to before. storage has room for count maps, and
// doubled for as many extents; a context is current. Any number of threads may
// fill from the same maps at once.
kg_status kg_maps_fill(kg_map *maps, uint32_t count, void **params, CUtensorMap *storage, uint32_t *doubled);

#endif
