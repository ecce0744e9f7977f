package kernrt

// BFloat16 is the upper half of a float32, Triton's bf16: 8 bits of exponent, 7
// of mantissa, the range of float32.
type BFloat16 uint16

var bfloat16 = floatFormat{
	width: 16, mantissa: 7, bias: 127, scale: 1,
	largest: 0x7f7f, overflow: 0x7f80, nan: 0x7fc0, special: 0x7f80,
}

// NewBFloat16 rounds x to the nearest BFloat16, ties to even, as Triton's cast
// does within a kernel. (A scalar bf16 argument that Triton's own launcher
// passes is cut off instead.) What rounds beyond the largest finite value
// becomes infinity; NaN keeps its sign and loses its payload.
func NewBFloat16(x float32) BFloat16 { return BFloat16(bfloat16.encode(x)) }

// Float32 returns the value of x, exactly.
func (x BFloat16) Float32() float32 { return bfloat16.decode(uint32(x)) }

// String prints the value of x.
func (x BFloat16) String() string { return bfloat16.text(uint32(x)) }
