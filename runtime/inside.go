package kernrt

import (
	"maps"
	"reflect"
	"slices"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/capture"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Inside is what the runtime's other packages, such as graph, use of this one.
// It is of no use outside them, and may change at any time.
type Inside struct{}

// Acquire keeps the stream open until Release.
func (Inside) Acquire(s *Stream) (cuda.Driver, cuda.Stream, error) {
	if err := s.acquire(); err != nil {
		return nil, 0, err
	}
	return s.dev.ctx, s.handle, nil
}

// TryAcquire is Acquire that does not wait: not open is a stream that is closed,
// and one that is being closed.
func (Inside) TryAcquire(s *Stream) (driver cuda.Driver, _ cuda.Stream, open bool) {
	if !s.mu.TryRLock() {
		return nil, 0, false
	}
	if s.closed {
		s.mu.RUnlock()
		return nil, 0, false
	}
	return s.dev.ctx, s.handle, true
}

// Release undoes Acquire and TryAcquire.
func (Inside) Release(s *Stream) { s.mu.RUnlock() }

// AcquireDevice keeps the device open until ReleaseDevice.
func (Inside) AcquireDevice(d *Device) (cuda.Driver, error) {
	if err := d.acquire(); err != nil {
		return nil, err
	}
	return d.ctx, nil
}

// ReleaseDevice undoes AcquireDevice.
func (Inside) ReleaseDevice(d *Device) { d.use.RUnlock() }

// Debug reports whether launches wait, so that their failures name them.
func (Inside) Debug(d *Device) bool { return d.debug }

// Streams is the device's open streams.
func (Inside) Streams(d *Device) []*Stream {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.streams))
}

// Captures has launches in the capture with the driver's id take their scratch
// memory from s; nil ends that.
func (Inside) Captures(d *Device, id uint64, s *capture.Scratch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s == nil {
		delete(d.captures, id)
		return
	}
	d.captures[id] = s
}

// Own has the device's Close release something, after its streams are idle and
// closed and before kernels are unloaded.
func (Inside) Own(d *Device, o capture.Owned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.owned[o] = struct{}{}
}

// Disown undoes Own.
func (Inside) Disown(d *Device, o capture.Owned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.owned, o)
}

// Loaded finds the kernel, and its image, that a function of the driver's is.
// argsType is a nil pointer to the kernel's args struct; another one is an error.
// The kernel's configuration comes with it.
func (Inside) Loaded(d *Device, f cuda.Function, argsType any) (k *Kernel, config int, _ *capture.Launchable, _ error) {
	on, config, p := d.find(f)
	if on == nil {
		return nil, 0, nil, faultf(ErrArgument, "the kernel is none that the runtime loaded")
	}
	if argsType != nil {
		// It may be the first time that the kernel meets this struct, if it was
		// launched with Args.
		if _, err := on.kernel.on(d, argsType); err != nil {
			return nil, 0, nil, faultf(ErrArgument, "the kernel is %s, whose args struct is no %v", on.kernel.Name, reflect.TypeOf(argsType).Elem())
		}
	}
	return on.kernel, config, p.inGraph, nil
}

func (d *Device) find(f cuda.Function) (_ *onDevice, config int, _ *plan) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, on := range d.loaded {
		for v := range on.variants {
			if p := on.variants[v].plan.Load(); p != nil && p.function == f {
				return on, on.kernel.Variants[v].Config, p
			}
		}
	}
	return nil, 0, nil
}

// launchable is what package graph needs of the plan.
func (p *plan) launchable() *capture.Launchable {
	l := &capture.Launchable{
		Plan: p.call, Scratches: p.scratch,
		Attributes: capture.Attributes{Cluster: p.cluster, Cooperative: p.image.Cooperative, PDL: p.image.PDL && !p.scratch},
	}
	if p.sim != nil {
		l.Simulated = p.sim.launcher
	}
	return l
}

// Prepare does all that LaunchConfig does short of launching. args points to the args
// struct that argsType is a nil pointer to.
func (Inside) Prepare(k *Kernel, d *Device, config int, grid Grid, args unsafe.Pointer, argsType any) (capture.Prepared, error) {
	_, p, grid, err := k.choose(d, config, grid, args, argsType)
	if err != nil {
		return capture.Prepared{}, err
	}
	if p == nil {
		return capture.Prepared{}, faultf(ErrArgument, "the grid is empty, which a graph's node cannot be")
	}
	if err := p.checkCooperative(d, grid); err != nil {
		return capture.Prepared{}, err
	}
	x, y, z := p.inCTAs(grid)
	prepared := capture.Prepared{Launchable: p.inGraph, CTAs: [3]uint32{x, y, z}}
	if p.sim != nil {
		prepared.Args = p.sim.copy(args)
	}
	if !p.scratch {
		return prepared, nil
	}
	for kind, need := range p.scratchNeeds() {
		if prepared.Scratch[kind].Size, err = need.bytes(p.ctas(grid)); err != nil {
			return capture.Prepared{}, err
		}
		prepared.Scratch[kind].Align = uint64(max(need.Align, 1))
	}
	return prepared, nil
}

// LaunchError is the error of a launch of k, or of a change to one.
func (Inside) LaunchError(k *Kernel, d *Device, config int, grid Grid, err error) error {
	e := &LaunchError{Kernel: k.Name, Config: k.configName(config), Grid: grid, Err: err}
	if d != nil {
		e.Device = d.String()
	}
	return e
}

// Fault is an error of a kind that errors.Is finds.
func (Inside) Fault(kind error, format string, args ...any) error {
	return faultf(kind, format, args...)
}

// Join is errors.Join, but for what a broken device repeats.
func (Inside) Join(errs ...error) error { return joined(errs...) }

// Gone reports whether what a call was to release is gone, or may be.
func (Inside) Gone(s cuda.Status) bool { return gone(s) }

// DriverError is nil for a call that succeeded.
func (Inside) DriverError(s cuda.Status) error { return driverError(s) }

func (d *Device) releaseOwned() error {
	d.mu.Lock()
	owned := slices.Collect(maps.Keys(d.owned))
	d.mu.Unlock()
	var errs []error
	for _, o := range owned {
		errs = append(errs, o.Release(d.ctx))
	}
	return joined(errs...)
}
