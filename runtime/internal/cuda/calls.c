//go:build cgo && linux

#include "calls.h"

// IN runs one driver call with ctx current.
#define IN(ctx, call) \
	CUcontext before; \
	kg_status s = kg_enter(ctx, &before); \
	if (s != 0) return s; \
	return kg_leave(ctx, before, call)

kg_status kg_init(void) { return KG_CALL(cuInit, 0); }

kg_status kg_driver_version(int *version) { return KG_CALL(cuDriverGetVersion, version); }

void kg_describe(uint32_t result, const char **name, const char **text) {
	if (kg_driver.cuGetErrorName((CUresult)result, name) != 0) *name = NULL;
	if (kg_driver.cuGetErrorString((CUresult)result, text) != 0) *text = NULL;
}

kg_status kg_device_count(int *count) { return KG_CALL(cuDeviceGetCount, count); }

kg_status kg_device_at(int ordinal, CUdevice *device) { return KG_CALL(cuDeviceGet, device, ordinal); }

kg_status kg_device_name(CUdevice device, char *name, int size) { return KG_CALL(cuDeviceGetName, name, size, device); }

kg_status kg_device_uuid(CUdevice device, unsigned char *uuid) {
	return KG_CALL(cuDeviceGetUuid_v2, (CUuuid *)uuid, device);
}

kg_status kg_device_attribute(CUdevice device, int attribute, int *value) {
	return KG_CALL(cuDeviceGetAttribute, value, attribute, device);
}

kg_status kg_device_memory(CUdevice device, size_t *bytes) { return KG_CALL(cuDeviceTotalMem_v2, bytes, device); }

kg_status kg_context_retain(CUdevice device, CUcontext *ctx) { return KG_CALL(cuDevicePrimaryCtxRetain, ctx, device); }

kg_status kg_context_release(CUdevice device) { return KG_CALL(cuDevicePrimaryCtxRelease_v2, device); }

kg_status kg_stream_create(CUcontext ctx, CUstream *stream) {
	const unsigned nonBlocking = 1; // does not wait for the legacy default stream
	IN(ctx, KG_CALL(cuStreamCreateWithPriority, stream, nonBlocking, 0));
}

kg_status kg_stream_destroy(CUcontext ctx, CUstream stream) { IN(ctx, KG_CALL(cuStreamDestroy_v2, stream)); }

kg_status kg_stream_synchronize(CUcontext ctx, CUstream stream) { IN(ctx, KG_CALL(cuStreamSynchronize, stream)); }

kg_status kg_stream_capturing(CUcontext ctx, CUstream stream, int *capturing) {
	IN(ctx, KG_CALL(cuStreamIsCapturing, stream, capturing));
}

kg_status kg_stream_context(CUcontext ctx, CUstream stream, CUcontext *of) {
	IN(ctx, KG_CALL(cuStreamGetCtx, stream, of));
}

kg_status kg_alloc(CUcontext ctx, size_t bytes, CUdeviceptr *address) { IN(ctx, KG_CALL(cuMemAlloc_v2, address, bytes)); }

kg_status kg_free(CUcontext ctx, CUdeviceptr address) { IN(ctx, KG_CALL(cuMemFree_v2, address)); }

kg_status kg_alloc_async(CUcontext ctx, CUstream stream, size_t bytes, CUdeviceptr *address) {
	IN(ctx, KG_CALL(cuMemAllocAsync, address, bytes, stream));
}

kg_status kg_free_async(CUcontext ctx, CUstream stream, CUdeviceptr address) {
	IN(ctx, KG_CALL(cuMemFreeAsync, address, stream));
}

kg_status kg_fill_async(CUcontext ctx, CUstream stream, CUdeviceptr address, unsigned char value, size_t bytes) {
	IN(ctx, KG_CALL(cuMemsetD8Async, address, value, bytes, stream));
}

kg_status kg_pointer_ordinal(CUcontext ctx, CUdeviceptr address, int *ordinal) {
	const int deviceOrdinal = 9; // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
	IN(ctx, KG_CALL(cuPointerGetAttribute, ordinal, deviceOrdinal, address));
}

static kg_status wait_after(kg_status s, CUstream stream) {
	return s != 0 ? s : KG_CALL(cuStreamSynchronize, stream);
}

kg_status kg_copy_in(CUcontext ctx, CUstream stream, CUdeviceptr to, const unsigned char *from, size_t bytes) {
	IN(ctx, wait_after(KG_CALL(cuMemcpyHtoDAsync_v2, to, from, bytes, stream), stream));
}

kg_status kg_copy_out(CUcontext ctx, CUstream stream, unsigned char *to, CUdeviceptr from, size_t bytes) {
	IN(ctx, wait_after(KG_CALL(cuMemcpyDtoHAsync_v2, to, from, bytes, stream), stream));
}

kg_status kg_module_load(CUcontext ctx, const unsigned char *image, char *log, size_t log_size, CUmodule *module) {
	int options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)log_size };
	log[0] = 0;
	IN(ctx, KG_CALL(cuModuleLoadDataEx, module, image, 2, options, values));
}

kg_status kg_module_unload(CUcontext ctx, CUmodule module) { IN(ctx, KG_CALL(cuModuleUnload, module)); }

kg_status kg_module_function(CUcontext ctx, CUmodule module, const char *symbol, CUfunction *function) {
	IN(ctx, KG_CALL(cuModuleGetFunction, function, module, symbol));
}

kg_status kg_function_attribute(CUcontext ctx, CUfunction function, int attribute, int *value) {
	IN(ctx, KG_CALL(cuFuncGetAttribute, value, attribute, function));
}

kg_status kg_function_set_attribute(CUcontext ctx, CUfunction function, int attribute, int value) {
	IN(ctx, KG_CALL(cuFuncSetAttribute, function, attribute, value));
}

kg_status kg_function_cluster_limit(CUcontext ctx, CUfunction function, uint32_t x, uint32_t y, uint32_t z,
	uint32_t threads, uint32_t shared, int *limit) {

	CUlaunchConfig config = { x, y, z, threads, 1, 1, shared, NULL, NULL, 0 };
	IN(ctx, KG_CALL(cuOccupancyMaxPotentialClusterSize, limit, function, &config));
}

kg_status kg_function_param(CUcontext ctx, CUfunction function, size_t index, size_t *size, int *known) {
	size_t offset;
	*known = kg_driver.cuFuncGetParamInfo != NULL;
	if (!*known) return 0;
	IN(ctx, KG_CALL(cuFuncGetParamInfo, function, index, &offset, size));
}
