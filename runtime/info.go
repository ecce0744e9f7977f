package kernrt

import (
	"fmt"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// DeviceInfo is what a device is and has. Sizes are in bytes.
type DeviceInfo struct {
	Ordinal             int    // among the devices that the driver shows this process
	UUID                string // "GPU-…", as nvidia-smi prints it
	Name                string
	ComputeCapability   [2]int // major, minor
	SMCount             int    // streaming multiprocessors
	TotalMemory         uint64
	SharedPerBlock      int // shared memory a block may have without asking for more
	SharedPerBlockOptin int // and the most it may ask for
	SharedPerSM         int
	RegistersPerBlock   int // 32-bit registers
	WarpSize            int // threads
	MaxThreadsPerBlock  int
	MaxThreadsPerSM     int
	MaxBlocksPerSM      int
	MaxBlock            [3]int // threads in x, y, z
	MaxGrid             [3]int // blocks in x, y, z
	MemoryBusWidth      int    // bits
	L2CacheSize         int
	ConcurrentKernels   bool // may run several kernels at once
	CooperativeLaunch   bool // can launch cooperative grids
	MemoryPools         bool // allocates in stream order
	DriverVersion       int  // newest CUDA that the driver supports: 13000 is 13.0
}

// sm is the architecture's number: 90 for compute capability 9.0.
func (i *DeviceInfo) sm() int { return i.ComputeCapability[0]*10 + i.ComputeCapability[1] }

// String names the device for messages: "NVIDIA H200 (device 0, sm_90)".
func (i *DeviceInfo) String() string {
	return fmt.Sprintf("%s (device %d, sm_%d)", i.Name, i.Ordinal, i.sm())
}

func readInfo(ordinal int, d cuda.Device) (*DeviceInfo, error) {
	info := &DeviceInfo{Ordinal: ordinal}
	var failed cuda.Status
	check := func(s cuda.Status) {
		if failed == cuda.OK {
			failed = s
		}
	}
	number := func(attribute int) int {
		v, s := d.Attribute(attribute)
		check(s)
		return v
	}
	var s cuda.Status
	info.Name, s = d.Name()
	check(s)
	uuid, s := d.UUID()
	check(s)
	info.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", uuid[0:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:16])
	info.TotalMemory, s = d.TotalMemory()
	check(s)
	info.DriverVersion, s = cuda.DriverVersion()
	check(s)
	info.ComputeCapability = [2]int{number(cuda.ComputeCapabilityMajor), number(cuda.ComputeCapabilityMinor)}
	info.SMCount = number(cuda.MultiprocessorCount)
	info.SharedPerBlock = number(cuda.MaxSharedPerBlock)
	info.SharedPerBlockOptin = number(cuda.MaxSharedPerBlockOptin)
	info.SharedPerSM = number(cuda.MaxSharedPerSM)
	info.RegistersPerBlock = number(cuda.MaxRegistersPerBlock)
	info.WarpSize = number(cuda.WarpSize)
	info.MaxThreadsPerBlock = number(cuda.MaxThreadsPerBlock)
	info.MaxThreadsPerSM = number(cuda.MaxThreadsPerSM)
	info.MaxBlocksPerSM = number(cuda.MaxBlocksPerSM)
	info.MaxBlock = [3]int{number(cuda.MaxBlockDimX), number(cuda.MaxBlockDimY), number(cuda.MaxBlockDimZ)}
	info.MaxGrid = [3]int{number(cuda.MaxGridDimX), number(cuda.MaxGridDimY), number(cuda.MaxGridDimZ)}
	info.MemoryBusWidth = number(cuda.MemoryBusWidth)
	info.L2CacheSize = number(cuda.L2CacheSize)
	info.ConcurrentKernels = number(cuda.ConcurrentKernels) != 0
	info.CooperativeLaunch = number(cuda.CooperativeLaunch) != 0
	info.MemoryPools = number(cuda.MemoryPoolsSupported) != 0
	if failed != cuda.OK {
		return nil, fmt.Errorf("device %d: %w", ordinal, driverError(failed))
	}
	return info, nil
}

// driver is the newest CUDA that the driver supports: "13.0".
func (i *DeviceInfo) driver() string {
	return fmt.Sprintf("%d.%d", i.DriverVersion/1000, i.DriverVersion%1000/10)
}
