// Package model holds what a kernel means: its parameters, its variants and
// their images, everything checked and agreed. It does no I/O and knows no Go
// text.
package model

import "fmt"

// Kernel is one kernel: what becomes one Launch function. One with type variables
// has a kernel of each combination of element types that was compiled, and no
// variants of its own.
type Kernel struct {
	Name      string     // the Python function's
	Suffix    string     // tells it from other kernels of that name: types such as "fp16", or the start of its code's SHA-256; "" for the only one
	Doc       string     // its docstring, dedented
	Source    string     // relative path of the Python file; "" where unknown
	Triton    string     // version; "" where unknown, "3.6.0, 3.7.0" where images differ
	Params    []Param    // run-time parameters in the source's order
	Constants []Constant // those that every variant agrees on, in the source's order
	Grid      []string   // declared, in the source's words; nil where the caller of a launch gives it
	Key       []string   // parameters on whose values the best configuration depends
	Configs   []Config   // the default first; nil where there is one only and no grid is declared
	Variants  []Variant  // by configuration, then in the order of dispatch
	TypeVars  []TypeVar
	Instances []Kernel // in the order of types
	Types     []string // of an instance: what each type variable is
}

// Config is one of the ways in which a kernel is tuned. All compute the same.
type Config struct {
	Name string   // its constants and options; "" for the only one
	Grid []string // Kernel.Grid with the configuration's constants in it
}

// TypeVar is a type variable of a kernel.
type TypeVar struct {
	Name  string   // "T"
	Types []string // Triton's names of the element types it stands for
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
	TypeVar  string // the type variable that is the type's element; "" for none
	Nullable bool   // an image that takes this pointer may be given null; a variant with a Null guard does not take it
}

// Variant is one specialisation of a kernel. It may be launched when all its
// guards hold.
//
// Variants are tried in order. Those with most Null guards come first: null is
// divisible by 16, so a variant that takes a pointer must not see the null that
// another was compiled for. Then those with most guards, to be 1 being two where
// another variant asks to fit 32 bits; then in the order of the kernel's
// description; where there is none, by the guards themselves.
type Variant struct {
	Config    int        // index into Kernel.Configs
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
	Args           []int        // what is passed: indices into Kernel.Params
	Descriptors    []Descriptor // how those of Args that are tensor descriptors are passed, in order
	Hidden         int          // scratch pointers that follow: 0, 1 (global) or 2 (global, profile)
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

// Descriptor says what an image takes a host tensor descriptor as: a tensor map
// that the launch encodes, then its extents (i32) and strides (i64); or pieces,
// which are the address, extents (i64) and strides (i64), flags (i1), and again
// extents and strides as with a map.
type Descriptor struct {
	Box        []int // of a map: elements that are loaded at a time, by dimension; nil: taken apart
	DataType   int   // of a map: CUtensorMapDataType
	Swizzle    int   // of a map: CUtensorMapSwizzle
	FP4Padded  bool  // the map's innermost extent is twice the descriptor's
	DoubledArg bool  // and so is the one that is passed beside it
	Flags      int   // of pieces: 0, 1 (NaN padding) or 2 (rounding to TF32 too)
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
