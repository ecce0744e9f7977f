package kernrt

import (
	"fmt"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Launch queues a kernel on a stream and does not wait for it. Generated Launch
// functions call it; args is the kernel's args struct, read before Launch
// returns. The zero grid stands for the one that the kernel declares. Errors are
// *LaunchError.
//
// The checks come in this order: a nil or closed stream; a grid that is not set,
// cannot be computed or has a negative dimension is ErrArgument, one with a zero
// dimension a no-op that succeeds, whatever the pointers; then null pointers and
// broken promises are ErrArgument; then what the device cannot run is ErrNoImage
// or ErrLimit. No kernel is ever queued with a broken promise.
func Launch[A any](k *Kernel, s *Stream, grid Grid, args *A) error {
	// args itself must not pass through an interface or a function value on its
	// way to the driver: it would escape, one allocation a launch.
	return k.launch(s, 0, grid, unsafe.Pointer(args), (*A)(nil))
}

// LaunchConfig is Launch in another configuration than the default: an index
// into k.Configs.
func LaunchConfig[A any](k *Kernel, s *Stream, config int, grid Grid, args *A) error {
	return k.launch(s, config, grid, unsafe.Pointer(args), (*A)(nil))
}

func (k *Kernel) launch(s *Stream, config int, grid Grid, args unsafe.Pointer, argsType any) error {
	if k == nil {
		return errNoKernel(s, grid)
	}
	if err := s.acquire(); err != nil {
		return k.launchNot(s, config, grid, args, argsType, err)
	}
	p, grid, err := k.launchOn(s, config, grid, args, argsType)
	s.mu.RUnlock()
	if err != nil {
		return k.launchError(s, config, p, grid, err)
	}
	return nil
}

// launchNot is a launch on a stream that is none, is closed or explains.
//
//go:noinline
func (k *Kernel) launchNot(s *Stream, config int, grid Grid, args unsafe.Pointer, argsType any, err error) error {
	if s.explains() {
		return s.explanations.add(k.explain(s, config, grid, args, argsType))
	}
	return k.launchError(s, config, nil, grid, err)
}

// launchOn returns the plan, if it got that far, and the grid, which it computes
// where the kernel declares it.
func (k *Kernel) launchOn(s *Stream, config int, grid Grid, args unsafe.Pointer, argsType any) (*plan, Grid, error) {
	on, p, grid, err := k.choose(s.dev, config, grid, args, argsType)
	if err != nil || p == nil {
		return p, grid, err
	}
	if s.debug {
		return p, grid, on.launchChecked(s, p, grid, args)
	}
	if err := p.launch(s, grid, args); err != nil {
		return p, grid, on.explain(p, err, args)
	}
	return p, grid, nil
}

// choose finds what a launch with args runs on d: the plan and the grid, checked
// against each other. There is no plan where the grid is empty, nor with an error
// but that of a grid which the plan does not take.
func (k *Kernel) choose(d *Device, config int, grid Grid, args unsafe.Pointer, argsType any) (*onDevice, *plan, Grid, error) {
	if (grid.x <= 0 || grid.y <= 0 || grid.z <= 0) && (grid.set || !k.declares()) {
		return nil, nil, grid, grid.check()
	}
	if args == nil {
		return nil, nil, grid, faultf(ErrArgument, "args is nil")
	}
	on, err := k.on(d, argsType)
	if err != nil {
		return nil, nil, grid, err
	}
	if uint(config) >= uint(len(on.configs)) {
		return nil, nil, grid, faultf(ErrArgument, "there is no configuration %d; there are %d", config, len(on.configs))
	}
	c := &on.configs[config]
	declared := !grid.set
	if declared {
		if grid, err = c.grid.compute(args); err != nil || grid.x == 0 || grid.y == 0 || grid.z == 0 {
			return nil, nil, grid, err
		}
	}
	if on.tensors != nil {
		if err := on.checkTensors(args); err != nil {
			return nil, nil, grid, err
		}
	}
	v := c.pick(args)
	if v == nil {
		return nil, nil, grid, on.pickError(c, args)
	}
	p := v.plan.Load()
	if p == nil {
		if p, err = on.load(v); err != nil {
			return nil, nil, grid, on.ofVariant(v, err)
		}
	}
	if grid.resident {
		if grid, err = p.fill(d); err != nil {
			return on, p, grid, err
		}
	}
	if grid.x > p.most[0] || grid.y > p.most[1] || grid.z > p.most[2] {
		err := p.gridError()
		if declared {
			err = fmt.Errorf("%s is too large: %w", c.grid.text(args), err)
		}
		return on, p, grid, err
	}
	return on, p, grid, nil
}

// configName is the name of a configuration, "" for one that has none.
func (k *Kernel) configName(config int) string {
	if config < 0 || config >= len(k.Configs) {
		return ""
	}
	return k.Configs[config].Name
}

// launch queues the plan's image.
func (p *plan) launch(s *Stream, grid Grid, args unsafe.Pointer) error {
	if p.scratch {
		return p.launchWithScratch(s, grid, args)
	}
	return driverError(p.queue(s, grid, args, 0, 0))
}

func (p *plan) launchWithScratch(s *Stream, grid Grid, args unsafe.Pointer) error {
	ctas := p.ctas(grid)
	s.scratch.mu.Lock()
	defer s.scratch.mu.Unlock()
	if s.scratch.given != nil {
		return p.launchWithGiven(s, grid, args, ctas)
	}
	global, profile, err := s.scratch.take(s, p.scratchNeeds(), ctas)
	if err == nil {
		err = statusError(p.queue(s, grid, args, global, profile))
	}
	if err == errCapturing {
		return p.launchCaptured(s, grid, args, ctas)
	}
	return err
}

// ctas is how many CTAs a grid has: below 2^63, by the limits of a grid.
func (p *plan) ctas(grid Grid) uint64 {
	x, y, z := p.inCTAs(grid)
	return uint64(x) * uint64(y) * uint64(z)
}

// inCTAs is the grid as the driver counts it.
func (p *plan) inCTAs(grid Grid) (x, y, z uint32) {
	return uint32(grid.x * p.cluster[0]), uint32(grid.y * p.cluster[1]), uint32(grid.z * p.cluster[2])
}

func (p *plan) queue(s *Stream, grid Grid, args unsafe.Pointer, global, profile uint64) cuda.Status {
	x, y, z := p.inCTAs(grid)
	if p.sim != nil {
		return p.sim.launcher.Launch(s.handle, x, y, z, p.sim.copy(args), global, profile)
	}
	return p.call.Launch(s.handle, x, y, z, args, global, profile)
}

// Out of line, so that the check of a launch is one comparison.
//
//go:noinline
func errNoKernel(s *Stream, grid Grid) error {
	return (&Kernel{Name: "nil"}).refuse(s, 0, grid, faultf(ErrArgument, "there is no kernel: none was compiled for these element types"))
}

// refuse is the error of a launch that does not come as far as its stream.
func (k *Kernel) refuse(s *Stream, config int, grid Grid, err error) error {
	err = k.launchError(s, config, nil, grid, err)
	if s.explains() {
		return s.explanations.add(Explanation{Kernel: k.Name, Config: k.configName(config), Device: s.dev.String(), Grid: grid, Err: err})
	}
	return err
}

// launchError takes the plan where one was found.
func (k *Kernel) launchError(s *Stream, config int, p *plan, grid Grid, err error) error {
	e := &LaunchError{Kernel: k.Name, Config: k.configName(config), Grid: grid, Err: err}
	if s.check() == nil {
		e.Device = s.dev.String()
	}
	if p != nil {
		e.Variant, e.Image = p.variant, p.image.String()
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

// statusError is errCapturing, or driverError's.
func statusError(status cuda.Status) error {
	if status == cuda.Capturing {
		return errCapturing
	}
	return driverError(status)
}
