package driver

import "github.com/kerngen/kerngen/runtime/internal/cuda"

// pool counts its memory; nothing is kept for later.
type pool struct {
	used, high uint64
	threshold  uint64
}

// allocation is memory from a pool.
type allocation struct {
	pool  *pool
	bytes uint64
}

// NewPool makes a pool.
func (d *Driver) NewPool(cuda.Device) (cuda.Pool, cuda.Status) {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return 0, failed
	}
	h := cuda.Pool(d.handle())
	d.pools[h] = &pool{}
	return h, cuda.OK
}

// withPool calls do with a pool, under d.mu.
func (d *Driver) withPool(h cuda.Pool, do func(*pool) cuda.Status) cuda.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.pools[h]
	if p == nil {
		return faultf(cuda.InvalidValue, "%#x is no pool of the simulated device", uintptr(h))
	}
	return do(p)
}

// DestroyPool gives the pool up; its memory stays good until it is freed.
func (d *Driver) DestroyPool(h cuda.Pool) cuda.Status {
	return d.withPool(h, func(*pool) cuda.Status {
		delete(d.pools, h)
		return cuda.OK
	})
}

// TrimPool has nothing to give back.
func (d *Driver) TrimPool(h cuda.Pool, keep uint64) cuda.Status {
	return d.withPool(h, func(*pool) cuda.Status { return d.failed })
}

// SetPoolAttribute sets the threshold, or puts a high-water mark back.
func (d *Driver) SetPoolAttribute(h cuda.Pool, attribute int, value uint64) cuda.Status {
	return d.withPool(h, func(p *pool) cuda.Status {
		switch {
		case attribute == cuda.PoolReleaseThreshold:
			p.threshold = value
		case (attribute == cuda.PoolUsedHigh || attribute == cuda.PoolReservedHigh) && value == 0:
			p.high = p.used
		default:
			return faultf(cuda.InvalidValue, "attribute %d of a pool cannot be set to %d", attribute, value)
		}
		return d.failed
	})
}

// PoolAttribute returns one of the pool's figures, in bytes.
func (d *Driver) PoolAttribute(h cuda.Pool, attribute int) (value uint64, _ cuda.Status) {
	status := d.withPool(h, func(p *pool) cuda.Status {
		switch attribute {
		case cuda.PoolReleaseThreshold:
			value = p.threshold
		case cuda.PoolUsed, cuda.PoolReserved:
			value = p.used
		case cuda.PoolUsedHigh, cuda.PoolReservedHigh:
			value = p.high
		default:
			return faultf(cuda.InvalidValue, "a pool has no attribute %d", attribute)
		}
		return d.failed
	})
	return value, status
}

// AllocFromPool is AllocAsync from a pool.
func (d *Driver) AllocFromPool(h cuda.Pool, on cuda.Stream, bytes uint64) (address uint64, _ cuda.Status) {
	if status := d.withPool(h, func(*pool) cuda.Status { return cuda.OK }); status != cuda.OK {
		return 0, status
	}
	address, status := d.AllocAsync(on, bytes)
	if status != cuda.OK {
		return 0, status
	}
	return address, d.withPool(h, func(p *pool) cuda.Status {
		p.used += bytes
		p.high = max(p.high, p.used)
		d.pooled[address] = allocation{p, bytes}
		return cuda.OK
	})
}
