#ifndef KERNGEN_LAUNCH_H
#define KERNGEN_LAUNCH_H

#include "driver.h"

// A plan is all of a launch that does not change between launches of one image
// on one device. It is made once, when the image is loaded.
typedef struct {
	CUcontext ctx;
	CUfunction function;
	uint32_t threads;    // per CTA
	uint32_t shared;     // dynamic shared memory per CTA, bytes
	uint32_t cluster[3]; // CTAs; {1, 1, 1} means no cluster
	uint8_t cooperative;
	uint8_t pdl;
	uint8_t scratch;     // needs scratch memory: must not be captured with the stream's
	uint8_t hidden;      // scratch pointers after the arguments: 0, 1 or 2
	uint32_t arg_count;
	uint32_t arg_offsets[]; // of each argument in the args struct
} kg_plan;

// The status of a launch that would have been captured into a graph together
// with scratch memory that the stream will use again.
#define KG_CAPTURING 0xffffffffu

// kg_launch queues one launch. args is the args struct; grid counts CTAs.
kg_status kg_launch(const kg_plan *plan, CUstream stream, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
	const unsigned char *args, CUdeviceptr global_scratch, CUdeviceptr profile_scratch);

#endif
