package fakecuda

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Driver gives control of an opened fake. Its methods are safe for concurrent
// use. They panic on a misuse that only a wrong test can make, such as a device
// beyond the sixteen there can be.
type Driver struct {
	library uintptr
}

// Open opens a fake that Build made; the runtime's own opening of the same file
// leads to the same fake.
func Open(path string) (*Driver, error) {
	library, err := dlopen(path)
	if err != nil {
		return nil, err
	}
	d := &Driver{library}
	if dlsym(library, "fake_reset") == 0 {
		return nil, fmt.Errorf("%s is not a fake driver", path)
	}
	return d, nil
}

// Call makes any call of the driver interface and returns its CUresult. A
// pointer is passed as uintptr(unsafe.Pointer(&x)), written in the call itself.
// A test of something thread-bound, such as the current context, locks its
// goroutine to the thread.
//
//go:uintptrescapes
func (d *Driver) Call(name string, args ...uintptr) int { return int(int32(d.call(name, args...))) }

//go:uintptrescapes
func (d *Driver) call(name string, args ...uintptr) uintptr {
	function := dlsym(d.library, name)
	if function == 0 {
		panic(fmt.Sprintf("fakecuda: no function %q", name))
	}
	if len(args) > maxArgs {
		panic(fmt.Sprintf("fakecuda: %s with %d arguments, at most %d", name, len(args), maxArgs))
	}
	var padded [maxArgs]uintptr
	copy(padded[:], args)
	return call(function, padded)
}

// control makes a call that returns 0 for a misuse.
func (d *Driver) control(name string, args ...uintptr) {
	if int32(d.call(name, args...)) == 0 {
		panic(fmt.Sprintf("fakecuda: %s%v: no such thing", name, args))
	}
}

func (d *Driver) controlText(name, text string, before []uintptr, after ...uintptr) {
	bytes := append([]byte(text), 0)
	args := append(before, uintptr(unsafe.Pointer(&bytes[0])))
	d.control(name, append(args, after...)...)
	runtime.KeepAlive(bytes)
}

// Has reports whether the fake exports a function.
func (d *Driver) Has(name string) bool { return dlsym(d.library, name) != 0 }

// SetDeviceCount sets the number of devices, at most 16. The default is 1.
func (d *Driver) SetDeviceCount(n int) { d.control("fake_set_device_count", uintptr(n)) }

// SetDriverVersion sets the CUDA version that the driver says it supports, such
// as 12080. The default is 13000, or FAKE_VERSION.
func (d *Driver) SetDriverVersion(version int) {
	d.control("fake_set_driver_version", uintptr(version))
}

// SetName sets a device's product name.
func (d *Driver) SetName(device int, name string) {
	d.controlText("fake_set_name", name, []uintptr{uintptr(device)})
}

// SetAttribute sets a CUdevice_attribute. The defaults are an H200's; an
// attribute that the fake does not know is 0.
func (d *Driver) SetAttribute(device, attribute, value int) {
	d.control("fake_set_attribute", uintptr(device), uintptr(attribute), uintptr(value))
}

// SetMemory sets a device's memory in bytes: what it says it has, and the sum at
// which an allocation fails.
func (d *Driver) SetMemory(device int, bytes uint64) {
	d.control("fake_set_memory", uintptr(device), uintptr(bytes))
}

// SetPeers says whether every device's kernels may use the memory of all others,
// as after cuCtxEnablePeerAccess; by default none may. A Reset changes nothing.
func (d *Driver) SetPeers(on bool) {
	n := uintptr(0)
	if on {
		n = 1
	}
	d.control("fake_set_peers", n)
}

// SetLargestCluster sets the CTAs of a cluster that a device can hold where the
// function allows a size that is not portable. The default is 16.
func (d *Driver) SetLargestCluster(device, ctas int) {
	d.control("fake_set_largest_cluster", uintptr(device), uintptr(ctas))
}

// FailNext makes a call of the driver function fail with code: the next one
// after `after` calls that do not. The name "*" is every function's.
func (d *Driver) FailNext(call string, code, after int) {
	d.controlText("fake_fail", call, nil, uintptr(code), uintptr(after), 0)
}

// FailAlways makes every call of the driver function fail with code.
func (d *Driver) FailAlways(call string, code int) {
	d.controlText("fake_fail", call, nil, uintptr(code), 0, 1)
}

// SetCapture makes a stream answer that it is not being captured (0), is (1), or
// is in a capture that has gone wrong (2), as if another library captured it in
// global mode. What cannot be captured fails with 900, on other streams too, and
// spoils it; the rest is done, for there is no graph.
func (d *Driver) SetCapture(stream uintptr, status int) {
	d.control("fake_set_capture", stream, uintptr(status))
}

// Hold makes what is queued on the stream from now on wait, until Release: queries
// of the stream, of events recorded on it and of streams that wait for those say
// not ready (600), and whoever waits for them does not return. The memory that
// copies and fills write is written all the same.
func (d *Driver) Hold(stream uintptr) { d.control("fake_hold", stream, 1) }

// Release ends a Hold.
func (d *Driver) Release(stream uintptr) { d.control("fake_hold", stream, 0) }

// Break makes every call in the device's context fail with code, as after a
// kernel's illegal access (700), also those that wait already. It lasts until the
// context's last reference is given back, a Reset, or a Break with 0.
func (d *Driver) Break(device, code int) { d.control("fake_break", uintptr(device), uintptr(code)) }

// Record says whether calls are recorded, as they are by default. Without
// records and failures a launch takes no lock, for benchmarks.
func (d *Driver) Record(on bool) {
	n := uintptr(0)
	if on {
		n = 1
	}
	d.control("fake_record", n)
}

// Reset forgets records, failures, captures, holds, broken devices and
// configuration, and records again. What is alive lives on.
func (d *Driver) Reset() { d.control("fake_reset") }
