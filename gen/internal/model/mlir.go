package model

import (
	"fmt"
	"strings"
)

// descriptorPrefix begins the TTIR type of a host tensor descriptor.
const descriptorPrefix = "!tt.tensordesc<"

// What a pointer of a kernel's argument may say of where it points to: nothing or
// globalSpace. Since 3.9 constSpace is how a const pointer is told; that is in
// global memory too.
const (
	globalSpace = "1"
	constSpace  = `"constant"`
)

// parseMLIR reads an argument's type as TTIR prints it: "i32",
// "!tt.ptr<f32>", "!tt.ptr<!tt.ptr<i64>, 1>", "!tt.ptr<f32, \"constant\">".
// Signs are lost there: an integer comes out signed.
func parseMLIR(s string) (Type, error) {
	if strings.HasPrefix(s, descriptorPrefix) {
		return parseDescriptorMLIR(s)
	}
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
	isConst := false
	if i := strings.LastIndexByte(inner, ','); i > strings.LastIndexByte(inner, '>') {
		switch space := strings.TrimSpace(inner[i+1:]); space {
		case globalSpace:
		case constSpace:
			isConst = true
		default:
			return Type{}, fmt.Errorf("TTIR type %q points into address space %s, not global memory", s, space)
		}
		inner = inner[:i]
	}
	t, err := parseMLIR(strings.TrimSpace(inner))
	if err != nil {
		return Type{}, err
	}
	if t.Const || isConst && t.Pointer > 0 {
		return Type{}, fmt.Errorf("TTIR type %q has const below another pointer, which Triton's signatures cannot say", s)
	}
	t.Pointer++
	t.Const = isConst
	return t, nil
}
