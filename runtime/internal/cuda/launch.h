#ifndef KERNGEN_LAUNCH_H
#define KERNGEN_LAUNCH_H

#include "desc.h"

// A plan is all of a launch that does not change between launches of one image
// on one device. It is made once, when the image is loaded. It is opaque, so
// that cgo has nothing in it to check at every launch.
typedef struct kg_plan kg_plan;

// kg_plan_new makes a plan with room for the offsets of so many arguments, some of
// them tensor maps, to be freed by kg_plan_free, or returns NULL.
kg_plan *kg_plan_new(CUcontext ctx, CUfunction function, uint32_t arg_count, uint32_t map_count);
void kg_plan_free(kg_plan *plan);

// kg_plan_maps is the plan's maps, to be set before the first launch.
kg_map *kg_plan_maps(kg_plan *plan);

// kg_plan_shape says what each CTA has: threads, bytes of dynamic shared memory,
// and CTAs in its cluster.
void kg_plan_shape(kg_plan *plan, uint32_t threads, uint32_t shared, uint32_t x, uint32_t y, uint32_t z);

// kg_plan_options: launch cooperatively; with programmatic stream serialisation;
// with scratch memory, and so not captured by kg_launch; with so many scratch pointers
// after the arguments (0, 1 or 2).
void kg_plan_options(kg_plan *plan, int cooperative, int pdl, int scratch, int hidden);

// kg_plan_arg says where in the args struct an argument is: of one that is passed
// as a tensor map, the kg_desc.
void kg_plan_arg(kg_plan *plan, uint32_t i, uint32_t offset);

// The status of a launch that would have been captured into a graph together
// with scratch memory that the stream will use again.
#define KG_CAPTURING 0xffffffffu

// kg_launch queues one launch. args is the args struct; grid counts CTAs.
kg_status kg_launch(const kg_plan *plan, CUstream stream, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
	const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch);

// kg_launch_captured is kg_launch of a plan whose scratch memory may become part
// of a graph.
kg_status kg_launch_captured(const kg_plan *plan, CUstream stream, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
	const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch);

// kg_update gives a kernel node of an executable graph the plan's function with
// other arguments and another grid. The node keeps the launch attributes that it
// was captured with.
kg_status kg_update(const kg_plan *plan, CUgraphExec exec, CUgraphNode node, uint32_t grid_x, uint32_t grid_y,
	uint32_t grid_z, const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch);

// kg_node_scratch tells the scratch memory of a graph's node that launches the
// plan; kg_node_set_scratch replaces it in an executable of the graph.
kg_status kg_node_scratch(const kg_plan *plan, CUgraphNode node, CUdeviceptr *scratch);
kg_status kg_node_set_scratch(const kg_plan *plan, CUgraphExec exec, CUgraphNode node, CUdeviceptr global_scratch,
	CUdeviceptr profile_scratch);

#endif
