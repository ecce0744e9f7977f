//go:build cgo && linux

#include "tensormap.h"

#include <string.h>

kg_status kg_encode_tiled(CUcontext ctx, const kg_tensor *t, const uint32_t *box, unsigned char *map) {
	CUtensorMap aligned;
	CUcontext before;
	kg_status s = kg_enter(ctx, &before);
	if (s != 0) return s;
	s = KG_OPTIONAL_CALL(cuTensorMapEncodeTiled, &aligned, t->type, t->rank, (void *)t->address, t->dims, t->strides,
		box, t->steps, t->interleave, t->swizzle, t->promotion, t->fill);
	if (s == 0) memcpy(map, &aligned, sizeof aligned);
	return kg_leave(ctx, before, s);
}

kg_status kg_encode_im2col(CUcontext ctx, const kg_tensor *t, const int *lower, const int *upper,
	uint32_t channels, uint32_t pixels, unsigned char *map) {

	CUtensorMap aligned;
	CUcontext before;
	kg_status s = kg_enter(ctx, &before);
	if (s != 0) return s;
	s = KG_OPTIONAL_CALL(cuTensorMapEncodeIm2col, &aligned, t->type, t->rank, (void *)t->address, t->dims, t->strides,
		lower, upper, channels, pixels, t->steps, t->interleave, t->swizzle, t->promotion, t->fill);
	if (s == 0) memcpy(map, &aligned, sizeof aligned);
	return kg_leave(ctx, before, s);
}
