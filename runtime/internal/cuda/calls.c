//go:build cgo && linux

#include "calls.h"

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

kg_status kg_module_load(CUcontext ctx, const unsigned char *image, char *log, size_t log_size, CUmodule *module) {
	int options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)log_size };
	log[0] = 0;
	KG_IN_RELAXED(ctx, KG_CALL(cuModuleLoadDataEx, module, image, 2, options, values));
}

kg_status kg_module_unload(CUcontext ctx, CUmodule module) { KG_IN_RELAXED(ctx, KG_CALL(cuModuleUnload, module)); }

kg_status kg_module_function(CUcontext ctx, CUmodule module, const char *symbol, CUfunction *function) {
	KG_IN_RELAXED(ctx, KG_CALL(cuModuleGetFunction, function, module, symbol));
}

kg_status kg_function_attribute(CUcontext ctx, CUfunction function, int attribute, int *value) {
	KG_IN(ctx, KG_CALL(cuFuncGetAttribute, value, attribute, function));
}

kg_status kg_function_set_attribute(CUcontext ctx, CUfunction function, int attribute, int value) {
	KG_IN(ctx, KG_CALL(cuFuncSetAttribute, function, attribute, value));
}

kg_status kg_function_cluster_limit(CUcontext ctx, CUfunction function, uint32_t x, uint32_t y, uint32_t z,
	uint32_t threads, uint32_t shared, int *limit) {

	CUlaunchConfig config = { x, y, z, threads, 1, 1, shared, NULL, NULL, 0 };
	KG_IN(ctx, KG_CALL(cuOccupancyMaxPotentialClusterSize, limit, function, &config));
}

kg_status kg_function_blocks(CUcontext ctx, CUfunction function, uint32_t threads, uint32_t shared, int *blocks) {
	KG_IN(ctx, KG_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, function, (int)threads, shared, 0));
}

kg_status kg_function_clusters(CUcontext ctx, CUfunction function, uint32_t threads, uint32_t shared,
	uint32_t x, uint32_t y, uint32_t z, int *clusters) {

	CUlaunchAttribute cluster = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = { x, y, z } };
	CUlaunchConfig config = { x, y, z, threads, 1, 1, shared, NULL, &cluster, 1 };
	KG_IN(ctx, KG_CALL(cuOccupancyMaxActiveClusters, clusters, function, &config));
}

kg_status kg_function_param(CUcontext ctx, CUfunction function, size_t index, size_t *size, int *known) {
	size_t offset;
	*known = kg_driver.cuFuncGetParamInfo != NULL;
	if (!*known) return 0;
	KG_IN(ctx, KG_CALL(cuFuncGetParamInfo, function, index, &offset, size));
}
