package kernrt

import (
	"errors"
	"fmt"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// What errors.Is tells apart. The errors that the package returns wrap these
// and say what happened to what.
var (
	// ErrNoGPU: ErrNoDriver or ErrNoDevice.
	ErrNoGPU = errors.New("no GPU")
	// ErrNoDriver: no CUDA driver could be opened, or the program was built without cgo.
	ErrNoDriver = faultf(ErrNoGPU, "no CUDA driver")
	// ErrNoDevice: the driver has no such device.
	ErrNoDevice = faultf(ErrNoGPU, "no CUDA device")
	// ErrNoImage: the kernel holds no binary that this device and driver run.
	ErrNoImage = errors.New("no image for the device")
	// ErrArgument: an argument breaks what the kernel was compiled for, or is out of range.
	ErrArgument = errors.New("argument refused")
	// ErrLimit: a launch wants more than the device has.
	ErrLimit = errors.New("beyond the device's limits")
	// ErrOutOfMemory: the device's memory is full.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrClosed: the device or stream is closed, the buffer freed.
	ErrClosed = errors.New("closed")
	// ErrOtherDevice: a stream or buffer belongs to another device.
	ErrOtherDevice = errors.New("another device's")
	// ErrCapturing: the stream is being captured into a graph, which the call does not allow.
	ErrCapturing = errors.New("stream is being captured")
	// ErrMalformed: a Kernel contradicts itself or its args struct; generate it again.
	ErrMalformed = errors.New("malformed kernel")
)

// fault is an error of a kind that errors.Is finds.
type fault struct {
	kind error
	text string
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.kind }

func faultf(kind error, format string, args ...any) error {
	return &fault{kind, fmt.Sprintf(format, args...)}
}

// DriverError is a driver call that failed.
type DriverError struct {
	Call string // the driver function: "cuMemAlloc_v2"
	Code int    // its CUresult
	Name string // the driver's name for it: "CUDA_ERROR_OUT_OF_MEMORY"
	Text string // the driver's text for it

	cause error // a simulated device's
}

func (e *DriverError) Error() string {
	return fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Text)
}

// Is finds ErrOutOfMemory, ErrNoDevice, ErrNoGPU and ErrCapturing by the
// driver's code.
func (e *DriverError) Is(target error) bool {
	switch e.Code {
	case cuda.OutOfMemory:
		return target == ErrOutOfMemory
	case cuda.NoDevice:
		return target == ErrNoDevice || target == ErrNoGPU
	case cuda.CooperativeTooLarge:
		return target == ErrLimit
	case cuda.CaptureUnsupported, cuda.CaptureWasInvalidated, cuda.CaptureImplicit, cuda.CapturedEvent:
		return target == ErrCapturing
	}
	return false
}

// Unwrap gives what a simulated device found, nil on a GPU.
func (e *DriverError) Unwrap() error { return e.cause }

// driverError is nil for a call that succeeded.
func driverError(s cuda.Status) error {
	if s == cuda.OK {
		return nil
	}
	if name, err := s.Fault(); err != nil {
		return &DriverError{Call: "simulated device", Code: s.Result(), Name: name, Text: err.Error(), cause: err}
	}
	name, text := cuda.Describe(s)
	return &DriverError{Call: s.Call(), Code: s.Result(), Name: name, Text: text}
}

// LaunchError is a launch that was refused or failed. Its text names all that is
// known of it and the cause; Unwrap gives the cause.
type LaunchError struct {
	Kernel  string
	Config  string // "" where there is one only
	Variant int    // as the generated function numbers them; 0: none was chosen, or there is one only
	Image   string // "sm_90a cubin"; "" where none was loaded
	Device  string // "NVIDIA H200 (device 0, sm_90)"
	Grid    Grid
	Err     error
}

func (e *LaunchError) Error() string {
	what := e.Kernel
	if e.Config != "" {
		what += " with " + e.Config
	}
	switch {
	case e.Variant != 0 && e.Image != "":
		what += fmt.Sprintf(" (variant %d, %s)", e.Variant, e.Image)
	case e.Variant != 0:
		what += fmt.Sprintf(" (variant %d)", e.Variant)
	case e.Image != "":
		what += fmt.Sprintf(" (%s)", e.Image)
	}
	if e.Device != "" {
		what += " on " + e.Device
	}
	return fmt.Sprintf("launch %s, grid %v: %v", what, e.Grid, e.Err)
}

func (e *LaunchError) Unwrap() error { return e.Err }

// joined is errors.Join of errors in the order in which they came up, but for the
// error that a broken device gives to every call: that is said once.
func joined(errs ...error) error {
	broken := 0
	var said []error
	for _, err := range errs {
		if broken != 0 && repeats(err, broken) {
			continue
		}
		var driver *DriverError
		if errors.As(err, &driver) && cuda.Breaks(driver.Code) {
			broken = driver.Code
		}
		said = append(said, err)
	}
	return errors.Join(said...)
}

// repeats reports whether all that err tells is driver calls that failed with code.
func repeats(err error, code int) bool {
	switch e := err.(type) {
	case *DriverError:
		return e.Code == code
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if !repeats(one, code) {
				return false
			}
		}
		return true
	case interface{ Unwrap() error }:
		return repeats(e.Unwrap(), code)
	}
	return false
}
