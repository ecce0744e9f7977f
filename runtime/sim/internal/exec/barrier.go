package exec

import (
	"fmt"
	"math/bits"
)

func init() {
	families["bar"] = compileBarrier
	families["barrier"] = compileBarrier
	families["membar"] = compileFence
	families["fence"] = compileFence
}

// barrier is one of a CTA's 16. Its count is of threads, always a multiple of 32.
type barrier struct {
	arrived  int
	expected int
	waiting  []*warp
	votes    uint32
	all      bool
	sum      int
}

// reduction is what bar.red makes of the threads' predicates.
type reduction struct {
	op   string // "popc", "and", "or"; "" for none
	src  int
	flip uint32
	dst  int
}

func compileBarrier(c *compiler, in *inst) (step, error) {
	m := &c.mods
	m.has("cta")
	if m.has("warp") {
		return c.warpBarrier(in)
	}
	kind := m.any("sync", "arrive", "red")
	m.has("aligned")
	var red reduction
	r := operands{c: c, in: in}
	at := 0
	if kind == "red" {
		red.op = m.any("popc", "and", "or")
		t, err := m.typ()
		if err != nil {
			return nil, err
		}
		switch {
		case red.op == "popc" && t == "u32":
			red.dst = r.dst32(0)
		case red.op != "" && red.op != "popc" && t == "pred":
			red.dst = r.dstPred(0)
		default:
			return nil, fmt.Errorf("reduction %q of type %s is not supported", red.op, t)
		}
		at = 1
		red.src, red.flip = r.srcPred(len(in.ops) - 1)
		in = &inst{Instr: in.Instr, guard: in.guard, not: in.not, ops: in.ops[:max(len(in.ops)-1, 0)]}
		r.in = in
	}
	id, count := r.src32(at, "u32"), -1
	if len(in.ops) > at+1 {
		count = r.src32(at+1, "u32")
	}
	if r.err != nil {
		return nil, r.err
	}
	if len(in.ops) > at+2 || kind == "" || kind == "arrive" && count < 0 {
		return nil, fmt.Errorf("the operands of this barrier are not supported")
	}
	where := c.index
	return func(w *warp) {
		switch {
		case w.exec != w.active:
			w.divergent("a barrier")
			return
		case w.exec != w.live:
			w.apart = true
			return
		}
		l := first(w.exec)
		n, threads := w.r32[id][l], len(w.cta.warps)*32
		if n > 15 {
			w.fail(l, "barrier %d; there are 0 to 15", n)
			return
		}
		if count >= 0 {
			threads = int(w.r32[count][l])
			if threads == 0 || threads%32 != 0 || threads > len(w.cta.warps)*32 {
				w.fail(l, "a barrier of %d threads; a multiple of 32, at most the CTA's, is needed", threads)
				return
			}
		}
		w.arrive(&w.cta.bars[n], threads, kind != "arrive", where, &red)
	}, nil
}

// divergent reports a barrier that only some of a warp's lanes have come to.
func (w *warp) divergent(name string) {
	missing := first(w.live &^ w.exec)
	w.fail(first(w.exec), "%s with %d of the warp's %d running threads: thread %v has taken another way", name, bits.OnesCount32(w.exec), bits.OnesCount32(w.live), w.cta.thread(w.index*32+missing))
}

// arrive adds the warp to a barrier and, when it is complete, lets all go on.
func (w *warp) arrive(b *barrier, expected int, wait bool, at int, red *reduction) {
	if b.arrived == 0 {
		*b = barrier{expected: expected, waiting: b.waiting[:0], all: true}
	} else if b.expected != expected {
		w.fail(first(w.exec), "a barrier of %d threads that others wait at as one of %d", expected, b.expected)
		return
	}
	b.arrived += 32
	if red.op != "" {
		v := (w.pred[red.src] ^ red.flip) & w.exec
		b.sum += bits.OnesCount32(v)
		b.votes |= v
		b.all = b.all && v == w.exec
	}
	if wait {
		w.waiting, w.at, w.red = true, at, red
		b.waiting = append(b.waiting, w)
	}
	if b.arrived >= b.expected {
		b.release(w.cta)
	}
}

