package kernrt

import (
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// launchWithGiven is a launch with the scratch memory of WithScratch, into a
// graph too. The caller holds s.scratch.mu.
func (p *plan) launchWithGiven(s *Stream, grid Grid, args unsafe.Pointer, ctas uint64) error {
	given := s.scratch.given
	if given.mem.freed.Load() {
		return faultf(ErrClosed, "the stream's scratch memory is freed")
	}
	var addresses, sizes [2]uint64
	base := given.ptr.address
	end := base
	for kind, need := range p.scratchNeeds() {
		if need.Size == 0 {
			continue
		}
		size, err := need.bytes(ctas)
		if err != nil {
			return err
		}
		align := uint64(max(need.Align, 1))
		addresses[kind] = (end + align - 1) &^ (align - 1)
		sizes[kind] = size
		if end = addresses[kind] + size; end < size || end-base > uint64(given.len) {
			return faultf(ErrLimit, "the launch needs at least %d bytes of scratch memory at %v, of which WithScratch gave the stream %d", end-base, given.ptr, given.len)
		}
	}
	if value, fill := s.scratchFill(); fill {
		for kind, address := range addresses {
			if sizes[kind] == 0 {
				continue
			}
			if status := s.dev.ctx.FillAsync(s.handle, address, value, sizes[kind]); status != cuda.OK {
				return driverError(status)
			}
		}
	}
	return driverError(p.queueCaptured(s, grid, args, addresses))
}
