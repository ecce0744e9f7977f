package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/kerngen/kerngen/gen/internal/model"
)

// goType is a parameter's type in Go.
type goType struct {
	elem    string
	runtime bool // elem is the runtime's, not Go's
	pointer int
	desc    bool // a tensor descriptor
}

var goElems = map[string]goType{
	"i1":       {elem: "bool"},
	"i8":       {elem: "int8"},
	"i16":      {elem: "int16"},
	"i32":      {elem: "int32"},
	"i64":      {elem: "int64"},
	"u8":       {elem: "uint8"},
	"u16":      {elem: "uint16"},
	"u32":      {elem: "uint32"},
	"u64":      {elem: "uint64"},
	"fp16":     {elem: "Float16", runtime: true},
	"bf16":     {elem: "BFloat16", runtime: true},
	"fp32":     {elem: "float32"},
	"fp64":     {elem: "float64"},
	"fp8e4nv":  {elem: "Float8E4M3FN", runtime: true},
	"fp8e5":    {elem: "Float8E5M2", runtime: true},
	"fp8e4b8":  {elem: "Float8E4M3FNUZ", runtime: true},
	"fp8e5b16": {elem: "Float8E5M2FNUZ", runtime: true},
	"fp8e4b15": {elem: "Float8E4M3B15", runtime: true},
}

// typeOf is an error for a type that model should have refused.
func typeOf(t model.Type) (goType, error) {
	g, ok := goElems[t.Elem]
	if !ok {
		return goType{}, fmt.Errorf("no Go type for %q", t)
	}
	g.pointer, g.desc = t.Pointer, t.Rank > 0
	return g, nil
}

func (g goType) code() jen.Code {
	s := jen.Id(g.elem)
	if g.runtime {
		s = jen.Qual(runtimePath, g.elem)
	}
	for range g.pointer {
		s = jen.Qual(runtimePath, "Ptr").Index(s)
	}
	if g.desc {
		s = jen.Qual(runtimePath, "TensorDesc").Index(s)
	}
	return s
}

// width is the number of columns that code takes.
func (g goType) width() int {
	w := len(g.elem) + g.pointer*len("kernrt.Ptr[]")
	if g.runtime {
		w += len("kernrt.")
	}
	if g.desc {
		w += len("kernrt.TensorDesc[]")
	}
	return w
}

// specType is t in the runtime's description of a kernel, which has no use for
// const.
func specType(t model.Type) string {
	t.Const = false
	return t.String()
}
