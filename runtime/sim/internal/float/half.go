package float

import "math"

// FromF16 widens a binary16; the result is exact.
func FromF16(h uint16) float32 {
	// Moved to binary32's place the exponent is 112 too small; a multiplication mends it for subnormals too.
	f := math.Float32frombits(uint32(h&0x7fff)<<13) * (1 << 112)
	b := math.Float32bits(f) | uint32(h&0x8000)<<16
	if h&0x7c00 == 0x7c00 {
		if h&0x3ff != 0 {
			return math.Float32frombits(F32.NaN)
		}
		b |= 0x7f800000
	}
	return math.Float32frombits(b)
}

// ToF16 rounds to nearest even.
func ToF16(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return 0x7fff
	case b >= 0x47800000: // 65536
		return sign | 0x7c00
	case b < 0x38800000: // below the smallest normal: the addition rounds at the right bit
		return sign | uint16(math.Float32bits(math.Float32frombits(b)+0.5)-0x3f000000)
	}
	return sign | uint16((b+0xfff+b>>13&1-112<<23)>>13)
}

// FromBF16 widens a bfloat16; the result is exact, except that NaNs become the one NaN.
func FromBF16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// ToBF16 rounds to nearest even.
func ToBF16(x float32) uint16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > 0x7f800000 {
		return 0x7fff
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
