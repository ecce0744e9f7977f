package kernrt

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Ptr is the address of a T in device memory. It owns nothing: whoever
// allocated the memory must keep it until the work that uses it is done. The
// zero Ptr is null.
type Ptr[T any] struct {
	_       [0]T
	address uint64
}

// PtrFromAddr is the Ptr to an address that another library allocated on the
// device: a CUdeviceptr.
func PtrFromAddr[T any](address uint64) Ptr[T] { return Ptr[T]{address: address} }

// Addr is the address.
func (p Ptr[T]) Addr() uint64 { return p.address }

// IsNull reports whether p is null.
func (p Ptr[T]) IsNull() bool { return p.address == 0 }

// Add is the Ptr n elements further, or back where n is negative. It knows no
// bounds: a Slice does.
func (p Ptr[T]) Add(n int) Ptr[T] {
	return Ptr[T]{address: p.address + uint64(n)*uint64(elemSize[T]())}
}

// String is the address in hexadecimal.
func (p Ptr[T]) String() string { return fmt.Sprintf("%#x", p.address) }

func (Ptr[T]) elem() reflect.Type { return reflect.TypeFor[T]() }

func elemSize[T any]() uintptr {
	var v T
	return unsafe.Sizeof(v)
}
