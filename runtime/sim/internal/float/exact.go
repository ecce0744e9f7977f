package float

import "math"

// SumOdd is a + b rounded to odd: when the sum is not exact, the neighbour with an odd last bit. Rounding it again, in any direction, to a format of at most 50 bits
// gives what rounding the exact sum would have given.
func SumOdd(a, b float64) float64 {
	s := a + b
	// The error of the sum, exact by two-sum as long as nothing overflows.
	t := s - a
	e := (a - (s - t)) + (b - t)
	if e == 0 || e != e || math.IsInf(s, 0) {
		return s
	}
	bits := math.Float64bits(s)
	if bits&1 == 0 {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
	}
	return math.Float64frombits(bits)
}

// FMA32 is a*b + c rounded once to nearest even.
func FMA32(a, b, c float32) float32 {
	s := float64(a)*float64(b) + float64(c)
	// The product is exact. Rounding twice only goes wrong where the first result lies half-way between two neighbours, and below the normal numbers.
	if math.Float64bits(s)&(1<<29-1) != 1<<28 && (s >= 0x1p-126 || s <= -0x1p-126) {
		return float32(s)
	}
	return float32(SumOdd(float64(a)*float64(b), float64(c)))
}

// Sum is SumOdd for results that are rounded in the direction mode: a sum of exactly zero is negative when rounding down, unless both terms are +0.
func Sum(a, b float64, mode Rounding) float64 {
	s := SumOdd(a, b)
	if s == 0 && mode == RM && (math.Float64bits(a)|math.Float64bits(b)) != 0 {
		return math.Copysign(0, -1)
	}
	return s
}
