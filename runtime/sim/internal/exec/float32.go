package exec

import (
	"math"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
)

const nan32 = 0x7fffffff // the NaN that every operation on binary32 gives

// flush makes a subnormal zero, keeping its sign.
func flush(b uint32) uint32 {
	if b&0x7f800000 == 0 {
		return b & 0x80000000
	}
	return b
}

func saturate32(b uint32) uint32 {
	f := math.Float32frombits(b)
	switch {
	case f >= 1:
		return 0x3f800000
	case f > 0:
		return b
	}
	return 0 // NaN too
}

// bits32 is a result's bits.
func bits32(f float32) uint32 {
	if f != f {
		return nan32
	}
	return math.Float32bits(f)
}

func f32(b uint32) float32 { return math.Float32frombits(b) }

func init() {
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = bits32(f32(a[i]) + f32(b[i]))
		}
	}, "add.f32", "add.rn.f32")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = bits32(f32(a[i]) - f32(b[i]))
		}
	}, "sub.f32", "sub.rn.f32")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = bits32(f32(a[i]) * f32(b[i]))
		}
	}, "mul.f32", "mul.rn.f32")
	define(func(d, a, b, c *lanes32) {
		for i := range d {
			d[i] = bits32(float.FMA32(f32(a[i]), f32(b[i]), f32(c[i])))
		}
	}, "fma.rn.f32", "mad.rn.f32")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = max32(a[i], b[i])
		}
	}, "max.f32")
	define(func(d, a, b *lanes32) {
		for i := range d {
			d[i] = min32(a[i], b[i])
		}
	}, "min.f32")

	// Every other rounding, flushing and saturation goes through binary64, where the exact result is or is rounded to odd.
	type operation = func(x, y float64, mode float.Rounding) float64
	for name, f := range map[string]operation{
		"add": float.Sum,
		"sub": func(x, y float64, mode float.Rounding) float64 { return float.Sum(x, -y, mode) },
		"mul": func(x, y float64, _ float.Rounding) float64 { return x * y },
	} {
		for _, v := range float32Variants(true) {
			defineNew(each2(func(a, b uint32) uint32 {
				a, b = v.in(a), v.in(b)
				return v.out(f(float64(f32(a)), float64(f32(b)), v.mode))
			}), name+v.mods+".f32")
		}
	}
	for _, v := range float32Variants(false) {
		f := each3(func(a, b, c uint32) uint32 {
			a, b, c = v.in(a), v.in(b), v.in(c)
			return v.out(float.Sum(float64(f32(a))*float64(f32(b)), float64(f32(c)), v.mode))
		})
		defineNew(f, "fma"+v.mods+".f32")
		defineNew(f, "mad"+v.mods+".f32")
		defineNew(each2(func(a, b uint32) uint32 { return v.out(quotientOdd(float64(f32(v.in(a))), float64(f32(v.in(b))))) }), "div"+v.mods+".f32")
		defineNew(each1(func(a uint32) uint32 { return v.out(quotientOdd(1, float64(f32(v.in(a))))) }), "rcp"+v.mods+".f32")
		defineNew(each1(func(a uint32) uint32 { return v.out(rootOdd(float64(f32(v.in(a))))) }), "sqrt"+v.mods+".f32")
	}

	define(each1(func(a uint32) uint32 { return a ^ 1<<31 }), "neg.f32")
	define(each1(func(a uint32) uint32 { return a &^ (1 << 31) }), "abs.f32")
	define(each1(func(a uint32) uint32 { return flush(a) ^ 1<<31 }), "neg.ftz.f32")
	define(each1(func(a uint32) uint32 { return flush(a) &^ (1 << 31) }), "abs.ftz.f32")
	define(each2(func(a, b uint32) uint32 { return a&(1<<31) | b&^(1<<31) }), "copysign.f32")
	define(each2(func(a, b uint32) uint32 { return max32(flush(a), flush(b)) }), "max.ftz.f32")
	define(each2(func(a, b uint32) uint32 { return min32(flush(a), flush(b)) }), "min.ftz.f32")
	define(each2(func(a, b uint32) uint32 { return nanOr(a, b, max32) }), "max.NaN.f32")
	define(each2(func(a, b uint32) uint32 { return nanOr(a, b, min32) }), "min.NaN.f32")
	define(each2(func(a, b uint32) uint32 { return nanOr(flush(a), flush(b), max32) }), "max.ftz.NaN.f32")
	define(each2(func(a, b uint32) uint32 { return nanOr(flush(a), flush(b), min32) }), "min.ftz.NaN.f32")
}

