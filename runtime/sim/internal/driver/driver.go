// Package driver is the simulated device as the runtime sees it: what libcuda
// does for a GPU, over package exec. Streams, events, pools, captures and graphs
// are here; executing a kernel is exec's.
package driver

import (
	"context"
	"sync"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
	"github.com/kerngen/kerngen/runtime/sim/internal/exec"
)

// Driver is one simulated device.
type Driver struct {
	device        *exec.Device
	ctx           context.Context
	deterministic bool
	sm            Multiprocessor

	mu        sync.Mutex // guards what follows, and all that it leads to
	handles   uintptr    // the last one given out
	streams   map[cuda.Stream]*stream
	busy      map[*stream]bool // those that run, given up or not
	events    map[cuda.Event]*event
	modules   map[cuda.Module]*exec.Module
	functions map[cuda.Function]*exec.Entry
	pools     map[cuda.Pool]*pool
	pooled    map[uint64]allocation // from pools, by address
	pinned    map[uintptr][]uint64  // host memory, by address
	graphs    map[cuda.Graph]*graph
	nodes     map[cuda.GraphNode]*node
	execs     map[cuda.GraphExec]*executable
	captures  uint64      // how many have begun
	failed    cuda.Status // of the work that failed first: from then on, every call's that gives nothing up
}

var _ cuda.Simulated = (*Driver)(nil)

// Config is what a Driver is made of.
type Config struct {
	Device        *exec.Device
	Context       context.Context // stops what runs when it is done
	Deterministic bool            // CTAs run one after another
	SM            Multiprocessor
}

// Multiprocessor is what limits how many CTAs run at once.
type Multiprocessor struct {
	Count        int // that the device has
	Threads      int // of each at once
	CTAs         int // of each at once
	Shared       int // bytes of each
	SharedSystem int // bytes that the system takes of it for each CTA
}

// New makes a driver.
func New(c Config) *Driver {
	return &Driver{
		device: c.Device, ctx: c.Context, deterministic: c.Deterministic, sm: c.SM,
		streams:   map[cuda.Stream]*stream{},
		busy:      map[*stream]bool{},
		events:    map[cuda.Event]*event{},
		modules:   map[cuda.Module]*exec.Module{},
		functions: map[cuda.Function]*exec.Entry{},
		pools:     map[cuda.Pool]*pool{},
		pooled:    map[uint64]allocation{},
		pinned:    map[uintptr][]uint64{},
		graphs:    map[cuda.Graph]*graph{},
		nodes:     map[cuda.GraphNode]*node{},
		execs:     map[cuda.GraphExec]*executable{},
	}
}

// Release ends the device. What its streams still have is done first.
func (d *Driver) Release(cuda.Device) cuda.Status {
	d.drain()
	return cuda.OK
}

// handle is a number that was never given out. The caller holds d.mu.
func (d *Driver) handle() uintptr {
	d.handles++
	return d.handles<<8 | 1<<40 // nothing that could be an index, or 0 to 2
}

// lock takes d.mu, and returns the status of a device that has failed.
func (d *Driver) lock() cuda.Status {
	d.mu.Lock()
	return d.failed
}
