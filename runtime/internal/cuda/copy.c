//go:build cgo && linux

#include "copy.h"

static kg_status wait_after(kg_status s, CUstream stream) {
	return s != 0 ? s : KG_CALL(cuStreamSynchronize, stream);
}

kg_status kg_copy_in(CUcontext ctx, CUstream stream, CUdeviceptr to, const unsigned char *from, size_t bytes) {
	KG_IN_RELAXED(ctx, wait_after(KG_CALL(cuMemcpyHtoDAsync_v2, to, from, bytes, stream), stream));
}

kg_status kg_copy_out(CUcontext ctx, CUstream stream, unsigned char *to, CUdeviceptr from, size_t bytes) {
	KG_IN_RELAXED(ctx, wait_after(KG_CALL(cuMemcpyDtoHAsync_v2, to, from, bytes, stream), stream));
}

kg_status kg_copy_in_async(CUcontext ctx, CUstream stream, CUdeviceptr to, const unsigned char *from, size_t bytes) {
	KG_IN(ctx, KG_CALL(cuMemcpyHtoDAsync_v2, to, from, bytes, stream));
}

kg_status kg_copy_out_async(CUcontext ctx, CUstream stream, unsigned char *to, CUdeviceptr from, size_t bytes) {
	KG_IN(ctx, KG_CALL(cuMemcpyDtoHAsync_v2, to, from, bytes, stream));
}

kg_status kg_copy_async(CUcontext ctx, CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
	KG_IN(ctx, KG_CALL(cuMemcpyDtoDAsync_v2, to, from, bytes, stream));
}

static kg_status copy_rows(CUcontext ctx, CUstream stream, const CUDA_MEMCPY2D *copy, int wait) {
	if (!wait) {
		KG_IN(ctx, KG_CALL(cuMemcpy2DAsync_v2, copy, stream));
	}
	KG_IN_RELAXED(ctx, wait_after(KG_CALL(cuMemcpy2DAsync_v2, copy, stream), stream));
}

kg_status kg_copy_rows_in(CUcontext ctx, CUstream stream, CUdeviceptr to, size_t to_pitch,
	const unsigned char *from, size_t from_pitch, size_t width, size_t rows, int wait) {

	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = from, .srcPitch = from_pitch,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = to, .dstPitch = to_pitch,
		.WidthInBytes = width, .Height = rows,
	};
	return copy_rows(ctx, stream, &copy, wait);
}

kg_status kg_copy_rows_out(CUcontext ctx, CUstream stream, unsigned char *to, size_t to_pitch,
	CUdeviceptr from, size_t from_pitch, size_t width, size_t rows, int wait) {

	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from, .srcPitch = from_pitch,
		.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = to, .dstPitch = to_pitch,
		.WidthInBytes = width, .Height = rows,
	};
	return copy_rows(ctx, stream, &copy, wait);
}

kg_status kg_copy_rows(CUcontext ctx, CUstream stream, CUdeviceptr to, size_t to_pitch,
	CUdeviceptr from, size_t from_pitch, size_t width, size_t rows) {

	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from, .srcPitch = from_pitch,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = to, .dstPitch = to_pitch,
		.WidthInBytes = width, .Height = rows,
	};
	return copy_rows(ctx, stream, &copy, 0);
}

kg_status kg_fill_async(CUcontext ctx, CUstream stream, CUdeviceptr address, unsigned char value, size_t bytes) {
	KG_IN(ctx, KG_CALL(cuMemsetD8Async, address, value, bytes, stream));
}

kg_status kg_fill16_async(CUcontext ctx, CUstream stream, CUdeviceptr address, uint16_t value, size_t count) {
	KG_IN(ctx, KG_CALL(cuMemsetD16Async, address, value, count, stream));
}

kg_status kg_fill32_async(CUcontext ctx, CUstream stream, CUdeviceptr address, uint32_t value, size_t count) {
	KG_IN(ctx, KG_CALL(cuMemsetD32Async, address, value, count, stream));
}
