package driver

import "github.com/kerngen/kerngen/runtime/internal/cuda"

// capture collects the work of some streams into a graph.
type capture struct {
	id     uint64
	graph  cuda.Graph
	origin *stream
	joined []*stream // origin and those that waited for an event of the capture
	spoilt bool
}

// spoil makes a capture end in an error, for a call that it does not allow.
func (c *capture) spoil(result int, why string) cuda.Status {
	c.spoilt = true
	return faultf(result, "%s", why)
}

// spoil is for a call that waits for a stream, or asks whether it is done.
func (s *stream) spoil() cuda.Status {
	if s.capture == nil {
		return cuda.OK
	}
	return s.capture.spoil(cuda.CaptureUnsupported, "the stream is being captured: there is nothing to wait for")
}

func errSpoilt() cuda.Status {
	return faultf(cuda.CaptureWasInvalidated, "a call before this one spoilt the capture")
}

// BeginCapture makes the stream collect its work into a graph.
func (d *Driver) BeginCapture(h cuda.Stream, mode int) cuda.Status {
	failed := d.lock()
	defer d.mu.Unlock()
	if failed != cuda.OK {
		return failed
	}
	s, status := d.stream(h)
	if status != cuda.OK {
		return status
	}
	if s.capture != nil {
		return faultf(cuda.IllegalState, "the stream is being captured already")
	}
	d.captures++
	g := cuda.Graph(d.handle())
	d.graphs[g] = &graph{}
	s.capture = &capture{id: d.captures, graph: g, origin: s, joined: []*stream{s}}
	s.tail = nil
	return cuda.OK
}

// EndCapture ends the capture that began on the stream.
func (d *Driver) EndCapture(h cuda.Stream) (cuda.Graph, cuda.Status) {
	failed := d.lock()
	defer d.mu.Unlock()
	s, status := d.stream(h)
	if status != cuda.OK {
		return 0, status
	}
	c := s.capture
	switch {
	case c == nil:
		return 0, faultf(cuda.IllegalState, "the stream is not being captured")
	case c.origin != s:
		return 0, c.spoil(cuda.CaptureUnmatched, "the capture began on another stream")
	}
	g := d.graphs[c.graph]
	reached := ancestors(s.tail)
	for _, joined := range c.joined {
		joined.capture, joined.tail = nil, nil
	}
	switch {
	case failed != cuda.OK:
		status = failed
	case c.spoilt:
		status = errSpoilt()
	case len(reached) < len(g.nodes):
		status = faultf(cuda.CaptureUnjoined, "%d of the %d operations captured are on streams that the first one does not wait for", len(g.nodes)-len(reached), len(g.nodes))
	default:
		return c.graph, cuda.OK
	}
	d.forget(c.graph)
	return 0, status
}

// ancestors are the nodes and all that they follow.
func ancestors(nodes []*node) map[*node]bool {
	seen := map[*node]bool{}
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		if !seen[n] {
			seen[n] = true
			nodes = append(nodes, n.after...)
		}
	}
	return seen
}

// captureNode adds work to the graph of the stream's capture. The caller holds
// d.mu.
func (d *Driver) captureNode(s *stream, n node) cuda.Status {
	c := s.capture
	if c.spoilt {
		return errSpoilt()
	}
	if n.kind == notCaptured {
		return c.spoil(cuda.CaptureUnsupported, "the operation cannot be captured")
	}
	n.after = s.tail
	n.handle = cuda.GraphNode(d.handle())
	g := d.graphs[c.graph]
	g.nodes = append(g.nodes, &n)
	d.nodes[n.handle] = &n
	s.tail = []*node{&n}
	return cuda.OK
}

// join makes a stream's later work follow an event's, where one of the two is
// being captured.
func (s *stream) join(e *event) cuda.Status {
	switch {
	case s.capture != nil && s.capture.spoilt:
		return errSpoilt()
	case e.captured == nil && e.last == nil:
		return cuda.OK // never recorded
	case e.captured == nil:
		return s.capture.spoil(cuda.CaptureIsolation, "the event was recorded before the capture")
	case s.capture == nil && e.captured.origin.capture != e.captured:
		return faultf(cuda.CapturedEvent, "the event was recorded in a capture that has ended")
	case s.capture == nil && e.captured.spoilt:
		return errSpoilt()
	case s.capture == nil:
		s.capture = e.captured
		s.capture.joined = append(s.capture.joined, s)
		s.tail = nil
	case s.capture != e.captured:
		return s.capture.spoil(cuda.CaptureMerge, "the event was recorded in another capture")
	}
	s.tail = append(s.tail[:len(s.tail):len(s.tail)], e.nodes...)
	return cuda.OK
}

// IsCapturing reports whether the stream is being captured.
func (d *Driver) IsCapturing(h cuda.Stream) (bool, cuda.Status) {
	info, status := d.CaptureInfo(h)
	return info.State != cuda.CaptureNone, status
}

// CaptureInfo tells what the stream is being captured into.
func (d *Driver) CaptureInfo(h cuda.Stream) (cuda.CaptureInfo, cuda.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, status := d.stream(h)
	if status != cuda.OK {
		return cuda.CaptureInfo{}, status
	}
	c := s.capture
	switch {
	case c == nil:
		return cuda.CaptureInfo{State: cuda.CaptureNone}, cuda.OK
	case c.spoilt:
		return cuda.CaptureInfo{State: cuda.CaptureInvalidated}, cuda.OK
	}
	info := cuda.CaptureInfo{State: cuda.CaptureActive, ID: c.id, Graph: c.graph}
	for _, n := range s.tail {
		info.Nodes = append(info.Nodes, n.handle)
	}
	return info, cuda.OK
}
