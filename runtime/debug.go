package kernrt

import (
	"fmt"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// launchChecked is a launch with KERNGEN_DEBUG=1: kernels must be able to use every
// pointer, and the launch must end well before another is queued on the device,
// so that a failure is its own or another library's.
func (on *onDevice) launchChecked(s *Stream, p *plan, grid Grid, args unsafe.Pointer) error {
	if err := on.checkPointers(p, args); err != nil {
		return err
	}
	s.dev.debugging.Lock()
	defer s.dev.debugging.Unlock()
	capturing, status := s.dev.ctx.IsCapturing(s.handle)
	if status != cuda.OK {
		return driverError(status)
	}
	if capturing { // it runs later
		return on.explain(p, p.launch(s, grid, args), args)
	}
	if status := s.dev.ctx.Synchronize(s.handle); status != cuda.OK {
		return fmt.Errorf("what was queued before it failed: %w", driverError(status))
	}
	if err := p.launch(s, grid, args); err != nil {
		return on.explain(p, err, args)
	}
	if status := s.dev.ctx.Synchronize(s.handle); status != cuda.OK {
		return fmt.Errorf("it was queued and failed, or what another library or a copy did meanwhile: %w", driverError(status))
	}
	return nil
}

func (on *onDevice) checkPointers(p *plan, args unsafe.Pointer) error {
	for _, i := range p.image.Args {
		param := on.kernel.Params[i]
		if !isPointer(param.Type) {
			continue
		}
		address := *(*uint64)(unsafe.Add(args, on.offsets[i]))
		if address == 0 {
			continue // declared nullable
		}
		if err := on.checkAddress(param.Name, address); err != nil {
			return err
		}
	}
	return on.checkTensorMemory(args)
}

// checkAddress refuses an address that kernels cannot use.
func (on *onDevice) checkAddress(name string, address uint64) error {
	reaches, status := on.dev.ctx.Reaches(address)
	if reaches || status != cuda.OK {
		return driverError(status)
	}
	ordinal, status := on.dev.ctx.PointerOrdinal(address)
	if status != cuda.OK {
		return faultf(ErrArgument, "%s = %#x is no address that the driver knows: %v", name, address, driverError(status))
	}
	return faultf(ErrOtherDevice, "%s = %#x is memory of device %d, which kernels on device %d cannot use", name, address, ordinal, on.dev.info.Ordinal)
}

// checkTensorMemory checks the first and the last byte of each tensor.
func (on *onDevice) checkTensorMemory(args unsafe.Pointer) error {
	for i := range on.tensors {
		t := &on.tensors[i]
		d := *(*cuda.Desc)(unsafe.Add(args, t.offset))
		if err := on.checkAddress(t.name, d.Address); err != nil {
			return err
		}
		if err := on.checkAddress("the last byte of "+t.name, t.last(&d)); err != nil {
			return err
		}
	}
	return nil
}
