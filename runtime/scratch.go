package kernrt

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// scratch is the memory that launches on one stream use one after another. The
// stream's order keeps them apart, so it never waits, and it grows only, so
// that a steady launch allocates nothing.
type scratch struct {
	// Held from sizing to launch, so that another launch cannot replace memory
	// that this one is about to be given.
	mu      sync.Mutex
	global  scratchBuffer
	profile scratchBuffer
	retired []uint64 // no longer used, but could not be freed in stream order

	given *Slice[uint8] // used instead of all these; nil: none
}

type scratchBuffer struct {
	address uint64 // as allocated
	size    uint64 // bytes
}

const (
	allocAlign = 256  // what the driver aligns allocations to, bytes
	poison     = 0xa5 // what KERNGEN_DEBUG fills scratch with
)

// errCapturing says that the stream is being captured, and so that its own
// scratch memory may not be used.
var errCapturing = errors.New("capturing")

// take returns the addresses of global and profile scratch. The caller holds
// c.mu.
func (c *scratch) take(s *Stream, needs [2]Scratch, ctas uint64) (global, profile uint64, err error) {
	if global, err = c.global.take(s, needs[0], ctas); err == nil {
		profile, err = c.profile.take(s, needs[1], ctas)
	}
	return global, profile, err
}

// bytes is what so many CTAs need, together with the slack below 2^64.
func (need Scratch) bytes(ctas uint64) (uint64, error) {
	high, size := bits.Mul64(uint64(need.Size), ctas)
	if _, carry := bits.Add64(size, need.slack(), 0); high != 0 || carry != 0 {
		return 0, faultf(ErrLimit, "%d CTAs x %d bytes of scratch overflow 64 bits", ctas, need.Size)
	}
	return size, nil
}

// slack is what an allocation may have to skip to be aligned, in bytes.
func (need Scratch) slack() uint64 { return uint64(max(need.Align, allocAlign) - allocAlign) }

// take returns an address for a launch of so many CTAs, 0 where the image needs
// no such scratch. The caller holds s.scratch.mu.
func (b *scratchBuffer) take(s *Stream, need Scratch, ctas uint64) (uint64, error) {
	if need.Size == 0 {
		return 0, nil
	}
	size, err := need.bytes(ctas)
	if err != nil {
		return 0, err
	}
	slack := need.slack()
	total := size + slack
	value, fill := s.scratchFill()
	if fill || total > b.size {
		// Here, not only at the launch: what is allocated during a capture is
		// the graph's memory.
		capturing, status := s.dev.ctx.IsCapturing(s.handle)
		if capturing && status == cuda.OK {
			status = cuda.Capturing
		}
		if status != cuda.OK {
			return 0, statusError(status)
		}
	}
	if total > b.size {
		if err := b.grow(s, total); err != nil {
			return 0, err
		}
	}
	address := (b.address + slack) &^ uint64(max(need.Align, 1)-1)
	if fill {
		if status := s.dev.ctx.FillAsync(s.handle, address, value, size); status != cuda.OK {
			return 0, driverError(status)
		}
	}
	return address, nil
}

// scratchFill tells what scratch is filled with before a launch, if anything.
func (s *Stream) scratchFill() (value byte, fill bool) {
	switch {
	case s.zeroed:
		return 0, true
	case s.debug:
		return poison, true
	}
	return 0, false
}

// grow replaces the buffer by one of at least size bytes, doubling where there
// is room, so that growing grids reallocate rarely.
func (b *scratchBuffer) grow(s *Stream, size uint64) error {
	got := max(size, 2*b.size)
	address, status := s.allocScratch(got)
	if status.Result() == cuda.OutOfMemory && got > size {
		got = size
		address, status = s.allocScratch(got)
	}
	if status != cuda.OK {
		return fmt.Errorf("scratch of %s: %w", bytesText(size), driverError(status))
	}
	old := *b
	*b = scratchBuffer{address, got}
	if old.address == 0 {
		return nil
	}
	return s.retireScratch(old.address)
}

func (s *Stream) allocScratch(size uint64) (uint64, cuda.Status) {
	if s.dev.info.MemoryPools {
		return s.dev.ctx.AllocAsync(s.handle, size)
	}
	return s.dev.ctx.Alloc(size)
}

// retireScratch gives memory up once the launches queued so far are done: in
// stream order, or with the stream where that cannot be.
func (s *Stream) retireScratch(address uint64) error {
	var err error
	if s.dev.info.MemoryPools {
		if err = driverError(s.dev.ctx.FreeAsync(s.handle, address)); err == nil {
			return nil
		}
	}
	s.scratch.retired = append(s.scratch.retired, address)
	return err
}

// free gives all scratch back; the stream is idle and no longer used. What the
// driver refuses to free is left for the device's Close.
func (c *scratch) free(s *Stream) error {
	var errs []error
	for _, b := range []*scratchBuffer{&c.global, &c.profile} {
		if b.address != 0 {
			errs = append(errs, s.retireScratch(b.address))
			*b = scratchBuffer{}
		}
	}
	for _, address := range c.retired {
		if status := s.dev.ctx.Free(address); status != cuda.OK {
			errs = append(errs, driverError(status))
			s.dev.keep(&memory{dev: s.dev, address: address})
		}
	}
	c.retired = nil
	return joined(errs...)
}
