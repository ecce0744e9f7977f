//go:build cgo && linux

#include "launch.h"

#include "graph.h"

#include <stdlib.h>

struct kg_plan {
	CUcontext ctx;
	CUfunction function;
	uint32_t threads, shared;
	uint32_t cluster[3];
	uint8_t cooperative, pdl, scratch, hidden;
	uint32_t map_count;
	kg_map *maps;
	uint32_t arg_count;
	uint32_t arg_offsets[];
};

kg_plan *kg_plan_new(CUcontext ctx, CUfunction function, uint32_t arg_count, uint32_t map_count) {
	kg_plan *plan = calloc(1, sizeof *plan + arg_count * sizeof plan->arg_offsets[0]);
	if (plan == NULL) return NULL;
	plan->map_count = map_count;
	if (map_count > 0 && (plan->maps = kg_maps_new(map_count)) == NULL) {
		free(plan);
		return NULL;
	}
	plan->ctx = ctx;
	plan->function = function;
	plan->arg_count = arg_count;
	return plan;
}

void kg_plan_free(kg_plan *plan) {
	kg_maps_free(plan->maps);
	free(plan);
}

kg_map *kg_plan_maps(kg_plan *plan) { return plan->maps; }

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

// PARAMETERS declares params, the address of each parameter, which is all that the
// driver takes: so it needs no offsets of the constant bank, which differ between
// architectures. Those that are tensor maps are yet to be filled: maps and doubled
// are what kg_maps_fill needs. VLAs cannot ask for alignment, so there is a map's
// space more.
#define PARAMETERS(plan, args, global_scratch, profile_scratch) \
	CUdeviceptr scratch[2] = { global_scratch, profile_scratch }; \
	unsigned char storage[(plan->map_count + 1) * sizeof(CUtensorMap)]; \
	CUtensorMap *maps = (CUtensorMap *)(((uintptr_t)storage + MAP_ALIGN - 1) & ~(uintptr_t)(MAP_ALIGN - 1)); \
	uint32_t doubled[plan->map_count + 1]; \
	void *params[plan->arg_count + 2]; \
	for (uint32_t i = 0; i < plan->arg_count; i++) params[i] = (void *)(args + plan->arg_offsets[i]); \
	for (uint32_t i = 0; i < plan->hidden; i++) params[plan->arg_count + i] = &scratch[i]

enum { MAP_ALIGN = 128 };

static inline kg_status launch(const kg_plan *plan, CUstream stream, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
	const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch, int refuse) {

	PARAMETERS(plan, args, global_scratch, profile_scratch);
	CUlaunchAttribute attrs[4];
	CUlaunchConfig config = {
		grid_x, grid_y, grid_z, plan->threads, 1, 1, plan->shared, stream, attrs, attributes(plan, attrs),
	};

	CUcontext before;
	kg_status s = kg_enter(plan->ctx, &before);
	if (s != 0) return s;
	if (refuse) s = refuse_capture(stream);
	if (s == 0) s = kg_maps_fill(plan->maps, plan->map_count, params, maps, doubled);
	if (s == 0) s = KG_CALL(cuLaunchKernelEx, &config, plan->function, params, NULL);
	return kg_leave(plan->ctx, before, s);
}

kg_status kg_launch(const kg_plan *plan, CUstream stream, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
	const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch) {

	return launch(plan, stream, grid_x, grid_y, grid_z, args, global_scratch, profile_scratch, plan->scratch);
}

kg_status kg_launch_captured(const kg_plan *plan, CUstream stream, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
	const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch) {

	return launch(plan, stream, grid_x, grid_y, grid_z, args, global_scratch, profile_scratch, 0);
}

static kg_status set_params(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
	return kg_driver.cuGraphExecKernelNodeSetParams_v2 != NULL ? KG_CALL(cuGraphExecKernelNodeSetParams_v2, exec, node, p)
	                                                           : KG_CALL(cuGraphExecKernelNodeSetParams, exec, node, p);
}

kg_status kg_update(const kg_plan *plan, CUgraphExec exec, CUgraphNode node, uint32_t grid_x, uint32_t grid_y,
	uint32_t grid_z, const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch) {

	PARAMETERS(plan, args, global_scratch, profile_scratch);
	CUDA_KERNEL_NODE_PARAMS p = {
		plan->function, grid_x, grid_y, grid_z, plan->threads, 1, 1, plan->shared, params, NULL, NULL, NULL,
	};
	CUcontext before;
	kg_status s = kg_enter(plan->ctx, &before);
	if (s != 0) return s;
	s = kg_maps_fill(plan->maps, plan->map_count, params, maps, doubled);
	if (s == 0) s = set_params(exec, node, &p);
	return kg_leave(plan->ctx, before, s);
}

kg_status kg_node_scratch(const kg_plan *plan, CUgraphNode node, CUdeviceptr *scratch) {
	CUDA_KERNEL_NODE_PARAMS p = { 0 };
	CUcontext before;
	kg_status s = kg_enter(plan->ctx, &before);
	if (s != 0) return s;
	s = kg_node_params(node, &p);
	for (uint32_t i = 0; s == 0 && i < plan->hidden; i++) scratch[i] = *(CUdeviceptr *)p.kernelParams[plan->arg_count + i];
	return kg_leave(plan->ctx, before, s);
}

static kg_status replace_scratch(const kg_plan *plan, CUgraphExec exec, CUgraphNode node, CUdeviceptr *scratch) {
	CUDA_KERNEL_NODE_PARAMS p = { 0 };
	kg_status s = kg_node_params(node, &p);
	if (s != 0) return s;
	void *params[plan->arg_count + 2];
	for (uint32_t i = 0; i < plan->arg_count; i++) params[i] = p.kernelParams[i]; // the graph's own copies
	for (uint32_t i = 0; i < plan->hidden; i++) params[plan->arg_count + i] = &scratch[i];
	p.kernelParams = params;
	return set_params(exec, node, &p);
}

kg_status kg_node_set_scratch(const kg_plan *plan, CUgraphExec exec, CUgraphNode node, CUdeviceptr global_scratch,
	CUdeviceptr profile_scratch) {

	CUdeviceptr scratch[2] = { global_scratch, profile_scratch };
	KG_IN(plan->ctx, replace_scratch(plan, exec, node, scratch));
}
