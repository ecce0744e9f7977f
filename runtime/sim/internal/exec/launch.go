package exec

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Config is how a kernel is launched.
type Config struct {
	Grid   Dim
	Block  Dim
	Shared int      // bytes of dynamic shared memory per CTA
	Params [][]byte // the bytes of each parameter, of exactly its size
	Names  []string // what faults call the first ones; nil: by their places

	// Cooperative lets all CTAs make progress together, so that they can wait for each other; the memory of all of them is needed at once.
	Cooperative bool
	// Deterministic runs one CTA at a time, in an order that is always the same, so that sums made by float atomics repeat.
	Deterministic bool
}

// Limits of a launch, which no architecture exceeds; what the device itself has is for those to check who know it.
const (
	maxThreads = 1024
	maxShared  = 227 << 10
	// maxResident bounds the CTAs that a worker has begun and not ended, where they need not run together.
	maxResident = 16
	// residentBytes bounds what these CTAs of a worker take, but for one.
	residentBytes = 1 << 30
	// slice is the number of instructions after which a CTA that has not ended makes way for another; a short one where CTAs are likely to wait for each other.
	slice      = 1 << 18
	shortSlice = 1 << 13
)

// launch is one launch on its way.
type launch struct {
	program *program
	device  *Device
	config  Config
	table   []*allocation // the memory when it began
	params  segment
	total   uint64
	next    atomic.Uint64 // the CTA that begins next
	stopped atomic.Bool

	mu    sync.Mutex
	fault error
}

// Launch runs the kernel and returns when all of it has run, something has failed or ctx is done. It may be called from many goroutines.
func (e *Entry) Launch(ctx context.Context, config Config) error {
	if config.Grid.count() == 0 {
		return nil
	}
	p := e.prog
	if err := p.admits(&config); err != nil {
		return fmt.Errorf("kernel %q: %w", p.name, err)
	}
	if config.Cooperative {
		if err := HostHas(config.Grid.count() * p.ctaBytes(&config)); err != nil {
			return fmt.Errorf("kernel %q: %w", p.name, err)
		}
	}
	l := &launch{program: p, device: e.module.device, config: config, table: *e.module.device.Memory.table.Load(), total: config.Grid.count()}
	l.params = segment{data: alignedBytes(p.paramBytes), readOnly: true}
	for i, v := range p.params {
		copy(l.params.data[v.Offset:], config.Params[i])
	}
	workers := uint64(l.device.workers)
	if config.Deterministic {
		workers = 1
	}
	var wg sync.WaitGroup
	for range min(workers, l.total) {
		wg.Go(func() { l.work(ctx) })
	}
	wg.Wait()
	return l.fault
}

// admits checks a launch against what the kernel declares.
func (p *program) admits(c *Config) error {
	threads := c.Block.count()
	if threads == 0 || threads > maxThreads {
		return fmt.Errorf("a block of %d threads; 1 to %d are possible", threads, maxThreads)
	}
	if p.reqTID[0] != 0 && (c.Block != Dim{uint32(p.reqTID[0]), uint32(p.reqTID[1]), uint32(p.reqTID[2])}) {
		return fmt.Errorf("a block of %v threads; the kernel requires %v", c.Block, p.reqTID)
	}
	if m := p.maxTID; m[0] != 0 && threads > uint64(m[0]*m[1]*m[2]) {
		return fmt.Errorf("a block of %d threads; the kernel allows %d", threads, m[0]*m[1]*m[2])
	}
	if c.Shared < 0 || c.Shared+p.sharedBytes > maxShared {
		return fmt.Errorf("%d bytes of shared memory, %d of them static; %d are possible", c.Shared+p.sharedBytes, p.sharedBytes, maxShared)
	}
	if len(c.Params) != len(p.params) {
		return fmt.Errorf("%d parameters; the kernel has %d", len(c.Params), len(p.params))
	}
	for i, v := range p.params {
		if len(c.Params[i]) != v.Size {
			return fmt.Errorf("parameter %d (%s) of %d bytes; the kernel has %d", i, v.Name, len(c.Params[i]), v.Size)
		}
	}
	return nil
}

// ctaBytes is about how much memory of the host a CTA takes.
func (p *program) ctaBytes(c *Config) uint64 {
	warp := 128*p.r32 + 256*p.r64 + 4*p.preds + 32*p.localBytes
	return (c.Block.count()+31)/32*uint64(warp) + uint64(p.sharedBytes+c.Shared)
}

// work takes CTAs until there are none.
func (l *launch) work(ctx context.Context) {
	limit := int(max(1, min(maxResident, residentBytes/max(1, l.program.ctaBytes(&l.config)))))
	if l.config.Cooperative {
		limit = int(min(l.total, 1<<31-1))
	}
	var begun, free []*cta
	for !l.stopped.Load() {
		var c *cta
		if len(begun) < limit {
			if n := l.next.Add(1) - 1; n < l.total {
				if len(free) > 0 {
					c, free = free[len(free)-1], free[:len(free)-1]
				} else {
					c = newCTA(l)
				}
				c.begin(n)
			} else {
				l.next.Store(l.total) // far from wrapping
			}
		}
		if c == nil {
			if len(begun) == 0 {
				return
			}
			c, begun = begun[0], begun[1:]
		}
		budget := slice
		if l.config.Cooperative {
			budget = shortSlice
		}
		done, fault := c.run(budget)
		switch {
		case fault != nil:
			l.stop(fault)
			return
		case done:
			free = append(free, c)
		default:
			begun = append(begun, c)
		}
		if err := ctx.Err(); err != nil {
			if cause := context.Cause(ctx); cause != err {
				err = fmt.Errorf("%w: %w", err, cause)
			}
			l.stop(fmt.Errorf("kernel %q stopped before its end: %w", l.program.name, err))
			return
		}
	}
}

// stop ends the launch with an error; the first one stays.
func (l *launch) stop(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault == nil {
		l.fault = err
	}
	l.stopped.Store(true)
}
