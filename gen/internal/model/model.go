// Package model holds what a kernel means: its parameters, its variants and
// their images, everything checked and agreed. It does no I/O and knows no Go
// text.
package model

import "fmt"

// Kernel is one kernel: what becomes one Launch function.
type Kernel struct {
	Name      string     // the Python function's
	Suffix    string     // tells it from other kernels of that name: types such as "fp16", or the start of its code's SHA-256; "" for the only one
	Doc       string     // its docstring, dedented
	Source    string     // relative path of the Python file; "" where unknown
	Triton    string     // version; "" where unknown, "3.6.0, 3.7.0" where images differ
	Params    []Param    // run-time parameters in the source's order
	Constants []Constant // those that every variant agrees on, in the source's order
	Variants  []Variant  // in the order of dispatch
}

// ID is what the kernel is called where its name alone would not do.
func (k *Kernel) ID() string {
	if k.Suffix == "" {
		return k.Name
	}
	return k.Name + "_" + k.Suffix
}

// Param is one run-time parameter.
type Param struct {
	Name     string // unique: tuple members are "ptrs.0" or "ptrs.field"
	Type     Type
	Nullable bool // an image that takes this pointer may be given null; a variant with a Null guard does not take it
}

// Variant is one specialisation of a kernel. It may be launched when all its
// guards hold.
//
// Variants are tried in order. Those with most Null guards come first: null is
// divisible by 16, so a variant that takes a pointer must not see the null that
// another was compiled for. Then those with most guards, then by the guards
// themselves.
type Variant struct {
	Guards    []Guard    // by parameter, then kind
	Constants []Constant // all of them, in the source's order; none where the artefacts do not tell
	Images    []Image    // by target, then kind; no two alike in both
}

// Guard is one promise that the compiler was given.
type Guard struct {
	Param int // index into Kernel.Params
	Is    GuardKind
}

// GuardKind says what a guard promises.
type GuardKind int

const (
	DivisibleBy16 GuardKind = iota + 1
	EqualTo1                // the argument is folded into the code and not passed
	Null                    // the pointer is absent and not passed
	Fits32                  // the value of a 64-bit integer fits 32 bits, with which it is passed
)

// Image is one compiled binary with all that a launch of it needs.
type Image struct {
	Target         Target
	Kind           ImageKind
	Symbol         string
	Args           []int // what is passed: indices into Kernel.Params
	Hidden         int   // scratch pointers that follow: 0, 1 (global) or 2 (global, profile)
	NumWarps       int
	Cluster        [3]int // {1, 1, 1}: none; the grid counts clusters
	Shared         int    // dynamic shared memory, bytes
	GlobalScratch  Scratch
	ProfileScratch Scratch
	Cooperative    bool
	PDL            bool // launched with programmatic stream serialisation
	Code           []byte
	Origin         string // artefact path without extension, for messages
}

// Scratch is device memory each CTA needs, in bytes.
// The zero value means none.
type Scratch struct{ Size, Align int }

// ImageKind is the form of an image.
type ImageKind int

const (
	Cubin ImageKind = iota + 1
	PTX
)

// Target is an architecture.
type Target struct {
	SM     int    // 80, 90, 120
	Suffix string // "", or "a": this very architecture only
}

// String is ptxas's spelling: sm_80, sm_90a.
func (t Target) String() string { return fmt.Sprintf("sm_%d%s", t.SM, t.Suffix) }
