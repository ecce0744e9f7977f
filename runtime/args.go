package kernrt

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unsafe"
)

// Args are the arguments of one kernel, for programs that choose kernels at run
// time; generated packages have a function Kernels to choose from. They are
// checked as those of a generated function are:
//
//	args, err := kernrt.NewArgs(k) // one of vec.Kernels()
//	err = args.Set(0, x.Ptr()) // as Kernel.Params says
//	...
//	err = args.Launch(stream, grid)
//
// Args keep their values and may be launched again; neither Set nor Launch
// allocates. They are not safe for concurrent use, but many Args of one kernel
// are.
type Args struct {
	kernel *Kernel
	params []packedParam
	packed []uint64 // the args struct that generated code has
	unset  int      // parameters without a value yet
}

// packedParam is one parameter of Args.
type packedParam struct {
	offset   uintptr
	size     uintptr // bytes
	identity uintptr // of the Go type that the args struct has
	set      bool
}

// Address is a Ptr whose type of element is known at run time only.
type Address struct {
	Elem string // Triton's name of what it points to: "fp16"
	Addr uint64
}

// packedArgs stands for the type of Args where a launch asks for that of the
// args struct.
type packedArgs struct{}

// NewArgs makes Args without values. A kernel that contradicts itself is
// ErrMalformed.
func NewArgs(k *Kernel) (*Args, error) {
	if k == nil {
		return nil, faultf(ErrArgument, "there is no kernel")
	}
	types, err := k.paramTypes()
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", k.Name, err)
	}
	offsets, size := structLayout(types)
	a := &Args{kernel: k, params: make([]packedParam, len(types)), packed: make([]uint64, size/8+1), unset: len(types)}
	for i, t := range types {
		a.params[i] = packedParam{offset: offsets[i], size: t.Size(), identity: typeIdentity(reflect.Zero(t).Interface())}
	}
	return a, nil
}

// Kernel is the kernel that the arguments are for.
func (a *Args) Kernel() *Kernel {
	if a == nil {
		return nil
	}
	return a.kernel
}

//go:noinline
func errNoArgs() error { return faultf(ErrArgument, "there are no arguments; make them with NewArgs") }

// Set gives parameter i, as Kernel.Params counts them, a value: what the
// generated function takes, such as a Ptr[float32] for "*fp32". Besides, any
// integer of Go's does for an integer that can hold its value, float32 and
// float64 for any float, rounded to the nearest, and an Address for a pointer.
func (a *Args) Set(i int, value any) error {
	if a == nil || a.kernel == nil {
		return errNoArgs()
	}
	if uint(i) >= uint(len(a.params)) {
		return faultf(ErrArgument, "%s has no parameter %d; it has %d, from 0", a.kernel.Name, i, len(a.params))
	}
	p := &a.params[i]
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.packed)), p.offset)
	if typeIdentity(value) == p.identity {
		// The interface's second word points to the value, none of these types
		// being a pointer itself. A copy by hand keeps it from escaping.
		from := (*[2]unsafe.Pointer)(unsafe.Pointer(&value))[1]
		copy(unsafe.Slice((*byte)(at), p.size), unsafe.Slice((*byte)(from), p.size))
	} else if fault := a.convert(i, at, value); fault != "" {
		return faultf(ErrArgument, "%s: %s is %s, %s", a.kernel.Name, a.kernel.Params[i].Name, a.kernel.Params[i].Type, fault)
	}
	if !p.set {
		p.set = true
		a.unset--
	}
	return nil
}

// SetAll gives all parameters their values, in order.
func (a *Args) SetAll(values ...any) error {
	if a == nil || a.kernel == nil {
		return errNoArgs()
	}
	if len(values) != len(a.params) {
		return faultf(ErrArgument, "%s has %d parameters, not %d", a.kernel.Name, len(a.params), len(values))
	}
	for i, v := range values {
		if err := a.Set(i, v); err != nil {
			return err
		}
	}
	return nil
}

// Launch is what the function Launch is to an args struct.
func (a *Args) Launch(s *Stream, grid Grid) error { return a.LaunchConfig(s, 0, grid) }

