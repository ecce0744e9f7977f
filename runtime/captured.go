package kernrt

import (
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/capture"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// launchCaptured makes a launch that needs scratch memory part of a graph, which
// finds it memory later: see package capture. The caller holds s.scratch.mu.
func (p *plan) launchCaptured(s *Stream, grid Grid, args unsafe.Pointer, ctas uint64) error {
	info, status := s.dev.ctx.CaptureInfo(s.handle)
	if status != cuda.OK {
		return driverError(status)
	}
	if info.State != cuda.CaptureActive {
		return faultf(ErrCapturing, "the stream's capture was spoilt before, by a call that cannot be captured")
	}
	graph := s.dev.captured(info.ID)
	if graph == nil {
		return faultf(ErrCapturing, "the kernel needs scratch memory, which this capture has no owner for: it was not begun by graph.Capture; begin it there, or launch outside the capture")
	}
	if s.zeroed {
		return faultf(ErrCapturing, "the stream zeroes scratch memory for each launch, which a graph cannot; capture a stream without WithZeroedScratch")
	}
	var scratch [2]uint64
	for kind, need := range p.scratchNeeds() {
		if need.Size == 0 {
			continue
		}
		size, err := need.bytes(ctas)
		if err != nil {
			return err
		}
		scratch[kind] = graph.Take(uintptr(s.handle), kind, size, uint64(need.Align))
	}
	return driverError(p.queueCaptured(s, grid, args, scratch))
}

// scratchNeeds is what the image's scratch pointers are for, in order.
func (p *plan) scratchNeeds() [2]Scratch {
	return [2]Scratch{p.image.GlobalScratch, p.image.ProfileScratch}
}

// captured is the scratch memory of the capture with an id of the driver's, nil
// where package graph did not begin it.
func (d *Device) captured(id uint64) *capture.Scratch {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.captures[id]
}

// queueCaptured is queue where the scratch memory may become part of a graph.
func (p *plan) queueCaptured(s *Stream, grid Grid, args unsafe.Pointer, scratch [2]uint64) cuda.Status {
	x, y, z := p.inCTAs(grid)
	if p.sim != nil {
		return p.sim.launcher.LaunchCaptured(s.handle, x, y, z, p.sim.copy(args), scratch[0], scratch[1])
	}
	return p.call.LaunchCaptured(s.handle, x, y, z, args, scratch[0], scratch[1])
}
