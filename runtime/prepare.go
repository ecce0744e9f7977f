package kernrt

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// state is what the first launch of a Kernel works out: the spec checked and
// laid out for the launches that follow.
type state struct {
	kernel   *Kernel
	argsType reflect.Type
	offsets  []uintptr // of each parameter in the args struct
	guards   [][]guard // by variant: null checks, then promises

	mu      sync.Mutex                  // held to add or remove a device
	devices atomic.Pointer[[]*onDevice] // those the kernel was launched on; a handful
}

// prepare returns the kernel's state after the first launch has checked it
// against the args struct.
func (k *Kernel) prepare(argsType reflect.Type) (*state, error) {
	if st := k.state.Load(); st != nil && st.argsType == argsType {
		return st, nil
	}
	return k.prepareFirst(argsType)
}

func (k *Kernel) prepareFirst(argsType reflect.Type) (*state, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	offsets, err := k.layout(argsType)
	if err != nil {
		return nil, err
	}
	st := &state{kernel: k, argsType: argsType, offsets: offsets}
	st.devices.Store(&[]*onDevice{})
	for v := range k.Variants {
		st.guards = append(st.guards, st.guardsOf(&k.Variants[v]))
	}
	if k.state.CompareAndSwap(nil, st) {
		return st, nil
	}
	first := k.state.Load()
	if first.argsType != argsType {
		return nil, faultf(ErrMalformed, "launched with %v, but before with %v", argsType, first.argsType)
	}
	return first, nil
}

// guardsOf lays a variant's guards out, behind those that refuse null pointers.
func (st *state) guardsOf(v *Variant) []guard {
	var guards []guard
	add := func(param int, is GuardKind) {
		size := paramSize(st.kernel.Params[param].Type)
		guards = append(guards, guard{uint32(st.offsets[param]), uint8(size), is, uint16(param)})
	}
	for i, p := range st.kernel.Params {
		absent := slices.Contains(v.Guards, Guard{Param: i, Is: Null})
		if isPointer(p.Type) && !p.Nullable && !absent {
			add(i, notNull)
		}
	}
	for _, g := range v.Guards {
		add(g.Param, g.Is)
	}
	return guards
}

// layout compares the args struct with the parameters and returns the fields'
// offsets.
func (k *Kernel) layout(args reflect.Type) ([]uintptr, error) {
	if args.Kind() != reflect.Struct || args.NumField() != len(k.Params) {
		return nil, faultf(ErrMalformed, "args type %v is not a struct with a field for each of the %d parameters; generate the package again", args, len(k.Params))
	}
	offsets := make([]uintptr, len(k.Params))
	for i, p := range k.Params {
		field := args.Field(i)
		if !matches(p.Type, field.Type) {
			return nil, faultf(ErrMalformed, "field %s of %v is %v, but parameter %s is %s; generate the package again", field.Name, args, field.Type, p.Name, p.Type)
		}
		offsets[i] = field.Offset
	}
	return offsets, nil
}
