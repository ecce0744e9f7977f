package capture

import (
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Attributes are what a kernel node keeps of the launch that it was captured
// from, whatever it is given to launch later.
type Attributes struct {
	Cluster          [3]int // CTAs; {1, 1, 1}: no cluster
	Cooperative, PDL bool
}

// Launchable is a loaded image of a kernel.
type Launchable struct {
	Plan       cuda.Plan
	Simulated  cuda.Launcher // instead of Plan, on a simulated device
	Attributes Attributes
	Scratches  bool // it needs scratch memory
}

// Prepared is a launch that has passed all checks.
type Prepared struct {
	*Launchable
	CTAs    [3]uint32
	Scratch [2]Need        // global and profile
	Args    unsafe.Pointer // the args struct's copy, on a simulated device
}

// NodeScratch is the scratch memory, global and profile, of a graph's node that
// launches l.
func (l *Launchable) NodeScratch(n cuda.GraphNode) ([2]uint64, cuda.Status) {
	if l.Simulated != nil {
		return l.Simulated.Scratch(n)
	}
	return l.Plan.Scratch(n)
}

// SetNodeScratch gives such a node other scratch memory in an executable.
func (l *Launchable) SetNodeScratch(e cuda.GraphExec, n cuda.GraphNode, scratch [2]uint64) cuda.Status {
	if l.Simulated != nil {
		return l.Simulated.SetScratch(e, n, scratch)
	}
	return l.Plan.SetScratch(e, n, scratch)
}

// Update makes an executable's node launch p with args and scratch memory.
func (p *Prepared) Update(e cuda.GraphExec, n cuda.GraphNode, args unsafe.Pointer, scratch [2]uint64) cuda.Status {
	if p.Simulated != nil {
		return p.Simulated.Update(e, n, p.CTAs[0], p.CTAs[1], p.CTAs[2], p.Args, scratch[0], scratch[1])
	}
	return p.Plan.Update(e, n, p.CTAs[0], p.CTAs[1], p.CTAs[2], args, scratch[0], scratch[1])
}

// Need is the scratch memory that a launch needs.
type Need struct {
	Size  uint64 // bytes; 0: none
	Align uint64 // a power of two
}

// Owned is something that a device's Close gives back.
type Owned interface {
	// Release gives back what it still holds. It may be called more than once.
	Release(cuda.Driver) error
}
