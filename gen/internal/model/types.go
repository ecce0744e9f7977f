package model

import (
	"fmt"
	"strings"
)

// Type is a run-time parameter's type in Triton's terms.
type Type struct {
	Elem    string // Triton's name: "i1", "i8", …, "u64", "fp16", "bf16", "fp32", "fp64", "fp8e4nv", …
	Pointer int    // levels of indirection: 0 a scalar, 1 "*fp32"
	Const   bool   // "*kfp32": the kernel does not write through it
	Rank    int    // of a host tensor descriptor; 0 for all else

	// Block is the extents of what a descriptor loads at a time: "64, 64"; ""
	// where images differ in it.
	Block string
}

// element is one of Triton's element types.
type element struct {
	name  string   // Triton's
	alias string   // a second spelling that Triton accepts
	mlir  string   // in TTIR, which has no signs
	size  int      // bytes of a scalar argument
	ptx   []string // how PTX declares a scalar argument; nil: never one
	kind  kind
}

type kind int

const (
	boolean kind = iota
	integer
	float
)

// elements are all element types. TTIR spells fp8e4b15, which no hardware has,
// as i8; of several that share a spelling the first is what TTIR alone means.
// A 16-bit float is an array of bytes in PTX; Triton 3.0 and 3.1 declare bf16 as
// .u16, and other compilers both as .b16.
var elements = []element{
	{name: "i1", alias: "u1", mlir: "i1", size: 1, ptx: []string{".u8", ".b8"}, kind: boolean},
	{name: "i8", mlir: "i8", size: 1, ptx: []string{".u8", ".b8"}, kind: integer},
	{name: "i16", mlir: "i16", size: 2, ptx: []string{".u16", ".b16"}, kind: integer},
	{name: "i32", mlir: "i32", size: 4, ptx: []string{".u32", ".b32"}, kind: integer},
	{name: "i64", mlir: "i64", size: 8, ptx: []string{".u64", ".b64"}, kind: integer},
	{name: "u8", mlir: "i8", size: 1, ptx: []string{".u8", ".b8"}, kind: integer},
	{name: "u16", mlir: "i16", size: 2, ptx: []string{".u16", ".b16"}, kind: integer},
	{name: "u32", mlir: "i32", size: 4, ptx: []string{".u32", ".b32"}, kind: integer},
	{name: "u64", mlir: "i64", size: 8, ptx: []string{".u64", ".b64"}, kind: integer},
	{name: "fp16", mlir: "f16", size: 2, ptx: []string{".b8", ".b16"}, kind: float},
	{name: "bf16", mlir: "bf16", size: 2, ptx: []string{".b8", ".b16", ".u16"}, kind: float},
	{name: "fp32", alias: "f32", mlir: "f32", size: 4, ptx: []string{".f32", ".b32"}, kind: float},
	{name: "fp64", alias: "f64", mlir: "f64", size: 8, ptx: []string{".f64", ".b64"}, kind: float},
	{name: "fp8e4nv", mlir: "f8E4M3FN", size: 1, kind: float},
	{name: "fp8e5", mlir: "f8E5M2", size: 1, kind: float},
	{name: "fp8e4b8", mlir: "f8E4M3FNUZ", size: 1, kind: float},
	{name: "fp8e5b16", mlir: "f8E5M2FNUZ", size: 1, kind: float},
	{name: "fp8e4b15", mlir: "i8", size: 1, kind: float},
}

// pointerSize is the size of a pointer argument in bytes.
const pointerSize = 8

var pointerForms = []string{".u64", ".b64"}

// ParseType reads a type as Triton's signatures spell it: "i32", "*fp16",
// "*kfp32" (const), "**i64".
func ParseType(s string) (Type, error) {
	if isDescriptor(s) {
		return parseDescriptor(s)
	}
	name := strings.TrimLeft(s, "*")
	t := Type{Pointer: len(s) - len(name)}
	if rest, ok := strings.CutPrefix(name, "k"); ok && t.Pointer == 1 {
		name, t.Const = rest, true
	}
	e, err := parseElement(name)
	if err != nil {
		return Type{}, fmt.Errorf("unknown type %q; Triton's are %s, and pointers to them such as *fp32", s, elementNames())
	}
	t.Elem = e.name
	return t, t.checkArgument()
}

// parseElement reads an element type as Triton spells it: "fp16".
func parseElement(s string) (element, error) {
	for _, e := range elements {
		if s == e.name || s == e.alias && s != "" {
			return e, nil
		}
	}
	return element{}, fmt.Errorf("unknown type %q; Triton's are %s", s, elementNames())
}

func elementNames() string {
	names := make([]string, len(elements))
	for i, e := range elements {
		names[i] = e.name
	}
	return strings.Join(names, ", ")
}

// checkArgument refuses what Triton cannot pass to a kernel.
func (t Type) checkArgument() error {
	if t.Pointer == 0 && t.Rank == 0 && t.element().ptx == nil {
		return fmt.Errorf("type %q cannot be passed by value; Triton passes 8-bit floats through pointers only", t)
	}
	return nil
}

// String is Triton's spelling: "i32", "*kfp16", "tensordesc<fp16[64, 64]>".
func (t Type) String() string {
	if t.Rank > 0 {
		return t.descriptorString()
	}
	s := strings.Repeat("*", t.Pointer)
	if t.Const {
		s += "k"
	}
	return s + t.Elem
}

// Size is what the type takes as an argument, in bytes: a descriptor its tensor
// map.
func (t Type) Size() int {
	switch {
	case t.Pointer > 0:
		return pointerSize
	case t.Rank > 0:
		return tensorMapSize
	}
	return t.element().size
}

// isInteger reports whether t is a scalar integer; i1 is none.
func (t Type) isInteger() bool {
	return t.Pointer == 0 && t.Rank == 0 && t.element().kind == integer
}

// ptxForms are the ways in which PTX declares an argument of type t.
func (t Type) ptxForms() []string {
	switch {
	case t.Pointer > 0:
		return pointerForms
	case t.Rank > 0:
		return tensorMapForms
	}
	return t.element().ptx
}

// element is t's row of the table; an unknown type has an empty one.
func (t Type) element() element {
	e, _ := parseElement(t.Elem)
	return e
}
