package kernrt

import (
	"reflect"
	"unsafe"
)

// A launch is short against the driver's own work, which leaves little of ours
// in the CPU's caches. So all that a launch reads is laid out at the first one,
// in as few cache lines and hops as it takes: see onDevice, loadable and plan.

// typeIdentity tells types apart: two pointers have the same identity if and
// only if they are of the same type. It is the type word of the interface,
// which costs a launch one comparison where reflect.Type costs a call.
func typeIdentity(pointer any) uintptr { return *(*uintptr)(unsafe.Pointer(&pointer)) }

// layout checks the kernel, compares the args struct with its parameters and
// returns the fields' offsets and the struct's size. Args are laid out like it.
func (k *Kernel) layout(args reflect.Type) (offsets []uintptr, size uintptr, _ error) {
	if args == reflect.TypeFor[packedArgs]() {
		types, err := k.paramTypes()
		offsets, size = structLayout(types)
		return offsets, size, err
	}
	if err := k.check(); err != nil {
		return nil, 0, err
	}
	if args.Kind() != reflect.Struct || args.NumField() != len(k.Params) {
		return nil, 0, faultf(ErrMalformed, "args type %v is not a struct with a field for each of the %d parameters; generate the package again", args, len(k.Params))
	}
	offsets = make([]uintptr, len(k.Params))
	for i, p := range k.Params {
		field := args.Field(i)
		if !matches(p.Type, field.Type) {
			return nil, 0, faultf(ErrMalformed, "field %s of %v is %v, but parameter %s is %s; generate the package again", field.Name, args, field.Type, p.Name, p.Type)
		}
		offsets[i] = field.Offset
	}
	return offsets, args.Size(), nil
}

// guardsOf lays a variant's guards out, behind those that refuse null pointers.
func (k *Kernel) guardsOf(v *Variant, offsets []uintptr) []guard {
	absent := map[int]bool{}
	for _, g := range v.Guards {
		absent[g.Param] = absent[g.Param] || g.Is == Null
	}
	var guards []guard
	add := func(param int, is GuardKind) {
		size := paramSize(k.Params[param].Type)
		guards = append(guards, guard{uint32(offsets[param]), uint8(size), is, uint16(param)})
	}
	for i, p := range k.Params {
		if isPointer(p.Type) && !p.Nullable && !absent[i] {
			add(i, notNull)
		}
	}
	for _, g := range v.Guards {
		is := g.Is
		if is == Fits32 && k.Params[g.Param].Type == "u64" {
			is = fitsUnsigned
		}
		add(g.Param, is)
	}
	return guards
}
