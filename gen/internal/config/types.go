package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ElementTypes are Triton's element types by their names in signatures.
var ElementTypes = []string{"i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64",
	"fp16", "bf16", "fp32", "fp64", "fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5", "fp8e5b16"}

// Argument is what a run-time argument may be, in the words of a signature:
// "*fp16:16" is a pointer that is promised to be divisible by 16.
type Argument struct {
	Pointer int      // levels of indirection
	Const   bool     // the kernel does not write through the pointer
	Elem    string   // an element type's or a type variable's name
	Block   []string // of a tensor descriptor: numbers or names of constants; nil for all else
	Hint    int      // 0: none, 1: the value is 1, 16: it is divisible by 16
}

var typeVarName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`)

var descriptorType = regexp.MustCompile(`^tensordesc<([A-Za-z0-9_]+)\[([^\[\]]+)\]>$`)

// ParseArgument reads an argument; vars are the type variables that it may name.
// Its errors speak of the text only.
func ParseArgument(text string, vars []string) (Argument, error) {
	var a Argument
	typ, hint, hinted := strings.Cut(text, ":")
	switch {
	case !hinted:
	case hint == "1" || hint == "16":
		a.Hint, _ = strconv.Atoi(hint)
	default:
		return Argument{}, fmt.Errorf("unknown promise %q in %q; there are :16 (divisible by 16) and :1 (equal to 1)", ":"+hint, text)
	}
	if m := descriptorType.FindStringSubmatch(typ); m != nil {
		a.Elem = m[1]
		for dim := range strings.SplitSeq(m[2], ",") {
			a.Block = append(a.Block, strings.TrimSpace(dim))
		}
		if hinted {
			return Argument{}, fmt.Errorf("%q: a tensor descriptor has no promise", text)
		}
	} else {
		elem := strings.TrimLeft(typ, "*")
		a.Pointer = len(typ) - len(elem)
		if rest, ok := strings.CutPrefix(elem, "k"); ok && a.Pointer > 0 {
			a.Const, elem = true, rest
		}
		a.Elem = elem
	}
	known := append(slices.Clone(vars), ElementTypes...)
	if !slices.Contains(known, a.Elem) {
		return Argument{}, unknownType(text, a.Elem, vars)
	}
	integer := isInteger(a.Elem) || slices.Contains(vars, a.Elem) // a variable's types are checked each
	switch {
	case a.Hint == 1 && (a.Pointer > 0 || !integer):
		return Argument{}, fmt.Errorf("%q: only an integer can be promised to be 1", text)
	case a.Hint == 16 && a.Pointer == 0 && !integer:
		return Argument{}, fmt.Errorf("%q: only a pointer or an integer can be promised to be divisible by 16", text)
	case a.Pointer == 0 && a.Block == nil && strings.HasPrefix(a.Elem, "fp8"):
		return Argument{}, fmt.Errorf("%q: an 8-bit float can be pointed to, not passed", text)
	}
	return a, nil
}

func unknownType(text, elem string, vars []string) error {
	remedy := "Triton's are " + strings.Join(ElementTypes, ", ") + ", and pointers such as *fp32"
	if elem == "" {
		return fmt.Errorf("%q names no type; %s", text, remedy)
	}
	if typeVarName.MatchString(elem) && len(elem) < 4 {
		remedy = fmt.Sprintf("give it its types: \"types: {%s: [fp32, fp16]}\"", elem)
	} else if meant := triton[elem]; meant != "" {
		remedy = fmt.Sprintf("did you mean %q?", strings.Replace(text, elem, meant, 1))
	} else if near := closest(elem, append(slices.Clone(vars), ElementTypes...)); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", strings.Replace(text, elem, near, 1))
	}
	return fmt.Errorf("unknown type %q; %s", elem, remedy)
}

// triton has Triton's names in signatures by those of its types in Python.
var triton = map[string]string{
	"bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
	"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
	"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
}

func isInteger(elem string) bool {
	return elem != "i1" && elem != "u1" && (elem[0] == 'i' || elem[0] == 'u') && slices.Contains(ElementTypes, elem)
}

// Integer reports whether a is an integer of more than one bit.
func (a Argument) Integer() bool { return a.Pointer == 0 && a.Block == nil && isInteger(a.Elem) }

// Bits are the bits of an integer.
func (a Argument) Bits() int {
	bits, _ := strconv.Atoi(a.Elem[1:])
	return bits
}

// Type is a's type without its promise, as a signature has it.
func (a Argument) Type() string {
	if a.Block != nil {
		return fmt.Sprintf("tensordesc<%s[%s]>", a.Elem, strings.Join(a.Block, ","))
	}
	k := ""
	if a.Const {
		k = "k"
	}
	return strings.Repeat("*", a.Pointer) + k + a.Elem
}
