package kernrt

import (
	"reflect"
)

// goTypes are the Go types that stand for a parameter of or at an element type.
type goTypes struct{ value, pointer, pointer2, tensor reflect.Type }

func goTypesOf[T Elem]() goTypes {
	return goTypes{reflect.TypeFor[T](), reflect.TypeFor[Ptr[T]](), reflect.TypeFor[Ptr[Ptr[T]]](), reflect.TypeFor[TensorDesc[T]]()}
}

// elemGoTypes has an entry for each of elemTypes.
func elemGoTypes() map[string]goTypes {
	return map[string]goTypes{
		"i1":       goTypesOf[bool](),
		"i8":       goTypesOf[int8](),
		"i16":      goTypesOf[int16](),
		"i32":      goTypesOf[int32](),
		"i64":      goTypesOf[int64](),
		"u8":       goTypesOf[uint8](),
		"u16":      goTypesOf[uint16](),
		"u32":      goTypesOf[uint32](),
		"u64":      goTypesOf[uint64](),
		"fp16":     goTypesOf[Float16](),
		"bf16":     goTypesOf[BFloat16](),
		"fp32":     goTypesOf[float32](),
		"fp64":     goTypesOf[float64](),
		"fp8e4nv":  goTypesOf[Float8E4M3FN](),
		"fp8e5":    goTypesOf[Float8E5M2](),
		"fp8e4b8":  goTypesOf[Float8E4M3FNUZ](),
		"fp8e5b16": goTypesOf[Float8E5M2FNUZ](),
		"fp8e4b15": goTypesOf[Float8E4M3B15](),
	}
}

// paramTypes are the types of the args struct's fields.
func (k *Kernel) paramTypes() ([]reflect.Type, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	elems := elemGoTypes()
	types := make([]reflect.Type, len(k.Params))
	for i, p := range k.Params {
		if elem, _, ok := tensorType(p.Type); ok {
			types[i] = elems[elem].tensor
			continue
		}
		elem, depth := pointedTo(p.Type)
		of := elems[elem]
		switch depth {
		case 0:
			types[i] = of.value
		case 1:
			types[i] = of.pointer
		case 2:
			types[i] = of.pointer2
		}
		if types[i] == nil {
			return nil, faultf(ErrArgument, "parameter %s is %s, for which there is a generated function only", p.Name, p.Type)
		}
	}
	return types, nil
}

// structLayout lays fields out as Go does those of a struct: each at the next
// address that suits its type.
func structLayout(fields []reflect.Type) (offsets []uintptr, size uintptr) {
	largest := uintptr(1)
	for _, t := range fields {
		align := uintptr(t.Align())
		size = (size + align - 1) &^ (align - 1)
		offsets = append(offsets, size)
		size += t.Size()
		largest = max(largest, align)
	}
	return offsets, (size + largest - 1) &^ (largest - 1)
}
