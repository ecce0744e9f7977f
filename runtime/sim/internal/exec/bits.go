package exec

import (
	"fmt"
	"math/bits"
)

func init() {
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = a[i] & b[i]
		}
	}, "and.b16", "and.b32")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = a[i] | b[i]
		}
	}, "or.b16", "or.b32")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = a[i] ^ b[i]
		}
	}, "xor.b16", "xor.b32")
	define(each2(func(a, b uint64) uint64 { return a & b }), "and.b64")
	define(each2(func(a, b uint64) uint64 { return a | b }), "or.b64")
	define(each2(func(a, b uint64) uint64 { return a ^ b }), "xor.b64")
	define(each1(func(a uint32) uint32 { return ^a }), "not.b32")
	define(each1(func(a uint32) uint32 { return ^a & 0xffff }), "not.b16")
	define(each1(func(a uint64) uint64 { return ^a }), "not.b64")
	define(each1(isZero[uint32]), "cnot.b16", "cnot.b32")
	define(each1(isZero[uint64]), "cnot.b64")

	// Go's shifts by the width and more give what PTX's do: zero, or the sign.
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = a[i] << b[i]
		}
	}, "shl.b32")
	define(func(d, a *lanes64, b *lanes32) {
		for i := range d {
			d[i] = a[i] << b[i]
		}
	}, "shl.b64")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = a[i] >> b[i]
		}
	}, "shr.u32", "shr.b32", "shr.u16", "shr.b16")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = uint32(int32(a[i]) >> b[i])
		}
	}, "shr.s32")
	define(each2(func(a uint64, b uint32) uint64 { return a >> b }), "shr.u64", "shr.b64")
	define(each2(func(a uint64, b uint32) uint64 { return uint64(int64(a) >> b) }), "shr.s64")
	define(each2(func(a, b uint32) uint32 { return a << b & 0xffff }), "shl.b16")
	define(each2(func(a, b uint32) uint32 { return uint32(sext16(a)>>b) & 0xffff }), "shr.s16")
	define(each3(func(a, b, n uint32) uint32 { return funnelLeft(a, b, min(n, 32)) }), "shf.l.clamp.b32")
	define(each3(func(a, b, n uint32) uint32 { return funnelLeft(a, b, n&31) }), "shf.l.wrap.b32")
	define(each3(func(a, b, n uint32) uint32 { return funnelRight(a, b, min(n, 32)) }), "shf.r.clamp.b32")
	define(each3(func(a, b, n uint32) uint32 { return funnelRight(a, b, n&31) }), "shf.r.wrap.b32")

	define(each1(func(a uint32) uint32 { return uint32(bits.OnesCount32(a)) }), "popc.b32")
	define(each1(func(a uint64) uint32 { return uint32(bits.OnesCount64(a)) }), "popc.b64")
	define(each1(func(a uint32) uint32 { return uint32(bits.LeadingZeros32(a)) }), "clz.b32")
	define(each1(func(a uint64) uint32 { return uint32(bits.LeadingZeros64(a)) }), "clz.b64")
	define(each1(bits.Reverse32), "brev.b32")
	define(each1(bits.Reverse64), "brev.b64")
	for _, shift := range []bool{false, true} {
		mod := ""
		if shift {
			mod = ".shiftamt"
		}
		define(each1(func(a uint32) uint32 { return findBit(uint64(a), 32, shift) }), "bfind"+mod+".u32")
		define(each1(func(a uint64) uint32 { return findBit(a, 64, shift) }), "bfind"+mod+".u64")
		define(each1(func(a uint32) uint32 { return findBit(uint64(a^uint32(int32(a)>>31)), 32, shift) }), "bfind"+mod+".s32")
		define(each1(func(a uint64) uint32 { return findBit(a^uint64(int64(a)>>63), 64, shift) }), "bfind"+mod+".s64")
	}
	define(each3(func(a, pos, n uint32) uint32 { return uint32(extract(uint64(a), pos, n, 32, false)) }), "bfe.u32")
	define(each3(func(a, pos, n uint32) uint32 { return uint32(extract(uint64(a), pos, n, 32, true)) }), "bfe.s32")
	define(each3(func(a uint64, pos, n uint32) uint64 { return extract(a, pos, n, 64, false) }), "bfe.u64")
	define(each3(func(a uint64, pos, n uint32) uint64 { return extract(a, pos, n, 64, true) }), "bfe.s64")
	define(func(d, a, b, pos, n *lanes32) {
		for i := range d {
			d[i] = uint32(insert(uint64(a[i]), uint64(b[i]), pos[i], n[i], 32))
		}
	}, "bfi.b32")
	define(func(d, a, b *lanes64, pos, n *lanes32) {
		for i := range d {
			d[i] = insert(a[i], b[i], pos[i], n[i], 64)
		}
	}, "bfi.b64")
	define(each3(permuteBytes), "prmt.b32")
	for mode, f := range permuteModes {
		define(each3(func(a, b, c uint32) uint32 { return permuteBytes(a, b, f[c&3]) }), "prmt.b32."+mode)
	}
	families["lop3"] = compileLop3
}

