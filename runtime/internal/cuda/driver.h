// The driver's interface as far as kerngen uses it, declared here so that no
// header of NVIDIA's is needed. Names, values and layouts are those of the CUDA
// driver API's cuda.h.
#ifndef KERNGEN_DRIVER_H
#define KERNGEN_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct { unsigned char bytes[16]; } CUuuid;

enum {
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
	CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,

	CU_CLUSTER_SCHEDULING_POLICY_SPREAD = 1,

	CU_JIT_ERROR_LOG_BUFFER = 5,
	CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

typedef struct {
	int id;
	char pad[4];
	union {
		char bytes[64];
		int cooperative;
		int programmaticStreamSerializationAllowed;
		int clusterSchedulingPolicyPreference;
		struct { unsigned x, y, z; } clusterDim;
	} value;
} CUlaunchAttribute;

typedef struct {
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned numAttrs;
} CUlaunchConfig;

// Every driver function that is used: REQUIRED ones a driver of CUDA 11.8 has,
// OPTIONAL ones may be missing from it. The names are the exported, versioned
// symbols.
#define KG_FUNCTIONS(REQUIRED, OPTIONAL) \
	REQUIRED(cuInit, (unsigned)) \
	REQUIRED(cuDriverGetVersion, (int *)) \
	REQUIRED(cuGetErrorName, (CUresult, const char **)) \
	REQUIRED(cuGetErrorString, (CUresult, const char **)) \
	REQUIRED(cuDeviceGetCount, (int *)) \
	REQUIRED(cuDeviceGet, (CUdevice *, int)) \
	REQUIRED(cuDeviceGetName, (char *, int, CUdevice)) \
	REQUIRED(cuDeviceGetUuid_v2, (CUuuid *, CUdevice)) \
	REQUIRED(cuDeviceGetAttribute, (int *, int, CUdevice)) \
	REQUIRED(cuDeviceTotalMem_v2, (size_t *, CUdevice)) \
	REQUIRED(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice)) \
	REQUIRED(cuDevicePrimaryCtxRelease_v2, (CUdevice)) \
	REQUIRED(cuCtxGetCurrent, (CUcontext *)) \
	REQUIRED(cuCtxSetCurrent, (CUcontext)) \
	REQUIRED(cuStreamCreateWithPriority, (CUstream *, unsigned, int)) \
	REQUIRED(cuStreamDestroy_v2, (CUstream)) \
	REQUIRED(cuStreamSynchronize, (CUstream)) \
	REQUIRED(cuStreamIsCapturing, (CUstream, int *)) \
	REQUIRED(cuStreamGetCtx, (CUstream, CUcontext *)) \
	REQUIRED(cuMemAlloc_v2, (CUdeviceptr *, size_t)) \
	REQUIRED(cuMemFree_v2, (CUdeviceptr)) \
	REQUIRED(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream)) \
	REQUIRED(cuMemFreeAsync, (CUdeviceptr, CUstream)) \
	REQUIRED(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream)) \
	REQUIRED(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream)) \
	REQUIRED(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream)) \
	REQUIRED(cuPointerGetAttribute, (void *, int, CUdeviceptr)) \
	REQUIRED(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, int *, void **)) \
	REQUIRED(cuModuleUnload, (CUmodule)) \
	REQUIRED(cuModuleGetFunction, (CUfunction *, CUmodule, const char *)) \
	REQUIRED(cuFuncGetAttribute, (int *, int, CUfunction)) \
	REQUIRED(cuFuncSetAttribute, (CUfunction, int, int)) \
	REQUIRED(cuOccupancyMaxPotentialClusterSize, (int *, CUfunction, const CUlaunchConfig *)) \
	REQUIRED(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **)) \
	OPTIONAL(cuFuncGetParamInfo, (CUfunction, size_t, size_t *, size_t *))

#define KG_MEMBER(name, args) CUresult (*name) args;
struct kg_driver { KG_FUNCTIONS(KG_MEMBER, KG_MEMBER) };
#undef KG_MEMBER

#define KG_NUMBER(name, args) KG_##name,
enum { KG_FUNCTIONS(KG_NUMBER, KG_NUMBER) KG_FUNCTION_COUNT };
#undef KG_NUMBER

extern struct kg_driver kg_driver;

// A status is 0, or the failed call's number in the table above in its upper
// half and the driver's CUresult in its lower.
typedef uint32_t kg_status;

#define KG_CALL(name, ...) kg_made(KG_##name, kg_driver.name(__VA_ARGS__))

static inline kg_status kg_made(uint32_t call, CUresult r) {
	return r == 0 ? 0 : call << 16 | (uint32_t)r;
}

// kg_enter makes ctx current on this thread, whatever was, and tells what was.
// Nothing is remembered between calls: other libraries change it too.
static inline kg_status kg_enter(CUcontext ctx, CUcontext *before) {
	kg_status s = KG_CALL(cuCtxGetCurrent, before);
	if (s == 0 && *before != ctx) s = KG_CALL(cuCtxSetCurrent, ctx);
	return s;
}

// kg_leave restores another library's context; a thread that had none keeps
// ours, which spares the next call the switch. It returns s, the status of what
// was done in between, or the status of the switch back.
static inline kg_status kg_leave(CUcontext ctx, CUcontext before, kg_status s) {
	if (before == NULL || before == ctx) return s;
	kg_status back = KG_CALL(cuCtxSetCurrent, before);
	return s != 0 ? s : back;
}

#endif
