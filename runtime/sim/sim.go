package sim

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim/internal/driver"
	"github.com/kerngen/kerngen/runtime/sim/internal/exec"
)

// Options are what a simulated device is. The zero value is an sm_80 that checks
// everything.
type Options struct {
	// Target is the architecture whose PTX the device runs: "sm_75" to "sm_89".
	// Empty means "sm_80", the one that Triton's users compile for most.
	Target string
	// Memory is how many bytes the device has; 0 means 16 GiB, and
	// 1 TiB is the most. What is never written takes none of the machine's.
	Memory uint64
	// Unchecked leaves the checks out that cost time: of memory that was never
	// written, of asynchronous copies that were not waited for, of races in shared
	// memory and of barriers that ended warps have missed. Kernels then take a tenth
	// to a half less time.
	Unchecked bool
	// Deterministic runs one CTA of a launch at a time, in an order that is always
	// the same, so that sums of float atomics are the same each time.
	Deterministic bool
	// Workers is how many CTAs run at once; 0 means one for each of Go's
	// processors.
	Workers int
	// Output is where kernels print; nil means os.Stdout, as on a GPU.
	Output io.Writer
	// Context stops the kernels that run when it is done, such as one that never
	// ends; the device then fails every call. nil means never.
	Context context.Context
}

// Fault is what stopped a kernel, for errors.As on what Synchronize and other
// waits return. Its fields say where: Kernel, Line (of the PTX, from 1), Source
// (the Python file and line), Instr (the instruction), CTA and Thread (indices, of
// X, Y and Z), Argument (the kernel parameter concerned, from 0, or -1), and what:
// Kind and Msg.
type Fault = exec.Fault

// FaultKind is what sort of fault it is, as far as a driver tells them apart.
type FaultKind = exec.Kind

// The kinds of faults.
const (
	FaultOther      FaultKind = exec.Other      // a race, a barrier, a trap
	FaultAddress    FaultKind = exec.Address    // memory that is not there, or was never written
	FaultMisaligned FaultKind = exec.Misaligned // an address that is no multiple of the access's size
	FaultAssertion  FaultKind = exec.Assertion  // a device assertion
)

// maxMemory bounds a device's memory by what its table of allocations can be.
const maxMemory = 1 << 40

// Open makes a simulated device. Each is a device of its own, with its own
// memory; Close gives it up.
func Open(o Options) (*kernrt.Device, error) {
	if o.Target == "" {
		o.Target = "sm_80"
	}
	sm, err := parseTarget(o.Target)
	if err != nil {
		return nil, err
	}
	if o.Output == nil {
		o.Output = os.Stdout
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Memory == 0 {
		o.Memory = 16 << 30
	}
	about := info(sm, o.Memory)
	if o.Memory > maxMemory {
		return nil, fmt.Errorf("simulated device: memory of %d bytes; at most %d are possible", o.Memory, uint64(maxMemory))
	}
	d := driver.New(driver.Config{
		Device:        exec.NewDevice(exec.Options{Memory: o.Memory, Unchecked: o.Unchecked, Workers: o.Workers, Output: o.Output}),
		Context:       o.Context,
		Deterministic: o.Deterministic,
		SM: driver.Multiprocessor{
			Count: about.SMCount, Threads: about.MaxThreadsPerSM, CTAs: about.MaxBlocksPerSM,
			Shared: about.SharedPerSM, SharedSystem: about.SharedPerSM - about.SharedPerBlockOptin,
		},
	})
	return kernrt.Simulated(d, about), nil
}

func init() {
	kernrt.RegisterSimulator(func(target string) (*kernrt.Device, error) { return Open(Options{Target: target}) })
}

var targetForm = regexp.MustCompile(`^sm_(\d{2,3})$`)

func parseTarget(target string) (sm int, err error) {
	if m := targetForm.FindStringSubmatch(target); m != nil {
		sm, _ = strconv.Atoi(m[1])
	}
	switch sm {
	case 75, 80, 86, 87, 89:
		return sm, nil
	}
	return 0, fmt.Errorf("simulated device: target %q: it simulates sm_75, sm_80, sm_86, sm_87 and sm_89", target)
}

// info describes the device: what a GPU of that architecture has, where kernels
// can tell.
func info(sm int, memory uint64) kernrt.DeviceInfo {
	shared := map[int]int{75: 64 << 10, 80: 164 << 10, 86: 100 << 10, 87: 164 << 10, 89: 100 << 10}[sm]
	const system = 1 << 10 // bytes of a CTA's shared memory that the system takes
	optin := shared - system
	if sm == 75 {
		optin = shared
	}
	threads, ctas := 1536, 16
	switch sm {
	case 75:
		threads = 1024
	case 80:
		threads, ctas = 2048, 32
	case 89:
		ctas = 24
	}
	return kernrt.DeviceInfo{
		UUID:                fmt.Sprintf("GPU-00000000-0000-0000-0000-%012d", sm),
		Name:                "simulated device",
		ComputeCapability:   [2]int{sm / 10, sm % 10},
		SMCount:             16,
		TotalMemory:         memory,
		SharedPerBlock:      48 << 10,
		SharedPerBlockOptin: optin,
		SharedPerSM:         shared,
		RegistersPerBlock:   64 << 10,
		WarpSize:            32,
		MaxThreadsPerBlock:  1024,
		MaxThreadsPerSM:     threads,
		MaxBlocksPerSM:      ctas,
		MaxBlock:            [3]int{1024, 1024, 64},
		MaxGrid:             [3]int{1<<31 - 1, 65535, 65535},
		MemoryBusWidth:      64,
		L2CacheSize:         4 << 20,
		ConcurrentKernels:   true,
		CooperativeLaunch:   true,
		MemoryPools:         true,
		DriverVersion:       13000,
	}
}
