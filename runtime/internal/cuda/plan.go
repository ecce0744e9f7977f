//go:build cgo && linux

package cuda

/*
#cgo noescape kg_launch
#cgo nocallback kg_launch
#cgo noescape kg_launch_captured
#cgo nocallback kg_launch_captured
#include "launch.h"
*/
import "C"

import "unsafe"

// Plan is all of a launch that does not change from one to the next, kept in C
// memory until Free.
type Plan struct{ c *C.kg_plan }

// NewPlan makes a plan. It returns the zero Plan where there is no memory.
func NewPlan(spec PlanSpec) Plan {
	p := C.kg_plan_new(spec.Context.c(), spec.Function.c(), C.uint32_t(len(spec.Offsets)), C.uint32_t(len(spec.Maps)))
	if p == nil {
		return Plan{}
	}
	C.kg_plan_shape(p, C.uint32_t(spec.Threads), C.uint32_t(spec.Shared),
		C.uint32_t(spec.Cluster[0]), C.uint32_t(spec.Cluster[1]), C.uint32_t(spec.Cluster[2]))
	C.kg_plan_options(p, flag(spec.Cooperative), flag(spec.PDL), flag(spec.Scratch), C.int(spec.Hidden))
	for i, offset := range spec.Offsets {
		C.kg_plan_arg(p, C.uint32_t(i), C.uint32_t(offset))
	}
	maps := C.kg_plan_maps(p)
	for i, m := range spec.Maps {
		C.kg_map_set(maps, C.uint32_t(i), C.uint32_t(m.Param), C.uint32_t(m.Rank), C.uint32_t(m.ElemSize),
			C.int(m.DataType), C.int(m.Swizzle), (*C.uint32_t)(&m.Box[0]))
		C.kg_map_options(maps, C.uint32_t(i), C.bool(m.FP4Padded), C.bool(m.DoubledArg), C.bool(m.Unmarked))
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
func (p Plan) Free() { C.kg_plan_free(p.c) }

// C reads a Desc as Go wrote it.
var (
	_ [unsafe.Sizeof(Desc{})]struct{}           = [C.sizeof_kg_desc]struct{}{}
	_ [unsafe.Offsetof(Desc{}.Strides)]struct{} = [unsafe.Offsetof(C.kg_desc{}.strides)]struct{}{}
	_ [unsafe.Offsetof(Desc{}.Rank)]struct{}    = [unsafe.Offsetof(C.kg_desc{}.rank)]struct{}{}
)

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
