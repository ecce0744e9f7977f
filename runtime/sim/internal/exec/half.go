package exec

import (
	"math"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
)

// half is one of the two formats of 16 bits.
type half struct {
	name   string
	widen  func(uint16) float32
	narrow func(float32) uint16
	format *float.Format
}

var halves = []half{
	{"f16", float.FromF16, float.ToF16, &float.F16},
	{"bf16", float.FromBF16, float.ToBF16, &float.BF16},
}

const nan16 = 0x7fff // the NaN of both formats

func flush16(b uint16) uint16 {
	if b&0x7c00 == 0 {
		return b & 0x8000
	}
	return b
}

func init() {
	for _, h := range halves {
		// A sum or product of two values, rounded first to binary32 and then to 16 bits, is what rounding once gives: 24 bits are at least twice 11 and two.
		for name, f := range map[string]func(x, y float32) float32{
			"add": func(x, y float32) float32 { return x + y },
			"sub": func(x, y float32) float32 { return x - y },
			"mul": func(x, y float32) float32 { return x * y },
		} {
			for _, rn := range []string{"", ".rn"} {
				h.define2(name+rn, func(a, b uint16) uint16 { return h.narrow(f(h.widen(a), h.widen(b))) })
				if h.name == "f16" {
					h.define2(name+rn+".sat", func(a, b uint16) uint16 { return h.saturate(h.narrow(f(h.widen(a), h.widen(b)))) })
					h.define2(name+rn+".ftz", func(a, b uint16) uint16 { return flush16(h.narrow(f(h.widen(flush16(a)), h.widen(flush16(b))))) })
				}
			}
		}
		h.define3("fma.rn", h.fma)
		h.define3("fma.rn.relu", func(a, b, c uint16) uint16 { return relu16(h.fma(a, b, c)) })
		if h.name == "f16" {
			h.define3("fma.rn.sat", func(a, b, c uint16) uint16 { return h.saturate(h.fma(a, b, c)) })
			h.define3("fma.rn.ftz", func(a, b, c uint16) uint16 { return flush16(h.fma(flush16(a), flush16(b), flush16(c))) })
			h.define2("max.ftz", func(a, b uint16) uint16 { return h.pick(flush16(a), flush16(b), max32) })
			h.define2("min.ftz", func(a, b uint16) uint16 { return h.pick(flush16(a), flush16(b), min32) })
			h.define2("max.ftz.NaN", func(a, b uint16) uint16 { return h.pickNaN(flush16(a), flush16(b), max32) })
			h.define2("min.ftz.NaN", func(a, b uint16) uint16 { return h.pickNaN(flush16(a), flush16(b), min32) })
			h.define1("neg.ftz", func(a uint16) uint16 { return flush16(a) ^ 0x8000 })
			h.define1("abs.ftz", func(a uint16) uint16 { return flush16(a) & 0x7fff })
		}
		h.define1("neg", func(a uint16) uint16 { return a ^ 0x8000 })
		h.define1("abs", func(a uint16) uint16 { return a & 0x7fff })
		h.define2("max", func(a, b uint16) uint16 { return h.pick(a, b, max32) })
		h.define2("min", func(a, b uint16) uint16 { return h.pick(a, b, min32) })
		h.define2("max.NaN", func(a, b uint16) uint16 { return h.pickNaN(a, b, max32) })
		h.define2("min.NaN", func(a, b uint16) uint16 { return h.pickNaN(a, b, min32) })
	}
}

// define1 to define3 define a form for single values and for pairs of them.
func (h half) define1(name string, f func(a uint16) uint16) {
	define(each1(func(a uint32) uint32 { return uint32(f(uint16(a))) }), name+"."+h.name)
	define(each1(func(a uint32) uint32 { return uint32(f(uint16(a))) | uint32(f(uint16(a>>16)))<<16 }), name+"."+h.name+"x2")
}

func (h half) define2(name string, f func(a, b uint16) uint16) {
	define(each2(func(a, b uint32) uint32 { return uint32(f(uint16(a), uint16(b))) }), name+"."+h.name)
	define(each2(func(a, b uint32) uint32 {
		return uint32(f(uint16(a), uint16(b))) | uint32(f(uint16(a>>16), uint16(b>>16)))<<16
	}), name+"."+h.name+"x2")
}

func (h half) define3(name string, f func(a, b, c uint16) uint16) {
	define(each3(func(a, b, c uint32) uint32 { return uint32(f(uint16(a), uint16(b), uint16(c))) }), name+"."+h.name)
	define(each3(func(a, b, c uint32) uint32 {
		return uint32(f(uint16(a), uint16(b), uint16(c))) | uint32(f(uint16(a>>16), uint16(b>>16), uint16(c>>16)))<<16
	}), name+"."+h.name+"x2")
}

// fma rounds a*b + c once.
func (h half) fma(a, b, c uint16) uint16 {
	return uint16(h.format.Round(float.SumOdd(float64(h.widen(a))*float64(h.widen(b)), float64(h.widen(c))), float.RN))
}

func (h half) saturate(a uint16) uint16 {
	return uint16(h.format.Round(float64(f32(saturate32(math.Float32bits(h.widen(a))))), float.RN))
}

func relu16(a uint16) uint16 {
	if a&0x8000 != 0 { // a result is never a negative NaN
		return 0
	}
	return a
}

func (h half) pick(a, b uint16, f func(a, b uint32) uint32) uint16 {
	x, y := h.widen(a), h.widen(b)
	switch {
	case x != x && y != y:
		return nan16
	case x != x:
		return b
	case y != y:
		return a
	}
	if f(math.Float32bits(x), math.Float32bits(y)) == math.Float32bits(x) {
		return a
	}
	return b
}

func (h half) pickNaN(a, b uint16, f func(a, b uint32) uint32) uint16 {
	x, y := h.widen(a), h.widen(b)
	if x != x || y != y {
		return nan16
	}
	return h.pick(a, b, f)
}
