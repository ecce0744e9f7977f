package kernrt

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/kerngen/kerngen/runtime/internal/capture"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Device is a GPU that the program has opened. It owns the streams and buffers
// made from it and the kernels loaded on it, until Close. A program opens a
// device once and shares it; a second Open of one GPU shares its memory and
// context, but loads kernels again.
type Device struct {
	info   *DeviceInfo
	handle cuda.Device
	ctx    cuda.Driver // the primary context, retained, or a simulated device
	debug  bool        // KERNGEN_DEBUG=1

	debugging sync.Mutex // held by a launch that waits with KERNGEN_DEBUG=1

	// Held for reading while a call uses the device, so that Close cannot pull
	// it away from under one.
	use    sync.RWMutex
	closed bool

	mu      sync.Mutex // guards what follows
	streams map[*Stream]struct{}
	events  map[*Event]struct{}
	pools   map[*Pool]struct{}
	memory  map[*memory]struct{} // what Close frees
	pinned  map[*pinned]struct{}
	stats   MemoryStats
	loaded  []*onDevice // kernels with images on this device

	// What package graph holds.
	captures map[uint64]*capture.Scratch // by the driver's id
	owned    map[capture.Owned]struct{}  // for Close to give back
}

// Devices describes the devices that the driver shows, by ordinal. No devices
// is ErrNoDevice; no driver is ErrNoDriver; both are ErrNoGPU.
func Devices() ([]DeviceInfo, error) {
	n, err := deviceCount()
	if err != nil {
		return nil, err
	}
	infos := make([]DeviceInfo, n)
	for ordinal := range infos {
		d, s := cuda.DeviceAt(ordinal)
		if s != cuda.OK {
			return nil, fmt.Errorf("device %d: %w", ordinal, driverError(s))
		}
		info, err := readInfo(ordinal, d)
		if err != nil {
			return nil, err
		}
		infos[ordinal] = *info
	}
	return infos, nil
}

// Open opens a device by its ordinal, from 0, and retains its primary context.
// With KERNGEN_DEVICE=sim in the environment it makes a simulated device instead,
// if the program imports package sim.
func Open(ordinal int) (*Device, error) {
	if d, err := openSimulated(); d != nil || err != nil {
		return d, err
	}
	n, err := deviceCount()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, faultf(ErrNoDevice, "device %d: the driver shows %d, from 0", ordinal, n)
	}
	handle, s := cuda.DeviceAt(ordinal)
	if s != cuda.OK {
		return nil, fmt.Errorf("device %d: %w", ordinal, driverError(s))
	}
	info, err := readInfo(ordinal, handle)
	if err != nil {
		return nil, err
	}
	ctx, s := handle.Retain()
	if s != cuda.OK {
		return nil, fmt.Errorf("open %v: %w", info, driverError(s))
	}
	return newDevice(info, handle, ctx), nil
}

func newDevice(info *DeviceInfo, handle cuda.Device, driver cuda.Driver) *Device {
	return &Device{
		info:    info,
		handle:  handle,
		ctx:     driver,
		debug:   os.Getenv("KERNGEN_DEBUG") == "1",
		streams: map[*Stream]struct{}{},
		events:  map[*Event]struct{}{},
		pools:   map[*Pool]struct{}{},
		memory:  map[*memory]struct{}{},
		pinned:  map[*pinned]struct{}{},

		captures: map[uint64]*capture.Scratch{},
		owned:    map[capture.Owned]struct{}{},
	}
}

