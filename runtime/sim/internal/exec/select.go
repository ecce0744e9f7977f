package exec

import (
	"fmt"
	"math"
)

func init() {
	families["selp"] = compileSelp
	families["slct"] = compileSlct
	families["testp"] = compileTestp
}

// compileSelp compiles selp.type d, a, b, p.
func compileSelp(c *compiler, in *inst) (step, error) {
	t, err := c.mods.typ()
	if err != nil {
		return nil, err
	}
	r := operands{c: c, in: in}
	if t.Bits() == 64 {
		d, a, b := r.dst64(0), r.src64(1, t), r.src64(2, t)
		p, flip := r.srcPred(3)
		return func(w *warp) {
			m := w.pred[p] ^ flip
			w.t64[0] = w.r64[b]
			blend(&w.t64[0], &w.r64[a], m)
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(4)
	}
	d, a, b := r.dst32(0), r.src32(1, t), r.src32(2, t)
	p, flip := r.srcPred(3)
	return func(w *warp) {
		m := w.pred[p] ^ flip
		x, y, t := &w.r32[a], &w.r32[b], &w.t32[0]
		full := w.exec == allLanes
		switch {
		case full && m == allLanes:
			w.r32[d] = *x
			return
		case full && m == 0:
			w.r32[d] = *y
			return
		case full:
			t = &w.r32[d]
		}
		for i := range t {
			pick := -(m >> i & 1)
			t[i] = x[i]&pick | y[i]&^pick
		}
		if !full {
			blend(&w.r32[d], t, w.exec)
		}
	}, r.done(4)
}

// compileSlct compiles slct.type.s32 d, a, b, c: a where c is not negative.
func compileSlct(c *compiler, in *inst) (step, error) {
	ftz := c.mods.has("ftz")
	t, err := c.mods.typ()
	if err != nil {
		return nil, err
	}
	by, err := c.mods.typ()
	if err != nil {
		return nil, err
	}
	if t.Bits() != 32 || by != "s32" && by != "f32" || ftz && by != "f32" {
		return nil, fmt.Errorf("selecting %s by %s is not supported", t, by)
	}
	pick := func(a, b, c uint32) uint32 {
		if int32(c) >= 0 {
			return a
		}
		return b
	}
	if by == "f32" {
		pick = func(a, b, c uint32) uint32 {
			if ftz {
				c = flush(c)
			}
			if math.Float32frombits(c) >= 0 {
				return a
			}
			return b
		}
	}
	return c.lanes(in, form{each3(pick), t})
}

// properties are what testp asks, of the magnitude's bits; those of infinity and of the smallest normal number are given.
var properties = map[string]func(magnitude, inf, normal uint64) bool{
	"finite":     func(m, inf, _ uint64) bool { return m < inf },
	"infinite":   func(m, inf, _ uint64) bool { return m == inf },
	"number":     func(m, inf, _ uint64) bool { return m <= inf },
	"notanumber": func(m, inf, _ uint64) bool { return m > inf },
	"normal":     func(m, inf, normal uint64) bool { return m >= normal && m < inf },
	"subnormal":  func(m, _, normal uint64) bool { return m < normal && m != 0 },
}

// compileTestp compiles testp.property.type p, a.
func compileTestp(c *compiler, in *inst) (step, error) {
	f := properties[c.mods.any("finite", "infinite", "number", "notanumber", "normal", "subnormal")]
	t, err := c.mods.typ()
	if err != nil || f == nil || t != "f32" && t != "f64" {
		return nil, fmt.Errorf("the form is not supported")
	}
	r := operands{c: c, in: in}
	d := r.dstPred(0)
	if t == "f64" {
		a := r.src64(1, t)
		test := mask2(func(v, _ uint64) bool { return f(v&^(1<<63), 0x7ff0<<48, 1<<52) })
		return func(w *warp) { w.setPred(d, test(&w.r64[a], &w.r64[a])) }, r.done(2)
	}
	a := r.src32(1, t)
	test := mask2(func(v, _ uint32) bool { return f(uint64(v&^(1<<31)), 0x7f800000, 1<<23) })
	return func(w *warp) { w.setPred(d, test(&w.r32[a], &w.r32[a])) }, r.done(2)
}
