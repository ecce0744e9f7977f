package fakecuda

// Copy is one copy that was made: directly, or by a launch of a graph.
type Copy struct {
	ToHost, FromHost   bool
	To, From           uintptr
	Width, Rows        uint64 // bytes, and how often
	ToPitch, FromPitch uint64 // from row to row, bytes; 0: one row
	// The host's end, if any, lies in pinned memory. A real driver waits for a copy
	// to or from any other.
	Pinned bool
	Stream uintptr
	Exec   uintptr // the executable graph that made it; 0: none
}

// Fill is one fill that was made: directly, or by a launch of a graph.
type Fill struct {
	To     uintptr
	Value  uint32
	Size   int // of the value, bytes
	Count  uint64
	Stream uintptr
	Exec   uintptr // the executable graph that made it; 0: none
}

// EventUse is one record of an event on a stream, or one wait of a stream for an
// event; also a wait that was then refused.
type EventUse struct {
	Wait          bool
	Event, Stream uintptr
	Captured      bool // into a graph
}

// Node is one node of a graph, as it was captured.
type Node struct {
	Graph, Node uintptr
	Type        int // a CUgraphNodeType
	Stream      uintptr
	After       []uintptr // the nodes that it follows
	Launch      *Launch   // of type 0
	Copy        *Copy     // of type 1
	Fill        *Fill     // of type 2
}

// Copies returns every copy since the last Reset, in order.
func (d *Driver) Copies() []Copy { return read(d, copies, copyOf) }

func copyOf(r *reader) Copy {
	return Copy{
		ToHost: r.u32() != 0, FromHost: r.u32() != 0, To: r.handle(), From: r.handle(),
		Width: r.u64(), Rows: r.u64(), ToPitch: r.u64(), FromPitch: r.u64(),
		Pinned: r.u32() != 0, Stream: r.handle(), Exec: r.handle(),
	}
}

// Fills returns every fill since the last Reset, in order.
func (d *Driver) Fills() []Fill { return read(d, fills, fillOf) }

func fillOf(r *reader) Fill {
	return Fill{To: r.handle(), Value: r.u32(), Size: int(r.u32()), Count: r.u64(), Stream: r.handle(), Exec: r.handle()}
}

// Events returns every use of an event since the last Reset, in order.
func (d *Driver) Events() []EventUse {
	return read(d, events, func(r *reader) EventUse {
		return EventUse{Wait: r.u32() != 0, Event: r.handle(), Stream: r.handle(), Captured: r.u32() != 0}
	})
}

// Nodes returns every node captured since the last Reset, in order, also those of
// captures that failed.
func (d *Driver) Nodes() []Node {
	return read(d, nodes, func(r *reader) Node {
		n := Node{Graph: r.handle(), Node: r.handle(), Type: int(r.u32()), Stream: r.handle()}
		for range r.u32() {
			n.After = append(n.After, r.handle())
		}
		switch n.Type {
		case 0:
			n.Launch = new(launchOf(r))
		case 1:
			n.Copy = new(copyOf(r))
		case 2:
			n.Fill = new(fillOf(r))
		}
		return n
	})
}
