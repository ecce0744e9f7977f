package kernrt

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/kerngen/kerngen/runtime/internal/capture"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// plan is a loaded image, ready to be launched.
type plan struct {
	call     cuda.Plan
	sim      *simPlan // instead of call, on a simulated device
	most     [3]int   // programs that a grid can have in x, y and z
	cluster  [3]int   // CTAs of a program
	scratch  bool
	image    *Image
	module   cuda.Module
	function cuda.Function
	variant  int                       // its number, from 1, where the kernel has several
	resident atomic.Pointer[Occupancy] // nil: not asked for yet
	inGraph  *capture.Launchable
}

// plan compares a loaded image with what its Kernel says of it and sets it up.
func (on *onDevice) plan(image *Image, module cuda.Module) (*plan, error) {
	d := on.dev
	function, status := d.ctx.FunctionOf(module, image.Symbol)
	if status != cuda.OK {
		return nil, fmt.Errorf("symbol %s: %w", image.Symbol, driverError(status))
	}
	f := loadedFunction{d, function, image}
	if err := errors.Join(f.checkParams(on.passedSizes(image)), f.checkThreads(), f.allowShared(), f.allowCluster()); err != nil {
		return nil, err
	}
	cluster := image.cluster()
	p := &plan{cluster: cluster, image: image, module: module, function: function}
	if len(on.kernel.Variants) > 1 {
		p.variant = 1 + on.kernel.variantOf(image)
	}
	for i, most := range d.info.MaxGrid {
		p.most[i] = most / cluster[i]
	}
	p.scratch = image.GlobalScratch.Size > 0 || image.ProfileScratch.Size > 0
	spec := cuda.PlanSpec{
		Function:    function,
		Threads:     image.threads(),
		Shared:      image.Shared,
		Cluster:     cluster,
		Cooperative: image.Cooperative,
		PDL:         image.PDL && !p.scratch, // else it could overlap the neighbour whose scratch it shares
		Scratch:     p.scratch,
		Hidden:      image.Hidden,
	}
	descriptors := image.Descriptors
	for _, arg := range image.Args {
		if isTensor(on.kernel.Params[arg].Type) {
			on.passTensor(&spec, &descriptors[0], arg, on.offsets[arg])
			descriptors = descriptors[1:]
		} else {
			spec.Offsets = append(spec.Offsets, on.offsets[arg])
		}
		for len(spec.Names) < len(spec.Offsets) {
			spec.Names = append(spec.Names, on.kernel.Params[arg].Name)
		}
	}
	if err := p.prepare(on, spec); err != nil {
		return nil, err
	}
	p.inGraph = p.launchable()
	return p, nil
}

// prepare makes what launches, of the device's kind.
func (p *plan) prepare(on *onDevice, spec cuda.PlanSpec) (err error) {
	ctx, gpu := on.dev.ctx.(cuda.Context)
	if !gpu {
		p.sim, err = newSimPlan(on, spec)
		return err
	}
	spec.Context = ctx
	if p.call = cuda.NewPlan(spec); p.call.IsZero() {
		return errors.New("out of host memory")
	}
	return nil
}

// passedSizes are the sizes in bytes of all that a launch of the image passes.
func (on *onDevice) passedSizes(image *Image) []int {
	v := &on.kernel.Variants[on.kernel.variantOf(image)]
	var sizes []int
	descriptors := image.Descriptors
	for _, arg := range image.Args {
		if _, rank, ok := tensorType(on.kernel.Params[arg].Type); ok {
			sizes = append(sizes, descriptors[0].sizes(rank)...)
			descriptors = descriptors[1:]
			continue
		}
		size := paramSize(on.kernel.Params[arg].Type)
		if slices.Contains(v.Guards, Guard{arg, Fits32}) {
			size = 4 // the lower bytes, which come first
		}
		sizes = append(sizes, size)
	}
	for range image.Hidden {
		sizes = append(sizes, pointerSize)
	}
	return sizes
}

// variantOf is the index of the variant that image belongs to.
func (k *Kernel) variantOf(image *Image) int {
	return slices.IndexFunc(k.Variants, func(v Variant) bool {
		for i := range v.Images {
			if &v.Images[i] == image {
				return true
			}
		}
		return false
	})
}

// String names the image for messages: "sm_90a cubin".
func (m *Image) String() string {
	if m.PTX {
		return m.Target + " PTX"
	}
	return m.Target + " cubin"
}

const warpSize = 32 // threads, on every CUDA device

func (m *Image) threads() int { return m.NumWarps * warpSize }
