package exec

import (
	"math"
	"math/big"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
)

// Operations on binary64 with a rounding other than to nearest are done to nearest and then moved by one where the exact result, found with math/big, lies on the other side.

func init() {
	for name, mode := range map[string]float.Rounding{"rz": float.RZ, "rm": float.RM, "rp": float.RP} {
		mod := "." + name + ".f64"
		define(each2(func(a, b uint64) uint64 {
			x, y := f64(a), f64(b)
			return downZero(directed(x+y, mode, func(r *big.Float) int { return exact().Add(number(x), number(y)).Cmp(r) }, x, y), mode, x, y)
		}), "add"+mod)
		define(each2(func(a, b uint64) uint64 {
			x, y := f64(a), f64(b)
			return downZero(directed(x-y, mode, func(r *big.Float) int { return exact().Sub(number(x), number(y)).Cmp(r) }, x, y), mode, x, -y)
		}), "sub"+mod)
		define(each2(func(a, b uint64) uint64 {
			x, y := f64(a), f64(b)
			return bits64(directed(x*y, mode, func(r *big.Float) int { return exact().Mul(number(x), number(y)).Cmp(r) }, x, y))
		}), "mul"+mod)
		fma := each3(func(a, b, c uint64) uint64 {
			x, y, z := f64(a), f64(b), f64(c)
			r := directed(math.FMA(x, y, z), mode, func(r *big.Float) int {
				p := exact().Mul(number(x), number(y))
				return p.Add(p, number(z)).Cmp(r)
			}, x, y, z)
			if x != 0 && y != 0 && z == 0 { // the product has underflowed: its sign stays
				return bits64(r)
			}
			return downZero(r, mode, x*y, z)
		})
		define(fma, "fma"+mod, "mad"+mod)
		divide := func(x, y float64) uint64 {
			return bits64(directed(x/y, mode, func(r *big.Float) int {
				return number(x).Cmp(exact().Mul(r, number(y))) * number(y).Sign()
			}, x, y))
		}
		define(each2(func(a, b uint64) uint64 { return divide(f64(a), f64(b)) }), "div"+mod)
		define(each1(func(a uint64) uint64 { return divide(1, f64(a)) }), "rcp"+mod)
		define(each1(func(a uint64) uint64 {
			x := f64(a)
			return bits64(directed(math.Sqrt(x), mode, func(r *big.Float) int { return number(x).Cmp(exact().Mul(r, r)) }, x))
		}), "sqrt"+mod)
	}
}

// exact is room for any sum of products of binary64s.
func exact() *big.Float { return new(big.Float).SetPrec(6600) }

func number(x float64) *big.Float { return exact().SetFloat64(x) }

// downZero makes a sum of zero negative when rounding down, unless both terms are +0.
func downZero(sum float64, mode float.Rounding, a, b float64) uint64 {
	if sum == 0 && mode == float.RM && bits64(a)|bits64(b) != 0 {
		return 1 << 63
	}
	return bits64(sum)
}

// directed moves a result that was rounded to nearest; side says on which side of it the exact one lies. Of the operands only their being finite and zero counts.
func directed(nearest float64, mode float.Rounding, side func(r *big.Float) int, operands ...float64) float64 {
	for _, x := range operands {
		if x-x != 0 { // infinite or NaN
			return nearest
		}
	}
	if nearest != nearest {
		return nearest
	}
	if math.IsInf(nearest, 0) {
		for _, x := range operands {
			if x == 0 { // a division by zero
				return nearest
			}
		}
		if mode == float.RZ || mode == float.RM && nearest > 0 || mode == float.RP && nearest < 0 {
			return math.Nextafter(nearest, 0)
		}
		return nearest
	}
	s := side(number(nearest))
	switch {
	case s > 0 && (mode == float.RP || mode == float.RZ && (nearest < 0)):
		return math.Nextafter(nearest, math.Inf(1))
	case s < 0 && (mode == float.RM || mode == float.RZ && (nearest > 0)):
		return math.Nextafter(nearest, math.Inf(-1))
	}
	return nearest
}
