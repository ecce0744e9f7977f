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
typedef struct CUevent_st *CUevent;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct { unsigned char bytes[16]; } CUuuid;

enum {
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
	CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,

	CU_CLUSTER_SCHEDULING_POLICY_SPREAD = 1,

	CU_JIT_ERROR_LOG_BUFFER = 5,
	CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,

	CU_MEMORYTYPE_HOST = 1,
	CU_MEMORYTYPE_DEVICE = 2,

	CU_MEM_ALLOCATION_TYPE_PINNED = 1,
	CU_MEM_LOCATION_TYPE_DEVICE = 1,

	CUDA_ERROR_NOT_SUPPORTED = 801,
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

typedef struct {
	size_t srcXInBytes, srcY;
	int srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	void *srcArray;
	size_t srcPitch;
	size_t dstXInBytes, dstY;
	int dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	void *dstArray;
	size_t dstPitch;
	size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct {
	int allocType, handleTypes;
	struct { int type, id; } location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
} CUmemPoolProps;

// The second version; the first ends before kern.
typedef struct {
	CUfunction func;
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	void **kernelParams;
	void **extra;
	void *kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;

typedef struct { _Alignas(64) uint64_t opaque[16]; } CUtensorMap;

// Every driver function that is used: REQUIRED ones a driver of CUDA 11.8 has,
// OPTIONAL ones may be missing from it. The names are the exported, versioned
// symbols. Where a later CUDA has a newer version of a function, the older one
// stays exported, and is the one used.
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
	REQUIRED(cuStreamGetPriority, (CUstream, int *)) \
	REQUIRED(cuStreamQuery, (CUstream)) \
	REQUIRED(cuStreamWaitEvent, (CUstream, CUevent, unsigned)) \
	REQUIRED(cuEventCreate, (CUevent *, unsigned)) \
	REQUIRED(cuEventDestroy_v2, (CUevent)) \
	REQUIRED(cuEventRecord, (CUevent, CUstream)) \
	REQUIRED(cuEventQuery, (CUevent)) \
	REQUIRED(cuEventSynchronize, (CUevent)) \
	REQUIRED(cuEventElapsedTime, (float *, CUevent, CUevent)) \
	REQUIRED(cuMemAlloc_v2, (CUdeviceptr *, size_t)) \
	REQUIRED(cuMemFree_v2, (CUdeviceptr)) \
	REQUIRED(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream)) \
	REQUIRED(cuMemFreeAsync, (CUdeviceptr, CUstream)) \
	REQUIRED(cuMemAllocFromPoolAsync, (CUdeviceptr *, size_t, CUmemoryPool, CUstream)) \
	REQUIRED(cuMemPoolCreate, (CUmemoryPool *, const CUmemPoolProps *)) \
	REQUIRED(cuMemPoolDestroy, (CUmemoryPool)) \
	REQUIRED(cuMemPoolTrimTo, (CUmemoryPool, size_t)) \
	REQUIRED(cuMemPoolSetAttribute, (CUmemoryPool, int, void *)) \
	REQUIRED(cuMemPoolGetAttribute, (CUmemoryPool, int, void *)) \
	REQUIRED(cuMemGetInfo_v2, (size_t *, size_t *)) \
	REQUIRED(cuMemHostAlloc, (void **, size_t, unsigned)) \
	REQUIRED(cuMemFreeHost, (void *)) \
	REQUIRED(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream)) \
	REQUIRED(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream)) \
	REQUIRED(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream)) \
	REQUIRED(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *, CUstream)) \
	REQUIRED(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream)) \
	REQUIRED(cuMemsetD16Async, (CUdeviceptr, unsigned short, size_t, CUstream)) \
	REQUIRED(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream)) \
	REQUIRED(cuPointerGetAttribute, (void *, int, CUdeviceptr)) \
	REQUIRED(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, int *, void **)) \
	REQUIRED(cuModuleUnload, (CUmodule)) \
	REQUIRED(cuModuleGetFunction, (CUfunction *, CUmodule, const char *)) \
	REQUIRED(cuFuncGetAttribute, (int *, int, CUfunction)) \
	REQUIRED(cuFuncSetAttribute, (CUfunction, int, int)) \
	REQUIRED(cuOccupancyMaxPotentialClusterSize, (int *, CUfunction, const CUlaunchConfig *)) \
	REQUIRED(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *, CUfunction, int, size_t, unsigned)) \
	REQUIRED(cuOccupancyMaxActiveClusters, (int *, CUfunction, const CUlaunchConfig *)) \
	REQUIRED(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **)) \
	REQUIRED(cuThreadExchangeStreamCaptureMode, (int *)) \
	REQUIRED(cuStreamBeginCapture_v2, (CUstream, int)) \
	REQUIRED(cuStreamEndCapture, (CUstream, CUgraph *)) \
	REQUIRED(cuStreamGetCaptureInfo_v2, (CUstream, int *, uint64_t *, CUgraph *, const CUgraphNode **, size_t *)) \
	REQUIRED(cuGraphDestroy, (CUgraph)) \
	REQUIRED(cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *)) \
	REQUIRED(cuGraphNodeGetType, (CUgraphNode, int *)) \
	REQUIRED(cuGraphKernelNodeGetParams, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *)) \
	REQUIRED(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long)) \
	REQUIRED(cuGraphExecDestroy, (CUgraphExec)) \
	REQUIRED(cuGraphExecKernelNodeSetParams, (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *)) \
	REQUIRED(cuGraphUpload, (CUgraphExec, CUstream)) \
	REQUIRED(cuGraphLaunch, (CUgraphExec, CUstream)) \
	OPTIONAL(cuFuncGetParamInfo, (CUfunction, size_t, size_t *, size_t *)) \
	OPTIONAL(cuGraphKernelNodeGetParams_v2, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *)) \
	OPTIONAL(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *)) \
	OPTIONAL(cuTensorMapEncodeTiled, (CUtensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *, \
		const uint32_t *, const uint32_t *, int, int, int, int))

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

// KG_OPTIONAL_CALL is KG_CALL for an OPTIONAL function; a driver without it
// does not support what it does.
#define KG_OPTIONAL_CALL(name, ...) \
	(kg_driver.name != NULL ? KG_CALL(name, __VA_ARGS__) : kg_made(KG_##name, CUDA_ERROR_NOT_SUPPORTED))

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

// KG_IN is the body of a function that makes one driver call with ctx current.
#define KG_IN(ctx, call) \
	CUcontext before; \
	kg_status s = kg_enter(ctx, &before); \
	if (s != 0) return s; \
	return kg_leave(ctx, before, call)

// KG_IN_RELAXED is KG_IN for a call that is refused, and spoils the capture, while
// any thread captures a stream in global mode: it is made in the thread's relaxed
// mode, which is put back after it.
#define KG_IN_RELAXED(ctx, call) \
	CUcontext before; \
	kg_status s = kg_enter(ctx, &before); \
	if (s != 0) return s; \
	int mode = KG_CAPTURE_MODE_RELAXED; \
	s = KG_CALL(cuThreadExchangeStreamCaptureMode, &mode); \
	if (s == 0) { \
		s = call; \
		kg_status back = KG_CALL(cuThreadExchangeStreamCaptureMode, &mode); \
		if (s == 0) s = back; \
	} \
	return kg_leave(ctx, before, s)

enum { KG_CAPTURE_MODE_RELAXED = 2 };

#endif
