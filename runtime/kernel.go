package kernrt

import (
	"sync"
	"sync/atomic"
)

// ABI1 is the first runtime ABI that generated code can ask for. Generated
// files name the oldest ABI they need; a runtime keeps all it still serves.
const ABI1 = 1

// Kernel is a compiled kernel as generated code describes it: static data, so
// that the linker drops the kernels a program does not use. Launch checks it at
// the first launch; a malformed Kernel is every Launch's error. Its methods and
// Launch are safe for concurrent use. Do not copy or change a Kernel.
type Kernel struct {
	Name     string    // the Python function's, with what tells it from others of that name
	Params   []Param   // run-time parameters: the fields of the args struct, in order
	Configs  []Config  // the default first; none where there is one only and the caller gives the grid
	Variants []Variant // by configuration, then in the order of dispatch

	mu      sync.Mutex               // held to change what follows
	devices atomic.Pointer[onDevice] // a list of those it was launched on, newest first
}

// Param describes one run-time parameter.
type Param struct {
	Name     string // as in the source
	Type     string // Triton's spelling: "i32", "*fp16"
	Nullable bool   // a null pointer is a valid argument
}

// Config is one way in which a kernel is tuned: all compute the same, in
// another time. Each has its own variants.
type Config struct {
	Name string // its constants and options: "BLOCK_M=128,num_warps=8"; "" for the only one
	// One to three dimensions of the grid, as expressions over integers,
	// parameters of integer type, + - * / %, cdiv, min and max, such as
	// "cdiv(n, 1024)"; nil where the caller gives the grid.
	Grid []string
}

// Variant is one specialisation of a kernel: it may be launched when all its
// guards hold.
type Variant struct {
	Config int // index into Kernel.Configs
	Guards []Guard
	Images []Image
}

// Guard is one promise that the compiler was given about an argument.
type Guard struct {
	Param int // index into Kernel.Params
	Is    GuardKind
}

// GuardKind says what a Guard promises.
type GuardKind uint8

const (
	DivisibleBy16 GuardKind = iota + 1 // address or integer
	EqualTo1                           // an integer folded into the code, not passed
	Null                               // a pointer that is absent, not passed
	Fits32                             // the value of a 64-bit integer, of which the image takes the lower 32 bits
)

// Image is one compiled binary of a variant and all that a launch of it needs.
type Image struct {
	Target         string  // as ptxas spells it: "sm_80"; "sm_90a" runs on that very architecture only
	PTX            bool    // Code is PTX for the driver to compile, as it is or packed by gzip; not a cubin
	Code           *string // by address, so that unused images are dropped
	Symbol         string
	Args           []int        // what is passed, in order: indices into Kernel.Params
	Descriptors    []Descriptor // how those of Args that are TensorDescs are passed, in order
	Hidden         int          // scratch pointers passed after them: 0, 1 (global) or 2 (global, profile)
	NumWarps       int          // per CTA
	Cluster        [3]int       // CTAs per cluster in x, y, z; the zero value means no cluster
	Shared         int          // dynamic shared memory per CTA, bytes
	GlobalScratch  Scratch
	ProfileScratch Scratch
	Cooperative    bool // all CTAs must be resident at once
	PDL            bool // may start before its predecessor on the stream ends, and waits for it itself
}

// Descriptor says what an image takes a TensorDesc as: a tensor map, which a
// launch encodes, then extents and strides; or pieces, namely address, extents and
// strides, flags, and again extents and strides.
type Descriptor struct {
	Box        []int // of a map: elements that are loaded at a time, by dimension; nil: taken apart
	DataType   int   // of a map: CUtensorMapDataType
	Swizzle    int   // of a map: CUtensorMapSwizzle
	FP4Padded  bool  // the map's innermost extent is twice the tensor's
	DoubledArg bool  // and so is the one that is passed beside it
	Flags      int   // of pieces: 0, 1 (NaN outside) or 2 (rounding to TF32 too)
}

// Scratch is device memory that each CTA of a launch needs.
type Scratch struct {
	Size  int // bytes per CTA
	Align int // bytes, a power of two
}
