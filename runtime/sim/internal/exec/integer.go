package exec

import "math/bits"

func init() {
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = a[i] + b[i]
		}
	}, "add.u32", "add.s32")
	define(func(d, a, b *lanes64) {
		for i := range d {
			d[i] = a[i] + b[i]
		}
	}, "add.u64", "add.s64")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = a[i] - b[i]
		}
	}, "sub.u32", "sub.s32")
	define(func(d, a, b *lanes64) {
		for i := range d {
			d[i] = a[i] - b[i]
		}
	}, "sub.u64", "sub.s64")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = a[i] * b[i]
		}
	}, "mul.lo.u32", "mul.lo.s32")
	define(func(d, a, b *lanes64) {
		for i := range d {
			d[i] = a[i] * b[i]
		}
	}, "mul.lo.u64", "mul.lo.s64")
	define(func(d *lanes64, a, b *lanes32) {
		for i := range d {
			d[i] = uint64(int64(int32(a[i])) * int64(int32(b[i])))
		}
	}, "mul.wide.s32")
	define(func(d *lanes64, a, b *lanes32) {
		for i := range d {
			d[i] = uint64(a[i]) * uint64(b[i])
		}
	}, "mul.wide.u32")
	define(func(d, a, b, c *lanes32) {
		for i := range d {
			d[i] = a[i]*b[i] + c[i]
		}
	}, "mad.lo.u32", "mad.lo.s32")
	define(func(d, a, b, c *lanes64) {
		for i := range d {
			d[i] = a[i]*b[i] + c[i]
		}
	}, "mad.lo.u64", "mad.lo.s64")
	define(func(d *lanes64, a, b *lanes32, c *lanes64) {
		for i := range d {
			d[i] = uint64(int64(int32(a[i]))*int64(int32(b[i]))) + c[i]
		}
	}, "mad.wide.s32")
	define(func(d *lanes64, a, b *lanes32, c *lanes64) {
		for i := range d {
			d[i] = uint64(a[i])*uint64(b[i]) + c[i]
		}
	}, "mad.wide.u32")

	// 16 bits: kept zero-extended.
	define(each2(func(a, b uint32) uint32 { return (a + b) & 0xffff }), "add.u16", "add.s16")
	define(each2(func(a, b uint32) uint32 { return (a - b) & 0xffff }), "sub.u16", "sub.s16")
	define(each2(func(a, b uint32) uint32 { return a * b & 0xffff }), "mul.lo.u16", "mul.lo.s16")
	define(each2(func(a, b uint32) uint32 { return a * b >> 16 }), "mul.hi.u16")
	define(each2(func(a, b uint32) uint32 { return uint32(sext16(a)*sext16(b)) >> 16 }), "mul.hi.s16")
	define(each2(func(a, b uint32) uint32 { return a * b }), "mul.wide.u16")
	define(each2(func(a, b uint32) uint32 { return uint32(sext16(a) * sext16(b)) }), "mul.wide.s16")
	define(each3(func(a, b, c uint32) uint32 { return (a*b + c) & 0xffff }), "mad.lo.u16", "mad.lo.s16")
	define(each1(func(a uint32) uint32 { return -a & 0xffff }), "neg.s16")
	define(each1(func(a uint32) uint32 { return uint32(abs(sext16(a))) & 0xffff }), "abs.s16")
	define(each2(func(a, b uint32) uint32 { return min(a, b) }), "min.u16", "min.u32")
	define(each2(func(a, b uint32) uint32 { return max(a, b) }), "max.u16", "max.u32")
	define(each2(func(a, b uint32) uint32 { return uint32(min(sext16(a), sext16(b))) & 0xffff }), "min.s16")
	define(each2(func(a, b uint32) uint32 { return uint32(max(sext16(a), sext16(b))) & 0xffff }), "max.s16")

	define(each2(mulHi32), "mul.hi.u32")
	define(each2(mulHiS32), "mul.hi.s32")
	define(each2(mulHi64), "mul.hi.u64")
	define(each2(mulHiS64), "mul.hi.s64")
	define(each3(func(a, b, c uint32) uint32 { return mulHi32(a, b) + c }), "mad.hi.u32")
	define(each3(func(a, b, c uint32) uint32 { return mulHiS32(a, b) + c }), "mad.hi.s32")
	define(each3(func(a, b, c uint64) uint64 { return mulHi64(a, b) + c }), "mad.hi.u64")
	define(each3(func(a, b, c uint64) uint64 { return mulHiS64(a, b) + c }), "mad.hi.s64")
	define(each2(func(a, b uint32) uint32 { return a << 8 >> 8 * (b << 8 >> 8) }), "mul24.lo.u32")
	define(each2(func(a, b uint32) uint32 { return uint32(int32(a) << 8 >> 8 * (int32(b) << 8 >> 8)) }), "mul24.lo.s32")

	// A division by zero is undefined; NVIDIA's hardware gives all ones, and the dividend as the remainder.
	define(each2(div[uint32]), "div.u32")
	define(each2(func(a, b uint32) uint32 { return div(a, b) & 0xffff }), "div.u16")
	define(each2(div[uint64]), "div.u64")
	define(each2(rem[uint32]), "rem.u32", "rem.u16")
	define(each2(rem[uint64]), "rem.u64")
	define(each2(func(a, b uint32) uint32 { return uint32(div(int32(a), int32(b))) }), "div.s32")
	define(each2(func(a, b uint32) uint32 { return uint32(rem(int32(a), int32(b))) }), "rem.s32")
	define(each2(func(a, b uint64) uint64 { return uint64(div(int64(a), int64(b))) }), "div.s64")
	define(each2(func(a, b uint64) uint64 { return uint64(rem(int64(a), int64(b))) }), "rem.s64")
	define(each2(func(a, b uint32) uint32 { return uint32(div(sext16(a), sext16(b))) & 0xffff }), "div.s16")
	define(each2(func(a, b uint32) uint32 { return uint32(rem(sext16(a), sext16(b))) & 0xffff }), "rem.s16")

	define(each1(func(a uint32) uint32 { return -a }), "neg.s32")
	define(each1(func(a uint64) uint64 { return -a }), "neg.s64")
	define(each1(func(a uint32) uint32 { return uint32(abs(int32(a))) }), "abs.s32")
	define(each1(func(a uint64) uint64 { return uint64(abs(int64(a))) }), "abs.s64")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = uint32(min(int32(a[i]), int32(b[i])))
		}
	}, "min.s32")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = uint32(max(int32(a[i]), int32(b[i])))
		}
	}, "max.s32")
	define(each2(func(a, b uint64) uint64 { return min(a, b) }), "min.u64")
	define(each2(func(a, b uint64) uint64 { return max(a, b) }), "max.u64")
	define(each2(func(a, b uint64) uint64 { return uint64(min(int64(a), int64(b))) }), "min.s64")
	define(each2(func(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) }), "max.s64")
	define(each2(addSat), "add.sat.s32")
	define(each2(subSat), "sub.sat.s32")
	define(each3(func(a, b, c uint32) uint32 { return absDiff(int32(a), int32(b)) + c }), "sad.s32")
	define(each3(func(a, b, c uint32) uint32 { return max(a, b) - min(a, b) + c }), "sad.u32")
	define(each3(dp4a(true, true)), "dp4a.s32.s32")
	define(each3(dp4a(false, false)), "dp4a.u32.u32")
	define(each3(dp4a(true, false)), "dp4a.s32.u32")
	define(each3(dp4a(false, true)), "dp4a.u32.s32")
}

