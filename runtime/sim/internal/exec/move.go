package exec

import (
	"fmt"
	"time"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

func init() {
	families["mov"] = compileMov
	families["cvta"] = compileCvta
	families["isspacep"] = compileIsSpace
}

func move32(d, a *lanes32) { *d = *a }
func move64(d, a *lanes64) { *d = *a }

func compileMov(c *compiler, in *inst) (step, error) {
	t, err := c.mods.typ()
	if err != nil {
		return nil, err
	}
	if err := wants(in.ops, 2); err != nil {
		return nil, err
	}
	d, s := in.ops[0], in.ops[1]
	switch {
	case t == "pred":
		return c.movePred(d, s)
	case s.kind == opSpecial && changing[s.name]:
		return c.moveChanging(in, t)
	case s.kind == opVec:
		return c.pack(in, t)
	case d.kind == opVec:
		return c.unpack(in, t)
	case t.Bits() == 64 && s.kind == opSpecial && !special64[s.name]: // a special register of 32 bits read as 64
		return c.lanes(in, form{func(d *lanes64, a *lanes32) {
			for i := range d {
				d[i] = uint64(a[i])
			}
		}, "b32"})
	case t.Bits() == 64:
		return c.lanes(in, form{move64, t})
	case t.Bits() <= 32:
		return c.lanes(in, form{move32, t})
	}
	return nil, fmt.Errorf("moves of %d bits are not supported", t.Bits())
}

func (c *compiler) movePred(d, s operand) (step, error) {
	dst, err := c.dstPred(d)
	if err != nil {
		return nil, err
	}
	src, flip, err := c.srcPred(s)
	return func(w *warp) { w.setPred(dst, w.pred[src]^flip) }, err
}

// setPred writes a predicate in the active lanes.
func (w *warp) setPred(d int, v uint32) { w.pred[d] = w.pred[d]&^w.exec | v&w.exec }

// changing are the special registers that have another value each time.
var changing = map[string]bool{"%clock": true, "%clock_hi": true, "%clock64": true, "%globaltimer": true, "%globaltimer_lo": true, "%globaltimer_hi": true}

// moveChanging reads a clock: the host's, in nanoseconds.
func (c *compiler) moveChanging(in *inst, t ptx.Type) (step, error) {
	shift := 0
	switch in.ops[1].name {
	case "%clock_hi", "%globaltimer_hi":
		shift = 32
	}
	r := operands{c: c, in: in}
	if t.Bits() == 64 {
		d := r.dst64(0)
		return func(w *warp) {
			fill(&w.t64[0], uint64(time.Now().UnixNano())>>shift)
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.err
	}
	d := r.dst32(0)
	return func(w *warp) {
		fill(&w.t32[0], uint32(time.Now().UnixNano()>>shift))
		blend(&w.r32[d], &w.t32[0], w.exec)
	}, r.err
}

// pack compiles mov.b32 d, {a, b} and its kind: the first element is the lowest.
func (c *compiler) pack(in *inst, t ptx.Type) (step, error) {
	elems := in.ops[1].elems
	width := t.Bits() / max(len(elems), 1)
	part := ptx.Type(fmt.Sprintf("b%d", width))
	r := operands{c: c, in: in}
	var src []int
	for _, e := range elems {
		reg, err := c.src32(e, part)
		src = append(src, r.keep(reg, err))
	}
	switch {
	case r.err != nil:
		return nil, r.err
	case t.Bits() == 32 && len(src) == 2:
		lo, hi, d := src[0], src[1], r.dst32(0)
		return func(w *warp) {
			t, a, b := &w.t32[0], &w.r32[lo], &w.r32[hi]
			if w.exec == allLanes {
				t = &w.r32[d]
			}
			for i := range t {
				t[i] = a[i]&0xffff | b[i]<<16
			}
			if w.exec != allLanes {
				blend(&w.r32[d], t, w.exec)
			}
		}, r.err
	case t.Bits() <= 32 && len(src) > 1 && width >= 8:
		d := r.dst32(0)
		return func(w *warp) {
			t := lanes32{}
			for n, s := range src {
				for i, v := range w.r32[s] {
					t[i] |= v & (1<<width - 1) << (n * width)
				}
			}
			blend(&w.r32[d], &t, w.exec)
		}, r.err
	case t.Bits() == 64 && len(src) > 1 && width >= 8:
		d := r.dst64(0)
		return func(w *warp) {
			t := lanes64{}
			for n, s := range src {
				for i, v := range w.r32[s] {
					t[i] |= uint64(v) & (1<<width - 1) << (n * width)
				}
			}
			blend(&w.r64[d], &t, w.exec)
		}, r.err
	}
	return nil, fmt.Errorf("packing %d elements into %d bits is not supported", len(src), t.Bits())
}

// unpack compiles mov.b32 {a, b}, s and its kind.
func (c *compiler) unpack(in *inst, t ptx.Type) (step, error) {
	elems := in.ops[0].elems
	width := t.Bits() / max(len(elems), 1)
	if len(elems) < 2 || width < 8 || t.Bits() > 64 {
		return nil, fmt.Errorf("unpacking %d bits into %d elements is not supported", t.Bits(), len(elems))
	}
	r := operands{c: c, in: in}
	dst := make([]int, len(elems))
	for i, e := range elems {
		dst[i] = -1
		if e.kind != opSink {
			reg, err := c.dst32(e)
			dst[i] = r.keep(reg, err)
		}
	}
	mask := uint32(1<<width - 1)
	if t.Bits() == 64 {
		s := r.src64(1, t)
		return func(w *warp) {
			src := w.r64[s]
			for n, d := range dst {
				if d < 0 {
					continue
				}
				for i, v := range src {
					w.t32[0][i] = uint32(v>>(n*width)) & mask
				}
				blend(&w.r32[d], &w.t32[0], w.exec)
			}
		}, r.err
	}
	s := r.src32(1, t)
	return func(w *warp) {
		src := w.r32[s]
		for n, d := range dst {
			if d < 0 {
				continue
			}
			t := &w.t32[0]
			if w.exec == allLanes {
				t = &w.r32[d]
			}
			for i, v := range src {
				t[i] = v >> (n * width & 31) & mask
			}
			if w.exec != allLanes {
				blend(&w.r32[d], t, w.exec)
			}
		}
	}, r.err
}

// windows are the generic addresses at which state spaces begin.
var windows = map[ptx.Space]uint64{ptx.Global: 0, ptx.Const: 0, ptx.Shared: sharedWindow, ptx.Local: localWindow, ptx.Param: paramWindow}

// takeSpace takes a state space and its qualifier: "shared" and "shared::cta" are one.
func (m *mods) takeSpace() (ptx.Space, bool) {
	for name, s := range map[string]ptx.Space{
		"global": ptx.Global, "shared": ptx.Shared, "shared::cta": ptx.Shared, "local": ptx.Local, "const": ptx.Const,
		"param": ptx.Param, "param::entry": ptx.Param, "param::func": ptx.Param,
	} {
		if m.has(name) {
			return s, true
		}
	}
	return ptx.Generic, false
}

func compileCvta(c *compiler, in *inst) (step, error) {
	to := c.mods.has("to")
	space, ok := c.mods.takeSpace()
	if !ok {
		return nil, fmt.Errorf("a state space is missing")
	}
	t, err := c.mods.typ()
	if err != nil {
		return nil, err
	}
	if t.Bits() != 64 {
		return nil, fmt.Errorf("addresses of %d bits are not supported", t.Bits())
	}
	add := windows[space]
	if to {
		add = -add
	}
	return c.lanes(in, form{func(d, a *lanes64) {
		for i := range d {
			d[i] = a[i] + add
		}
	}, t})
}

func compileIsSpace(c *compiler, in *inst) (step, error) {
	space, ok := c.mods.takeSpace()
	if !ok {
		return nil, fmt.Errorf("a state space is missing")
	}
	r := operands{c: c, in: in}
	d, a := r.dstPred(0), r.src64(1, "b64")
	window := windows[space]
	return func(w *warp) {
		var m uint32
		for i, v := range w.r64[a] {
			if v&windowMask == window {
				m |= 1 << i
			}
		}
		w.setPred(d, m)
	}, r.done(2)
}
