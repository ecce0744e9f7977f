// Package float converts between binary64 and the narrower floating-point formats of a GPU, with every rounding that PTX names.
package float

import "math"

// Rounding is a rounding direction.
type Rounding uint8

// The rounding directions, by PTX's names.
const (
	RN  Rounding = iota // to nearest, ties to even
	RZ                  // towards zero
	RM                  // towards minus infinity
	RP                  // towards plus infinity
	RNA                 // to nearest, ties away from zero
)

// RoundingOf finds a direction by its PTX name; the integer roundings (rni, rzi, rmi, rpi) are the same directions.
func RoundingOf(name string) (Rounding, bool) {
	switch name {
	case "rn", "rni":
		return RN, true
	case "rz", "rzi":
		return RZ, true
	case "rm", "rmi":
		return RM, true
	case "rp", "rpi":
		return RP, true
	case "rna":
		return RNA, true
	}
	return 0, false
}

// Format is a binary format of a sign, Exp bits of exponent and Man bits of mantissa.
type Format struct {
	Exp, Man int
	NaN      uint32 // the NaN that an operation gives
	Max      uint32 // the largest finite magnitude
	Inf      uint32 // infinity, or NaN where the format has none
}

// The formats. TF32 is kept in the upper bits of 32, as PTX keeps it; here it is right-aligned in 19.
var (
	F32  = Format{8, 23, 0x7fffffff, 0x7f7fffff, 0x7f800000}
	F16  = Format{5, 10, 0x7fff, 0x7bff, 0x7c00}
	BF16 = Format{8, 7, 0x7fff, 0x7f7f, 0x7f80}
	TF32 = Format{8, 10, 0x3ffff, 0x3fbff, 0x3fc00}
	E4M3 = Format{4, 3, 0x7f, 0x7e, 0x7f}
	E5M2 = Format{5, 2, 0x7f, 0x7b, 0x7c}
)

// Round gives the bits of x in the format.
func (f *Format) Round(x float64, mode Rounding) uint32 {
	b := math.Float64bits(x)
	negative := b>>63 != 0
	sign := uint32(b>>63) << (f.Exp + f.Man)
	exp, frac := int(b>>52&0x7ff), b&(1<<52-1)
	switch {
	case exp == 0x7ff && frac != 0:
		return f.NaN
	case exp == 0x7ff:
		return sign | f.Inf
	case exp == 0 && frac == 0:
		return sign
	case exp == 0:
		exp = 1
	default:
		frac |= 1 << 52
	}
	field := exp - 1023 + 1<<(f.Exp-1) - 1 // the exponent field of a normal result
	shift := 52 - f.Man
	if field < 1 {
		shift += 1 - field
		field = 1
	}
	shift = min(shift, 63)
	kept, rest, half := frac>>shift, frac&(1<<shift-1), uint64(1)<<(shift-1)
	up := false
	switch mode {
	case RN:
		up = rest > half || rest == half && kept&1 != 0
	case RNA:
		up = rest >= half
	case RM:
		up = rest != 0 && negative
	case RP:
		up = rest != 0 && !negative
	}
	if up {
		kept++
	}
	// The hidden bit carries into the exponent field, as a rounding up to the next binade does.
	if v := uint64(field-1)<<f.Man + kept; v <= uint64(f.Max) {
		return sign | uint32(v)
	}
	if mode == RZ || mode == RM && !negative || mode == RP && negative {
		return sign | f.Max
	}
	return sign | f.Inf
}

// RoundFinite is Round with every magnitude above the largest finite one, infinity included, brought down to it.
func (f *Format) RoundFinite(x float64, mode Rounding) uint32 {
	if x != x {
		return f.NaN
	}
	v := f.Round(x, mode)
	if magnitude := v &^ (1 << (f.Exp + f.Man)); magnitude > f.Max {
		v = v - magnitude + f.Max
	}
	return v
}

// Value is the number that bits stand for.
func (f *Format) Value(bits uint32) float64 {
	sign := 1.0
	if bits>>(f.Exp+f.Man)&1 != 0 {
		sign = -1
	}
	magnitude := bits & (1<<(f.Exp+f.Man) - 1)
	if magnitude > f.Max {
		if magnitude == f.Inf && f.Inf != f.NaN {
			return math.Inf(int(sign))
		}
		return math.NaN()
	}
	exp, frac := int(magnitude>>f.Man), float64(magnitude&(1<<f.Man-1))
	bias := 1<<(f.Exp-1) - 1
	if exp == 0 {
		return sign * math.Ldexp(frac, 1-bias-f.Man)
	}
	return sign * math.Ldexp(frac+float64(int(1)<<f.Man), exp-bias-f.Man)
}