// LaunchConfig is what the function LaunchConfig is to an args struct.
func (a *Args) LaunchConfig(s *Stream, config int, grid Grid) error {
	if a == nil || a.kernel == nil {
		return errNoArgs()
	}
	if a.unset > 0 {
		return a.unsetError(s, config, grid)
	}
	return a.kernel.launch(s, config, grid, unsafe.Pointer(unsafe.SliceData(a.packed)), (*packedArgs)(nil))
}

func (a *Args) unsetError(s *Stream, config int, grid Grid) error {
	var names []string
	for i, p := range a.params {
		if !p.set {
			names = append(names, a.kernel.Params[i].Name)
		}
	}
	return a.kernel.refuse(s, config, grid, faultf(ErrArgument, "no value is set for %s", strings.Join(names, ", ")))
}

// convert stores a value of another type than the parameter's, or says why not.
// It mentions value's type by reflect alone: formatting it would let it escape.
func (a *Args) convert(i int, at unsafe.Pointer, value any) (fault string) {
	p, triton := &a.params[i], a.kernel.Params[i].Type
	switch v := value.(type) {
	case Address:
		if elem, ok := pointee(triton); ok {
			if elem != v.Elem {
				return fmt.Sprintf("but got the address of %q", v.Elem)
			}
			*(*uint64)(at) = v.Addr
			return ""
		}
	case float32:
		if storeFloat(triton, at, float64(v)) {
			return ""
		}
	case float64:
		if storeFloat(triton, at, v) {
			return ""
		}
	default:
		if n, negative, ok := integerOf(value); ok && isInteger(triton) {
			return storeInteger(triton, at, p.size, n, negative)
		}
	}
	return "but got " + typeName(value)
}

func typeName(value any) string {
	if t := reflect.TypeOf(value); t != nil {
		return t.String()
	}
	return "nil"
}

// integerOf is the value of any of Go's integers in two's complement.
func integerOf(value any) (n uint64, negative, ok bool) {
	signed := func(v int64) (uint64, bool, bool) { return uint64(v), v < 0, true }
	switch v := value.(type) {
	case int:
		return signed(int64(v))
	case int8:
		return signed(int64(v))
	case int16:
		return signed(int64(v))
	case int32:
		return signed(int64(v))
	case int64:
		return signed(v)
	case uint:
		return uint64(v), false, true
	case uint8:
		return uint64(v), false, true
	case uint16:
		return uint64(v), false, true
	case uint32:
		return uint64(v), false, true
	case uint64:
		return v, false, true
	}
	return 0, false, false
}

func storeInteger(triton string, at unsafe.Pointer, size uintptr, n uint64, negative bool) (fault string) {
	unused := 64 - 8*size
	least, most := int64(0), uint64(math.MaxUint64)>>unused
	if triton[0] == 'i' {
		least, most = math.MinInt64>>unused, most>>1
	}
	if negative && int64(n) < least || !negative && n > most {
		if negative {
			return fmt.Sprintf("which cannot be %d", int64(n))
		}
		return fmt.Sprintf("which cannot be %d", n)
	}
	switch size {
	case 1:
		*(*uint8)(at) = uint8(n)
	case 2:
		*(*uint16)(at) = uint16(n)
	case 4:
		*(*uint32)(at) = uint32(n)
	default:
		*(*uint64)(at) = n
	}
	return ""
}

// storeFloat reports whether triton is a float that values convert to.
func storeFloat(triton string, at unsafe.Pointer, v float64) bool {
	switch triton {
	case "fp16":
		*(*Float16)(at) = NewFloat16(narrow(v))
	case "bf16":
		*(*BFloat16)(at) = NewBFloat16(narrow(v))
	case "fp32":
		*(*float32)(at) = float32(v)
	case "fp64":
		*(*float64)(at) = v
	default:
		return false
	}
	return true
}

// narrow is v as a float32 that rounds to a yet narrower format as v itself does:
// what is lost is kept in the last bit, which no tie has set.
func narrow(v float64) float32 {
	f := float32(v)
	if float64(f) == v || v != v || math.IsInf(float64(f), 0) {
		return f
	}
	bits := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(v) {
		bits--
	}
	return math.Float32frombits(bits | 1)
}
