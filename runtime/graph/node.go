package graph

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/internal/capture"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// ErrRecapture is an update that a node cannot take: the arguments call for code
// that is launched in another way (as clusters, cooperatively, with programmatic
// dependent launch) than what was captured. Capture again.
var ErrRecapture = errors.New("capture again")

// Node is one captured launch of a kernel whose args struct is A.
type Node[A any] struct{ node node }

type node struct {
	graph    uint64 // the id of its capture
	handle   cuda.GraphNode
	kernel   *kernrt.Kernel
	config   int
	launched *capture.Launchable
}

// Record calls launch, which launches one kernel on the stream, within a Capture
// of the stream or of one that it was forked from, and returns the launch's
// node, so that an executable's arguments can be changed:
//
//	add, err := graph.Record[vec.AddArgs[float32]](stream, func() error {
//		return vec.LaunchAdd(stream, x, y, out, n)
//	})
//
// Nobody else may use the stream meanwhile. Launch's error is returned as it is.
func Record[A any](stream *kernrt.Stream, launch func() error) (*Node[A], error) {
	n, err := record(stream, launch, (*A)(nil))
	if err != nil {
		return nil, err
	}
	return &Node[A]{n}, nil
}

func record(stream *kernrt.Stream, launch func() error, argsType any) (node, error) {
	before, err := captureOf(stream)
	if err != nil {
		return node{}, fmt.Errorf("record a launch: %w", err)
	}
	if err := launch(); err != nil {
		return node{}, err
	}
	after, err := captureOf(stream)
	if err != nil {
		return node{}, fmt.Errorf("record a launch: %w", err)
	}
	if len(after.Nodes) != 1 || slices.Contains(before.Nodes, after.Nodes[0]) {
		return node{}, inside.Fault(kernrt.ErrArgument, "record a launch: nothing was launched on the stream; an empty grid launches nothing")
	}
	n, err := nodeOf(stream, after, argsType)
	if err != nil {
		return node{}, fmt.Errorf("record a launch: %w", err)
	}
	return n, nil
}

// captureOf is the stream's capture by this package.
func captureOf(stream *kernrt.Stream) (cuda.CaptureInfo, error) {
	ctx, handle, err := inside.Acquire(stream)
	if err != nil {
		return cuda.CaptureInfo{}, err
	}
	defer inside.Release(stream)
	info, status := ctx.CaptureInfo(handle)
	if status != cuda.OK {
		return info, inside.DriverError(status)
	}
	if info.State != cuda.CaptureActive {
		return info, inside.Fault(kernrt.ErrArgument, "the stream is not being captured, or no longer; call it within Capture")
	}
	return info, nil
}

func nodeOf(stream *kernrt.Stream, info cuda.CaptureInfo, argsType any) (node, error) {
	ctx, _, err := inside.Acquire(stream)
	if err != nil {
		return node{}, err
	}
	defer inside.Release(stream)
	n := node{graph: info.ID, handle: info.Nodes[0]}
	typ, status := ctx.NodeType(n.handle)
	if status != cuda.OK {
		return n, inside.DriverError(status)
	}
	if typ != cuda.NodeKernel {
		return n, inside.Fault(kernrt.ErrArgument, "what was queued last is no launch of a kernel")
	}
	function, status := ctx.NodeFunction(n.handle)
	if status != cuda.OK {
		return n, inside.DriverError(status)
	}
	k, config, l, err := inside.Loaded(stream.Device(), function, argsType)
	n.kernel, n.config, n.launched = k, config, l
	return n, err
}

// Update makes the launch in exec one of another grid with other arguments, from
// exec's next launch on; what is queued already is not affected. The arguments
// pass the checks of a launch, and may select another variant of the kernel. One
// that is launched in another way than the captured one is ErrRecapture. Errors
// are *kernrt.LaunchError. As in a launch, the zero grid is the one that the
// kernel declares.
func (n *Node[A]) Update(exec *Exec, grid kernrt.Grid, args *A) error {
	if n == nil || n.node.kernel == nil {
		return inside.Fault(kernrt.ErrArgument, "update: there is no node; make one with Record")
	}
	return n.node.update(exec, grid, unsafe.Pointer(args), (*A)(nil))
}

func (n *node) update(e *Exec, grid kernrt.Grid, args unsafe.Pointer, argsType any) error {
	if err := e.given(); err != nil {
		return inside.LaunchError(n.kernel, nil, n.config, grid, fmt.Errorf("update: %w", err))
	}
	e.mu.Lock()
	err := n.updateIn(e, grid, args, argsType)
	e.mu.Unlock()
	if err != nil {
		return inside.LaunchError(n.kernel, e.graph.dev, n.config, grid, fmt.Errorf("update: %w", err))
	}
	return nil
}

func (n *node) updateIn(e *Exec, grid kernrt.Grid, args unsafe.Pointer, argsType any) error {
	switch {
	case e.closed:
		return inside.Fault(kernrt.ErrClosed, "the executable is closed")
	case e.graph.id != n.graph:
		return inside.Fault(kernrt.ErrArgument, "the node is of another graph than the executable")
	}
	p, err := inside.Prepare(n.kernel, e.graph.dev, n.config, grid, args, argsType)
	if err != nil {
		return err
	}
	if p.Launchable != n.launched && p.Attributes != n.launched.Attributes {
		return fmt.Errorf("%w: it was captured with %+v, and these arguments need %+v", ErrRecapture, n.launched.Attributes, p.Attributes)
	}
	var scratch [2]uint64
	if p.Scratches {
		if scratch, err = e.scratchFor(n.handle, &p); err != nil {
			return err
		}
	}
	e.graph.mu.Lock()
	defer e.graph.mu.Unlock()
	if e.graph.gone { // with the device, which may give up the graph before its executables
		return inside.Fault(kernrt.ErrClosed, "the graph is closed")
	}
	return inside.DriverError(p.Update(e.handle, n.handle, args, scratch))
}

// scratchFor is scratch memory for a node, its own once it needs more than it
// was given. What it had before may be in use by a launch, or by other nodes.
func (e *Exec) scratchFor(n cuda.GraphNode, p *capture.Prepared) (addresses [2]uint64, err error) {
	given := e.scratch[n]
	if given == nil {
		given = &[2]region{}
		e.scratch[n] = given
	}
	for kind, need := range p.Scratch {
		r := &given[kind]
		if need.Size > r.size || need.Size > 0 && r.address&(need.Align-1) != 0 {
			if *r, err = e.grow(*r, need); err != nil {
				return addresses, err
			}
		}
		if need.Size > 0 {
			addresses[kind] = r.address
		}
	}
	return addresses, nil
}
