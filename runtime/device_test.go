package kernrt_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestDeviceInfo(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(2)
	d.SetName(1, "NVIDIA Test")
	d.SetMemory(1, 1<<33)
	d.SetDriverVersion(12080)
	for attribute, value := range map[int]int{
		1: 101, 2: 102, 3: 103, 4: 104, 5: 105, 6: 106, 7: 107, 8: 108, 10: 110, 12: 112, 16: 116, 31: 1, 37: 137, 38: 138,
		39: 139, 75: 8, 76: 9, 81: 181, 95: 0, 97: 197, 106: 206, 115: 0,
	} {
		d.SetAttribute(1, attribute, value)
	}
	infos, err := kernrt.Devices()
	must(t, err)
	if len(infos) != 2 {
		t.Fatalf("%d devices, want 2", len(infos))
	}
	want := kernrt.DeviceInfo{
		Ordinal: 1, UUID: "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfe01", Name: "NVIDIA Test", ComputeCapability: [2]int{8, 9},
		SMCount: 116, TotalMemory: 1 << 33, SharedPerBlock: 108, SharedPerBlockOptin: 197, SharedPerSM: 181,
		RegistersPerBlock: 112, WarpSize: 110, MaxThreadsPerBlock: 101, MaxThreadsPerSM: 139, MaxBlocksPerSM: 206,
		MaxBlock: [3]int{102, 103, 104}, MaxGrid: [3]int{105, 106, 107}, MemoryBusWidth: 137, L2CacheSize: 138,
		ConcurrentKernels: true, CooperativeLaunch: false, MemoryPools: false, DriverVersion: 12080,
	}
	if diff := cmp.Diff(want, infos[1]); diff != "" {
		t.Errorf("Devices (-want +got):\n%s", diff)
	}
	for _, prefix := range []string{"MIG-", "mig-", "gpu-", ""} { // MIG: as nvidia-smi names a part of a GPU
		dev, err := kernrt.OpenUUID(prefix + strings.TrimPrefix(want.UUID, "GPU-"))
		must(t, err)
		if dev.Info().Ordinal != 1 {
			t.Errorf("prefix %q: opened %v", prefix, dev)
		}
		must(t, dev.Close())
	}
	dev, err := kernrt.OpenUUID(strings.ToUpper(want.UUID))
	must(t, err)
	defer dev.Close()
	if diff := cmp.Diff(want, dev.Info()); diff != "" {
		t.Errorf("Info (-want +got):\n%s", diff)
	}
	if got := dev.String(); got != "NVIDIA Test (device 1, sm_89)" {
		t.Errorf("the device is called %q", got)
	}
}

func TestNoSuchDevice(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(2)
	_, err := kernrt.Open(2)
	wantError(t, err, kernrt.ErrNoDevice, "device 2: the driver shows 2, from 0")
	_, err = kernrt.Open(-1)
	wantError(t, err, kernrt.ErrNoDevice, "device -1: the driver shows 2, from 0")
	_, err = kernrt.OpenUUID("GPU-1")
	wantError(t, err, kernrt.ErrNoDevice, `no device has UUID "GPU-1"; there are GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfe00, GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfe01`)
	d.SetDeviceCount(0)
	const none = "no CUDA device: the driver shows none (is CUDA_VISIBLE_DEVICES set?)"
	_, err = kernrt.Open(0)
	wantError(t, err, kernrt.ErrNoDevice, none)
	_, err = kernrt.OpenUUID("GPU-1")
	wantError(t, err, kernrt.ErrNoDevice, none)
	_, err = kernrt.Devices()
	wantError(t, err, kernrt.ErrNoDevice, none)
}

func TestDevicesFail(t *testing.T) {
	for _, call := range []string{"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetUuid_v2", "cuDeviceTotalMem_v2", "cuDriverGetVersion", "cuDeviceGetAttribute"} {
		d := driver(t)
		d.FailNext(call, 999, 0)
		_, err := kernrt.Devices()
		wantCall(t, err, call)
		d.FailNext(call, 999, 0)
		_, err = kernrt.OpenUUID("GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfe00")
		wantCall(t, err, call)
	}
}

func TestCloseGivesEverythingBack(t *testing.T) {
	d := driver(t)
	dev := open(t, 0)
	// Without this second one the context's end would take all with it.
	second := open(t, 0)
	var streams []*kernrt.Stream
	for range 3 {
		s := newStream(t, dev)
		streams = append(streams, s)
		k := add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{Size: 64}))
		must(t, kernrt.Launch(k, s, kernrt.Grid1D(1), addArgsOf(16)))
		_, err := kernrt.Alloc[float64](dev, 5)
		must(t, err)
	}
	must(t, streams[1].Close())
	must(t, dev.Close())
	if leaks := d.Leaks(); len(leaks) != 1 || leaks[0].Kind != "context" || leaks[0].Amount != 1 {
		t.Errorf("still alive: %+v, want the second device's context", leaks)
	}
	if n := d.Count("cuStreamSynchronize"); n != 3 {
		t.Errorf("%d waits, want one a stream", n)
	}

	wantError(t, dev.Close(), kernrt.ErrClosed, "close "+h200+": it is closed already")
	_, err := dev.NewStream()
	wantError(t, err, kernrt.ErrClosed, "new stream: "+h200+" is closed")
	_, err = kernrt.Alloc[int8](dev, 1)
	wantError(t, err, kernrt.ErrClosed, "allocate 1 bytes: "+h200+" is closed")
	wantError(t, streams[0].Close(), kernrt.ErrClosed, "close: the stream is closed already")
	err = kernrt.Launch(add(t), streams[2], kernrt.Grid1D(1), addArgsOf(16))
	wantError(t, err, kernrt.ErrClosed, onH200+"(1, 1, 1): the stream is closed")
	must(t, second.Close())
}

// Whatever fails, the rest is given back, and all that failed is told.
func TestCloseGoesOnAfterFailures(t *testing.T) {
	calls := []string{"cuStreamSynchronize", "cuMemFreeAsync", "cuStreamDestroy_v2", "cuMemFree_v2", "cuModuleUnload", "cuDevicePrimaryCtxRelease_v2"}
	d, dev, stream := onDevice0(t)
	must(t, kernrt.Launch(add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{})), stream, kernrt.Grid1D(1), addArgsOf(16)))
	_, err := kernrt.Alloc[float64](dev, 5)
	must(t, err)
	for _, call := range calls {
		d.FailAlways(call, 999)
	}
	err = dev.Close()
	for _, call := range calls {
		if err == nil || !strings.Contains(err.Error(), call+": CUDA_ERROR_UNKNOWN") {
			t.Errorf("error %v does not name %s", err, call)
		}
	}
	if errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("error %v says that it was closed before", err)
	}
	d.Reset()
	d.Call("cuDevicePrimaryCtxRelease_v2", 0)
}

func TestDevicesThatWereNeverOpened(t *testing.T) {
	driver(t)
	for _, dev := range []*kernrt.Device{nil, {}} {
		const text = "there is no device; open one with Open"
		wantError(t, dev.Close(), kernrt.ErrArgument, "close: "+text)
		_, err := dev.NewStream()
		wantError(t, err, kernrt.ErrArgument, "new stream: "+text)
		_, err = dev.StreamFromHandle(0)
		wantError(t, err, kernrt.ErrArgument, "stream 0x0: "+text)
	}
}
