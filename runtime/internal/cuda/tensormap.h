#ifndef KERNGEN_TENSORMAP_H
#define KERNGEN_TENSORMAP_H

#include "driver.h"

// What both kinds of tensor map have: dimensions in elements, strides in bytes
// of all but the first dimension.
typedef struct {
	int type;
	uint32_t rank;
	CUdeviceptr address;
	uint64_t dims[5], strides[4];
	uint32_t steps[5];
	int interleave, swizzle, promotion, fill;
} kg_tensor;

// Each writes the map's 128 bytes to map, which need not be aligned, and refuses
// with CUDA_ERROR_NOT_SUPPORTED where the driver is older than CUDA 12.0.
kg_status kg_encode_tiled(CUcontext ctx, const kg_tensor *tensor, const uint32_t *box, unsigned char *map);
kg_status kg_encode_im2col(CUcontext ctx, const kg_tensor *tensor, const int *lower, const int *upper,
	uint32_t channels, uint32_t pixels, unsigned char *map);

#endif
