// Package artefact reads what Triton's compiler leaves on disk and reports what
// the bytes say, one Image per compiled kernel. It judges each file by itself
// (is it whole, can it be read); whether the files agree is model's business.
package artefact

// Image holds the facts of one compiled kernel: the files NAME.json, NAME.ttir,
// NAME.source, NAME.ptx, NAME.cubin, NAME.kerngen.json and NAME.launch_metadata
// of one folder. What a missing file would have said is nil; Meta is never nil.
type Image struct {
	Path    string      // the files' path without extension, slash-separated, as reached from the user's argument
	Meta    *Meta       // NAME.json, or what comments in NAME.ptx say in its place
	TTIR    *Signature  // NAME.ttir
	Source  *Signature  // NAME.source: the module before any pass
	PTX     *PTX        // NAME.ptx
	Cubin   *Cubin      // NAME.cubin
	Sidecar *Sidecar    // NAME.kerngen.json
	Launch  *LaunchMeta // NAME.launch_metadata
}

// Meta is Triton's metadata, NAME.json. Triton adds keys in every version;
// unknown ones are ignored. What a version does not write has the value that
// its launcher assumed.
type Meta struct {
	InPTX           bool   // read from comments in NAME.ptx
	Name            string // the symbol in the cubin
	Backend         string // "cuda" or "hip"
	Arch            int    // 80, 90, 100, …; 0 where the backend names it otherwise
	WarpSize        int
	TritonVersion   string // "" before 3.3
	NumWarps        int    // the total, also after warp specialisation
	NumCTAs         int    // CTAs per cluster
	ClusterDims     [3]int // {NumCTAs, 1, 1} where the version writes none
	Shared          int    // dynamic shared memory, bytes
	TensorMemory    int    // tensor-memory columns
	GlobalScratch   Scratch
	ProfileScratch  Scratch
	Cooperative     bool
	PDL             bool
	MaxRegisters    int    // 0: none
	PTXOptions      string // extra flags that ptxas was given
	Instrumentation string
	Descriptors     []Descriptor // host tensor descriptors that the kernel takes as tensor maps, in order
}

// Descriptor says how the tensor map of one host tensor descriptor is encoded.
type Descriptor struct {
	Swizzle   int   // CUtensorMapSwizzle
	ElemSize  int   // bytes
	ElemType  int   // as devices number the types of tensor maps, which is not quite as CUtensorMapDataType
	Block     []int // elements loaded at a time, by dimension; of an im2col map pixels and channels
	FP4Padded bool  // 4-bit elements, each 16 of which take 16 bytes of shared memory
	Im2col    bool
}

// Scratch is memory that each CTA needs in device memory, in bytes.
type Scratch struct{ Size, Align int }

// Signature is the public function of a TTIR module.
type Signature struct {
	Name string
	Args []Arg
}

// Arg is one argument of a TTIR function.
type Arg struct {
	Name         string // Python's name, from the location; "" where the version keeps none
	SSA          string // the value's name, without %
	Type         string // as printed: "i32", "!tt.ptr<f32>", "!tt.tensordesc<tensor<64x64xf16>>"
	Divisibility int    // tt.divisibility; 0 where there is no promise
	PointerRange int    // tt.pointer_range; likewise
	TensorMap    bool   // tt.nv_tma_desc: a CUtensorMap, passed by value
	Line         int    // in the file, from 1
}

// PTX is what a launcher must know of a PTX module with one entry.
type PTX struct {
	Version         string // of the PTX language: "8.7"
	Target          string // "sm_80", "sm_90a"
	Entry           string
	Params          []PTXParam
	ReqNTID         [3]int // .reqntid, {0, 0, 0} where absent, missing dimensions 1
	MaxNTID         [3]int // .maxntid, likewise
	Cluster         [3]int // .reqnctapercluster, likewise
	ExplicitCluster bool   // .explicitcluster
	WaitsForGrid    bool   // the code contains griddepcontrol.wait
	SetsStride      bool   // the code sets a tensor map's stride (tensormap.replace)
	UsesShared      bool   // the code names Triton's dynamic shared memory, global_smem
	Text            []byte
}

// PTXParam is one parameter of an entry.
type PTXParam struct {
	Type    string // ".u64", ".f32", ".b8", as written
	Size    int    // bytes, of the whole array where it is one
	Align   int    // 0 where not written
	Pointer bool   // .ptr
	Line    int
	Used    bool // the code names it
}

// Cubin is what a launcher must know of a cubin with one kernel.
type Cubin struct {
	Symbol       string
	Arch         int          // 80, 90, …
	Accelerated  bool         // the header says "a": runs on this very architecture only
	Params       []CubinParam // by ordinal
	ReqNTID      [3]int       // {0, 0, 0} where absent
	MaxNTID      [3]int       // likewise
	Cluster      [3]int       // likewise
	Registers    int          // per thread; 0 where the file does not say
	StaticShared int          // bytes; from sm_90 on with the 1,024 that the system reserves
	Bytes        []byte
}

// CubinParam is one kernel parameter in the constant bank.
type CubinParam struct{ Ordinal, Offset, Size int }