func (b *barrier) release(c *cta) {
	b.arrived = 0
	for _, w := range b.waiting {
		w.waiting = false
		w.finish(b)
	}
	if len(b.waiting) > 0 {
		c.nextEpoch()
	}
}

// finish gives a warp the result of its bar.red.
func (w *warp) finish(b *barrier) {
	switch w.red.op {
	case "popc":
		fill(&w.t32[0], uint32(b.sum))
		blend(&w.r32[w.red.dst], &w.t32[0], w.live)
	case "and", "or":
		yes := b.votes != 0
		if w.red.op == "and" {
			yes = b.all
		}
		v := uint32(0)
		if yes {
			v = allLanes
		}
		w.pred[w.red.dst] = w.pred[w.red.dst]&^w.live | v&w.live
	}
}

// stuck is called when no warp can run: those that wait, wait for warps that have ended. Hardware lets them go on, having no others to wait for; a checking device does not.
func (c *cta) stuck() *Fault {
	for i := range c.bars {
		b := &c.bars[i]
		if b.arrived == 0 || len(b.waiting) == 0 {
			continue
		}
		running := 0
		for _, w := range c.warps {
			if len(w.stack) > 0 {
				running++
			}
		}
		if !c.launch.device.checked && b.arrived == running*32 {
			b.release(c)
			return nil
		}
		w := b.waiting[0]
		w.fail(first(w.live), "barrier %d waits for %d threads, %d have come and none of the others can: %d of %d warps have ended", i, b.expected, b.arrived, len(c.warps)-running, len(c.warps))
		w.locate(w.at)
		return w.fault
	}
	return nil
}

// warpBarrier compiles bar.warp.sync: lanes that have come together have nothing to wait for.
func (c *compiler) warpBarrier(in *inst) (step, error) {
	if !c.mods.has("sync") {
		return nil, fmt.Errorf("only bar.warp.sync is known")
	}
	r := operands{c: c, in: in}
	mask := r.src32(0, "b32")
	return func(w *warp) { w.together(mask) }, r.done(1)
}

// together says whether each lane's member mask names the lane itself and no running lane that is elsewhere; it is a fault when not.
func (w *warp) together(mask int) bool {
	for x := w.exec; x != 0; x &= x - 1 {
		i := first(x)
		m := w.r32[mask][i]
		if m>>i&1 == 0 {
			w.fail(i, "member mask %#x does not name the thread that gives it", m)
			return false
		}
		if missing := m & w.live &^ w.exec; missing != 0 {
			w.fail(i, "member mask %#x names thread %v, which has taken another way", m, w.cta.thread(w.index*32+first(missing)))
			return false
		}
	}
	return true
}

// oneGroup is together for what is made of the values of all members: the lanes here must be one group, so that the members are those of w.exec.
func (w *warp) oneGroup(mask int) bool {
	if !w.together(mask) {
		return false
	}
	m := w.r32[mask][first(w.exec)]
	for x := w.exec; x != 0; x &= x - 1 {
		if other := w.r32[mask][first(x)]; other != m {
			w.fail(first(x), "member masks %#x and %#x of threads that execute this together; the simulated device needs one mask", m, other)
			return false
		}
	}
	return true
}

// compileFence compiles fences: accesses are performed in order here.
func compileFence(c *compiler, in *inst) (step, error) {
	m := &c.mods
	m.any("sc", "acq_rel", "acquire", "release")
	if m.has("proxy") {
		m.any("async", "alias", "async::generic", "tensormap::generic")
		m.takeSpace()
	}
	m.any("cta", "cluster", "gpu", "sys", "gl")
	return func(*warp) {}, wants(in.ops, 0)
}
