package exec

import (
	"math"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
)

// The approximate functions are computed in binary64 and rounded once: their error is at most half an ulp, and PTX documents larger bounds for each, so a real device's results
// differ from these by at most the sum of the two. What PTX says of zeros, infinities and flushing is followed.

// approximations are the functions of one value by name.
var approximations = map[string]func(x float64) float64{
	"ex2":   exp2,
	"lg2":   math.Log2,
	"sin":   math.Sin,
	"cos":   math.Cos,
	"rcp":   func(x float64) float64 { return 1 / x },
	"sqrt":  math.Sqrt,
	"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) },
	"tanh":  math.Tanh,
}

func init() {
	for name, f := range approximations {
		define(func(d, a *lanes32) {
			for i := range d {
				d[i] = bits32(float32(f(float64(f32(a[i])))))
			}
		}, name+".approx.f32")
		if name != "tanh" {
			define(func(d, a *lanes32) {
				for i := range d {
					d[i] = flush(bits32(float32(f(float64(f32(flush(a[i])))))))
				}
			}, name+".approx.ftz.f32")
		}
	}
	define(each2(func(a, b uint32) uint32 { return divide(a, b) }), "div.full.f32")
	define(each2(func(a, b uint32) uint32 { return flush(divide(flush(a), flush(b))) }), "div.full.ftz.f32")
	define(each2(divideApprox), "div.approx.f32")
	define(each2(func(a, b uint32) uint32 { return flush(divideApprox(flush(a), flush(b))) }), "div.approx.ftz.f32")
	define(each1(func(a uint64) uint64 { return bits64(1 / math.Sqrt(f64(a))) }), "rsqrt.approx.f64")

	define(each1(func(a uint64) uint64 { return upper(1 / upperValue(a)) }), "rcp.approx.ftz.f64")
	define(each1(func(a uint64) uint64 { return upper(1 / math.Sqrt(upperValue(a))) }), "rsqrt.approx.ftz.f64")
	for _, h := range halves {
		round := func(x float64) uint16 { return uint16(h.format.Round(x, float.RN)) }
		ex2 := func(a uint16) uint16 { return round(exp2(float64(h.widen(a)))) }
		if h.name == "bf16" { // has this form only; a bfloat16 is the upper half of a binary32
			h.define1("ex2.approx.ftz", func(a uint16) uint16 { return uint16(flush(uint32(ex2(a))<<16) >> 16) })
		} else {
			h.define1("ex2.approx", ex2)
		}
		h.define1("tanh.approx", func(a uint16) uint16 { return round(math.Tanh(float64(h.widen(a)))) })
	}
}

func divide(a, b uint32) uint32 { return bits32(float32(float64(f32(a)) / float64(f32(b)))) }

// divideApprox is div.approx, which multiplies by a reciprocal that has become zero for divisors above 2^126.
func divideApprox(a, b uint32) uint32 {
	if magnitude := b &^ (1 << 31); magnitude > 0x7e800000 && magnitude < 0x7f800000 {
		if a&0x7f800000 == 0x7f800000 {
			return nan32
		}
		return (a ^ b) & (1 << 31)
	}
	return divide(a, b)
}

// The approximations of binary64 use and give the upper 32 bits alone; the lower ones are ignored and zero. Subnormals are flushed.

func upperValue(a uint64) float64 {
	if a&0x7ff0_0000_0000_0000 == 0 {
		return f64(a & (1 << 63))
	}
	return f64(a &^ 0xffffffff)
}

func upper(x float64) uint64 {
	b := bits64(x)
	if x != x {
		return 0x7fffffff_00000000
	}
	if !math.IsInf(x, 0) {
		b += 1 << 31 // to nearest
	}
	if b&0x7ff0_0000_0000_0000 == 0 {
		return b & (1 << 63)
	}
	return b &^ 0xffffffff
}

// exp2Table are the powers 2^(n/32).
var exp2Table = func() (t [32]float64) {
	for n := range t {
		t[n] = math.Exp2(float64(n) / 32)
	}
	return t
}()

// exp2 is 2^x with a relative error below 2^-40, for results that are rounded to 24 bits or fewer.
func exp2(x float64) float64 {
	if !(x > -1000 && x < 1000) {
		return math.Exp2(x)
	}
	const round = 0x1.8p52 // adding it leaves an integer in the lower bits
	t := x*32 + round
	n := int32(math.Float64bits(t))
	r := (x - (t-round)*(1.0/32)) * math.Ln2 // at most 2^-6.5
	q := r * r
	p := (1 + r) + q*((1.0/2+r*(1.0/6))+q*(1.0/24+r*(1.0/120)))
	return math.Float64frombits(math.Float64bits(exp2Table[n&31]*p) + uint64(n>>5)<<52)
}
