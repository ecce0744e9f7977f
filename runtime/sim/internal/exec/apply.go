package exec

import (
	"fmt"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// lanes compiles an instruction that is a lane function. With all lanes on, the function writes the register; otherwise it writes to scratch, of which the active lanes are kept.
func (c *compiler) lanes(in *inst, f form) (step, error) {
	t := f.typ
	r := operands{c: c, in: in}
	switch f := f.lanes.(type) {
	case func(d, a *lanes32):
		d, a := r.dst32(0), r.src32(1, t)
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r32[d], &w.r32[a])
				return
			}
			f(&w.t32[0], &w.r32[a])
			blend(&w.r32[d], &w.t32[0], w.exec)
		}, r.done(2)
	case func(d, a, b *lanes32):
		d, a, b := r.dst32(0), r.src32(1, t), r.src32(2, t)
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r32[d], &w.r32[a], &w.r32[b])
				return
			}
			f(&w.t32[0], &w.r32[a], &w.r32[b])
			blend(&w.r32[d], &w.t32[0], w.exec)
		}, r.done(3)
	case func(d, a, b, e *lanes32):
		d, a, b, e := r.dst32(0), r.src32(1, t), r.src32(2, t), r.src32(3, t)
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r32[d], &w.r32[a], &w.r32[b], &w.r32[e])
				return
			}
			f(&w.t32[0], &w.r32[a], &w.r32[b], &w.r32[e])
			blend(&w.r32[d], &w.t32[0], w.exec)
		}, r.done(4)
	case func(d, a *lanes64):
		d, a := r.dst64(0), r.src64(1, t)
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r64[d], &w.r64[a])
				return
			}
			f(&w.t64[0], &w.r64[a])
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(2)
	case func(d, a, b *lanes64):
		d, a, b := r.dst64(0), r.src64(1, t), r.src64(2, t)
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r64[d], &w.r64[a], &w.r64[b])
				return
			}
			f(&w.t64[0], &w.r64[a], &w.r64[b])
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(3)
	case func(d, a, b, e *lanes64):
		d, a, b, e := r.dst64(0), r.src64(1, t), r.src64(2, t), r.src64(3, t)
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r64[d], &w.r64[a], &w.r64[b], &w.r64[e])
				return
			}
			f(&w.t64[0], &w.r64[a], &w.r64[b], &w.r64[e])
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(4)
	case func(d *lanes64, a *lanes32): // widening conversions
		d, a := r.dst64(0), r.src32(1, t)
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r64[d], &w.r32[a])
				return
			}
			f(&w.t64[0], &w.r32[a])
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(2)
	case func(d *lanes32, a *lanes64): // narrowing conversions and counts of bits
		d, a := r.dst32(0), r.src64(1, t)
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r32[d], &w.r64[a])
				return
			}
			f(&w.t32[0], &w.r64[a])
			blend(&w.r32[d], &w.t32[0], w.exec)
		}, r.done(2)
	case func(d *lanes64, a, b *lanes32): // products
		d, a, b := r.dst64(0), r.src32(1, t), r.src32(2, t)
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r64[d], &w.r32[a], &w.r32[b])
				return
			}
			f(&w.t64[0], &w.r32[a], &w.r32[b])
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(3)
	case func(d *lanes64, a, b *lanes32, e *lanes64): // products with a sum
		d, a, b, e := r.dst64(0), r.src32(1, t), r.src32(2, t), r.src64(3, "b64")
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r64[d], &w.r32[a], &w.r32[b], &w.r64[e])
				return
			}
			f(&w.t64[0], &w.r32[a], &w.r32[b], &w.r64[e])
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(4)
	case func(d, a *lanes64, b *lanes32): // shifts
		d, a, b := r.dst64(0), r.src64(1, t), r.src32(2, "b32")
		return func(w *warp) {
			if w.exec == allLanes {
				f(&w.r64[d], &w.r64[a], &w.r32[b])
				return
			}
			f(&w.t64[0], &w.r64[a], &w.r32[b])
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(3)
	case func(d, a *lanes64, b, e *lanes32): // fields of bits
		d, a, b, e := r.dst64(0), r.src64(1, t), r.src32(2, "b32"), r.src32(3, "b32")
		return func(w *warp) {
			f(&w.t64[0], &w.r64[a], &w.r32[b], &w.r32[e])
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(4)
	case func(d, a, b *lanes64, e, g *lanes32): // insertion of bits
		d, a, b, e, g := r.dst64(0), r.src64(1, t), r.src64(2, t), r.src32(3, "b32"), r.src32(4, "b32")
		return func(w *warp) {
			f(&w.t64[0], &w.r64[a], &w.r64[b], &w.r32[e], &w.r32[g])
			blend(&w.r64[d], &w.t64[0], w.exec)
		}, r.done(5)
	case func(d, a, b, e, g *lanes32):
		d, a, b, e, g := r.dst32(0), r.src32(1, t), r.src32(2, t), r.src32(3, "b32"), r.src32(4, "b32")
		return func(w *warp) {
			f(&w.t32[0], &w.r32[a], &w.r32[b], &w.r32[e], &w.r32[g])
			blend(&w.r32[d], &w.t32[0], w.exec)
		}, r.done(5)
	}
	return nil, fmt.Errorf("lane function of type %T has no application", f.lanes)
}

// operands resolves an instruction's operands one by one and keeps the first error.
type operands struct {
	c   *compiler
	in  *inst
	err error
}

func (r *operands) get(i int) (operand, bool) {
	if r.err != nil {
		return operand{}, false
	}
	if i >= len(r.in.ops) {
		r.err = fmt.Errorf("%d operands, too few", len(r.in.ops))
		return operand{}, false
	}
	return r.in.ops[i], true
}

func (r *operands) keep(reg int, err error) int {
	if r.err == nil {
		r.err = err
	}
	return reg
}

func (r *operands) dst32(i int) int {
	o, ok := r.get(i)
	if !ok {
		return 0
	}
	return r.keep(r.c.dst32(o))
}

func (r *operands) dst64(i int) int {
	o, ok := r.get(i)
	if !ok {
		return 0
	}
	return r.keep(r.c.dst64(o))
}

func (r *operands) dstPred(i int) int {
	o, ok := r.get(i)
	if !ok {
		return 0
	}
	return r.keep(r.c.dstPred(o))
}

func (r *operands) src32(i int, t ptx.Type) int {
	o, ok := r.get(i)
	if !ok {
		return 0
	}
	return r.keep(r.c.src32(o, t))
}

func (r *operands) src64(i int, t ptx.Type) int {
	o, ok := r.get(i)
	if !ok {
		return 0
	}
	return r.keep(r.c.src64(o, t))
}

func (r *operands) srcPred(i int) (int, uint32) {
	o, ok := r.get(i)
	if !ok {
		return 0, 0
	}
	p, flip, err := r.c.srcPred(o)
	return r.keep(p, err), flip
}

// done gives the first error, one of them being a number of operands other than n.
func (r *operands) done(n int) error {
	if r.err != nil {
		return r.err
	}
	return wants(r.in.ops, n)
}
