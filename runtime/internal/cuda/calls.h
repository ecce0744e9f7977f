#ifndef KERNGEN_CALLS_H
#define KERNGEN_CALLS_H

#include "driver.h"

// One function for each driver call about the driver, devices, modules and
// functions. Those that take a context, here as in the other headers, make it
// current for the call, as kg_launch does.

kg_status kg_init(void);
kg_status kg_driver_version(int *version);
void kg_describe(uint32_t result, const char **name, const char **text);

kg_status kg_device_count(int *count);
kg_status kg_device_at(int ordinal, CUdevice *device);
kg_status kg_device_name(CUdevice device, char *name, int size);
kg_status kg_device_uuid(CUdevice device, unsigned char *uuid);
kg_status kg_device_attribute(CUdevice device, int attribute, int *value);
kg_status kg_device_memory(CUdevice device, size_t *bytes);
kg_status kg_context_retain(CUdevice device, CUcontext *ctx);
kg_status kg_context_release(CUdevice device);

// kg_module_load writes the driver's compiler's complaints to log.
kg_status kg_module_load(CUcontext ctx, const unsigned char *image, char *log, size_t log_size, CUmodule *module);
kg_status kg_module_unload(CUcontext ctx, CUmodule module);
kg_status kg_module_function(CUcontext ctx, CUmodule module, const char *symbol, CUfunction *function);
kg_status kg_function_attribute(CUcontext ctx, CUfunction function, int attribute, int *value);
kg_status kg_function_set_attribute(CUcontext ctx, CUfunction function, int attribute, int value);

// kg_function_cluster_limit tells the most CTAs of a cluster. The driver wants a
// grid of whole clusters of the shape that the function requires: x, y, z CTAs.
kg_status kg_function_cluster_limit(CUcontext ctx, CUfunction function, uint32_t x, uint32_t y, uint32_t z,
	uint32_t threads, uint32_t shared, int *limit);

// How many CTAs one multiprocessor, and how many clusters of x by y by z CTAs the
// device, run at once.
kg_status kg_function_blocks(CUcontext ctx, CUfunction function, uint32_t threads, uint32_t shared, int *blocks);
kg_status kg_function_clusters(CUcontext ctx, CUfunction function, uint32_t threads, uint32_t shared,
	uint32_t x, uint32_t y, uint32_t z, int *clusters);

// kg_function_param tells the size of a parameter; *known is 0 where the driver
// is too old to tell (before CUDA 12.4).
kg_status kg_function_param(CUcontext ctx, CUfunction function, size_t index, size_t *size, int *known);

#endif
