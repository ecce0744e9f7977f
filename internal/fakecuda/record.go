package fakecuda

import (
	"encoding/binary"
	"unsafe"
)

// Call is one call of a driver function.
type Call struct {
	Name    string  // as exported, with its version: "cuMemAlloc_v2"
	Context uintptr // current on the calling thread; 0: none
	Thread  uint64
}

// Launch is one launch that succeeded: a direct one, or a replay of a graph's.
type Launch struct {
	Function    string
	Module      int // the number of its load, from 1
	Grid, Block [3]uint32
	Shared      uint32 // dynamic, bytes
	Stream      uintptr
	Exec        uintptr // the executable graph that launched it; 0: none
	Context     uintptr // current on the calling thread
	Thread      uint64
	Attributes  []Attribute // in the order given
	Params      [][]byte    // of the sizes that the image states
}

// Attribute is one CUlaunchAttribute.
type Attribute struct {
	ID    uint32
	Value [64]byte
}

// Load is one module load that succeeded.
type Load struct {
	Module  int // from 1
	Context uintptr
	PTX     bool
	Target  int // 90 is sm_90
	Options []JITOption
}

// JITOption is one CUjit_option of a load, with its value when the call ended.
type JITOption struct {
	ID    uint32
	Value uintptr
}

// Leak is something that is still alive.
type Leak struct {
	// "context", "stream", "event", "module", "memory", "pinned", "pool", "graph"
	// or "exec"
	Kind   string
	Handle uintptr
	Amount uint64 // references to a context, bytes of memory or of a pool, else 1
}

// The kinds of records, as fake.h numbers them.
const (
	calls = iota
	launches
	loads
	leaks
	copies
	fills
	events
	nodes
	encodings
)

// Calls returns every call since the last Reset, in order.
func (d *Driver) Calls() []Call {
	return read(d, calls, func(r *reader) Call {
		return Call{Name: r.text(), Context: uintptr(r.u64()), Thread: r.u64()}
	})
}

// Count returns how often a driver function was called since the last Reset.
func (d *Driver) Count(name string) int {
	n := 0
	for _, c := range d.Calls() {
		if c.Name == name {
			n++
		}
	}
	return n
}

// Launches returns every successful launch since the last Reset, in order. One
// that was captured is a Node, and a Launch for each time its graph is launched.
func (d *Driver) Launches() []Launch { return read(d, launches, launchOf) }

func launchOf(r *reader) Launch {
	l := Launch{Function: r.text(), Module: int(r.u32())}
	for _, dim := range []*[3]uint32{&l.Grid, &l.Block} {
		*dim = [3]uint32{r.u32(), r.u32(), r.u32()}
	}
	l.Shared = r.u32()
	l.Stream, l.Exec, l.Context, l.Thread = r.handle(), r.handle(), r.handle(), r.u64()
	for range r.u32() {
		l.Attributes = append(l.Attributes, Attribute{r.u32(), [64]byte(r.take(64))})
	}
	for range r.u32() {
		l.Params = append(l.Params, r.take(int(r.u32())))
	}
	return l
}

// Loads returns every successful module load since the last Reset, in order.
func (d *Driver) Loads() []Load {
	return read(d, loads, func(r *reader) Load {
		l := Load{Module: int(r.u32()), Context: uintptr(r.u64()), PTX: r.u32() != 0, Target: int(r.u32())}
		for range r.u32() {
			l.Options = append(l.Options, JITOption{r.u32(), uintptr(r.u64())})
		}
		return l
	})
}

// Leaks returns what is alive now: retained contexts and what was made in them.
func (d *Driver) Leaks() []Leak {
	d.call("fake_find_leaks")
	return read(d, leaks, func(r *reader) Leak {
		return Leak{Kind: r.text(), Handle: uintptr(r.u64()), Amount: r.u64()}
	})
}

func read[T any](d *Driver, kind uintptr, decode func(*reader) T) []T {
	var all []T
	for i := range d.call("fake_count", kind) {
		buffer := make(reader, d.call("fake_read", kind, i, 0, 0))
		if len(buffer) == 0 {
			break // another goroutine has reset the fake
		}
		d.call("fake_read", kind, i, uintptr(unsafe.Pointer(&buffer[0])), uintptr(len(buffer)))
		all = append(all, decode(&buffer))
	}
	return all
}

// reader takes a record apart: numbers in the machine's byte order, and byte
// strings with their length before them.
type reader []byte

func (r *reader) take(n int) []byte {
	taken := (*r)[:n:n]
	*r = (*r)[n:]
	return taken
}

func (r *reader) u16() uint16  { return binary.NativeEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32  { return binary.NativeEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64  { return binary.NativeEndian.Uint64(r.take(8)) }
func (r *reader) text() string { return string(r.take(int(r.u32()))) }

func (r *reader) handle() uintptr { return uintptr(r.u64()) }