func sext16(a uint32) int32 { return int32(int16(a)) }

func abs[T int32 | int64](a T) T {
	if a < 0 {
		return -a
	}
	return a
}

func absDiff(a, b int32) uint32 { return uint32(max(a, b) - min(a, b)) }

func mulHi32(a, b uint32) uint32  { return uint32(uint64(a) * uint64(b) >> 32) }
func mulHiS32(a, b uint32) uint32 { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) }

func mulHi64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
}

func mulHiS64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	if int64(a) < 0 {
		hi -= b
	}
	if int64(b) < 0 {
		hi -= a
	}
	return hi
}

func div[T uint32 | uint64 | int32 | int64](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a / b
}

func rem[T uint32 | uint64 | int32 | int64](a, b T) T {
	if b == 0 {
		return a
	}
	return a % b
}

func clamp32(v int64) uint32 { return uint32(int32(min(max(v, -1<<31), 1<<31-1))) }

func addSat(a, b uint32) uint32 { return clamp32(int64(int32(a)) + int64(int32(b))) }
func subSat(a, b uint32) uint32 { return clamp32(int64(int32(a)) - int64(int32(b))) }

func dp4a(signedA, signedB bool) func(a, b, c uint32) uint32 {
	pick := func(v uint32, i int, signed bool) int32 {
		if signed {
			return int32(int8(v >> (8 * i)))
		}
		return int32(uint8(v >> (8 * i)))
	}
	return func(a, b, c uint32) uint32 {
		for i := range 4 {
			c += uint32(pick(a, i, signedA) * pick(b, i, signedB))
		}
		return c
	}
}
