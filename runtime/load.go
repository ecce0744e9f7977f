package kernrt

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// onDevice is a kernel on one device: its variants with the images that can run
// there.
type onDevice struct {
	dev      *Device
	state    *state
	variants []loadable
}

// loadable is a variant on one device, loaded by the first launch that picks it.
type loadable struct {
	candidates []*Image // best first; empty where the device can run none
	plan       atomic.Pointer[plan]
}

// plan is a loaded image.
type plan struct {
	image   *Image
	module  cuda.Module
	call    cuda.Plan
	cluster [3]uint64 // CTAs
	scratch bool
}

// on returns the kernel on a device, new where it was never launched there.
func (st *state) on(d *Device) *onDevice {
	for _, on := range *st.devices.Load() {
		if on.dev == d {
			return on
		}
	}
	return st.addDevice(d)
}

func (st *state) addDevice(d *Device) *onDevice {
	st.mu.Lock()
	defer st.mu.Unlock()
	known := *st.devices.Load()
	for _, on := range known {
		if on.dev == d {
			return on
		}
	}
	on := &onDevice{dev: d, state: st, variants: make([]loadable, len(st.guards))}
	for v := range on.variants {
		on.variants[v].candidates = candidates(st.kernel.Variants[v].Images, d.info.sm())
	}
	devices := append(known[:len(known):len(known)], on)
	st.devices.Store(&devices)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loaded = append(d.loaded, on)
	return on
}

// unload unloads all images and forgets the device. No launch uses it any more.
func (on *onDevice) unload() error {
	st := on.state
	st.mu.Lock()
	defer st.mu.Unlock()
	var rest []*onDevice
	for _, other := range *st.devices.Load() {
		if other != on {
			rest = append(rest, other)
		}
	}
	st.devices.Store(&rest)
	var errs []error
	for v := range on.variants {
		if p := on.variants[v].plan.Load(); p != nil {
			p.call.Free()
			errs = append(errs, driverError(on.dev.ctx.Unload(p.module)))
		}
	}
	return errors.Join(errs...)
}

// load returns a variant's plan, loading its best image that the driver takes.
func (on *onDevice) load(v int) (*plan, error) {
	variant := &on.variants[v]
	if p := variant.plan.Load(); p != nil {
		return p, nil
	}
	on.state.mu.Lock()
	defer on.state.mu.Unlock()
	if p := variant.plan.Load(); p != nil {
		return p, nil
	}
	var refused []string
	for _, image := range variant.candidates {
		p, err := on.state.load(on.dev, image)
		if err == nil {
			variant.plan.Store(p)
			return p, nil
		}
		var refusal *refusal
		if !errors.As(err, &refusal) {
			return nil, fmt.Errorf("image %s: %w", image, err)
		}
		refused = append(refused, fmt.Sprintf("%s: %v", image, refusal.err))
	}
	return nil, faultf(ErrNoImage, "no image runs on %v with its driver, CUDA %s: %s",
		on.dev, on.dev.info.driver(), strings.Join(refused, "; "))
}

// noImage tells why a variant has no candidate on the device.
func (on *onDevice) noImage(v int) string {
	var have []string
	for i := range on.state.kernel.Variants[v].Images {
		have = append(have, on.state.kernel.Variants[v].Images[i].String())
	}
	return fmt.Sprintf("no image runs on sm_%d; there are %s", on.dev.info.sm(), strings.Join(have, ", "))
}

// refusal is the driver's refusal of an image as such: another may do.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// load loads one image and makes it ready to launch. A failure leaves nothing
// loaded.
func (st *state) load(d *Device, image *Image) (*plan, error) {
	code := *image.Code
	if image.PTX {
		code += "\x00" // which is how the driver finds its end
	}
	module, log, status := d.ctx.LoadModule(code)
	if status != cuda.OK {
		err := driverError(status)
		if log != "" {
			err = fmt.Errorf("%w: %s", err, log)
		}
		if status.Result() == cuda.OutOfMemory {
			return nil, err
		}
		return nil, &refusal{err}
	}
	p, err := st.plan(d, image, module)
	if err != nil {
		return nil, errors.Join(err, driverError(d.ctx.Unload(module)))
	}
	return p, nil
}

func (st *state) plan(d *Device, image *Image, module cuda.Module) (*plan, error) {
	function, status := d.ctx.FunctionOf(module, image.Symbol)
	if status != cuda.OK {
		return nil, fmt.Errorf("symbol %s: %w", image.Symbol, driverError(status))
	}
	f := loadedFunction{d, function, image}
	sizes := st.passedSizes(image)
	if err := errors.Join(f.checkParams(sizes), f.checkThreads(), f.allowShared(), f.allowCluster()); err != nil {
		return nil, err
	}
	needsScratch := image.GlobalScratch.Size > 0 || image.ProfileScratch.Size > 0
	spec := cuda.PlanSpec{
		Context:     d.ctx,
		Function:    function,
		Threads:     image.threads(),
		Shared:      image.Shared,
		Cluster:     image.cluster(),
		Cooperative: image.Cooperative,
		PDL:         image.PDL && !needsScratch, // else it could overlap the neighbour whose scratch it shares
		Scratch:     needsScratch,
		Hidden:      image.Hidden,
	}
	for _, arg := range image.Args {
		spec.Offsets = append(spec.Offsets, st.offsets[arg])
	}
	call := cuda.NewPlan(spec)
	if call.IsZero() {
		return nil, errors.New("out of host memory")
	}
	c := image.cluster()
	return &plan{
		image:   image,
		module:  module,
		call:    call,
		cluster: [3]uint64{uint64(c[0]), uint64(c[1]), uint64(c[2])},
		scratch: needsScratch,
	}, nil
}

// passedSizes are the sizes in bytes of all that a launch of the image passes.
func (st *state) passedSizes(image *Image) []int {
	var sizes []int
	for _, arg := range image.Args {
		sizes = append(sizes, paramSize(st.kernel.Params[arg].Type))
	}
	for range image.Hidden {
		sizes = append(sizes, pointerSize)
	}
	return sizes
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
