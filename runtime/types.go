package kernrt

import (
	"reflect"
	"strings"
)

// Elem is every Go type that stands for one of Triton's element types.
type Elem interface {
	bool | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 |
		Float16 | BFloat16 | Float8E4M3FN | Float8E5M2 | Float8E4M3FNUZ | Float8E5M2FNUZ | Float8E4M3B15
}

// elemTypes are Triton's names of element types and what stands for them: a
// function, so that importing the package does no work.
func elemTypes() map[string]reflect.Type {
	return map[string]reflect.Type{
		"i1":       reflect.TypeFor[bool](),
		"i8":       reflect.TypeFor[int8](),
		"i16":      reflect.TypeFor[int16](),
		"i32":      reflect.TypeFor[int32](),
		"i64":      reflect.TypeFor[int64](),
		"u8":       reflect.TypeFor[uint8](),
		"u16":      reflect.TypeFor[uint16](),
		"u32":      reflect.TypeFor[uint32](),
		"u64":      reflect.TypeFor[uint64](),
		"fp16":     reflect.TypeFor[Float16](),
		"bf16":     reflect.TypeFor[BFloat16](),
		"fp32":     reflect.TypeFor[float32](),
		"fp64":     reflect.TypeFor[float64](),
		"fp8e4nv":  reflect.TypeFor[Float8E4M3FN](),
		"fp8e5":    reflect.TypeFor[Float8E5M2](),
		"fp8e4b8":  reflect.TypeFor[Float8E4M3FNUZ](),
		"fp8e5b16": reflect.TypeFor[Float8E5M2FNUZ](),
		"fp8e4b15": reflect.TypeFor[Float8E4M3B15](),
	}
}

const pointerSize = 8 // bytes, on every device

// matches reports whether Go's type t stands for Triton's type: "i32", "*fp16",
// "*kfp16" (const).
func matches(triton string, t reflect.Type) bool {
	if elem, _, ok := tensorType(triton); ok {
		d, ok := reflect.Zero(t).Interface().(interface{ tensor() reflect.Type })
		return ok && matches(elem, d.tensor())
	}
	elem, depth := pointedTo(triton)
	for range depth {
		p, ok := reflect.Zero(t).Interface().(interface{ elem() reflect.Type })
		if !ok {
			return false
		}
		t = p.elem()
	}
	want, known := elemTypes()[elem]
	return known && t == want
}

// pointee is what a pointer points to: "fp16" for "*fp16" and "*kfp16" (const).
func pointee(triton string) (elem string, ok bool) {
	elem, ok = strings.CutPrefix(triton, "*")
	if ok {
		elem = strings.TrimPrefix(elem, "k")
	}
	return elem, ok
}

// pointedTo is what a pointer of any depth, 0 for none, points to in the end.
func pointedTo(triton string) (elem string, depth int) {
	for {
		elem, ok := pointee(triton)
		if !ok {
			return triton, depth
		}
		triton, depth = elem, depth+1
	}
}

func isPointer(triton string) bool { return strings.HasPrefix(triton, "*") }

func isInteger(triton string) bool {
	return len(triton) > 1 && triton != "i1" && (triton[0] == 'i' || triton[0] == 'u')
}
