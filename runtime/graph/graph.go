package graph

import (
	"fmt"
	"sync"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/internal/capture"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Graph is work that was captured, of which executables can be made. It does
// not run itself.
type Graph struct {
	dev     *kernrt.Device
	id      uint64 // of its capture
	buffers []capture.Buffer
	users   []scratchUser

	// Graphs of the driver's may be used by one thread at a time. Taken after an
	// Exec's.
	mu     sync.Mutex
	handle cuda.Graph
	execs  int // that may still be updated, which takes the graph
	closed bool
	gone   bool // the driver's graph was destroyed
}

// scratchUser is a node whose kernel needs scratch memory.
type scratchUser struct {
	node    cuda.GraphNode
	launch  *capture.Launchable
	buffers [2]int // indices, global and profile; none: -1
}

// newGraph takes over what was captured.
func newGraph(c *capturing, ctx cuda.Driver, handle cuda.Graph) (*Graph, error) {
	g := &Graph{dev: c.stream.Device(), id: c.id, handle: handle, buffers: c.scratch.Buffers()}
	inside.Own(g.dev, g)
	if len(g.buffers) == 0 {
		return g, nil
	}
	if err := g.findUsers(ctx); err != nil {
		return nil, inside.Join(err, g.close(ctx))
	}
	return g, nil
}

// findUsers finds the nodes that were captured with placeholders for scratch.
func (g *Graph) findUsers(ctx cuda.Driver) error {
	nodes, status := ctx.Nodes(g.handle)
	if status != cuda.OK {
		return inside.DriverError(status)
	}
	for _, node := range nodes {
		typ, status := ctx.NodeType(node)
		if status != cuda.OK {
			return inside.DriverError(status)
		}
		if typ != cuda.NodeKernel {
			continue
		}
		function, status := ctx.NodeFunction(node)
		if status != cuda.OK {
			return inside.DriverError(status)
		}
		_, _, l, err := inside.Loaded(g.dev, function, nil)
		if err != nil || !l.Scratches {
			continue // another library's, or one without
		}
		addresses, status := l.NodeScratch(node)
		if status != cuda.OK {
			return inside.DriverError(status)
		}
		user := scratchUser{node, l, [2]int{-1, -1}}
		for kind, address := range addresses {
			if i, ok := capture.IndexOf(address); ok {
				user.buffers[kind] = i
			}
		}
		g.users = append(g.users, user)
	}
	return nil
}

// Device is the graph's device.
func (g *Graph) Device() *kernrt.Device {
	if g == nil {
		return nil
	}
	return g.dev
}

// Instantiate makes an executable. Each has scratch memory of its own, where the
// kernels need any, so that several may run at once.
func (g *Graph) Instantiate() (*Exec, error) {
	ctx, err := g.acquire()
	if err != nil {
		return nil, fmt.Errorf("instantiate a graph: %w", err)
	}
	defer inside.ReleaseDevice(g.dev)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, inside.Fault(kernrt.ErrClosed, "instantiate: the graph is closed")
	}
	e := &Exec{graph: g, ctx: ctx}
	if err = e.make(); err == nil {
		g.keep(e)
		return e, nil
	}
	err = inside.Join(err, e.free())
	if e.holds() {
		e.closed = true
		g.keep(e) // for the device's Close
	}
	return nil, fmt.Errorf("instantiate a graph on %v: %w", g.dev, err)
}

func (g *Graph) keep(e *Exec) {
	g.execs++
	inside.Own(g.dev, e)
}

// Close gives the graph up. Its executables live on, and can be updated. A
// second Close is ErrClosed.
func (g *Graph) Close() error {
	ctx, err := g.acquire()
	if err != nil {
		return fmt.Errorf("close a graph: %w", err)
	}
	defer inside.ReleaseDevice(g.dev)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed && (g.gone || g.execs > 0) {
		return inside.Fault(kernrt.ErrClosed, "close: the graph is closed already")
	}
	if err := g.close(ctx); err != nil {
		return fmt.Errorf("close a graph on %v: %w", g.dev, err)
	}
	return nil
}

// acquire keeps the graph's device open. It refuses a nil Graph and the zero one.
func (g *Graph) acquire() (cuda.Driver, error) {
	if g.Device() == nil {
		return nil, inside.Fault(kernrt.ErrArgument, "there is no graph; make one with Capture")
	}
	return inside.AcquireDevice(g.dev)
}

func (g *Graph) close(ctx cuda.Driver) error {
	g.closed = true
	if g.execs > 0 || g.gone {
		return nil
	}
	status := ctx.DestroyGraph(g.handle)
	if g.gone = inside.Gone(status); g.gone {
		inside.Disown(g.dev, g)
	}
	return inside.DriverError(status)
}

// Release is for the device's Close.
func (g *Graph) Release(ctx cuda.Driver) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.execs = 0 // none is updated any more
	return g.close(ctx)
}
