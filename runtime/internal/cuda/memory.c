//go:build cgo && linux

#include "memory.h"

kg_status kg_alloc(CUcontext ctx, size_t bytes, CUdeviceptr *address) { KG_IN_RELAXED(ctx, KG_CALL(cuMemAlloc_v2, address, bytes)); }

kg_status kg_free(CUcontext ctx, CUdeviceptr address) { KG_IN_RELAXED(ctx, KG_CALL(cuMemFree_v2, address)); }

kg_status kg_alloc_async(CUcontext ctx, CUstream stream, size_t bytes, CUdeviceptr *address) {
	KG_IN_RELAXED(ctx, KG_CALL(cuMemAllocAsync, address, bytes, stream));
}

kg_status kg_free_async(CUcontext ctx, CUstream stream, CUdeviceptr address) {
	KG_IN_RELAXED(ctx, KG_CALL(cuMemFreeAsync, address, stream));
}

kg_status kg_pointer_ordinal(CUcontext ctx, CUdeviceptr address, int *ordinal) {
	const int deviceOrdinal = 9; // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
	KG_IN(ctx, KG_CALL(cuPointerGetAttribute, ordinal, deviceOrdinal, address));
}

kg_status kg_pointer_reach(CUcontext ctx, CUdeviceptr address) {
	const int devicePointer = 3; // CU_POINTER_ATTRIBUTE_DEVICE_POINTER
	CUdeviceptr seen;
	KG_IN(ctx, KG_CALL(cuPointerGetAttribute, &seen, devicePointer, address));
}

kg_status kg_memory_info(CUcontext ctx, size_t *free, size_t *total) { KG_IN_RELAXED(ctx, KG_CALL(cuMemGetInfo_v2, free, total)); }

kg_status kg_host_alloc(CUcontext ctx, size_t bytes, void **memory) {
	KG_IN_RELAXED(ctx, KG_CALL(cuMemHostAlloc, memory, bytes, 0));
}

kg_status kg_host_free(CUcontext ctx, void *memory) { KG_IN_RELAXED(ctx, KG_CALL(cuMemFreeHost, memory)); }

kg_status kg_pool_create(CUcontext ctx, CUdevice device, CUmemoryPool *pool) {
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
	};
	KG_IN_RELAXED(ctx, KG_CALL(cuMemPoolCreate, pool, &props));
}

kg_status kg_pool_destroy(CUcontext ctx, CUmemoryPool pool) { KG_IN_RELAXED(ctx, KG_CALL(cuMemPoolDestroy, pool)); }

kg_status kg_pool_trim(CUcontext ctx, CUmemoryPool pool, size_t keep) { KG_IN_RELAXED(ctx, KG_CALL(cuMemPoolTrimTo, pool, keep)); }

kg_status kg_pool_set_attribute(CUcontext ctx, CUmemoryPool pool, int attribute, uint64_t value) {
	KG_IN_RELAXED(ctx, KG_CALL(cuMemPoolSetAttribute, pool, attribute, &value));
}

kg_status kg_pool_attribute(CUcontext ctx, CUmemoryPool pool, int attribute, uint64_t *value) {
	KG_IN_RELAXED(ctx, KG_CALL(cuMemPoolGetAttribute, pool, attribute, value));
}

kg_status kg_pool_alloc(CUcontext ctx, CUmemoryPool pool, CUstream stream, size_t bytes, CUdeviceptr *address) {
	KG_IN_RELAXED(ctx, KG_CALL(cuMemAllocFromPoolAsync, address, bytes, pool, stream));
}
