package model

import (
	"fmt"
	"strings"
)

// descriptorPrefix begins the TTIR type of a host tensor descriptor.
const descriptorPrefix = "!tt.tensordesc<"

// globalSpace is the address space of global memory, the only one that a
// kernel's argument may point to.
const globalSpace = "1"

// parseMLIR reads an argument's type as TTIR prints it: "i32",
// "!tt.ptr<f32>", "!tt.ptr<!tt.ptr<i64>, 1>". Signs and const are lost there:
// an integer comes out signed.
func parseMLIR(s string) (Type, error) {
	inner, ok := strings.CutPrefix(s, "!tt.ptr<")
	if !ok {
		for _, e := range elements {
			if e.mlir == s {
				return Type{Elem: e.name}, nil
			}
		}
		return Type{}, fmt.Errorf("unknown TTIR type %q", s)
	}
	inner, ok = strings.CutSuffix(inner, ">")
	if !ok {
		return Type{}, fmt.Errorf("TTIR type %q lacks its closing bracket", s)
	}
	if i := strings.LastIndexByte(inner, ','); i > strings.LastIndexByte(inner, '>') {
		if space := strings.TrimSpace(inner[i+1:]); space != globalSpace {
			return Type{}, fmt.Errorf("TTIR type %q points into address space %s, not global memory", s, space)
		}
		inner = inner[:i]
	}
	t, err := parseMLIR(strings.TrimSpace(inner))
	if err != nil {
		return Type{}, err
	}
	t.Pointer++
	return t, nil
}
