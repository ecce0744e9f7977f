package ptx

// Module is one parsed PTX text.
type Module struct {
	Version string // as written after .version, "8.7"
	Target  string // the first name after .target, "sm_80"
	Files   map[int]string
	Vars    []*Var // module-scope variables, in order
	Funcs   []*Func
}

// Func finds a function or entry by name; a definition goes before a declaration.
func (m *Module) Func(name string) *Func {
	var declared *Func
	for _, f := range m.Funcs {
		if f.Name != name {
			continue
		}
		if f.Defined {
			return f
		}
		declared = f
	}
	return declared
}

// Func is an entry or a device function.
type Func struct {
	Name    string
	Line    int
	Entry   bool
	Defined bool // has a body
	Returns []*Var
	Params  []*Var
	ReqTID  [3]int // .reqntid; zero where absent
	MaxTID  [3]int // .maxntid; zero where absent
	Regs    []Reg
	Vars    []*Var // .local, .shared and .param variables of the body
	Body    []*Instr
	Labels  map[string]int // to an index in Body, which may be len(Body)
}

// Reg is one virtual register of a function.
type Reg struct {
	Name string
	Type Type
}

// Var is a variable or a parameter.
type Var struct {
	Name    string
	Line    int
	Space   Space
	Type    Type
	Align   int    // bytes
	Size    int    // bytes; 0 for an unsized array
	Unsized bool   // declared with []
	Init    []byte // little-endian, at most Size bytes; nil without initialiser
	Refs    []Ref  // addresses inside Init
	Extern  bool
}

// Ref says that the eight bytes of an initialiser at Offset are the address of Name plus Add.
type Ref struct {
	Offset int
	Name   string
	Add    int64
}

// Loc is a position in the source that the PTX was compiled from.
type Loc struct {
	File   int // index in Module.Files; 0 means unknown
	Line   int
	Caller string // FILE:LINE of the call where it was inlined; "" where it was not
}

// Instr is one instruction.
type Instr struct {
	Line     int // in the PTX text, from 1
	Loc      Loc
	Guard    *Guard
	Op       string   // the mnemonic: "ld"
	Mods     []string // what follows it, without the dots: "global", "v4", "b32"
	Operands []Operand
}

// Name is the whole instruction name, "ld.global.v4.b32".
func (in *Instr) Name() string {
	n := in.Op
	for _, m := range in.Mods {
		n += "." + m
	}
	return n
}

// Guard is the predicate of an instruction: @%p1 or @!%p1.
type Guard struct {
	Reg int
	Not bool
}

// Kind says what an operand is.
type Kind uint8

// The kinds of operands.
const (
	KindReg     Kind = iota // a register: Reg; Not for !%p
	KindImm                 // an integer: Imm
	KindFloat               // 0f or 0d or decimal: Imm holds the bits of a float64, Single for 0f (bits of a float32)
	KindSpecial             // a special register: Name, "%tid.x"
	KindName                // a label, variable or function: Name, plus Imm
	KindAddr                // [Base + Imm]: Elems[0] is the base (register, name or integer)
	KindVec                 // { … }: Elems
	KindList                // ( … ) of a call: Elems
	KindPair                // a|b: Elems
	KindSink                // _
)

// Operand is one operand of an instruction.
type Operand struct {
	Kind   Kind
	Reg    int
	Not    bool
	Single bool
	Imm    int64
	Name   string
	Elems  []Operand
}
