package kernrt

import (
	"fmt"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// launchChecked is a launch with KERNGEN_DEBUG=1: the driver must know every
// pointer, and the launch must end well before another is queued.
func (on *onDevice) launchChecked(s *Stream, p *plan, grid Grid, args unsafe.Pointer) error {
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
	if err := on.checkTensorMemory(args); err != nil {
		return err
	}
	if err := p.launch(s, grid, args); err != nil {
		return on.withTensors(err, args)
	}
	capturing, status := s.dev.ctx.IsCapturing(s.handle)
	if capturing || status != cuda.OK {
		return driverError(status) // a captured launch runs later
	}
	if status := s.dev.ctx.Synchronize(s.handle); status != cuda.OK {
		return fmt.Errorf("it was queued and failed: %w", driverError(status))
	}
	return nil
}

// checkAddress refuses an address that is not in memory of the device.
func (on *onDevice) checkAddress(name string, address uint64) error {
	ordinal, status := on.dev.ctx.PointerOrdinal(address)
	if status != cuda.OK {
		return faultf(ErrArgument, "%s = %#x is no address that the driver knows: %v", name, address, driverError(status))
	}
	if ordinal != on.dev.info.Ordinal {
		return faultf(ErrOtherDevice, "%s = %#x is memory of device %d", name, address, ordinal)
	}
	return nil
}

// checkTensorMemory checks the first and the last byte of each tensor.
func (on *onDevice) checkTensorMemory(args unsafe.Pointer) error {
	for i := range on.tensors {
		t := &on.tensors[i]
		d := *(*cuda.Desc)(unsafe.Add(args, t.offset))
		if err := on.checkAddress(t.name, d.Address); err != nil {
			return err
		}
		if err := on.checkAddress("the last byte of "+t.name, t.end(&d)-1); err != nil {
			return err
		}
	}
	return nil
}
