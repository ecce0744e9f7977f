package kernrt

// Float16 is IEEE 754 binary16, Triton's fp16: 5 bits of exponent, 10 of
// mantissa, largest finite value 65504.
type Float16 uint16

var binary16 = floatFormat{
	width: 16, mantissa: 10, bias: 15, scale: 1 << 112,
	largest: 0x7bff, overflow: 0x7c00, nan: 0x7e00, special: 0x7c00,
}

// NewFloat16 rounds x to the nearest Float16, ties to even. A magnitude of
// 65520 or more becomes infinity; NaN keeps its sign and loses its payload.
func NewFloat16(x float32) Float16 { return Float16(binary16.encode(x)) }

// Float32 returns the value of x, exactly.
func (x Float16) Float32() float32 { return binary16.decode(uint32(x)) }

// String prints the value of x.
func (x Float16) String() string { return binary16.text(uint32(x)) }
