package exec

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

func init() {
	families["cvt"] = compileConvert
	// The conversions that inner loops are full of; the result is the same as the general one's.
	define(func(d, a *lanes32) {
		for i := range d {
			d[i] = math.Float32bits(float.FromF16(uint16(a[i])))
		}
	}, "cvt.f32.f16")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = uint32(float.ToF16(f32(a[i])))<<16 | uint32(float.ToF16(f32(b[i])))
		}
	}, "cvt.rn.f16x2.f32")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = uint32(float.ToBF16(f32(a[i])))<<16 | uint32(float.ToBF16(f32(b[i])))
		}
	}, "cvt.rn.bf16x2.f32")
}

// conversion is a cvt with its modifiers.
type conversion struct {
	to, from        ptx.Type
	rounding        string // "" where none is given
	mode            float.Rounding
	ftz, sat        bool
	relu, satfinite bool
}

func compileConvert(c *compiler, in *inst) (step, error) {
	var v conversion
	var err error
	v.rounding = c.mods.any("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi")
	if v.rounding != "" {
		v.mode, _ = float.RoundingOf(v.rounding)
	}
	v.ftz, v.satfinite, v.relu, v.sat = c.mods.has("ftz"), c.mods.has("satfinite"), c.mods.has("relu"), c.mods.has("sat")
	if v.to, err = c.mods.typ(); err != nil {
		return nil, err
	}
	if v.from, err = c.mods.typ(); err != nil {
		return nil, err
	}
	if v.to == "b16" || v.from == "b16" || len(in.ops) < 2 {
		return nil, fmt.Errorf("conversion from %s to %s is not supported", v.from, v.to)
	}
	switch v.to {
	case "f16x2", "bf16x2", "e4m3x2", "e5m2x2":
		return c.convertPacked(in, &v)
	case "tf32":
		return c.convertTF32(in, &v)
	}
	f, err := v.scalar()
	if err != nil {
		return nil, err
	}
	d := in.ops[0]
	registerBits := v.to.Bits()
	if d.kind == opReg {
		registerBits = d.typ.Bits()
	}
	if registerBits < v.to.Bits() || d.typ == "pred" {
		return nil, fmt.Errorf("%v is not a register of at least %d bits", d, v.to.Bits())
	}
	out := v.extend
	if registerBits < 64 {
		mask := uint64(1)<<registerBits - 1
		out = func(x uint64) uint64 { return v.extend(x) & mask }
	}
	// A source register may be wider than its type: the lower bits count.
	wideSource := in.ops[1].kind == opReg && in.ops[1].typ.Bits() == 64 || in.ops[1].kind != opReg && v.from.Bits() == 64
	narrow := uint64(math.MaxUint64)
	if v.from.Bits() < 64 {
		narrow = 1<<v.from.Bits() - 1
	}
	switch {
	case registerBits == 64 && wideSource:
		return c.lanes(in, form{each1(func(a uint64) uint64 { return out(f(a & narrow)) }), v.from})
	case registerBits == 64:
		if isInteger(v.to) && v.from == "u32" { // as every address is made
			return c.lanes(in, form{func(d *lanes64, a *lanes32) {
				for i := range d {
					d[i] = uint64(a[i])
				}
			}, v.from})
		}
		return c.lanes(in, form{each1(func(a uint32) uint64 { return out(f(uint64(a) & narrow)) }), v.from})
	case wideSource:
		return c.lanes(in, form{each1(func(a uint64) uint32 { return uint32(out(f(a & narrow))) }), v.from})
	}
	return c.lanes(in, form{each1(func(a uint32) uint32 { return uint32(out(f(uint64(a) & narrow))) }), v.from})
}

// extend widens a result to the register: by its sign where it has one.
func (v *conversion) extend(x uint64) uint64 {
	if v.to.Signed() && !v.to.Float() {
		n := 64 - v.to.Bits()
		return uint64(int64(x<<n) >> n)
	}
	return x
}

// scalar gives the function from the source's bits to the result's.
func (v *conversion) scalar() (func(uint64) uint64, error) {
	switch from, to := v.from.Float(), v.to.Float(); {
	case !isInteger(v.from) && !from || !isInteger(v.to) && !to:
		return nil, fmt.Errorf("conversion from %s to %s is not supported", v.from, v.to)
	case v.satfinite || v.relu && !(to && v.to.Bits() == 16):
		return nil, fmt.Errorf("satfinite or relu of this conversion is not supported")
	case !from && !to:
		if v.rounding != "" || v.ftz {
			return nil, fmt.Errorf("a rounding between integers")
		}
		return v.integers(), nil
	case from && !to:
		if len(v.rounding) != 3 || v.rounding == "rna" {
			return nil, fmt.Errorf("a rounding to an integer is missing")
		}
		return v.toInteger(), nil
	case !from && to:
		if len(v.rounding) != 2 || v.ftz {
			return nil, fmt.Errorf("a rounding is missing")
		}
		return v.fromInteger()
	}
	widening := v.to.Bits() > v.from.Bits()
	integral := len(v.rounding) == 3
	if integral && (v.to != v.from || v.rounding == "rna") || widening && v.rounding != "" || v.rounding == "" && !widening && v.to != v.from {
		return nil, fmt.Errorf("rounding %q does not fit a conversion from %s to %s", v.rounding, v.from, v.to)
	}
	return func(b uint64) uint64 {
		if v.to == v.from && !integral && !v.sat && !v.ftz && !v.relu {
			return b
		}
		x := v.float(b)
		if integral {
			x = roundIntegral(x, v.mode)
		}
		return v.bits(x)
	}, nil
}

