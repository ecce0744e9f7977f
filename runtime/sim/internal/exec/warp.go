package exec

import (
	"fmt"
	"math/bits"
)

// step executes one instruction on the lanes of w.exec.
type step func(w *warp)

// warp is the state of 32 threads.
type warp struct {
	r32  []lanes32
	r64  []lanes64
	pred []uint32

	active uint32 // the lanes at the current place
	exec   uint32 // those of them that the current instruction's guard lets through
	live   uint32 // the lanes that have not exited
	stack  []frame

	cta     *cta
	index   int // in the CTA
	waiting bool
	apart   bool // the barrier that has just been come to needs lanes that are elsewhere
	fault   *Fault
	at      int        // the barrier that it waits at, an index in program.insts
	red     *reduction // of that barrier

	local segment // program.localBytes for each lane
	addr  lanes64 // of the access in progress
	t32   [1]lanes32
	t64   [1]lanes64

	carry     uint32 // of add.cc and its kind
	copies    asyncCopies
	conflicts []conflict // of the write in progress
	fragments fragments  // of the mma in progress
}

// frame is an entry of the divergence stack: lanes that run from block until they reach join.
type frame struct {
	block   int
	join    int // a block; -1 for the end
	mask    uint32
	stopped bool // at a barrier that other lanes of the warp have not come to
}

// reset makes the warp ready for a new CTA.
func (w *warp) reset(c *cta, live uint32) {
	w.cta = c
	w.live, w.waiting, w.fault = live, false, nil
	w.stack = append(w.stack[:0], frame{join: -1, mask: live})
	w.copies.reset()
}

// run executes until the warp waits or ends, something fails, or budget instructions have been executed; it gives what is left of the budget.
func (w *warp) run(budget int) int {
	p := w.cta.program
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		if top.block == top.join || top.mask == 0 {
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		if budget < 0 {
			return budget
		}
		b := &p.blocks[top.block]
		w.active, w.exec = top.mask, top.mask
		for i, s := range b.steps {
			s(w)
			if w.fault != nil {
				w.locate(b.first + i)
				return budget
			}
		}
		budget -= len(b.steps) + 1
		if w.apart {
			w.apart = false
			if !w.tryOthers() {
				w.divergent("a barrier")
				w.locate(b.first)
				return budget
			}
			continue
		}
		w.leave(top, b)
		if w.waiting {
			return budget
		}
	}
	return budget
}

// tryOthers lets the lanes of the frame below run when those of the top one have come to a barrier alone: they may end, or fail in a way that says more. It gives false when
// there are none that went another way at the same branch, or they are at a barrier themselves.
func (w *warp) tryOthers() bool {
	n := len(w.stack)
	if n < 2 {
		return false
	}
	top, below := &w.stack[n-1], &w.stack[n-2]
	if below.stopped || below.join != top.join || below.mask&top.mask != 0 || below.mask == 0 {
		return false
	}
	top.stopped = true
	*top, *below = *below, *top
	return true
}

// leave does what the end of a block says.
func (w *warp) leave(top *frame, b *block) {
	top.stopped = false
	switch b.end {
	case endNext:
		top.block = b.next
	case endJump:
		taken := top.mask
		if b.guard >= 0 {
			taken &= w.guardMask(b)
		}
		switch taken {
		case top.mask:
			top.block = b.target
		case 0:
			top.block = b.next
		default:
			w.diverge(top, b, taken)
		}
	case endExit:
		gone := top.mask
		if b.guard >= 0 {
			gone &= w.guardMask(b)
		}
		top.block = b.next
		if gone != 0 {
			w.live &^= gone
			for i := range w.stack {
				w.stack[i].mask &^= gone
			}
		}
	}
}

func (w *warp) guardMask(b *block) uint32 {
	m := w.pred[b.guard]
	if b.not {
		m = ^m
	}
	return m
}

// diverge lets the lanes of taken go to the target first, the others to the next block, and all meet at the branch's join.
func (w *warp) diverge(top *frame, b *block, taken uint32) {
	others := top.mask &^ taken
	join := b.join
	if join < 0 || join == top.join { // nothing to wait for, or what is below waits there already
		join = top.join
		*top = frame{block: b.next, join: join, mask: others}
	} else {
		top.block = join
		w.stack = append(w.stack, frame{block: b.next, join: join, mask: others})
	}
	w.stack = append(w.stack, frame{block: b.target, join: join, mask: taken})
}

// fail stops the launch because of a lane.
func (w *warp) fail(lane int, format string, args ...any) {
	if w.fault == nil {
		w.fault = &Fault{Thread: w.cta.thread(w.index*32 + lane), Argument: -1, Msg: fmt.Sprintf(format, args...)}
	}
}

// locate completes the fault of the instruction at an index of the program.
func (w *warp) locate(at int) {
	p := w.cta.program
	in := &p.insts[at]
	f := w.fault
	f.Kernel, f.CTA = p.name, w.cta.index
	f.Line, f.Source, f.Instr = in.Line, p.source(in.Loc), in.Name()
}

// first is the lowest lane of a mask that is not 0.
func first(mask uint32) int { return bits.TrailingZeros32(mask) & 31 }
