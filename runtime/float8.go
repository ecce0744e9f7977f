package kernrt

// The 8-bit formats differ in what a number that is too large becomes. The
// constructors here do not saturate where the format has a NaN or an infinity
// to show the loss. A cast within a Triton kernel to fp8e4nv or fp8e5 on sm_90
// does: there it gives the largest finite value, for an infinity too. A program
// that wants the same clamps its numbers first.

// Float8E4M3FN is the OCP format E4M3, Triton's fp8e4nv: 4 bits of exponent, 3
// of mantissa, largest value 448, no infinity.
type Float8E4M3FN uint8

var e4m3fn = floatFormat{
	width: 8, mantissa: 3, bias: 7, scale: 1 << 120,
	largest: 0x7e, overflow: 0x7f, nan: 0x7f, special: 0x7f,
}

// NewFloat8E4M3FN rounds x to the nearest Float8E4M3FN, ties to even. A
// magnitude above 464, infinity included, becomes NaN.
func NewFloat8E4M3FN(x float32) Float8E4M3FN { return Float8E4M3FN(e4m3fn.encode(x)) }

// Float32 returns the value of x, exactly.
func (x Float8E4M3FN) Float32() float32 { return e4m3fn.decode(uint32(x)) }

// String prints the value of x.
func (x Float8E4M3FN) String() string { return e4m3fn.text(uint32(x)) }

// Float8E5M2 is the OCP format E5M2, Triton's fp8e5: 5 bits of exponent, 2 of
// mantissa, the upper half of a Float16, largest finite value 57344.
type Float8E5M2 uint8

var e5m2 = floatFormat{
	width: 8, mantissa: 2, bias: 15, scale: 1 << 112,
	largest: 0x7b, overflow: 0x7c, nan: 0x7e, special: 0x7c,
}

// NewFloat8E5M2 rounds x to the nearest Float8E5M2, ties to even. A magnitude
// of 61440 or more becomes infinity.
func NewFloat8E5M2(x float32) Float8E5M2 { return Float8E5M2(e5m2.encode(x)) }

// Float32 returns the value of x, exactly.
func (x Float8E5M2) Float32() float32 { return e5m2.decode(uint32(x)) }

// String prints the value of x.
func (x Float8E5M2) String() string { return e5m2.text(uint32(x)) }

// Float8E4M3FNUZ is Triton's fp8e4b8: 4 bits of exponent with bias 8, 3 of
// mantissa, largest value 240, one NaN, no infinity and no negative zero.
type Float8E4M3FNUZ uint8

var e4m3fnuz = floatFormat{
	width: 8, mantissa: 3, bias: 8, scale: 1 << 119,
	largest: 0x7f, overflow: 0x80, nan: 0x80, special: 0x80,
	noNegativeZero: true,
}

// NewFloat8E4M3FNUZ rounds x to the nearest Float8E4M3FNUZ, ties to even. A
// magnitude of 248 or more, infinity included, becomes NaN; -0 becomes 0.
func NewFloat8E4M3FNUZ(x float32) Float8E4M3FNUZ { return Float8E4M3FNUZ(e4m3fnuz.encode(x)) }

// Float32 returns the value of x, exactly.
func (x Float8E4M3FNUZ) Float32() float32 { return e4m3fnuz.decode(uint32(x)) }

// String prints the value of x.
func (x Float8E4M3FNUZ) String() string { return e4m3fnuz.text(uint32(x)) }

// Float8E5M2FNUZ is Triton's fp8e5b16: 5 bits of exponent with bias 16, 2 of
// mantissa, largest value 57344, one NaN, no infinity and no negative zero.
type Float8E5M2FNUZ uint8

var e5m2fnuz = floatFormat{
	width: 8, mantissa: 2, bias: 16, scale: 1 << 111,
	largest: 0x7f, overflow: 0x80, nan: 0x80, special: 0x80,
	noNegativeZero: true,
}

// NewFloat8E5M2FNUZ rounds x to the nearest Float8E5M2FNUZ, ties to even. A
// magnitude of 61440 or more, infinity included, becomes NaN; -0 becomes 0.
func NewFloat8E5M2FNUZ(x float32) Float8E5M2FNUZ { return Float8E5M2FNUZ(e5m2fnuz.encode(x)) }

// Float32 returns the value of x, exactly.
func (x Float8E5M2FNUZ) Float32() float32 { return e5m2fnuz.decode(uint32(x)) }

// String prints the value of x.
func (x Float8E5M2FNUZ) String() string { return e5m2fnuz.text(uint32(x)) }

// Float8E4M3B15 is Triton's fp8e4b15: 4 bits of exponent with bias 15, 3 of
// mantissa, neither infinity nor NaN. It is a Float16 below 2 in magnitude
// without its top exponent bit and its low mantissa bits.
type Float8E4M3B15 uint8

var e4m3b15 = floatFormat{
	width: 8, mantissa: 3, bias: 15, scale: 1 << 112,
	largest: 0x7e, overflow: 0x7e, nan: 0x7e, special: 0x80,
}

// NewFloat8E4M3B15 rounds x to the nearest Float8E4M3B15, ties to even. As
// Triton's own cast, it never gives the codes of ±1.875: a larger magnitude
// than 1.75, infinity and NaN become 1.75 with the sign of x. Triton's cast
// differs below that: it cuts a float32 to fp16 and then rounds ties away from
// zero.
func NewFloat8E4M3B15(x float32) Float8E4M3B15 { return Float8E4M3B15(e4m3b15.encode(x)) }

// Float32 returns the value of x, exactly.
func (x Float8E4M3B15) Float32() float32 { return e4m3b15.decode(uint32(x)) }

// String prints the value of x.
func (x Float8E4M3B15) String() string { return e4m3b15.text(uint32(x)) }