func isInteger(t ptx.Type) bool {
	switch t {
	case "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64":
		return true
	}
	return false
}

// float widens a source to binary64, exactly.
func (v *conversion) float(b uint64) float64 {
	switch v.from {
	case "f16":
		return float64(float.FromF16(uint16(b)))
	case "bf16":
		return float64(float.FromBF16(uint16(b)))
	case "f32":
		if v.ftz {
			b = uint64(flush(uint32(b)))
		}
		return float64(f32(uint32(b)))
	}
	return f64(b)
}

// bits rounds a value, exact or rounded to odd, to the result.
func (v *conversion) bits(x float64) uint64 {
	if v.sat {
		x = saturate(x)
	}
	if v.relu && x < 0 {
		x = 0
	}
	switch v.to {
	case "f16":
		return uint64(float.F16.Round(x, v.mode))
	case "bf16":
		return uint64(float.BF16.Round(x, v.mode))
	case "f32":
		b := float.F32.Round(x, v.mode)
		if v.ftz {
			b = flush(b)
		}
		return uint64(b)
	}
	return bits64(x)
}

func saturate(x float64) float64 {
	switch {
	case x >= 1:
		return 1
	case x > 0:
		return x
	}
	return 0
}

func roundIntegral(x float64, mode float.Rounding) float64 {
	switch mode {
	case float.RZ:
		return math.Trunc(x)
	case float.RM:
		return math.Floor(x)
	case float.RP:
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}

func (v *conversion) integers() func(uint64) uint64 {
	n := 64 - v.from.Bits()
	widen := func(b uint64) uint64 { return b << n >> n }
	if v.from.Signed() {
		widen = func(b uint64) uint64 { return uint64(int64(b<<n) >> n) }
	}
	mask := uint64(math.MaxUint64) >> (64 - v.to.Bits())
	if !v.sat {
		return func(b uint64) uint64 { return widen(b) & mask }
	}
	lo, hi := limits(v.to)
	if v.from.Signed() {
		return func(b uint64) uint64 { return clampSigned(int64(widen(b)), lo, hi) & mask }
	}
	return func(b uint64) uint64 { return min(widen(b), hi) & mask }
}

// limits are the smallest and the largest value of an integer type.
func limits(t ptx.Type) (lo int64, hi uint64) {
	if t.Signed() {
		return math.MinInt64 >> (64 - t.Bits()), math.MaxInt64 >> (64 - t.Bits())
	}
	return 0, math.MaxUint64 >> (64 - t.Bits())
}

func clampSigned(x, lo int64, hi uint64) uint64 {
	if x < lo {
		return uint64(lo)
	}
	if x > 0 && uint64(x) > hi {
		return hi
	}
	return uint64(x)
}

// toInteger rounds to an integer and keeps it in range; a NaN gives zero, or with 64 bits on either side the top bit alone.
func (v *conversion) toInteger() func(uint64) uint64 {
	lo, hi := limits(v.to)
	nan := uint64(0)
	if v.from == "f64" || v.to.Bits() == 64 {
		nan = 1 << (v.to.Bits() - 1)
	}
	mask := uint64(math.MaxUint64) >> (64 - v.to.Bits())
	return func(b uint64) uint64 {
		x := roundIntegral(v.float(b), v.mode)
		switch {
		case x != x:
			return nan
		case x <= float64(lo):
			return uint64(lo) & mask
		case x >= float64(hi): // rounded up where hi has more bits than a float64: nothing lies between
			return hi & mask
		case x >= 1<<63:
			return uint64(x-1<<63) + 1<<63
		}
		return uint64(int64(x)) & mask
	}
}

// fromInteger rounds an integer to a float.
func (v *conversion) fromInteger() (func(uint64) uint64, error) {
	n := 64 - v.from.Bits()
	signed := v.from.Signed()
	if v.to == "f64" {
		switch {
		case v.mode != float.RN && n == 0:
			return nil, fmt.Errorf("this rounding of 64-bit integers is not supported")
		case signed:
			return func(b uint64) uint64 { return v.bits(float64(int64(b<<n) >> n)) }, nil
		}
		return func(b uint64) uint64 { return v.bits(float64(b)) }, nil
	}
	return func(b uint64) uint64 {
		if signed && int64(b<<n) < 0 {
			return v.bits(-integerOdd(uint64(-(int64(b<<n) >> n))))
		}
		return v.bits(integerOdd(b))
	}, nil
}

// integerOdd is an integer rounded to odd in binary64.
func integerOdd(x uint64) float64 {
	if over := bits.Len64(x) - 53; over > 0 {
		sticky := uint64(0)
		if x&(1<<over-1) != 0 {
			sticky = 1
		}
		return math.Ldexp(float64(x>>over|sticky), over)
	}
	return float64(x)
}
