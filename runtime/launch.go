package kernrt

import (
	"fmt"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Launch queues a kernel on a stream and does not wait for it. Generated Launch
// functions call it; args is the kernel's args struct, read before Launch
// returns. Errors are *LaunchError.
//
// The checks come in this order: a nil or closed stream; a grid that is not set
// or has a negative dimension is ErrArgument, one with a zero dimension a no-op
// that succeeds, whatever the arguments; then null pointers and broken promises
// are ErrArgument; then what the device cannot run is ErrNoImage or ErrLimit. No
// kernel is ever queued with a broken promise.
func Launch[A any](k *Kernel, s *Stream, grid Grid, args *A) error {
	// args itself must not pass through an interface or a function value on its
	// way to the driver: it would escape, one allocation a launch.
	return k.launch(s, grid, unsafe.Pointer(args), (*A)(nil))
}

func (k *Kernel) launch(s *Stream, grid Grid, args unsafe.Pointer, argsType any) error {
	if err := s.acquire(); err != nil {
		return k.launchError(s, grid, err)
	}
	err := k.launchOn(s, grid, args, argsType)
	s.mu.RUnlock()
	if err != nil {
		return k.launchError(s, grid, err)
	}
	return nil
}

func (k *Kernel) launchOn(s *Stream, grid Grid, args unsafe.Pointer, argsType any) error {
	if grid.x <= 0 || grid.y <= 0 || grid.z <= 0 {
		return grid.check()
	}
	if args == nil {
		return faultf(ErrArgument, "args is nil")
	}
	on, err := k.on(s.dev, argsType)
	if err != nil {
		return err
	}
	v := on.pick(args)
	if v == nil {
		return on.pickError(args)
	}
	p := v.plan.Load()
	if p == nil {
		if p, err = on.load(v); err != nil {
			return err
		}
	}
	if grid.x > p.most[0] || grid.y > p.most[1] || grid.z > p.most[2] {
		return p.gridError()
	}
	if s.debug {
		return on.launchChecked(s, p, grid, args)
	}
	return p.launch(s, grid, args)
}

// launch queues the plan's image.
func (p *plan) launch(s *Stream, grid Grid, args unsafe.Pointer) error {
	if p.scratch {
		return p.launchWithScratch(s, grid, args)
	}
	return statusError(p.queue(s, grid, args, 0, 0))
}

func (p *plan) launchWithScratch(s *Stream, grid Grid, args unsafe.Pointer) error {
	ctas := uint64(grid.x*p.cluster[0]) * uint64(grid.y*p.cluster[1]) * uint64(grid.z*p.cluster[2]) // below 2^63, by the limits of a grid
	s.scratch.mu.Lock()
	defer s.scratch.mu.Unlock()
	global, err := s.scratch.global.take(s, p.image.GlobalScratch, ctas)
	if err != nil {
		return err
	}
	profile, err := s.scratch.profile.take(s, p.image.ProfileScratch, ctas)
	if err != nil {
		return err
	}
	return statusError(p.queue(s, grid, args, global, profile))
}

func (p *plan) queue(s *Stream, grid Grid, args unsafe.Pointer, global, profile uint64) cuda.Status {
	return p.call.Launch(s.handle, uint32(grid.x*p.cluster[0]), uint32(grid.y*p.cluster[1]), uint32(grid.z*p.cluster[2]), args, global, profile)
}

func (k *Kernel) launchError(s *Stream, grid Grid, err error) error {
	e := &LaunchError{Kernel: k.Name, Grid: grid, Err: err}
	if s.check() == nil {
		e.Device = s.dev.String()
	}
	return e
}

func (p *plan) gridError() error {
	what := ""
	if p.cluster != [3]int{1, 1, 1} {
		what = fmt.Sprintf(", each a cluster of %v CTAs", p.cluster)
	}
	return faultf(ErrLimit, "a grid has at most %d, %d and %d programs%s in x, y and z on this device", p.most[0], p.most[1], p.most[2], what)
}

func statusError(status cuda.Status) error {
	if status == cuda.Capturing {
		return faultf(ErrCapturing, "the kernel needs scratch memory, which the stream uses again after the capture; launch it outside the capture")
	}
	return driverError(status)
}
