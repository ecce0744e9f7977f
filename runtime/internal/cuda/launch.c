//go:build cgo && linux

#include "launch.h"

#include <stdlib.h>

struct kg_plan {
	CUcontext ctx;
	CUfunction function;
	uint32_t threads, shared;
	uint32_t cluster[3];
	uint8_t cooperative, pdl, scratch, hidden;
	uint32_t arg_count;
	uint32_t arg_offsets[];
};

kg_plan *kg_plan_new(CUcontext ctx, CUfunction function, uint32_t arg_count) {
	kg_plan *plan = calloc(1, sizeof *plan + arg_count * sizeof plan->arg_offsets[0]);
	if (plan == NULL) return NULL;
	plan->ctx = ctx;
	plan->function = function;
	plan->arg_count = arg_count;
	return plan;
}

void kg_plan_shape(kg_plan *plan, uint32_t threads, uint32_t shared, uint32_t x, uint32_t y, uint32_t z) {
	plan->threads = threads;
	plan->shared = shared;
	plan->cluster[0] = x;
	plan->cluster[1] = y;
	plan->cluster[2] = z;
}

void kg_plan_options(kg_plan *plan, int cooperative, int pdl, int scratch, int hidden) {
	plan->cooperative = cooperative;
	plan->pdl = pdl;
	plan->scratch = scratch;
	plan->hidden = hidden;
}

void kg_plan_arg(kg_plan *plan, uint32_t i, uint32_t offset) { plan->arg_offsets[i] = offset; }

static kg_status refuse_capture(CUstream stream) {
	int capturing = 0;
	kg_status s = KG_CALL(cuStreamIsCapturing, stream, &capturing);
	return s == 0 && capturing != 0 ? KG_CAPTURING : s;
}

static unsigned attributes(const kg_plan *plan, CUlaunchAttribute *a) {
	unsigned n = 0;
	if (plan->pdl) {
		a[n].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
		a[n++].value.programmaticStreamSerializationAllowed = 1;
	}
	if (plan->cooperative) {
		a[n].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		a[n++].value.cooperative = 1;
	}
	if (plan->cluster[0] * plan->cluster[1] * plan->cluster[2] > 1) {
		a[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		a[n].value.clusterDim.x = plan->cluster[0];
		a[n].value.clusterDim.y = plan->cluster[1];
		a[n++].value.clusterDim.z = plan->cluster[2];
		a[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
		a[n++].value.clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
	}
	return n;
}

// The driver takes the address of each parameter, so that it needs no offsets of
// the constant bank, which differ between architectures.
static inline void parameters(const kg_plan *plan, const unsigned char *args, CUdeviceptr *scratch, void **params) {
	for (uint32_t i = 0; i < plan->arg_count; i++) params[i] = (void *)(args + plan->arg_offsets[i]);
	for (uint32_t i = 0; i < plan->hidden; i++) params[plan->arg_count + i] = &scratch[i];
}

kg_status kg_launch(const kg_plan *plan, CUstream stream, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
	const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch) {

	CUdeviceptr scratch[2] = { global_scratch, profile_scratch };
	void *params[plan->arg_count + 2];
	parameters(plan, args, scratch, params);

	CUlaunchAttribute attrs[4];
	CUlaunchConfig config = {
		grid_x, grid_y, grid_z, plan->threads, 1, 1, plan->shared, stream, attrs, attributes(plan, attrs),
	};

	CUcontext before;
	kg_status s = kg_enter(plan->ctx, &before);
	if (s != 0) return s;
	if (plan->scratch) s = refuse_capture(stream);
	if (s == 0) s = KG_CALL(cuLaunchKernelEx, &config, plan->function, params, NULL);
	return kg_leave(plan->ctx, before, s);
}

static kg_status set_params(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
	return kg_driver.cuGraphExecKernelNodeSetParams_v2 != NULL ? KG_CALL(cuGraphExecKernelNodeSetParams_v2, exec, node, p)
	                                                           : KG_CALL(cuGraphExecKernelNodeSetParams, exec, node, p);
}

kg_status kg_update(const kg_plan *plan, CUgraphExec exec, CUgraphNode node, uint32_t grid_x, uint32_t grid_y,
	uint32_t grid_z, const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch) {

	CUdeviceptr scratch[2] = { global_scratch, profile_scratch };
	void *params[plan->arg_count + 2];
	parameters(plan, args, scratch, params);
	CUDA_KERNEL_NODE_PARAMS p = {
		plan->function, grid_x, grid_y, grid_z, plan->threads, 1, 1, plan->shared, params, NULL, NULL, NULL,
	};
	KG_IN(plan->ctx, set_params(exec, node, &p));
}
