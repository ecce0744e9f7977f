package exec

import (
	"fmt"
	"math/bits"
)

func init() {
	// Without .cc these are lane functions.
	for _, name := range []string{"add", "sub", "mad", "addc", "subc", "madc"} {
		families[name] = compileCarry
	}
}

// compileCarry compiles arithmetic of several words: .cc sets the lane's carry, and addc, subc and madc add it.
func compileCarry(c *compiler, in *inst) (step, error) {
	m := &c.mods
	base, uses := in.Op[:3], len(in.Op) == 4
	half := m.any("lo", "hi")
	sets := m.has("cc")
	t, err := m.typ()
	if err != nil {
		return nil, err
	}
	if !uses && !sets || (half != "") != (base == "mad") || !isInteger(t) || t.Bits() < 32 {
		return nil, fmt.Errorf("the form is not supported")
	}
	width := t.Bits()
	operate := func(a, b, e, carry uint64) (d, out uint64) {
		switch {
		case base == "sub":
			d, out = bits.Sub64(a, b, carry)
			if width == 32 {
				out = d >> 32 & 1
			}
			return d, out
		case base == "mad":
			a, b = product(a, b, width, half == "hi", t.Signed()), e
		}
		d, out = bits.Add64(a, b, carry)
		if width == 32 {
			out = d >> 32 & 1
		}
		return d, out
	}
	r := operands{c: c, in: in}
	n := 3
	if base == "mad" {
		n = 4
	}
	last := n - 1
	update := func(w *warp, i int, out uint64) {
		if sets {
			w.carry = w.carry&^(1<<i) | uint32(out)<<i
		}
	}
	carryIn := func(w *warp, i int) uint64 {
		if uses {
			return uint64(w.carry >> i & 1)
		}
		return 0
	}
	if width == 64 {
		d, a, b, e := r.dst64(0), r.src64(1, t), r.src64(2, t), r.src64(last, t)
		return func(w *warp) {
			for x := w.exec; x != 0; x &= x - 1 {
				i := first(x)
				v, out := operate(w.r64[a][i], w.r64[b][i], w.r64[e][i], carryIn(w, i))
				w.r64[d][i] = v
				update(w, i, out)
			}
		}, r.done(n)
	}
	d, a, b, e := r.dst32(0), r.src32(1, t), r.src32(2, t), r.src32(last, t)
	return func(w *warp) {
		for x := w.exec; x != 0; x &= x - 1 {
			i := first(x)
			v, out := operate(uint64(w.r32[a][i]), uint64(w.r32[b][i]), uint64(w.r32[e][i]), carryIn(w, i))
			w.r32[d][i] = uint32(v)
			update(w, i, out)
		}
	}, r.done(n)
}

// product is one half of a product of two values of the width, zero-extended.
func product(a, b uint64, width int, high, signed bool) uint64 {
	switch {
	case width == 64 && !high:
		return a * b
	case width == 64 && signed:
		return mulHiS64(a, b)
	case width == 64:
		return mulHi64(a, b)
	case !high:
		return uint64(uint32(a) * uint32(b))
	case signed:
		return uint64(mulHiS32(uint32(a), uint32(b)))
	}
	return uint64(mulHi32(uint32(a), uint32(b)))
}
