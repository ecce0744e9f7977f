//go:build cgo && linux

package cuda

// #include "calls.h"
import "C"

import "unsafe"

// DriverVersion is the newest CUDA that the driver supports: 13000 is 13.0.
func DriverVersion() (int, Status) {
	var version C.int
	s := C.kg_driver_version(&version)
	return int(version), Status(s)
}

// DeviceCount is the number of devices that the driver shows.
func DeviceCount() (int, Status) {
	var n C.int
	s := C.kg_device_count(&n)
	return int(n), Status(s)
}

// DeviceAt returns the device of an ordinal.
func DeviceAt(ordinal int) (Device, Status) {
	var d C.CUdevice
	s := C.kg_device_at(C.int(ordinal), &d)
	return Device(d), Status(s)
}

// Name is the device's product name.
func (d Device) Name() (string, Status) {
	var name [256]C.char
	s := C.kg_device_name(C.CUdevice(d), &name[0], C.int(len(name)))
	return C.GoString(&name[0]), Status(s)
}

// UUID is the device's identity, the same in every process.
func (d Device) UUID() ([16]byte, Status) {
	var uuid [16]byte
	s := C.kg_device_uuid(C.CUdevice(d), (*C.uchar)(&uuid[0]))
	return uuid, Status(s)
}

// Attribute returns a CUdevice_attribute.
func (d Device) Attribute(attribute int) (int, Status) {
	var v C.int
	s := C.kg_device_attribute(C.CUdevice(d), C.int(attribute), &v)
	return int(v), Status(s)
}

// TotalMemory is the device's memory in bytes.
func (d Device) TotalMemory() (uint64, Status) {
	var n C.size_t
	s := C.kg_device_memory(C.CUdevice(d), &n)
	return uint64(n), Status(s)
}

// Retain takes a reference to the device's primary context.
func (d Device) Retain() (Context, Status) {
	var ctx C.CUcontext
	s := C.kg_context_retain(C.CUdevice(d), &ctx)
	return Context(unsafe.Pointer(ctx)), Status(s)
}

// Release gives a reference to the device's primary context back.
func (Context) Release(d Device) Status { return Status(C.kg_context_release(C.CUdevice(d))) }
