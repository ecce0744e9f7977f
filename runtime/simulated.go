package kernrt

import (
	"os"
	"strings"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Simulated makes a Device of a driver in Go. It is for package sim, whose Open
// programs call.
func Simulated(driver cuda.Simulated, info DeviceInfo) *Device {
	return newDevice(&info, 0, driver)
}

// simulator opens a simulated device for a target, "" for its usual one.
var simulator func(target string) (*Device, error)

// RegisterSimulator says how KERNGEN_DEVICE=sim[:TARGET] opens a device. Package
// sim calls it when it is imported.
func RegisterSimulator(open func(target string) (*Device, error)) { simulator = open }

// openVariable is the device that Open and OpenUUID open, whatever they are asked
// for: "sim" or "sim:sm_80".
const openVariable = "KERNGEN_DEVICE"

// openSimulated opens the device that openVariable names; nil where it is unset.
func openSimulated() (*Device, error) {
	value := os.Getenv(openVariable)
	if value == "" {
		return nil, nil
	}
	name, target, _ := strings.Cut(value, ":")
	switch {
	case name != "sim":
		return nil, faultf(ErrNoDevice, "%s=%s: the devices there are to name are sim and sim:TARGET", openVariable, value)
	case simulator == nil:
		return nil, faultf(ErrNoDevice, "%s=%s: the program does not import github.com/kerngen/kerngen/runtime/sim", openVariable, value)
	}
	d, err := simulator(target)
	if err != nil {
		return nil, faultf(ErrNoDevice, "%s=%s: %v", openVariable, value, err)
	}
	return d, nil
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
