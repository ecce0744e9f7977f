package ptx

// Type is a PTX fundamental or packed type, by its name without the dot: "u32", "f16x2", "pred".
type Type string

var typeBits = map[Type]int{
	"pred": 1,
	"b8":   8, "u8": 8, "s8": 8, "e4m3": 8, "e5m2": 8,
	"b16": 16, "u16": 16, "s16": 16, "f16": 16, "bf16": 16, "e4m3x2": 16, "e5m2x2": 16,
	"b32": 32, "u32": 32, "s32": 32, "f32": 32, "f16x2": 32, "bf16x2": 32, "tf32": 32,
	"u16x2": 32, "s16x2": 32,
	"b64": 64, "u64": 64, "s64": 64, "f64": 64, "f32x2": 64,
	"b128": 128,
}

// IsType reports whether name is a type.
func IsType(name string) bool { return typeBits[Type(name)] != 0 }

// Bits is the width of the type; a predicate has 1.
func (t Type) Bits() int { return typeBits[t] }

// Bytes is the width of the type in memory.
func (t Type) Bytes() int { return typeBits[t] / 8 }

// Signed reports a signed integer type.
func (t Type) Signed() bool { return t[0] == 's' }

// Float reports a floating-point type of one value.
func (t Type) Float() bool {
	switch t {
	case "f16", "bf16", "f32", "f64":
		return true
	}
	return false
}

// Space is a state space.
type Space uint8

// The state spaces.
const (
	Generic Space = iota
	Param
	Global
	Shared
	Local
	Const
)

var spaceNames = map[string]Space{"param": Param, "global": Global, "shared": Shared, "local": Local, "const": Const}

// SpaceOf finds a state space by its name without the dot.
func SpaceOf(name string) (Space, bool) {
	s, ok := spaceNames[name]
	return s, ok
}

func (s Space) String() string {
	return [...]string{"generic", "param", "global", "shared", "local", "const"}[s]
}
