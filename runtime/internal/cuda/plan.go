//go:build cgo && linux

package cuda

/*
#cgo noescape kg_launch
#cgo nocallback kg_launch
#include <stdlib.h>
#include "launch.h"

static kg_plan *kg_plan_new(uint32_t arg_count) {
	return calloc(1, sizeof(kg_plan) + arg_count * sizeof(uint32_t));
}
static void kg_plan_arg(kg_plan *plan, uint32_t i, uint32_t offset) { plan->arg_offsets[i] = offset; }
*/
import "C"

import "unsafe"

// Plan is all of a launch that does not change from one to the next, kept in C
// memory until Free.
type Plan struct{ c *C.kg_plan }

// NewPlan makes a plan. It returns the zero Plan where there is no memory.
func NewPlan(spec PlanSpec) Plan {
	p := C.kg_plan_new(C.uint32_t(len(spec.Offsets)))
	if p == nil {
		return Plan{}
	}
	p.ctx = spec.Context.c
	p.function = spec.Function.c
	p.threads = C.uint32_t(spec.Threads)
	p.shared = C.uint32_t(spec.Shared)
	for i, n := range spec.Cluster {
		p.cluster[i] = C.uint32_t(n)
	}
	p.cooperative = flag(spec.Cooperative)
	p.pdl = flag(spec.PDL)
	p.scratch = flag(spec.Scratch)
	p.hidden = C.uint8_t(spec.Hidden)
	p.arg_count = C.uint32_t(len(spec.Offsets))
	for i, offset := range spec.Offsets {
		C.kg_plan_arg(p, C.uint32_t(i), C.uint32_t(offset))
	}
	return Plan{p}
}

func flag(b bool) C.uint8_t {
	if b {
		return 1
	}
	return 0
}

// IsZero reports whether there is no plan.
func (p Plan) IsZero() bool { return p.c == nil }

// Free gives the plan's memory back.
func (p Plan) Free() { C.free(unsafe.Pointer(p.c)) }

// Launch queues a launch of x by y by z CTAs. args points to the args struct,
// which the driver has read when Launch returns.
func (p Plan) Launch(stream Stream, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) Status {
	return Status(C.kg_launch(p.c, stream.c, C.uint32_t(x), C.uint32_t(y), C.uint32_t(z),
		(*C.uchar)(args), C.CUdeviceptr(globalScratch), C.CUdeviceptr(profileScratch)))
}
