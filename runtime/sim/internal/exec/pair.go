package exec

import (
	"fmt"
	"slices"
)

// pairOf says whether the last type of a comparison is of two halves, and of which.
func pairOf(in *inst) (half, bool) {
	for _, h := range halves {
		if len(in.Mods) > 0 && in.Mods[len(in.Mods)-1] == h.name+"x2" {
			return h, true
		}
	}
	return half{}, false
}

// pairComparison takes a comparison of pairs from modifiers without their last, the type: it gives a mask for the lower halves and one for the upper.
func (c *compiler) pairComparison(list []string, h half) (func(a, b *lanes32) (low, high uint32), error) {
	c.mods = mods{list: append(slices.Clone(list), h.name)}
	f, _, err := c.comparison()
	if err != nil {
		return nil, err
	}
	compare, ok := f.(func(a, b *lanes32) uint32)
	if !ok {
		return nil, fmt.Errorf("the form is not supported")
	}
	return func(a, b *lanes32) (low, high uint32) {
		var lowA, lowB, highA, highB lanes32
		for i := range a {
			lowA[i], highA[i] = a[i]&0xffff, a[i]>>16
			lowB[i], highB[i] = b[i]&0xffff, b[i]>>16
		}
		return compare(&lowA, &lowB), compare(&highA, &highB)
	}, nil
}

// setPair compiles set.cmp[.ftz].f16x2.f16x2 d, a, b: 1.0 or zero in each half.
func (c *compiler) setPair(in *inst, h half) (step, error) {
	n := len(in.Mods)
	if n < 3 || in.Mods[n-2] != h.name+"x2" {
		return nil, fmt.Errorf("the form is not supported")
	}
	compare, err := c.pairComparison(in.Mods[:n-2], h)
	if err != nil {
		return nil, err
	}
	r := operands{c: c, in: in}
	d, a, b := r.dst32(0), r.src32(1, "b32"), r.src32(2, "b32")
	one := uint32(h.narrow(1))
	return func(w *warp) {
		low, high := compare(&w.r32[a], &w.r32[b])
		for i := range 32 {
			w.t32[0][i] = (low>>i&1)*one | (high>>i&1)*one<<16
		}
		blend(&w.r32[d], &w.t32[0], w.exec)
	}, r.done(3)
}

// setpPair compiles setp.cmp[.bool][.ftz].f16x2 p|q, a, b[, c]: p is of the lower halves, q of the upper ones.
func (c *compiler) setpPair(in *inst, h half) (step, error) {
	compare, err := c.pairComparison(in.Mods[:len(in.Mods)-1], h)
	if err != nil {
		return nil, err
	}
	if len(in.ops) < 3 || in.ops[0].kind != opPair || len(in.ops[0].elems) != 2 {
		return nil, fmt.Errorf("the form is not supported")
	}
	logic := c.mods.any("and", "or", "xor")
	r := operands{c: c, in: in}
	p, err := c.dstPred(in.ops[0].elems[0])
	r.keep(p, err)
	q, err := c.dstPred(in.ops[0].elems[1])
	r.keep(q, err)
	a, b := r.src32(1, "b32"), r.src32(2, "b32")
	extra, flip, n := 0, uint32(0), 3
	if logic != "" {
		extra, flip = r.srcPred(3)
		n = 4
	}
	return func(w *warp) {
		low, high := compare(&w.r32[a], &w.r32[b])
		if logic != "" {
			e := w.pred[extra] ^ flip
			low, high = combine(logic, low, e), combine(logic, high, e)
		}
		w.setPred(p, low)
		w.setPred(q, high)
	}, r.done(n)
}