// defineNew defines a form unless a faster function has.
func defineNew(lanes any, name string) {
	if _, ok := forms[name]; !ok {
		define(lanes, name)
	}
}

// float32Variant is one combination of modifiers.
type float32Variant struct {
	mods     string
	mode     float.Rounding
	ftz, sat bool
}

// float32Variants lists the combinations; bare adds those without a rounding, which is to nearest.
func float32Variants(bare bool) []float32Variant {
	var all []float32Variant
	names := []string{".rn", ".rz", ".rm", ".rp"}
	if bare {
		names = append(names, "")
	}
	for _, name := range names {
		mode := float.RN
		if name != "" {
			mode, _ = float.RoundingOf(name[1:])
		}
		all = append(all,
			float32Variant{name, mode, false, false}, float32Variant{name + ".ftz", mode, true, false},
			float32Variant{name + ".sat", mode, false, true}, float32Variant{name + ".ftz.sat", mode, true, true})
	}
	return all
}

func (v *float32Variant) in(a uint32) uint32 {
	if v.ftz {
		return flush(a)
	}
	return a
}

// out rounds a result that is exact or rounded to odd.
func (v *float32Variant) out(x float64) uint32 {
	b := float.F32.Round(x, v.mode)
	if v.ftz {
		b = flush(b)
	}
	if v.sat {
		b = saturate32(b)
	}
	return b
}

// max32 gives the other operand for a NaN, and +0 rather than -0.
func max32(a, b uint32) uint32 {
	x, y := f32(a), f32(b)
	switch {
	case x > y:
		return a
	case x < y:
		return b
	case x == y:
		return a & b // equal but for the sign of zero
	case x == x:
		return a
	case y == y:
		return b
	}
	return nan32
}

func min32(a, b uint32) uint32 {
	x, y := f32(a), f32(b)
	switch {
	case x < y:
		return a
	case x > y:
		return b
	case x == y:
		return a | b
	case x == x:
		return a
	case y == y:
		return b
	}
	return nan32
}

func nanOr(a, b uint32, f func(a, b uint32) uint32) uint32 {
	if f32(a) != f32(a) || f32(b) != f32(b) {
		return nan32
	}
	return f(a, b)
}

// quotientOdd is a / b rounded to odd in binary64.
func quotientOdd(a, b float64) float64 {
	q := a / b
	if q == 0 || q != q || math.IsInf(q, 0) || math.IsInf(b, 0) {
		return q
	}
	return odd(q, math.FMA(-q, b, a)*signOf(b))
}

// rootOdd is the square root of a rounded to odd in binary64.
func rootOdd(a float64) float64 {
	r := math.Sqrt(a)
	if r == 0 || r != r || math.IsInf(r, 0) {
		return r
	}
	return odd(r, math.FMA(-r, r, a))
}

func signOf(x float64) float64 { return math.Copysign(1, x) }

// odd moves a rounded result to the neighbour with an odd last bit on the side of the error that was left, rest.
func odd(x, rest float64) float64 {
	b := math.Float64bits(x)
	if rest == 0 || b&1 != 0 {
		return x
	}
	if (rest > 0) == (x > 0) {
		b++
	} else {
		b--
	}
	return math.Float64frombits(b)
}
