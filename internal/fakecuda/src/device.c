// Initialisation, errors, devices and their primary contexts.
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "fake.h"

struct device devices[MAX_DEVICES];
struct context contexts[MAX_DEVICES];
atomic_int device_count, driver_version;

static _Thread_local struct context *current_on_thread;

static const struct {
	int attribute, value;
} h200[] = {
	{DEVICE_MAX_THREADS_PER_BLOCK, 1024},
	{DEVICE_MAX_BLOCK_DIM_X, 1024},
	{DEVICE_MAX_BLOCK_DIM_Y, 1024},
	{DEVICE_MAX_BLOCK_DIM_Z, 64},
	{DEVICE_MAX_GRID_DIM_X, 2147483647},
	{DEVICE_MAX_GRID_DIM_Y, 65535},
	{DEVICE_MAX_GRID_DIM_Z, 65535},
	{DEVICE_MAX_SHARED_PER_BLOCK, 49152},
	{DEVICE_WARP_SIZE, 32},
	{DEVICE_MAX_REGISTERS_PER_BLOCK, 65536},
	{DEVICE_MULTIPROCESSOR_COUNT, 132},
	{DEVICE_CONCURRENT_KERNELS, 1},
	{DEVICE_MEMORY_BUS_WIDTH, 6016},
	{DEVICE_L2_CACHE_SIZE, 62914560},
	{DEVICE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
	{DEVICE_UNIFIED_ADDRESSING, 1},
	{DEVICE_COMPUTE_CAPABILITY_MAJOR, 9},
	{DEVICE_COMPUTE_CAPABILITY_MINOR, 0},
	{DEVICE_STREAM_PRIORITIES_SUPPORTED, 1},
	{DEVICE_MAX_SHARED_PER_MULTIPROCESSOR, 233472},
	{DEVICE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
	{DEVICE_COOPERATIVE_LAUNCH, 1},
	{DEVICE_MAX_SHARED_PER_BLOCK_OPTIN, 232448},
	{DEVICE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
	{DEVICE_RESERVED_SHARED_PER_BLOCK, 1024},
	{DEVICE_MEMORY_POOLS_SUPPORTED, 1},
	{DEVICE_CLUSTER_LAUNCH, 1},
};

void reset_devices(void) {
	atomic_store(&device_count, 1);
	atomic_store(&driver_version, FAKE_VERSION);
	for (int i = 0; i < MAX_DEVICES; i++) {
		struct device *d = &devices[i];
		atomic_store(&contexts[i].broken, 0);
		snprintf(d->name, sizeof d->name, "Fake H200");
		for (int b = 0; b < 16; b++) d->uuid.bytes[b] = (unsigned char)(b == 15 ? i : 0xf0 + b);
		for (int a = 0; a < DEVICE_ATTRIBUTES; a++) atomic_store(&d->attributes[a], 0);
		for (size_t a = 0; a < sizeof h200 / sizeof h200[0]; a++)
			atomic_store(&d->attributes[h200[a].attribute], h200[a].value);
		atomic_store(&d->largest_cluster, 16);
		d->memory = 150109880320;
	}
}

__attribute__((constructor)) static void loaded(void) { reset_devices(); }

EXPORT CUresult cuInit(unsigned flags) {
	TRY(enter(__func__, true));
	if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
	if (atomic_load(&device_count) == 0) return CUDA_ERROR_NO_DEVICE;
	atomic_fetch_and(&special, ~UNINITIALISED);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version) {
	TRY(enter(__func__, true));
	if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
	*version = atomic_load(&driver_version);
	return CUDA_SUCCESS;
}

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
	{0, "CUDA_SUCCESS", "no error"},
	{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
	{218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
	{400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
	{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{600, "CUDA_ERROR_NOT_READY", "device not ready"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
	{716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
	{801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
	{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
	{902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"},
	{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
	{904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
	{905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
	{907, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
	{908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "attempt to terminate a thread-local capture sequence from another thread"},
	{912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster misconfiguration"},
	{999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static CUresult describe(CUresult code, bool name, const char **out) {
	if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
	*out = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (errors[i].code == code) *out = name ? errors[i].name : errors[i].text;
	return *out == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorName(CUresult code, const char **out) {
	TRY(enter(__func__, true));
	return describe(code, true, out);
}

EXPORT CUresult cuGetErrorString(CUresult code, const char **out) {
	TRY(enter(__func__, true));
	return describe(code, false, out);
}

static bool is_device(int ordinal) { return ordinal >= 0 && ordinal < atomic_load(&device_count); }

#define CHECK_DEVICE(ordinal, out) \
	do { \
		if ((out) == NULL) return CUDA_ERROR_INVALID_VALUE; \
		if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE; \
	} while (0)

EXPORT CUresult cuDeviceGetCount(int *n) {
	ENTER();
	if (n == NULL) return CUDA_ERROR_INVALID_VALUE;
	*n = atomic_load(&device_count);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
	ENTER();
	CHECK_DEVICE(ordinal, device);
	*device = ordinal;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
	ENTER();
	CHECK_DEVICE(device, name);
	if (size <= 0) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	snprintf(name, (size_t)size, "%s", devices[device].name);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
	ENTER();
	CHECK_DEVICE(device, uuid);
	*uuid = devices[device].uuid;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
	ENTER();
	CHECK_DEVICE(device, value);
	if (attribute <= 0 || attribute >= DEVICE_ATTRIBUTES) return CUDA_ERROR_INVALID_VALUE;
	*value = atomic_load(&devices[device].attributes[attribute]);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
	ENTER();
	CHECK_DEVICE(device, bytes);
	pthread_mutex_lock(&lock);
	*bytes = devices[device].memory;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
	ENTER();
	CHECK_DEVICE(device, context);
	atomic_fetch_add(&contexts[device].references, 1);
	*context = &contexts[device];
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
	ENTER();
	if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
	struct context *c = &contexts[device];
	pthread_mutex_lock(&lock);
	CUresult result = CUDA_SUCCESS;
	if (atomic_load(&c->references) == 0) {
		result = CUDA_ERROR_INVALID_CONTEXT;
	} else if (atomic_fetch_sub(&c->references, 1) == 1) {
		destroy_streams(c);
		destroy_events(c);
		destroy_graphs(c);
		unload_modules(c);
		free_allocations(c);
		free_pinned(c);
		destroy_pools(c);
		atomic_store(&c->broken, 0);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

struct context *current(void) { return current_on_thread; }

CUresult current_context(struct context **out) {
	*out = current_on_thread;
	if (*out == NULL) return CUDA_ERROR_INVALID_CONTEXT;
	if (atomic_load_explicit(&(*out)->references, memory_order_relaxed) == 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return atomic_load_explicit(&(*out)->broken, memory_order_relaxed);
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
	ENTER();
	if (context == NULL) return CUDA_ERROR_INVALID_VALUE;
	*context = current_on_thread;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
	ENTER();
	if (context != NULL && !IN_SLOTS(context, contexts)) return CUDA_ERROR_INVALID_CONTEXT;
	current_on_thread = context;
	return CUDA_SUCCESS;
}

int fake_set_device_count(int n) {
	if (n < 0 || n > MAX_DEVICES) return 0;
	atomic_store(&device_count, n);
	return 1;
}

int fake_set_driver_version(int version) {
	atomic_store(&driver_version, version);
	return 1;
}

static bool in_range(int device) { return device >= 0 && device < MAX_DEVICES; }

int fake_set_name(int device, const char *name) {
	if (!in_range(device)) return 0;
	pthread_mutex_lock(&lock);
	snprintf(devices[device].name, sizeof devices[device].name, "%s", name);
	pthread_mutex_unlock(&lock);
	return 1;
}

int fake_set_attribute(int device, int attribute, int value) {
	if (!in_range(device) || attribute <= 0 || attribute >= DEVICE_ATTRIBUTES) return 0;
	atomic_store(&devices[device].attributes[attribute], value);
	return 1;
}

int fake_set_memory(int device, uint64_t bytes) {
	if (!in_range(device)) return 0;
	pthread_mutex_lock(&lock);
	devices[device].memory = bytes;
	pthread_mutex_unlock(&lock);
	return 1;
}

int fake_set_largest_cluster(int device, int ctas) {
	if (!in_range(device)) return 0;
	atomic_store(&devices[device].largest_cluster, ctas);
	return 1;
}
