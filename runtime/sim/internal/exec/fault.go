package exec

import (
	"fmt"
	"strings"
)

// Dim is three dimensions or coordinates, x first.
type Dim struct{ X, Y, Z uint32 }

func (d Dim) count() uint64 { return uint64(d.X) * uint64(d.Y) * uint64(d.Z) }

func (d Dim) String() string { return fmt.Sprintf("(%d, %d, %d)", d.X, d.Y, d.Z) }

// LoadError is a PTX text that cannot be executed here.
type LoadError struct {
	Kernel string // "" for a fault outside any function
	Line   int    // in the PTX text, from 1
	Source string // "FILE:LINE[, called from FILE:LINE]" that it was compiled from; "" where unknown
	Msg    string
}

func (e *LoadError) Error() string {
	var b strings.Builder
	if e.Kernel != "" {
		fmt.Fprintf(&b, "kernel %q, ", e.Kernel)
	}
	fmt.Fprintf(&b, "ptx line %d", e.Line)
	if e.Source != "" {
		fmt.Fprintf(&b, " (%s)", e.Source)
	}
	return b.String() + ": " + e.Msg
}

// Kind is what sort of fault it is, as far as a driver tells them apart.
type Kind int

const (
	Other      Kind = iota
	Address         // memory that is not there, or was never written
	Misaligned      // an address that is no multiple of the access's size
	Assertion       // a device assertion
)

// Fault is what stopped a launch: an access, a barrier or an assertion, by one thread of one program.
type Fault struct {
	Kernel   string
	Kind     Kind
	Line     int    // in the PTX text, from 1
	Source   string // "FILE:LINE[, called from FILE:LINE]" that it was compiled from; "" where unknown
	Instr    string // the instruction's name
	CTA      Dim    // the program's index
	Thread   Dim    // the thread's index in its program
	Argument int    // the kernel parameter whose memory is concerned, from 0; -1 where none is
	Msg      string
}

func (f *Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %q, ptx line %d", f.Kernel, f.Line)
	if f.Source != "" {
		fmt.Fprintf(&b, " (%s)", f.Source)
	}
	fmt.Fprintf(&b, ", program %v, thread %v, %s: %s", f.CTA, f.Thread, f.Instr, f.Msg)
	return b.String()
}
