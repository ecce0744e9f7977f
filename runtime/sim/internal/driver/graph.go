package driver

import "github.com/kerngen/kerngen/runtime/internal/cuda"

// graph is captured work, in an order in which it can run.
type graph struct{ nodes []*node }

// node is one operation of a graph.
type node struct {
	handle cuda.GraphNode
	kind   int // cuda.NodeKernel and so on
	after  []*node
	work   work

	// Of a kernel node.
	function cuda.Function
	launched *launched
}

// notCaptured is the kind of work that a graph cannot have.
const notCaptured = -1

// executable is a graph that can be launched.
type executable struct {
	order    []*node
	launched map[*node]*launched // of kernel nodes, as updated
	running  chan struct{}       // holds one value while it may be launched: one launch runs at a time
}

func errNoGraph(h uintptr, what string) cuda.Status {
	return faultf(cuda.InvalidHandle, "%#x is no %s of the simulated device", h, what)
}

// forget gives a graph's nodes up. The caller holds d.mu.
func (d *Driver) forget(h cuda.Graph) {
	for _, n := range d.graphs[h].nodes {
		delete(d.nodes, n.handle)
	}
	delete(d.graphs, h)
}

// DestroyGraph gives the graph and its nodes up.
func (d *Driver) DestroyGraph(h cuda.Graph) cuda.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.graphs[h] == nil {
		return errNoGraph(uintptr(h), "graph")
	}
	d.forget(h)
	return cuda.OK
}

// Nodes are the graph's nodes.
func (d *Driver) Nodes(h cuda.Graph) ([]cuda.GraphNode, cuda.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.graphs[h]
	if g == nil {
		return nil, errNoGraph(uintptr(h), "graph")
	}
	var handles []cuda.GraphNode
	for _, n := range g.nodes {
		handles = append(handles, n.handle)
	}
	return handles, d.failed
}

// NodeType is the node's kind.
func (d *Driver) NodeType(h cuda.GraphNode) (int, cuda.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.nodes[h]
	if n == nil {
		return 0, errNoGraph(uintptr(h), "node")
	}
	return n.kind, d.failed
}

// NodeFunction is what a kernel node launches.
func (d *Driver) NodeFunction(h cuda.GraphNode) (cuda.Function, cuda.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.nodes[h]
	if n == nil || n.kind != cuda.NodeKernel {
		return 0, errNoGraph(uintptr(h), "kernel node")
	}
	return n.function, d.failed
}

// Instantiate makes an executable of the graph.
func (d *Driver) Instantiate(h cuda.Graph) (cuda.GraphExec, cuda.Status) {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return 0, failed
	}
	g := d.graphs[h]
	if g == nil {
		return 0, errNoGraph(uintptr(h), "graph")
	}
	e := &executable{order: g.nodes, launched: map[*node]*launched{}, running: make(chan struct{}, 1)}
	for _, n := range g.nodes {
		if n.launched != nil {
			e.launched[n] = n.launched
		}
	}
	exec := cuda.GraphExec(d.handle())
	d.execs[exec] = e
	return exec, cuda.OK
}

// DestroyGraphExec gives the executable up; launches of it still run.
func (d *Driver) DestroyGraphExec(h cuda.GraphExec) cuda.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.execs[h] == nil {
		return errNoGraph(uintptr(h), "executable")
	}
	delete(d.execs, h)
	return cuda.OK
}

// UploadGraph has nothing to ready.
func (d *Driver) UploadGraph(h cuda.GraphExec, on cuda.Stream) cuda.Status {
	d.mu.Lock()
	e := d.execs[h]
	d.mu.Unlock()
	if e == nil {
		return errNoGraph(uintptr(h), "executable")
	}
	return d.enqueue(on, node{kind: notCaptured, work: func() error { return nil }})
}

// LaunchGraph queues a launch of the executable, as it is now.
func (d *Driver) LaunchGraph(h cuda.GraphExec, on cuda.Stream) cuda.Status {
	d.mu.Lock()
	e := d.execs[h]
	if e == nil {
		d.mu.Unlock()
		return errNoGraph(uintptr(h), "executable")
	}
	var all []work
	for _, n := range e.order {
		if launched := e.launched[n]; launched != nil {
			all = append(all, d.unlessFailed(launched.run))
		} else {
			all = append(all, n.work)
		}
	}
	d.mu.Unlock()
	return d.enqueue(on, node{kind: notCaptured, work: func() error {
		e.running <- struct{}{}
		defer func() { <-e.running }()
		for _, w := range all {
			if err := w(); err != nil {
				return err
			}
		}
		return nil
	}})
}
