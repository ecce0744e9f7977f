#ifndef KERNGEN_MEMORY_H
#define KERNGEN_MEMORY_H

#include "driver.h"

// Memory of the device and pinned memory of the host.

kg_status kg_alloc(CUcontext ctx, size_t bytes, CUdeviceptr *address);
kg_status kg_free(CUcontext ctx, CUdeviceptr address);
kg_status kg_alloc_async(CUcontext ctx, CUstream stream, size_t bytes, CUdeviceptr *address);
kg_status kg_free_async(CUcontext ctx, CUstream stream, CUdeviceptr address);
kg_status kg_pointer_ordinal(CUcontext ctx, CUdeviceptr address, int *ordinal);
// kg_pointer_reach is CUDA_ERROR_INVALID_VALUE where kernels cannot use address.
kg_status kg_pointer_reach(CUcontext ctx, CUdeviceptr address);
kg_status kg_memory_info(CUcontext ctx, size_t *free, size_t *total);

kg_status kg_host_alloc(CUcontext ctx, size_t bytes, void **memory);
kg_status kg_host_free(CUcontext ctx, void *memory);

// A pool of the device's memory; its attributes in use are all 64 bits wide.
kg_status kg_pool_create(CUcontext ctx, CUdevice device, CUmemoryPool *pool);
kg_status kg_pool_destroy(CUcontext ctx, CUmemoryPool pool);
kg_status kg_pool_trim(CUcontext ctx, CUmemoryPool pool, size_t keep);
kg_status kg_pool_set_attribute(CUcontext ctx, CUmemoryPool pool, int attribute, uint64_t value);
kg_status kg_pool_attribute(CUcontext ctx, CUmemoryPool pool, int attribute, uint64_t *value);
kg_status kg_pool_alloc(CUcontext ctx, CUmemoryPool pool, CUstream stream, size_t bytes, CUdeviceptr *address);

#endif
