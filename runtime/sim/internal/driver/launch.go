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
		if most, ctas := uint64(perSM)*uint64(l.d.sm.Count), uint64(x)*uint64(y)*uint64(z); ctas > most {
			return faultf(tooManyCooperative, "%d CTAs that wait for each other; %d run at once", ctas, most)
		}
	}
	if l.spec.Scratch {
		capturing, status := l.d.IsCapturing(on)
		if capturing {
			status = cuda.Capturing
		}
		if status != cuda.OK {
			return status
		}
	}
	return l.LaunchCaptured(on, x, y, z, args, globalScratch, profileScratch)
}

// LaunchCaptured is Launch where the scratch memory may be part of a graph.
func (l *launcher) LaunchCaptured(on cuda.Stream, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) cuda.Status {
	return l.d.enqueue(on, l.node(x, y, z, args, globalScratch, profileScratch))
}

// Update makes a node of an executable launch something else.
func (l *launcher) Update(h cuda.GraphExec, of cuda.GraphNode, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) cuda.Status {
	n := l.node(x, y, z, args, globalScratch, profileScratch)
	return l.d.update(h, of, func(*launched) *launched { return n.launched })
}

// Scratch is the scratch memory that a kernel node was captured with.
func (l *launcher) Scratch(h cuda.GraphNode) ([2]uint64, cuda.Status) {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	n := l.d.nodes[h]
	if n == nil || n.launched == nil {
		return [2]uint64{}, errNoGraph(uintptr(h), "kernel node")
	}
	return n.launched.scratch, l.d.failed
}

// SetScratch gives a node of an executable other scratch memory.
func (l *launcher) SetScratch(h cuda.GraphExec, of cuda.GraphNode, scratch [2]uint64) cuda.Status {
	return l.d.update(h, of, func(old *launched) *launched {
		changed := *old
		changed.scratch = scratch
		return &changed
	})
}

// update replaces what a kernel node of an executable launches.
func (d *Driver) update(h cuda.GraphExec, of cuda.GraphNode, change func(*launched) *launched) cuda.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, n := d.execs[h], d.nodes[of]
	switch {
	case e == nil:
		return errNoGraph(uintptr(h), "executable")
	case n == nil || e.launched[n] == nil:
		return errNoGraph(uintptr(of), "kernel node")
	}
	e.launched[n] = change(e.launched[n])
	return d.failed
}

// launched is one launch of a kernel.
type launched struct {
	l       *launcher
	config  exec.Config // but for the scratch pointers, which come last
	scratch [2]uint64
}

// run runs the kernel.
func (n *launched) run() error {
	config := n.config
	config.Params = append([][]byte(nil), config.Params...)
	for i := range n.l.spec.Hidden {
		config.Params = append(config.Params, binary.LittleEndian.AppendUint64(nil, n.scratch[i]))
	}
	return n.l.entry.Launch(n.l.d.ctx, config)
}

// node is a launch as an operation.
func (l *launcher) node(x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) node {
	n := &launched{l: l, scratch: [2]uint64{globalScratch, profileScratch}, config: exec.Config{
		Grid:          exec.Dim{X: x, Y: y, Z: z},
		Block:         exec.Dim{X: uint32(l.spec.Threads), Y: 1, Z: 1},
		Shared:        l.spec.Shared,
		Params:        l.params(args),
		Names:         l.spec.Names,
		Cooperative:   l.spec.Cooperative,
		Deterministic: l.d.deterministic,
	}}
	return node{
		kind:     cuda.NodeKernel,
		work:     l.d.unlessFailed(n.run),
		launched: n,
		function: l.spec.Function,
	}
}

// params are the bytes of each argument, as long as the kernel declares it.
func (l *launcher) params(args unsafe.Pointer) [][]byte {
	var params [][]byte
	for i, p := range l.entry.Params()[:len(l.spec.Offsets)] {
		params = append(params, bytesAt(unsafe.Add(args, l.spec.Offsets[i]), uint64(p.Size)))
	}
	return params
}