func isZero[T uint32 | uint64](a T) T {
	if a == 0 {
		return 1
	}
	return 0
}

// funnelLeft gives the upper half of the 64 bits b:a shifted left by n, 0 to 32.
func funnelLeft(a, b, n uint32) uint32 { return uint32((uint64(b)<<32 | uint64(a)) << n >> 32) }

// funnelRight gives the lower half of the 64 bits b:a shifted right by n, 0 to 32.
func funnelRight(a, b, n uint32) uint32 { return uint32((uint64(b)<<32 | uint64(a)) >> n) }

// findBit gives the position of the highest one, or how far left it would have to be shifted to be the top bit; all ones where there is none.
func findBit(a uint64, width uint32, shift bool) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	pos := uint32(bits.Len64(a)) - 1
	if shift {
		return width - 1 - pos
	}
	return pos
}

// extract gives the field of n bits at pos; beyond the top there are zeros, or the sign where signed.
func extract(a uint64, pos, n, width uint32, signed bool) uint64 {
	pos, n = pos&0xff, n&0xff
	if n == 0 {
		return 0
	}
	top := min(pos+n-1, width-1)
	sign := signed && a>>top&1 != 0
	v := a >> pos
	if n < 64 {
		v &= 1<<n - 1
	}
	if sign {
		have := uint32(0) // bits of the field that a has
		if pos < width {
			have = min(n, width-pos)
		}
		v |= ^uint64(0) << have
	}
	return v
}

// insert puts the lower n bits of a into b at pos.
func insert(a, b uint64, pos, n, width uint32) uint64 {
	pos, n = pos&0xff, n&0xff
	mask := uint64(0)
	if pos < width {
		mask = ^uint64(0) << pos
		if pos+n < 64 {
			mask &= 1<<(pos+n) - 1
		}
	}
	return a<<pos&mask | b&^mask
}

// permuteBytes picks four bytes of the eight of a and b; bit 3 of a selector spreads the picked byte's sign.
func permuteBytes(a, b, selectors uint32) uint32 {
	all := uint64(b)<<32 | uint64(a)
	var d uint32
	for i := range 4 {
		s := selectors >> (4 * i) & 0xf
		v := uint32(all>>(8*(s&7))) & 0xff
		if s&8 != 0 {
			v = uint32(int32(int8(v))>>7) & 0xff
		}
		d |= v << (8 * i)
	}
	return d
}

// permuteModes are the selectors of prmt's modes, by the lower bits of its third operand.
var permuteModes = map[string][4]uint32{
	"f4e":  {0x3210, 0x4321, 0x5432, 0x6543},
	"b4e":  {0x5670, 0x6701, 0x7012, 0x0123},
	"rc8":  {0x0000, 0x1111, 0x2222, 0x3333},
	"ecl":  {0x3210, 0x3211, 0x3222, 0x3333},
	"ecr":  {0x0000, 0x1110, 0x2210, 0x3210},
	"rc16": {0x1010, 0x3232, 0x1010, 0x3232},
}

// compileLop3 compiles lop3.b32 d, a, b, c, table.
func compileLop3(c *compiler, in *inst) (step, error) {
	if !c.mods.has("b32") || len(in.ops) != 5 || in.ops[4].kind != opImm {
		return nil, fmt.Errorf("only lop3.b32 d, a, b, c, table is supported")
	}
	table := uint32(in.ops[4].imm)
	three := *in
	three.ops = in.ops[:4]
	return c.lanes(&three, form{lanes: each3(func(a, b, c uint32) uint32 {
		var d uint32
		for k := range uint32(8) {
			if table>>k&1 != 0 {
				x, y, z := a, b, c
				if k&4 == 0 {
					x = ^x
				}
				if k&2 == 0 {
					y = ^y
				}
				if k&1 == 0 {
					z = ^z
				}
				d |= x & y & z
			}
		}
		return d
	}), typ: "b32"})
}
