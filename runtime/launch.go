package kernrt

import (
	"reflect"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Launch queues a kernel on a stream and does not wait for it. Generated Launch
// functions call it; args is the kernel's args struct, read before Launch
// returns. Errors are *LaunchError.
//
// The checks come in this order: a grid with a zero dimension is a no-op that
// succeeds, whatever the arguments; then null pointers and broken promises are
// ErrArgument; then what the device cannot run is ErrNoImage or ErrLimit. No
// kernel is ever queued with a broken promise.
func Launch[A any](k *Kernel, s *Stream, grid Grid, args *A) error {
	// args must not pass through an interface or a function value on its way to
	// the driver: it would escape, one allocation a launch.
	return k.launch(s, grid, unsafe.Pointer(args), reflect.TypeFor[A]())
}

func (k *Kernel) launch(s *Stream, grid Grid, args unsafe.Pointer, argsType reflect.Type) error {
	if err := s.acquire(); err != nil {
		return &LaunchError{Kernel: k.Name, Grid: grid, Err: err}
	}
	err := k.launchOn(s, grid, args, argsType)
	s.mu.RUnlock()
	if err != nil {
		return &LaunchError{Kernel: k.Name, Device: s.dev.String(), Grid: grid, Err: err}
	}
	return nil
}

func (k *Kernel) launchOn(s *Stream, grid Grid, args unsafe.Pointer, argsType reflect.Type) error {
	if err := grid.check(); err != nil {
		return err
	}
	if grid.isEmpty() {
		return nil
	}
	if args == nil {
		return faultf(ErrArgument, "args is nil")
	}
	st, err := k.prepare(argsType)
	if err != nil {
		return err
	}
	on := st.on(s.dev)
	v := st.pick(on, args)
	if v < 0 {
		return st.pickError(on, args)
	}
	p, err := on.load(v)
	if err != nil {
		return err
	}
	// Beyond 2^31-1 a dimension is refused before it is multiplied further.
	x, y, z := uint64(grid.x)*p.cluster[0], uint64(grid.y)*p.cluster[1], uint64(grid.z)*p.cluster[2]
	most := &s.dev.info.MaxGrid
	if grid.x > most[0] || x > uint64(most[0]) || grid.y > most[1] || y > uint64(most[1]) || grid.z > most[2] || z > uint64(most[2]) {
		return gridError(s.dev, p)
	}
	if s.dev.debug {
		return st.launchChecked(s, p, x, y, z, args)
	}
	return p.launch(s, x, y, z, args)
}

func gridError(d *Device, p *plan) error {
	most := d.info.MaxGrid
	if p.cluster == [3]uint64{1, 1, 1} {
		return faultf(ErrLimit, "the device's grids have at most %d, %d and %d CTAs in x, y and z", most[0], most[1], most[2])
	}
	return faultf(ErrLimit, "the device's grids have at most %d, %d and %d CTAs in x, y and z, and each program is a cluster of %v CTAs",
		most[0], most[1], most[2], p.cluster)
}

// launch queues x by y by z CTAs.
func (p *plan) launch(s *Stream, x, y, z uint64, args unsafe.Pointer) error {
	var global, profile uint64
	if p.scratch {
		c := &s.scratch
		c.mu.Lock()
		defer c.mu.Unlock()
		var err error
		if global, err = c.global.take(s, p.image.GlobalScratch, x*y*z); err != nil {
			return err
		}
		if profile, err = c.profile.take(s, p.image.ProfileScratch, x*y*z); err != nil {
			return err
		}
	}
	return launchError(p.call.Launch(s.handle, uint32(x), uint32(y), uint32(z), args, global, profile))
}

func launchError(status cuda.Status) error {
	if status == cuda.Capturing {
		return faultf(ErrCapturing, "the kernel needs scratch memory, which the stream uses again after the capture; launch it outside the capture")
	}
	return driverError(status)
}
