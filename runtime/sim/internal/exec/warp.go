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
	fault   *Fault
	at      int        // the barrier that it waits at, an index in program.insts
	red     *reduction // of that barrier

	local segment // program.localBytes for each lane
	addr  lanes64 // of the access in progress
	t32   [1]lanes32
	t64   [1]lanes64

	carry     uint32 // of add.cc and its kind
	copies    asyncCopies
	fragments fragments // of the mma in progress
}

// frame is an entry of the divergence stack: lanes that run from block until they reach join.
type frame struct {
	block int
	join  int // a block; -1 for the end
	mask  uint32
}

// reset makes the warp ready for a new CTA.
func (w *warp) reset(c *cta, live uint32) {
	w.cta = c
	w.live, w.waiting, w.fault = live, false, nil
	w.stack = append(w.stack[:0], frame{block: 0, join: -1, mask: live})
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
		w.leave(top, b)
		if w.waiting {
			return budget
		}
	}
	return budget
}

// leave does what the end of a block says.
func (w *warp) leave(top *frame, b *block) {
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
		*top = frame{b.next, join, others}
	} else {
		top.block = join
		w.stack = append(w.stack, frame{b.next, join, others})
	}
	w.stack = append(w.stack, frame{b.target, join, taken})
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
