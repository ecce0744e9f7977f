package driver

import (
	"encoding/binary"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
	"github.com/kerngen/kerngen/runtime/sim/internal/exec"
)

// launcher launches one kernel as its spec says.
type launcher struct {
	d     *Driver
	entry *exec.Entry
	spec  cuda.PlanSpec
}

// NewLauncher makes a launcher.
func (d *Driver) NewLauncher(spec cuda.PlanSpec) (cuda.Launcher, cuda.Status) {
	e, status := d.entry(spec.Function)
	if status != cuda.OK {
		return nil, status
	}
	if n := len(e.Params()); n != len(spec.Offsets)+spec.Hidden {
		return nil, faultf(cuda.InvalidValue, "the kernel takes %d parameters, not %d", n, len(spec.Offsets)+spec.Hidden)
	}
	return &launcher{d, e, spec}, cuda.OK
}

// Launch queues a launch of x by y by z CTAs.
func (l *launcher) Launch(on cuda.Stream, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) cuda.Status {
	if l.spec.Cooperative {
		perSM, status := l.d.ActiveBlocks(l.spec.Function, l.spec.Threads, l.spec.Shared)
		if status != cuda.OK {
			return status
		}
		if most, ctas := uint64(perSM)*uint64(l.d.sms), uint64(x)*uint64(y)*uint64(z); ctas > most {
			return faultf(tooManyCooperative, "%d CTAs that wait for each other; %d run at once", ctas, most)
		}
	}
	return l.d.enqueue(on, l.node(x, y, z, args, globalScratch, profileScratch))
}

// Update makes a node of an executable launch something else.
func (l *launcher) Update(h cuda.GraphExec, of cuda.GraphNode, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) cuda.Status {
	n := l.node(x, y, z, args, globalScratch, profileScratch)
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	e, old := l.d.execs[h], l.d.nodes[of]
	switch {
	case e == nil:
		return errNoGraph(uintptr(h), "executable")
	case old == nil || e.work[old] == nil:
		return errNoGraph(uintptr(of), "node")
	}
	e.work[old] = n.work
	return l.d.failed
}

// node is a launch as an operation.
func (l *launcher) node(x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) node {
	config := exec.Config{
		Grid:          exec.Dim{X: x, Y: y, Z: z},
		Block:         exec.Dim{X: uint32(l.spec.Threads), Y: 1, Z: 1},
		Shared:        l.spec.Shared,
		Params:        l.params(args, globalScratch, profileScratch),
		Cooperative:   l.spec.Cooperative,
		Deterministic: l.d.deterministic,
	}
	return node{
		kind: cuda.NodeKernel,
		work: l.d.unlessFailed(func() error { return l.entry.Launch(l.d.ctx, config) }),
		kernel: cuda.KernelNode{
			Function: l.spec.Function,
			Grid:     [3]uint32{x, y, z},
			Block:    [3]uint32{uint32(l.spec.Threads), 1, 1},
			Shared:   uint32(l.spec.Shared),
		},
	}
}

// params are the bytes of each parameter, as long as the kernel declares it.
func (l *launcher) params(args unsafe.Pointer, scratch ...uint64) [][]byte {
	var params [][]byte
	for i, p := range l.entry.Params() {
		if i < len(l.spec.Offsets) {
			params = append(params, bytesAt(unsafe.Add(args, l.spec.Offsets[i]), uint64(p.Size)))
			continue
		}
		params = append(params, binary.LittleEndian.AppendUint64(nil, scratch[i-len(l.spec.Offsets)]))
	}
	return params
}
