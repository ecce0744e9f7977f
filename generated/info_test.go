package generated_test

import (
	"reflect"
	"strings"
	"testing"
)

func TestDeviceInfo(t *testing.T) {
	info := device(t).Info()
	for v, i := reflect.ValueOf(info), 0; i < v.NumField(); i++ {
		t.Logf("%-20s %v", v.Type().Field(i).Name, v.Field(i))
	}
	for what, plausible := range map[string]bool{
		"ordinal":                    info.Ordinal == 0,
		"UUID":                       strings.HasPrefix(info.UUID, "GPU-") && len(info.UUID) == len("GPU-00000000-0000-0000-0000-000000000000"),
		"name":                       info.Name != "",
		"compute capability":         info.ComputeCapability[0] >= 8 && info.ComputeCapability[1] >= 0 && info.ComputeCapability[1] < 10,
		"SM count":                   info.SMCount > 0 && info.SMCount < 1000,
		"total memory":               info.TotalMemory >= 1<<30 && info.TotalMemory < 1<<40,
		"shared memory":              info.SharedPerBlock >= 48<<10 && info.SharedPerBlockOptin >= info.SharedPerBlock && info.SharedPerSM >= info.SharedPerBlockOptin,
		"registers":                  info.RegistersPerBlock == 1<<16,
		"warp size":                  info.WarpSize == 32,
		"threads":                    info.MaxThreadsPerBlock == 1024 && info.MaxThreadsPerSM >= 1024 && info.MaxThreadsPerSM%32 == 0,
		"blocks per SM":              info.MaxBlocksPerSM >= 16,
		"largest block":              info.MaxBlock == [3]int{1024, 1024, 64},
		"largest grid":               info.MaxGrid == [3]int{1<<31 - 1, 1<<16 - 1, 1<<16 - 1},
		"memory bus":                 info.MemoryBusWidth >= 32 && info.MemoryBusWidth%32 == 0,
		"L2 cache":                   info.L2CacheSize >= 1<<20,
		"concurrent kernels":         info.ConcurrentKernels,
		"cooperative launch":         info.CooperativeLaunch,
		"driver, CUDA 11.8 or later": info.DriverVersion >= 11080 && info.DriverVersion%10 == 0,
	} {
		if !plausible {
			t.Errorf("not plausible: %s", what)
		}
	}
}
