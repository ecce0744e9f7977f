package kernrt

import (
	"math"
	"strconv"
)

// floatFormat describes a binary floating point format narrower than float32:
// a sign bit, an exponent, a mantissa. Every value of such a format is a
// float32, so only conversion towards it rounds.
type floatFormat struct {
	width, mantissa int     // bits; the width includes the sign
	bias            int     // of the exponent
	scale           float32 // 2^(127-bias): float32 with this format's exponent field, to its value

	// Codes without their sign.
	largest  uint32 // the largest finite value that a conversion gives
	overflow uint32 // what a larger magnitude becomes: infinity, NaN or largest
	nan      uint32 // what NaN becomes
	special  uint32 // from here on infinity and NaN; past the last code where there are none

	noNegativeZero bool // the code of -0 is the format's only NaN
}

// encode rounds x to the nearest value of the format, ties to even.
func (f *floatFormat) encode(x float32) uint32 {
	bits := math.Float32bits(x)
	sign := bits >> 31 << (f.width - 1)
	magnitude := bits & 0x7fffffff
	if magnitude > 0x7f800000 {
		return sign | f.nan
	}

	// x = significand * 2^(exponent-127-23), also where x is subnormal.
	exponent, significand := int(magnitude>>23), magnitude&0x7fffff
	if exponent == 0 {
		exponent = 1
	} else {
		significand |= 1 << 23
	}

	exponent += f.bias - 127
	drop := 23 - f.mantissa
	if exponent < 1 { // subnormal here: the lowest exponent, fewer bits
		drop = min(drop+1-exponent, 25) // 25 drops all 24
		exponent = 1
	}
	if exponent > 1<<(f.width-1-f.mantissa) { // also infinity; keeps the shift below in range
		return sign | f.overflow
	}
	odd := significand >> drop & 1
	rounded := (significand + 1<<(drop-1) - 1 + odd) >> drop
	// The leading one of a normal number adds one to the exponent, and so does
	// a carry out of the mantissa.
	code := uint32(exponent-1)<<f.mantissa + rounded
	switch {
	case code > f.largest:
		code = f.overflow
	case code == 0 && f.noNegativeZero:
		return 0
	}
	return sign | code
}

// decode gives the value of a code, exactly. A NaN keeps its sign only.
func (f *floatFormat) decode(code uint32) float32 {
	top := uint32(1) << (f.width - 1)
	sign := code & top << (32 - f.width)
	magnitude := code & (top - 1)
	switch {
	case f.noNegativeZero && code == top:
		return math.Float32frombits(0x7fc00000)
	case magnitude < f.special:
		// Subnormals come out right too: multiplying normalises them.
		value := math.Float32frombits(magnitude<<(23-f.mantissa)) * f.scale
		return math.Float32frombits(sign | math.Float32bits(value))
	case magnitude == f.overflow && f.overflow != f.nan:
		return math.Float32frombits(sign | 0x7f800000)
	}
	return math.Float32frombits(sign | 0x7fc00000)
}

// text prints the shortest decimal that parses to the same float32.
func (f *floatFormat) text(code uint32) string {
	return strconv.FormatFloat(float64(f.decode(code)), 'g', -1, 32)
}
