//go:build cgo && linux

package cuda

/*
#cgo noescape kg_launch
#cgo nocallback kg_launch
#cgo noescape kg_launch_captured
#cgo nocallback kg_launch_captured
#include <stdlib.h>
#include "launch.h"
*/
import "C"

import "unsafe"

// Plan is all of a launch that does not change from one to the next, kept in C
// memory until Free.
type Plan struct{ c *C.kg_plan }

// NewPlan makes a plan. It returns the zero Plan where there is no memory.
func NewPlan(spec PlanSpec) Plan {
	p := C.kg_plan_new(spec.Context.c(), spec.Function.c(), C.uint32_t(len(spec.Offsets)))
	if p == nil {
		return Plan{}
	}
	C.kg_plan_shape(p, C.uint32_t(spec.Threads), C.uint32_t(spec.Shared),
		C.uint32_t(spec.Cluster[0]), C.uint32_t(spec.Cluster[1]), C.uint32_t(spec.Cluster[2]))
	C.kg_plan_options(p, flag(spec.Cooperative), flag(spec.PDL), flag(spec.Scratch), C.int(spec.Hidden))
	for i, offset := range spec.Offsets {
		C.kg_plan_arg(p, C.uint32_t(i), C.uint32_t(offset))
	}
	return Plan{p}
}

func flag(b bool) C.int {
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
	return Status(C.kg_launch(p.c, stream.c(), C.uint32_t(x), C.uint32_t(y), C.uint32_t(z),
		(*C.uchar)(args), C.CUdeviceptr(globalScratch), C.CUdeviceptr(profileScratch)))
}

// LaunchCaptured is Launch of a plan that needs scratch memory where that may
// become part of a graph.
func (p Plan) LaunchCaptured(stream Stream, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) Status {
	return Status(C.kg_launch_captured(p.c, stream.c(), C.uint32_t(x), C.uint32_t(y), C.uint32_t(z),
		(*C.uchar)(args), C.CUdeviceptr(globalScratch), C.CUdeviceptr(profileScratch)))
}
