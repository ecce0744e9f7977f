package exec

import "math"

func f64(b uint64) float64    { return math.Float64frombits(b) }
func bits64(f float64) uint64 { return math.Float64bits(f) }

func init() {
	define(each2(func(a, b uint64) uint64 { return bits64(f64(a) + f64(b)) }), "add.f64", "add.rn.f64")
	define(each2(func(a, b uint64) uint64 { return bits64(f64(a) - f64(b)) }), "sub.f64", "sub.rn.f64")
	define(each2(func(a, b uint64) uint64 { return bits64(f64(a) * f64(b)) }), "mul.f64", "mul.rn.f64")
	define(each3(func(a, b, c uint64) uint64 { return bits64(math.FMA(f64(a), f64(b), f64(c))) }), "fma.rn.f64", "mad.rn.f64")
	define(each2(func(a, b uint64) uint64 { return bits64(f64(a) / f64(b)) }), "div.rn.f64")
	define(each1(func(a uint64) uint64 { return bits64(1 / f64(a)) }), "rcp.rn.f64")
	define(each1(func(a uint64) uint64 { return bits64(math.Sqrt(f64(a))) }), "sqrt.rn.f64")
	define(each1(func(a uint64) uint64 { return a ^ 1<<63 }), "neg.f64")
	define(each1(func(a uint64) uint64 { return a &^ (1 << 63) }), "abs.f64")
	define(each2(func(a, b uint64) uint64 { return a&(1<<63) | b&^(1<<63) }), "copysign.f64")
	define(each2(max64), "max.f64")
	define(each2(min64), "min.f64")
}

func max64(a, b uint64) uint64 {
	x, y := f64(a), f64(b)
	switch {
	case x > y:
		return a
	case x < y:
		return b
	case x == y:
		return a & b
	case x == x:
		return a
	}
	return b
}

func min64(a, b uint64) uint64 {
	x, y := f64(a), f64(b)
	switch {
	case x < y:
		return a
	case x > y:
		return b
	case x == y:
		return a | b
	case x == x:
		return a
	}
	return b
}
