package kernrt

import (
	"fmt"
	"sync"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Pool is device memory that is allocated and freed in the order of streams, so
// that neither waits, and kept for later. Goroutines may share a Pool.
type Pool struct {
	// Held for reading while the pool is in use, as a Stream's.
	mu     sync.RWMutex
	closed bool
	dev    *Device
	handle cuda.Pool
}

// PoolStats is a Pool's memory in bytes, as the driver counts it.
type PoolStats struct {
	InUse        uint64 // allocated and not freed
	Peak         uint64 // the most that InUse has been
	Reserved     uint64 // taken from the device: in use or kept for later
	ReservedPeak uint64 // the most that Reserved has been
}

// NewPool makes a pool of the device's memory. Of what is freed the pool keeps up
// to releaseThreshold bytes, counted with what is in use, whenever a stream or
// event is waited for; what is beyond goes back to the device. 0 keeps none,
// math.MaxUint64 all. A device without memory pools is ErrLimit.
func (d *Device) NewPool(releaseThreshold uint64) (*Pool, error) {
	if err := d.acquire(); err != nil {
		return nil, fmt.Errorf("new pool: %w", err)
	}
	defer d.use.RUnlock()
	if !d.info.MemoryPools {
		return nil, faultf(ErrLimit, "new pool: %v has no memory pools; use Alloc", d)
	}
	handle, status := d.ctx.NewPool(d.handle)
	if status != cuda.OK {
		return nil, fmt.Errorf("new pool on %v: %w", d, driverError(status))
	}
	if status := d.ctx.SetPoolAttribute(handle, cuda.PoolReleaseThreshold, releaseThreshold); status != cuda.OK {
		err := joined(driverError(status), driverError(d.ctx.DestroyPool(handle)))
		return nil, fmt.Errorf("new pool on %v: release threshold %d: %w", d, releaseThreshold, err)
	}
	p := &Pool{dev: d, handle: handle}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pools[p] = struct{}{}
	return p, nil
}

// AllocAsync allocates memory for n Ts from the pool, for what is queued on
// stream after it; work on other streams must wait for an event of that stream
// first. It does not wait. A Buffer of no elements has a null Ptr. While the stream
// is being captured it is ErrCapturing.
func AllocAsync[T Elem](p *Pool, stream *Stream, n int) (*Buffer[T], error) {
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, err
	}
	m, err := p.alloc(stream, size)
	if err != nil {
		return nil, fmt.Errorf("allocate %s: %w", bytesText(size), err)
	}
	return bufferOf[T](m, n), nil
}

func (p *Pool) alloc(stream *Stream, size uint64) (*memory, error) {
	if err := p.acquire(); err != nil {
		return nil, err
	}
	defer p.mu.RUnlock()
	if err := stream.acquire(); err != nil {
		return nil, err
	}
	defer stream.mu.RUnlock()
	if stream.dev != p.dev {
		return nil, faultf(ErrOtherDevice, "the pool is on %v, the stream on %v", p.dev, stream.dev)
	}
	if err := stream.refuseCaptured("memory allocated in a graph is the graph's"); err != nil {
		return nil, err
	}
	m := &memory{dev: p.dev, bytes: size, pooled: true}
	if size == 0 {
		return m, nil
	}
	address, status := p.dev.ctx.AllocFromPool(p.handle, stream.handle, size)
	if status != cuda.OK {
		return nil, fmt.Errorf("from a pool on %v: %w", p.dev, driverError(status))
	}
	m.address = address
	p.dev.keep(m)
	return m, nil
}

// Trim gives memory that is kept for later back to the device, until the pool
// has at most keep bytes reserved or has only what is in use.
func (p *Pool) Trim(keep uint64) error {
	if err := p.acquire(); err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	defer p.mu.RUnlock()
	if status := p.dev.ctx.TrimPool(p.handle, keep); status != cuda.OK {
		return fmt.Errorf("trim a pool on %v: %w", p.dev, driverError(status))
	}
	return nil
}

// Stats asks the driver for the pool's figures.
func (p *Pool) Stats() (PoolStats, error) {
	if err := p.acquire(); err != nil {
		return PoolStats{}, fmt.Errorf("pool statistics: %w", err)
	}
	defer p.mu.RUnlock()
	var stats PoolStats
	for _, figure := range []struct {
		attribute int
		value     *uint64
	}{
		{cuda.PoolUsed, &stats.InUse}, {cuda.PoolUsedHigh, &stats.Peak},
		{cuda.PoolReserved, &stats.Reserved}, {cuda.PoolReservedHigh, &stats.ReservedPeak},
	} {
		v, status := p.dev.ctx.PoolAttribute(p.handle, figure.attribute)
		if status != cuda.OK {
			return PoolStats{}, fmt.Errorf("statistics of a pool on %v: %w", p.dev, driverError(status))
		}
		*figure.value = v
	}
	return stats, nil
}

// Close gives the pool up. Buffers from it stay good until they are freed. A
// second Close is ErrClosed; where the driver refuses, the pool stays and Close
// may be tried again.
func (p *Pool) Close() error {
	if err := p.check(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return p.close(false)
}

// close is Close; with last set there is no other try, since the device goes.
func (p *Pool) close(last bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return faultf(ErrClosed, "close: the pool is closed already")
	}
	status := p.dev.ctx.DestroyPool(p.handle)
	if p.closed = gone(status) || last; p.closed {
		p.dev.mu.Lock()
		defer p.dev.mu.Unlock()
		delete(p.dev.pools, p)
	}
	if status != cuda.OK {
		return fmt.Errorf("close a pool on %v: %w", p.dev, driverError(status))
	}
	return nil
}

// check refuses a nil Pool and the zero one.
func (p *Pool) check() error {
	if p == nil || p.dev == nil {
		return faultf(ErrArgument, "there is no pool; make one with Device.NewPool")
	}
	return nil
}

// acquire keeps the pool open until its mu is unlocked for reading.
func (p *Pool) acquire() error {
	if err := p.check(); err != nil {
		return err
	}
	p.mu.RLock()
	if p.closed {
		p.mu.RUnlock()
		return faultf(ErrClosed, "the pool is closed")
	}
	return nil
}
