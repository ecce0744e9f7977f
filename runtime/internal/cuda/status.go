// Package cuda is the only place with cgo: libcuda opened at run time, a
// function for each driver call that kerngen makes, and the one C function of a
// launch. It knows the driver's interface and nothing of kernels or Triton.
//
// All its functions may be called from any goroutine on any thread: each makes
// the context it is given current for the call. Open must have succeeded
// before any other is called.
package cuda

import "errors"

// ErrNoCgo is Open's error in a program that was built without cgo.
var ErrNoCgo = errors.New("this program was built without cgo")

// ErrPlatform is Open's error on a system that kerngen does not open a driver on.
var ErrPlatform = errors.New("kerngen opens a CUDA driver on Linux only")

// LibraryVariable names the environment variable that overrides where libcuda
// is looked for.
const LibraryVariable = "KERNGEN_LIBCUDA"

// Device is a CUdevice.
type Device int32

// Status tells how a call ended: OK, Capturing, or a driver call and its result.
type Status uint32

const (
	OK Status = 0
	// Capturing is the status of a launch that was not made because its stream
	// is being captured into a graph and its scratch memory would be, too.
	Capturing Status = 0xffffffff
)

// Result is the driver's CUresult.
func (s Status) Result() int { return int(s & 0xffff) }

// The driver's results that the runtime tells apart.
const (
	InvalidValue     = 1
	OutOfMemory      = 2
	NoDevice         = 100
	InvalidImage     = 200
	NoBinary         = 209 // for this GPU
	InvalidPTX       = 218
	NoCompiler       = 221 // for PTX
	UnsupportedPTX   = 222 // newer than the driver
	CompilerDisabled = 223
	InvalidSource    = 300

	CooperativeTooLarge = 720
	NotSupported        = 801 // by the driver, or by the device
)

// Breaks reports whether a result is of those that the device does not recover
// from: every later call in the context gives the same.
func Breaks(result int) bool {
	switch result {
	case 214, 220, 226, // errors of memory and links
		700, 702, 710, 714, 715, 716, 717, 718, 719, 721, // a kernel's faults
		709, 810, 911: // the context destroyed, the MPS client ended, another device's fault
		return true
	}
	return false
}

// Device attributes (CUdevice_attribute).
const (
	MaxThreadsPerBlock     = 1
	MaxBlockDimX           = 2
	MaxBlockDimY           = 3
	MaxBlockDimZ           = 4
	MaxGridDimX            = 5
	MaxGridDimY            = 6
	MaxGridDimZ            = 7
	MaxSharedPerBlock      = 8
	WarpSize               = 10
	MaxRegistersPerBlock   = 12
	MultiprocessorCount    = 16
	ConcurrentKernels      = 31
	MemoryBusWidth         = 37
	L2CacheSize            = 38
	MaxThreadsPerSM        = 39
	ComputeCapabilityMajor = 75
	ComputeCapabilityMinor = 76
	MaxSharedPerSM         = 81
	CooperativeLaunch      = 95
	MaxSharedPerBlockOptin = 97
	MaxBlocksPerSM         = 106
	MemoryPoolsSupported   = 115
)

// Function attributes (CUfunction_attribute).
const (
	FuncMaxThreads         = 0
	FuncStaticShared       = 1
	FuncRegisters          = 4
	FuncMaxDynamicShared   = 8
	FuncNonPortableCluster = 14
)
