package kernrt

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Occupancy is how much of a kernel a device that does nothing else runs at once.
type Occupancy struct {
	CTAsPerSM int // CTAs on one multiprocessor, by their threads, registers and shared memory
	Programs  int // programs on the whole device: CTAs, or clusters where they form any
}

// OccupancyOf is the occupancy of the image that a launch of k with args runs on
// the device, in the default configuration. It loads the image. Errors are
// *LaunchError.
func OccupancyOf[A any](k *Kernel, d *Device, args *A) (Occupancy, error) {
	return k.occupancy(d, unsafe.Pointer(args), (*A)(nil))
}

// Occupancy is what OccupancyOf is for an args struct.
func (a *Args) Occupancy(d *Device) (Occupancy, error) {
	if a == nil || a.kernel == nil {
		return Occupancy{}, errNoArgs()
	}
	if a.unset > 0 {
		return Occupancy{}, a.unsetError(nil, 0, Grid{})
	}
	return a.kernel.occupancy(d, unsafe.Pointer(unsafe.SliceData(a.packed)), (*packedArgs)(nil))
}

func (k *Kernel) occupancy(d *Device, args unsafe.Pointer, argsType any) (Occupancy, error) {
	one := Grid1D(1)
	if k == nil {
		return Occupancy{}, errNoKernel(nil, one)
	}
	if err := d.acquire(); err != nil {
		return Occupancy{}, &LaunchError{Kernel: k.Name, Grid: one, Err: fmt.Errorf("occupancy: %w", err)}
	}
	defer d.use.RUnlock()
	_, p, grid, err := k.choose(d, 0, one, args, argsType)
	var o *Occupancy
	if err == nil {
		o, err = p.occupancy(d)
	}
	if err != nil {
		return Occupancy{}, &LaunchError{Kernel: k.Name, Device: d.String(), Grid: grid, Err: fmt.Errorf("occupancy: %w", err)}
	}
	return *o, nil
}

// occupancy asks the driver the first time.
func (p *plan) occupancy(d *Device) (*Occupancy, error) {
	if o := p.resident.Load(); o != nil {
		return o, nil
	}
	blocks, status := d.ctx.ActiveBlocks(p.function, p.image.threads(), p.image.Shared)
	if status != cuda.OK {
		return nil, driverError(status)
	}
	o := &Occupancy{CTAsPerSM: blocks, Programs: blocks * d.info.SMCount}
	if p.cluster != [3]int{1, 1, 1} {
		if o.Programs, status = d.ctx.ActiveClusters(p.function, p.image.threads(), p.image.Shared, p.cluster); status != cuda.OK {
			return nil, driverError(status)
		}
	}
	p.resident.Store(o)
	return o, nil
}

// fill is the grid that ResidentGrid stands for.
func (p *plan) fill(d *Device) (Grid, error) {
	o, err := p.occupancy(d)
	if err == nil && o.Programs == 0 {
		err = faultf(ErrLimit, "the device runs no program of this kernel at once")
	}
	if err != nil {
		return ResidentGrid(), err
	}
	return Grid1D(o.Programs), nil
}

// explain adds to the driver's refusal of a launch what it does not say.
func (on *onDevice) explain(p *plan, err error, args unsafe.Pointer) error {
	err = on.withTensors(err, args)
	var driver *DriverError
	if errors.As(err, &driver) && driver.Code == cuda.CooperativeTooLarge {
		if o, asked := p.occupancy(on.dev); asked == nil {
			return fmt.Errorf("%s: %w", cooperativeText(o), err)
		}
	}
	return err
}

// checkCooperative refuses what a launch would refuse: a graph's node would fail
// at the graph's launch only.
func (p *plan) checkCooperative(d *Device, grid Grid) error {
	if !p.image.Cooperative {
		return nil
	}
	o, err := p.occupancy(d)
	if err == nil && p.ctas(grid) > uint64(o.Programs)*p.ctas(Grid1D(1)) {
		err = faultf(ErrLimit, "%s", cooperativeText(o))
	}
	return err
}

func cooperativeText(o *Occupancy) string {
	return fmt.Sprintf("the programs of a cooperative launch run all at once, of which the device holds %d; launch no more, or ResidentGrid", o.Programs)
}
