package kernrt

import (
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Simulated makes a Device of a driver in Go. It is for package sim, whose Open
// programs call.
func Simulated(driver cuda.Simulated, info DeviceInfo) *Device {
	return newDevice(&info, 0, driver)
}

// simPlan launches on a simulated device.
type simPlan struct {
	launcher cuda.Launcher
	size     uintptr // of the args struct, bytes
}

func newSimPlan(on *onDevice, spec cuda.PlanSpec) (*simPlan, error) {
	launcher, status := on.dev.ctx.(cuda.Simulated).NewLauncher(spec)
	if status != cuda.OK {
		return nil, driverError(status)
	}
	return &simPlan{launcher, on.argsSize}, nil
}

// copy copies the args struct, so that the launch's own never leaves the stack
// on a GPU for what only a simulated device needs.
func (p *simPlan) copy(args unsafe.Pointer) unsafe.Pointer {
	words := make([]uint64, (p.size+7)/8)
	to := unsafe.Pointer(unsafe.SliceData(words))
	copy(unsafe.Slice((*byte)(to), p.size), unsafe.Slice((*byte)(args), p.size))
	return to
}