// OpenUUID opens a device by its UUID as DeviceInfo and nvidia-smi give it,
// which stays the same whatever devices a process is shown. That of a MIG
// instance begins with "MIG-" in nvidia-smi, and with "GPU-" in DeviceInfo, since
// the driver does not tell them apart; both are taken.
func OpenUUID(uuid string) (*Device, error) {
	if d, err := openSimulated(); d != nil || err != nil {
		return d, err
	}
	infos, err := Devices()
	if err != nil {
		return nil, err
	}
	var have []string
	for _, info := range infos {
		if strings.EqualFold(bareUUID(info.UUID), bareUUID(uuid)) {
			return Open(info.Ordinal)
		}
		have = append(have, info.UUID)
	}
	return nil, faultf(ErrNoDevice, "no device has UUID %q; there are %s", uuid, strings.Join(have, ", "))
}

// bareUUID is a UUID without the prefix that says what it is of.
func bareUUID(uuid string) string {
	const prefix = len("GPU-")
	if len(uuid) > prefix && (strings.EqualFold(uuid[:prefix], "GPU-") || strings.EqualFold(uuid[:prefix], "MIG-")) {
		return uuid[prefix:]
	}
	return uuid
}

func deviceCount() (int, error) {
	if err := cuda.Open(); err != nil {
		var start *cuda.StartError
		if errors.As(err, &start) && start.Status.Result() == cuda.NoDevice {
			return 0, faultf(ErrNoDevice, "no CUDA device: %v", err)
		}
		return 0, faultf(ErrNoDriver, "no CUDA driver: %v", err)
	}
	n, s := cuda.DeviceCount()
	if s != cuda.OK {
		return 0, driverError(s)
	}
	if n == 0 {
		return 0, faultf(ErrNoDevice, "no CUDA device: the driver shows none (is CUDA_VISIBLE_DEVICES set?)")
	}
	return n, nil
}

// Info describes the device.
func (d *Device) Info() DeviceInfo { return *d.info }

// String names the device for messages: "NVIDIA H200 (device 0, sm_90)".
func (d *Device) String() string { return d.info.String() }

// Close waits for the device's streams, closes them, its events and pools, frees
// its buffers, those of pinned memory too, unloads its kernels and gives the
// primary context back. Whatever fails on the way,
// the rest is still given back; the error tells all that failed. A second Close
// is ErrClosed. While one of its streams is being captured that is ErrCapturing,
// and changes nothing.
func (d *Device) Close() error {
	if err := d.check(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	d.use.Lock()
	defer d.use.Unlock()
	if d.closed {
		return faultf(ErrClosed, "close %v: it is closed already", d)
	}
	d.mu.Lock() // against streams that are being closed
	streams := slices.Collect(maps.Keys(d.streams))
	d.mu.Unlock()
	var errs []error
	for _, s := range streams {
		err := s.idle()
		if errors.Is(err, ErrCapturing) {
			return fmt.Errorf("close %v: %w", d, err)
		}
		errs = append(errs, err)
	}
	d.closed = true

	for _, s := range streams {
		if err := s.close(true); !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, d.releaseOwned())
	// No launch is left that could load a kernel.
	errs = append(errs, d.freeAll()...)
	d.mu.Lock() // against events and pools that are being closed
	events, pools := slices.Collect(maps.Keys(d.events)), slices.Collect(maps.Keys(d.pools))
	d.mu.Unlock()
	for _, e := range events {
		if err := e.close(true); !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	for _, p := range pools {
		if err := p.close(true); !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	for _, k := range d.loaded {
		errs = append(errs, k.unload())
	}
	errs = append(errs, driverError(d.ctx.Release(d.handle)))
	if err := joined(errs...); err != nil {
		return fmt.Errorf("close %v: %w", d, err)
	}
	return nil
}

// check refuses a nil Device and the zero one.
func (d *Device) check() error {
	if d == nil || d.info == nil {
		return faultf(ErrArgument, "there is no device; open one with Open")
	}
	return nil
}

// acquire keeps the device open until its use is unlocked for reading.
func (d *Device) acquire() error {
	if err := d.check(); err != nil {
		return err
	}
	d.use.RLock()
	if d.closed {
		d.use.RUnlock()
		return faultf(ErrClosed, "%v is closed", d)
	}
	return nil
}
