package artefact

// SidecarSchema is the version of NAME.kerngen.json that this package writes; it
// reads 1, which lacks types, configurations and the key, too.
const SidecarSchema = 2

// Sidecar is NAME.kerngen.json: what Triton's own files lose of the source.
// docs/sidecar.md describes it for those who write one.
type Sidecar struct {
	Schema int            `json:"schema"`
	Kernel string         `json:"kernel"` // the Python function's name
	Doc    string         `json:"doc,omitempty"`
	Triton string         `json:"triton"` // version, "3.6.0"
	Source []SidecarFile  `json:"source"` // first the kernel's own file, then what it imports
	Params []SidecarParam `json:"params"` // all of them, in the order of the source
	Grid   []string       `json:"grid,omitempty"`
	Types  []SidecarType  `json:"types,omitempty"`  // type variables of the kernel and what they are here
	Config *SidecarConfig `json:"config,omitempty"` // nil where there is one only
	Order  int            `json:"order,omitempty"`  // the place of this specialisation among those of the kernel: of two that fit alike, the first is launched
	Key    []string       `json:"key,omitempty"`    // parameters on whose values the best configuration depends
}

// SidecarType says what a type variable is.
type SidecarType struct {
	Name string `json:"name"` // "T"
	Type string `json:"type"` // "fp16"
}

// SidecarConfig is one of the ways in which the kernel is tuned.
type SidecarConfig struct {
	Index   int    `json:"index"` // its place among them
	Name    string `json:"name"`  // its constants and options: "BLOCK_M=128,num_warps=8"
	Default bool   `json:"default,omitempty"`
}

// SidecarFile is one source file; its path is slash-separated and relative.
type SidecarFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// SidecarParam is one parameter of the Python function. Exactly one of Type,
// Constant and Tuple is set.
type SidecarParam struct {
	Name string `json:"name"`

	// A run-time argument: "i32", "u8", "*fp16", "*kfp32" (const).
	Type        string `json:"type,omitempty"`
	TypeVar     string `json:"type_var,omitempty"`     // the type variable that gave the element type
	DivisibleBy int    `json:"divisible_by,omitempty"` // 16: the compiler was promised it
	Nullable    bool   `json:"nullable,omitempty"`     // a null pointer is a valid argument
	// Folded away by the compiler, hence not passed: "one" (an integer equal
	// to 1) or "absent" (None).
	Folded string `json:"folded,omitempty"`

	// A compile-time constant.
	Constant *Constant `json:"constant,omitempty"`

	// A tuple; members have names where the source used a namedtuple.
	Tuple []SidecarParam `json:"tuple,omitempty"`
}

// Constant is a compile-time constant of the source: exactly one field is set.
type Constant struct {
	Int    *int64   `json:"int,omitempty"`
	Float  *float64 `json:"float,omitempty"` // a number, or one of the strings "inf", "-inf" and "nan"
	Bool   *bool    `json:"bool,omitempty"`
	String *string  `json:"string,omitempty"`
	DType  string   `json:"dtype,omitempty"` // "fp16"
	None   bool     `json:"none,omitempty"`
}
