package kernrt

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// state is what the first launch of a Kernel works out: the spec checked and
// laid out for the launches that follow.
type state struct {
	kernel   *Kernel
	argsType reflect.Type
	offsets  []uintptr // of each parameter in the args struct
	pointers []uintptr // offsets of pointers that must not be null
	guards   [][]guard // by variant

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
	st := &state{kernel: k, argsType: argsType, offsets: offsets, guards: make([][]guard, len(k.Variants))}
	st.devices.Store(&[]*onDevice{})
	for i, p := range k.Params {
		if isPointer(p.Type) && !p.Nullable {
			st.pointers = append(st.pointers, offsets[i])
		}
	}
	for v := range k.Variants {
		for _, g := range k.Variants[v].Guards {
			size := uintptr(pointerSize)
			if !isPointer(k.Params[g.Param].Type) {
				size = argsType.Field(g.Param).Type.Size()
			}
			st.guards[v] = append(st.guards[v], guard{offset: uint32(offsets[g.Param]), size: uint8(size), is: g.Is})
		}
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
