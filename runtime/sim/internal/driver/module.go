package driver

import (
	"errors"
	"strings"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
	"github.com/kerngen/kerngen/runtime/sim/internal/exec"
)

// LoadModule compiles PTX. A cubin is not for this device.
func (d *Driver) LoadModule(image string) (_ cuda.Module, log string, _ cuda.Status) {
	text, isPTX := strings.CutSuffix(image, "\x00")
	if !isPTX || strings.HasPrefix(image, "\x7fELF") {
		return 0, "", faultf(cuda.NoBinary, "the simulated device executes PTX, not cubins")
	}
	failed := d.lock()
	d.mu.Unlock()
	if failed != cuda.OK {
		return 0, "", failed
	}
	m, err := d.device.Load(text)
	switch {
	case errors.Is(err, exec.ErrOutOfMemory):
		return 0, "", fault(cuda.OutOfMemory, err)
	case err != nil:
		return 0, "", fault(cuda.InvalidPTX, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	h := cuda.Module(d.handle())
	d.modules[h] = m
	return h, "", cuda.OK
}

// Unload unloads a module.
func (d *Driver) Unload(h cuda.Module) cuda.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.modules[h]
	if m == nil {
		return faultf(cuda.InvalidHandle, "%#x is no module of the simulated device", uintptr(h))
	}
	m.Unload()
	delete(d.modules, h)
	return cuda.OK
}

// FunctionOf returns a module's kernel.
func (d *Driver) FunctionOf(h cuda.Module, symbol string) (cuda.Function, cuda.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.modules[h]
	if m == nil {
		return 0, faultf(cuda.InvalidHandle, "%#x is no module of the simulated device", uintptr(h))
	}
	e, err := m.Entry(symbol)
	if err != nil {
		return 0, fault(notFound, err)
	}
	f := cuda.Function(d.handle())
	d.functions[f] = e
	return f, cuda.OK
}

// entry finds a kernel.
func (d *Driver) entry(f cuda.Function) (*exec.Entry, cuda.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.functions[f]; e != nil {
		return e, cuda.OK
	}
	return nil, faultf(cuda.InvalidHandle, "%#x is no kernel of the simulated device", uintptr(f))
}

const threadsPerCTA = 1024

// Attribute returns what there is to know of a kernel; registers are not
// counted.
func (d *Driver) Attribute(f cuda.Function, attribute int) (int, cuda.Status) {
	e, status := d.entry(f)
	if status != cuda.OK {
		return 0, status
	}
	switch attribute {
	case cuda.FuncMaxThreads:
		return threadsPerCTA, cuda.OK
	case cuda.FuncStaticShared:
		return e.StaticShared(), cuda.OK
	case cuda.FuncRegisters:
		return 0, cuda.OK
	}
	return 0, faultf(cuda.InvalidValue, "a kernel has no attribute %d here", attribute)
}

// SetAttribute allows what a kernel asks for.
func (d *Driver) SetAttribute(f cuda.Function, attribute, value int) cuda.Status {
	_, status := d.entry(f)
	return status
}

// ParamSize is the size of a kernel's parameter in bytes.
func (d *Driver) ParamSize(f cuda.Function, index int) (size int, known bool, _ cuda.Status) {
	e, status := d.entry(f)
	if status != cuda.OK {
		return 0, true, status
	}
	params := e.Params()
	if index >= len(params) {
		return 0, true, faultf(cuda.InvalidValue, "the kernel has %d parameters", len(params))
	}
	return params[index].Size, true, cuda.OK
}

// ClusterLimit is 1: no architecture that is simulated has clusters.
func (d *Driver) ClusterLimit(cuda.Function, [3]int, int, int) (int, cuda.Status) { return 1, cuda.OK }

// ActiveBlocks is how many such CTAs a multiprocessor would run at once, if
// registers were no limit.
func (d *Driver) ActiveBlocks(f cuda.Function, threads, shared int) (int, cuda.Status) {
	e, status := d.entry(f)
	if status != cuda.OK {
		return 0, status
	}
	active := min(d.sm.CTAs, d.sm.Threads/max(threads, 1))
	if used := d.sm.SharedSystem + e.StaticShared() + shared; used > 0 {
		active = min(active, d.sm.Shared/used)
	}
	return active, cuda.OK
}

// ActiveClusters cannot be told, for the same reason.
func (d *Driver) ActiveClusters(cuda.Function, int, int, [3]int) (int, cuda.Status) {
	return 0, faultf(cuda.NotSupported, "the simulated device has no clusters")
}
