package cuda

// NotSupported is the driver's result for what it, or the device, cannot do.
const NotSupported = 801

// TensorMap is a CUtensorMap. A kernel's parameter of this type is aligned to 128
// bytes; a TensorMap of Go's need not be.
type TensorMap [128]byte

// Tensor is what a tensor map of either kind says of its tensor. The arrays begin
// with the innermost dimension, whose elements are adjacent; what lies beyond Rank
// is not read.
type Tensor struct {
	Type       int // CUtensorMapDataType
	Rank       int // dimensions: 1 to 5
	Address    uint64
	Dims       [5]uint64 // elements: 1 to 2^32 each
	Strides    [4]uint64 // of all but the innermost dimension: bytes, a multiple of 16 below 2^40
	Steps      [5]uint32 // from one element loaded to the next: 1 to 8
	Interleave int       // CUtensorMapInterleave
	Swizzle    int       // CUtensorMapSwizzle
	Promotion  int       // CUtensorMapL2promotion
	Fill       int       // CUtensorMapFloatOOBfill
}

// Pixels is what an im2col map loads at a time. Lower and Upper are the corners'
// offsets in the tensor's dimensions between channels and images, Rank-2 of them.
type Pixels struct {
	Lower, Upper [3]int32
	Channels     uint32 // per pixel
	PerColumn    uint32
}

// Data types of a tensor's elements (CUtensorMapDataType). The packed ones are
// counted in elements of 4 or 6 bits.
const (
	TensorUint8       = 0
	TensorUint16      = 1
	TensorUint32      = 2
	TensorInt32       = 3
	TensorUint64      = 4
	TensorInt64       = 5
	TensorFloat16     = 6
	TensorFloat32     = 7
	TensorFloat64     = 8
	TensorBFloat16    = 9
	TensorFloat32FTZ  = 10
	TensorTFloat32    = 11
	TensorTFloat32FTZ = 12
	TensorPacked4A8   = 13 // 16 elements of 4 bits in 8 bytes
	TensorPacked4A16  = 14 // 16 elements of 4 bits in 16 bytes, half of them a gap
	TensorPacked6A16  = 15 // 16 elements of 6 bits in 16 bytes, 4 of them a gap
)

// Swizzles of shared memory (CUtensorMapSwizzle).
const (
	SwizzleNone = 0
	Swizzle32   = 1
	Swizzle64   = 2
	Swizzle128  = 3
)

// L2 promotion (CUtensorMapL2promotion) and what lies outside the tensor
// (CUtensorMapFloatOOBfill).
const (
	Promote128 = 2 // bytes
	Promote256 = 3
	FillZeros  = 0
	FillNaN    = 1
)
