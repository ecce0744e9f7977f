package kernrt

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kerngen/kerngen/internal/packed"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// onDevice is a kernel on one device: its variants with the images that can run
// there.
type onDevice struct {
	dev      *Device
	next     atomic.Pointer[onDevice]
	argsType uintptr // identity of the pointer to the args struct
	argsSize uintptr // of the args struct, bytes
	configs  []configured
	variants []loadable // of all configurations, as Kernel.Variants
	kernel   *Kernel
	offsets  []uintptr // of each parameter in the args struct
	tensors  []tensorParam
}

// configured is a configuration on one device.
type configured struct {
	variants []loadable    // a part of onDevice's
	first    int           // index of the first of them
	grid     *declaredGrid // nil where the caller gives the grid
	conditions
}

// loadable is a variant on one device, loaded by the first launch that picks it.
type loadable struct {
	guards     []guard // null checks, then promises
	plan       atomic.Pointer[plan]
	candidates []*Image // best first; empty where the device can run none

	mu      sync.Mutex // held while an image is loaded
	refused []error    // why the driver does not take the first candidates
}

// on returns the kernel on a device, new where it was never launched there.
// args is a pointer of the type that the launch passes.
func (k *Kernel) on(d *Device, args any) (*onDevice, error) {
	for on := k.devices.Load(); on != nil; on = on.next.Load() {
		if on.dev == d && on.argsType == typeIdentity(args) {
			return on, nil
		}
	}
	return k.addDevice(d, args)
}

func (k *Kernel) addDevice(d *Device, args any) (*onDevice, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	argsType, packed := typeIdentity(args), typeIdentity((*packedArgs)(nil))
	var twin *onDevice // the same kernel on the device, launched with the other of struct and Args
	for on := k.devices.Load(); on != nil; on = on.next.Load() {
		switch {
		case on.argsType == argsType && on.dev == d:
			return on, nil // another goroutine was faster
		case on.argsType != argsType && on.argsType != packed && argsType != packed:
			return nil, faultf(ErrMalformed, "it was launched with another args struct before, now with %v", reflect.TypeOf(args).Elem())
		case on.dev == d:
			twin = on
		}
	}
	offsets, size, err := k.layout(reflect.TypeOf(args).Elem())
	if err != nil {
		return nil, err
	}
	on := &onDevice{
		dev:      d,
		argsType: argsType,
		argsSize: size,
		kernel:   k,
		offsets:  offsets,
		tensors:  k.tensorParams(offsets),
	}
	if twin == nil {
		on.layVariants()
	} else if on.variants, on.configs = twin.variants, twin.configs; !slices.Equal(offsets, twin.offsets) {
		return nil, faultf(ErrMalformed, "args type %v is not laid out as its fields are elsewhere", reflect.TypeOf(args).Elem())
	}
	on.next.Store(k.devices.Load())
	k.devices.Store(on)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loaded = append(d.loaded, on)
	return on, nil
}

// layVariants readies all variants to be picked and loaded.
func (on *onDevice) layVariants() {
	k := on.kernel
	on.variants = make([]loadable, len(k.Variants))
	for v := range on.variants {
		on.variants[v].guards = k.guardsOf(&k.Variants[v], on.offsets)
		on.variants[v].candidates = candidates(k.Variants[v].Images, on.dev.info.sm())
	}
	on.configs = k.configure(on.variants, on.offsets)
}

// configure divides variants, which are sorted by configuration.
func (k *Kernel) configure(variants []loadable, offsets []uintptr) []configured {
	configs := make([]configured, max(1, len(k.Configs)))
	end := 0
	for i := range configs {
		c := &configs[i]
		c.first = end
		for end < len(variants) && k.Variants[end].Config == i {
			end++
		}
		c.variants = variants[c.first:end]
		c.conditions = conditionsOf(c.variants)
		if i < len(k.Configs) {
			c.grid = k.layGrid(k.Configs[i].Grid, offsets)
		}
	}
	return configs
}

// unload unloads all images and forgets the device. No launch there uses the
// kernel any more, but one on another device may be reading the list.
func (on *onDevice) unload() error {
	k := on.kernel
	k.mu.Lock()
	defer k.mu.Unlock()
	link := &k.devices
	for link.Load() != on {
		link = &link.Load().next
	}
	link.Store(on.next.Load())
	var errs []error
	for v := range on.variants {
		if p := on.variants[v].plan.Swap(nil); p != nil { // a twin's too
			errs = append(errs, p.unload(on.dev))
		}
	}
	return joined(errs...)
}

// load returns a variant's plan, loading its best image that the driver takes.
// Compiling PTX takes seconds, for which launches of this variant wait, and no
// others. What the driver refuses once it refuses again, so it is not asked.
func (on *onDevice) load(v *loadable) (*plan, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.plan.Load(); p != nil {
		return p, nil
	}
	for len(v.refused) < len(v.candidates) {
		image := v.candidates[len(v.refused)]
		p, err := on.loadImage(image)
		if err == nil {
			v.plan.Store(p)
			return p, nil
		}
		var refusal *refusal
		if !errors.As(err, &refusal) {
			return nil, fmt.Errorf("image %v: %w", image, err)
		}
		v.refused = append(v.refused, refusal.err)
	}
	var reasons []string
	for i, err := range v.refused {
		reasons = append(reasons, fmt.Sprintf("%v: %v", v.candidates[i], err))
	}
	return nil, faultf(ErrNoImage, "%v with its driver, CUDA %s, takes none of the images: %s",
		on.dev, on.dev.info.driver(), strings.Join(reasons, "; "))
}

// unload gives the plan and its module back.
func (p *plan) unload(d *Device) error {
	if p.sim == nil {
		p.call.Free()
	}
	return driverError(d.ctx.Unload(p.module))
}

// refusal is the driver's refusal of an image as such: another may do.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// refusesImage tells a driver that cannot run or compile an image from one that
// has failed for another reason, which would fail on every image.
func refusesImage(s cuda.Status) bool {
	switch s.Result() {
	case cuda.InvalidImage, cuda.NoBinary, cuda.InvalidPTX, cuda.UnsupportedPTX, cuda.NoCompiler, cuda.CompilerDisabled, cuda.InvalidSource:
		return true
	}
	return false
}

// loadImage loads one image and makes it ready to launch. A failure leaves
// nothing loaded.
func (on *onDevice) loadImage(image *Image) (*plan, error) {
	code := *image.Code
	if image.PTX {
		if packed.Is(code) {
			text, err := packed.Unpack(code)
			if err != nil {
				return nil, &refusal{faultf(ErrMalformed, "its text cannot be unpacked (%v); generate the package again", err)}
			}
			code = text
		}
		code += "\x00" // which is how the driver finds its end
	}
	ctx := on.dev.ctx
	module, log, status := ctx.LoadModule(code)
	if status != cuda.OK {
		err := driverError(status)
		if log != "" {
			err = fmt.Errorf("%w: %s", err, log)
		}
		if refusesImage(status) {
			err = &refusal{err}
		}
		return nil, err
	}
	p, err := on.plan(image, module)
	if err != nil {
		return nil, joined(err, driverError(ctx.Unload(module)))
	}
	return p, nil
}
