package exec

import (
	"fmt"
	"math/bits"
)

func init() {
	families["shfl"] = compileShuffle
	families["vote"] = compileVote
	families["match"] = compileMatch
	families["redux"] = compileRedux
	families["activemask"] = compileActiveMask
	families["elect"] = compileElect
}

// compileShuffle compiles shfl.sync.mode.b32 d[|p], a, b, c, membermask.
func compileShuffle(c *compiler, in *inst) (step, error) {
	m := &c.mods
	if !m.has("sync") {
		return nil, fmt.Errorf("only the .sync form is known")
	}
	mode := m.any("up", "down", "bfly", "idx")
	if mode == "" || !m.has("b32") || len(in.ops) != 5 {
		return nil, fmt.Errorf("the form is not supported")
	}
	r := operands{c: c, in: in}
	dst, p := in.ops[0], operand{kind: opSink}
	if dst.kind == opPair && len(dst.elems) == 2 {
		dst, p = dst.elems[0], dst.elems[1]
	}
	d, err := c.dst32(dst)
	r.keep(d, err)
	dp, err := c.dstPred(p)
	r.keep(dp, err)
	wantPred := p.kind != opSink
	a, b, ctl, mask := r.src32(1, "b32"), r.src32(2, "b32"), r.src32(3, "b32"), r.src32(4, "b32")
	return func(w *warp) {
		if !w.together(mask) {
			return
		}
		src := &w.r32[a]
		t := &w.t32[0]
		var valid uint32
		for i := range 32 {
			n, limits := int(w.r32[b][i]&31), w.r32[ctl][i]
			clamp, segment := int(limits&31), int(limits>>8&31)
			hi := i&segment | clamp&^segment
			lo := i & segment
			j, ok := 0, false
			switch mode {
			case "up":
				j = i - n
				ok = j >= hi // the bound is the lowest lane here
			case "down":
				j = i + n
				ok = j <= hi
			case "bfly":
				j = i ^ n
				ok = j <= hi
			default:
				j = lo | n&^segment
				ok = j <= hi
			}
			if !ok {
				j = i
			} else {
				valid |= 1 << i
			}
			t[i] = src[j&31]
		}
		if w.exec == allLanes {
			w.r32[d] = *t
		} else {
			blend(&w.r32[d], t, w.exec)
		}
		if wantPred {
			w.setPred(dp, valid)
		}
	}, r.err
}

func compileVote(c *compiler, in *inst) (step, error) {
	m := &c.mods
	if !m.has("sync") {
		return nil, fmt.Errorf("only the .sync form is known")
	}
	mode := m.any("all", "any", "uni", "ballot")
	r := operands{c: c, in: in}
	src, flip := r.srcPred(1)
	mask := r.src32(2, "b32")
	if mode == "ballot" {
		d := r.dst32(0)
		if !m.has("b32") {
			return nil, fmt.Errorf("the type is not supported")
		}
		return func(w *warp) {
			if w.oneGroup(mask) {
				fill(&w.t32[0], (w.pred[src]^flip)&w.exec)
				blend(&w.r32[d], &w.t32[0], w.exec)
			}
		}, r.done(3)
	}
	if mode == "" || !m.has("pred") {
		return nil, fmt.Errorf("the form is not supported")
	}
	d := r.dstPred(0)
	return func(w *warp) {
		if !w.oneGroup(mask) {
			return
		}
		v := (w.pred[src] ^ flip) & w.exec
		yes := v != 0
		switch mode {
		case "all":
			yes = v == w.exec
		case "uni":
			yes = v == w.exec || v == 0
		}
		w.setPred(d, -b2u(yes))
	}, r.done(3)
}

