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
		ordinal, status := s.dev.ctx.PointerOrdinal(address)
		if status != cuda.OK {
			return faultf(ErrArgument, "%s = %#x is no address that the driver knows: %v", param.Name, address, driverError(status))
		}
		if ordinal != s.dev.info.Ordinal {
			return faultf(ErrOtherDevice, "%s = %#x is memory of device %d", param.Name, address, ordinal)
		}
	}
	if err := p.launch(s, grid, args); err != nil {
		return err
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
