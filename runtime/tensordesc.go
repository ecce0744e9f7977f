package kernrt

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// TensorDesc describes a tensor in device memory to a kernel that loads and
// stores blocks of it: what Python calls a TensorDescriptor. On GPUs from sm_90
// on a launch passes it as a tensor map, which is encoded when a kernel is first
// launched with a value and kept for the next time; on older ones it passes the
// same facts one by one.
//
// A tensor map asks for this, and a launch refuses all else, on every GPU: 1 to 5
// dimensions, of 1 to 2^31-1 elements each; a base address that is a multiple of
// 16 bytes, as are all strides but the innermost, which is 1; no stride below 0,
// nor of 2^40 bytes or more. Padded 4-bit elements ask for multiples of 32.
//
// What no launch can see: a kernel must load and store at multiples of 16 bytes
// along the innermost dimension. An H200 ends a kernel that does not with
// CUDA_ERROR_ILLEGAL_INSTRUCTION, however Triton launches it too; older GPUs, and
// the simulated device, which have no tensor maps, do what the kernel says. And a
// map writes 16 bytes at a time: give a tensor that is stored to rows of a multiple
// of 16 bytes, or room behind each row, which is overwritten with what the kernel
// had for the elements past its end.
//
// It owns nothing, as a Ptr, and is a value: it may be copied and compared. Its
// methods return changed copies and allocate nothing.
type TensorDesc[T Elem] struct {
	_    [0]T
	desc cuda.Desc
}

// NewTensorDesc describes a tensor whose elements lie one behind the other, the
// last dimension innermost. What a launch would refuse it refuses, not
// NewTensorDesc.
func NewTensorDesc[T Elem](base Ptr[T], shape ...int) TensorDesc[T] {
	d := TensorDesc[T]{desc: cuda.Desc{Address: base.address, Rank: rankOf(shape), Strided: rankOf(shape)}}
	stride := uint64(1)
	for i := min(len(shape), maxRank) - 1; i >= 0; i-- {
		d.desc.Shape[i], d.desc.Strides[i] = int64(shape[i]), int64(stride)
		over, next := bits.Mul64(stride, uint64(shape[i]))
		if stride = next; over != 0 || next > math.MaxInt64 {
			stride = math.MaxInt64 // refused, as the true one would be
		}
	}
	return d
}

// WithStrides is the tensor with a distance, in elements, between neighbours
// along each dimension: rows of a larger matrix, or rows with a pitch.
func (d TensorDesc[T]) WithStrides(strides ...int) TensorDesc[T] {
	d.desc.Strides, d.desc.Strided = [maxRank]int64{}, rankOf(strides)
	for i := range min(len(strides), maxRank) {
		d.desc.Strides[i] = int64(strides[i])
	}
	return d
}

// WithNaN makes what a kernel loads from outside the tensor NaN instead of zero.
// The elements must be floats of 16 bits or more.
func (d TensorDesc[T]) WithNaN() TensorDesc[T] {
	d.desc.NaN = true
	return d
}

// WithTF32 rounds float32 elements to TF32, of 10 bits of mantissa, as they are
// loaded.
func (d TensorDesc[T]) WithTF32() TensorDesc[T] {
	d.desc.RoundTF32 = true
	return d
}

// Base is the address of the first element.
func (d TensorDesc[T]) Base() Ptr[T] { return Ptr[T]{address: d.desc.Address} }

// String is the tensor's address, shape and strides.
func (d TensorDesc[T]) String() string { return descText(&d.desc) }

func (TensorDesc[T]) tensor() reflect.Type { return reflect.TypeFor[T]() }

const maxRank = len(cuda.Desc{}.Shape)

func rankOf(dims []int) uint8 { return uint8(min(len(dims), math.MaxUint8)) }

func descText(d *cuda.Desc) string {
	shape, strides := d.Shape[:min(int(d.Rank), maxRank)], d.Strides[:min(int(d.Strided), maxRank)]
	text := fmt.Sprintf("%v elements with strides %v at %#x", slices.Clone(shape), slices.Clone(strides), d.Address)
	if d.NaN {
		text += ", NaN outside"
	}
	if d.RoundTF32 {
		text += ", rounded to TF32"
	}
	return text
}