// compileMatch compiles match.any.sync.b32/b64 d, a, mask and match.all.sync d|p, a, mask.
func compileMatch(c *compiler, in *inst) (step, error) {
	m := &c.mods
	mode := m.any("any", "all")
	if !m.has("sync") || mode == "" {
		return nil, fmt.Errorf("the form is not supported")
	}
	t, err := m.typ()
	if err != nil {
		return nil, err
	}
	if len(in.ops) != 3 {
		return nil, wants(in.ops, 3)
	}
	r := operands{c: c, in: in}
	dst, p := in.ops[0], operand{kind: opSink}
	if dst.kind == opPair && len(dst.elems) == 2 {
		dst, p = dst.elems[0], dst.elems[1]
	}
	d, err := c.dst32(dst)
	r.keep(d, err)
	dp, err := c.dstPred(p)
	r.keep(dp, err)
	value := func(w *warp, i int) uint64 { return 0 }
	if t.Bits() == 64 {
		a := r.src64(1, t)
		value = func(w *warp, i int) uint64 { return w.r64[a][i] }
	} else {
		a := r.src32(1, t)
		value = func(w *warp, i int) uint64 { return uint64(w.r32[a][i]) }
	}
	mask := r.src32(2, "b32")
	return func(w *warp) {
		if !w.oneGroup(mask) {
			return
		}
		members := w.exec
		var same [32]uint32
		all := true
		for x := members; x != 0; x &= x - 1 {
			i := first(x)
			for y := members; y != 0; y &= y - 1 {
				if j := first(y); value(w, i) == value(w, j) {
					same[i] |= 1 << j
				}
			}
			all = all && same[i] == members
		}
		if mode == "all" {
			fill(&same, members&-b2u(all))
		}
		blend(&w.r32[d], &same, w.exec)
		w.setPred(dp, -b2u(all))
	}, r.err
}

// compileRedux compiles redux.sync.op.type d, a, mask.
func compileRedux(c *compiler, in *inst) (step, error) {
	m := &c.mods
	op := m.any("add", "min", "max", "and", "or", "xor")
	if !m.has("sync") || op == "" {
		return nil, fmt.Errorf("the form is not supported")
	}
	t, err := m.typ()
	if err != nil {
		return nil, err
	}
	f, ok := reduxOps[op+"."+string(t)]
	if !ok {
		return nil, fmt.Errorf("reduction %s of type %s is not supported", op, t)
	}
	r := operands{c: c, in: in}
	d, a, mask := r.dst32(0), r.src32(1, t), r.src32(2, "b32")
	return func(w *warp) {
		if !w.oneGroup(mask) {
			return
		}
		members := w.exec
		v := w.r32[a][first(members)]
		for x := members & (members - 1); x != 0; x &= x - 1 {
			v = f(v, w.r32[a][bits.TrailingZeros32(x)&31])
		}
		fill(&w.t32[0], v)
		blend(&w.r32[d], &w.t32[0], w.exec)
	}, r.done(3)
}

var reduxOps = map[string]func(a, b uint32) uint32{
	"add.u32": func(a, b uint32) uint32 { return a + b },
	"add.s32": func(a, b uint32) uint32 { return a + b },
	"min.u32": func(a, b uint32) uint32 { return min(a, b) },
	"max.u32": func(a, b uint32) uint32 { return max(a, b) },
	"min.s32": func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) },
	"max.s32": func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) },
	"and.b32": func(a, b uint32) uint32 { return a & b },
	"or.b32":  func(a, b uint32) uint32 { return a | b },
	"xor.b32": func(a, b uint32) uint32 { return a ^ b },
}

func compileActiveMask(c *compiler, in *inst) (step, error) {
	c.mods.has("b32")
	r := operands{c: c, in: in}
	d := r.dst32(0)
	return func(w *warp) {
		fill(&w.t32[0], w.exec)
		blend(&w.r32[d], &w.t32[0], w.exec)
	}, r.done(1)
}

// compileElect compiles elect.sync d|p, mask: the lowest member.
func compileElect(c *compiler, in *inst) (step, error) {
	if !c.mods.has("sync") || len(in.ops) != 2 || in.ops[0].kind != opPair {
		return nil, fmt.Errorf("the form is not supported")
	}
	r := operands{c: c, in: in}
	d, err := c.dst32(in.ops[0].elems[0])
	r.keep(d, err)
	p, err := c.dstPred(in.ops[0].elems[1])
	r.keep(p, err)
	mask := r.src32(1, "b32")
	return func(w *warp) {
		if w.oneGroup(mask) {
			l := first(w.exec)
			fill(&w.t32[0], uint32(l))
			blend(&w.r32[d], &w.t32[0], w.exec)
			w.setPred(p, 1<<l)
		}
	}, r.err
}
