package exec

import (
	"fmt"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

func init() {
	families["cp"] = compileCopy
}

// asyncCopies are a warp's copies to shared memory on their way. An unchecking device makes a copy at once, which is one of the orders that hardware may choose. A checking one
// makes it when it is waited for, which is another, and the one that shows what has not been waited for.
type asyncCopies struct {
	open   []pendingCopy   // not committed
	groups [][]pendingCopy // committed, oldest first
}

type pendingCopy struct {
	to   uint64 // in shared memory
	size int
	data [16]byte
}

func (q *asyncCopies) reset() { q.open, q.groups = q.open[:0], q.groups[:0] }

// pending is the mark of bytes that a copy has still to write, in the place of written's 1.
const pending = 2

func compileCopy(c *compiler, in *inst) (step, error) {
	m := &c.mods
	if !m.has("async") {
		return nil, fmt.Errorf("only cp.async is known")
	}
	switch kind := m.any("commit_group", "wait_group", "wait_all"); kind {
	case "commit_group":
		return func(w *warp) {
			q := &w.copies
			q.groups = append(q.groups, q.open)
			q.open = nil
		}, wants(in.ops, 0)
	case "wait_group", "wait_all":
		keep := 0
		if kind == "wait_group" {
			if len(in.ops) != 1 || in.ops[0].kind != opImm {
				return nil, fmt.Errorf("the number of groups is not a constant")
			}
			if keep = int(in.ops[0].imm); keep < 0 {
				return nil, fmt.Errorf("the number of groups, %d, is below 0", keep)
			}
		} else if err := wants(in.ops, 0); err != nil {
			return nil, err
		}
		return func(w *warp) {
			q := &w.copies
			if kind == "wait_all" {
				q.groups = append(q.groups, q.open)
				q.open = nil
			}
			done := max(len(q.groups)-keep, 0)
			for _, g := range q.groups[:done] {
				for i := range g {
					w.deliver(&g[i])
				}
			}
			q.groups = q.groups[:copy(q.groups, q.groups[done:])]
		}, nil
	}
	return c.asyncCopy(in)
}

// asyncCopy compiles cp.async.ca|cg.shared.global [to], [from], size[, source size][, policy].
func (c *compiler) asyncCopy(in *inst) (step, error) {
	m := &c.mods
	cop := m.any("ca", "cg")
	policy := m.has("L2::cache_hint")
	m.takeCacheHints()
	if cop == "" || !m.has("shared") && !m.has("shared::cta") || !m.has("global") {
		return nil, fmt.Errorf("the form is not supported")
	}
	ops := in.ops
	if policy && len(ops) > 0 {
		ops = ops[:len(ops)-1]
	}
	if len(ops) < 3 || len(ops) > 4 || ops[2].kind != opImm {
		return nil, fmt.Errorf("the operands are not supported")
	}
	size := int(ops[2].imm)
	if size != 16 && (cop == "cg" || size != 4 && size != 8) {
		return nil, fmt.Errorf("copies of %d bytes do not exist", size)
	}
	to, err := c.newAccess(ops[0], ptx.Shared, size, true)
	if err != nil {
		return nil, err
	}
	from, err := c.newAccess(ops[1], ptx.Global, size, false)
	if err != nil {
		return nil, err
	}
	length := -1 // a register
	if len(ops) == 4 {
		if length, err = c.src32(ops[3], "u32"); err != nil {
			return nil, err
		}
	}
	checked := c.checked
	var self step
	self = func(w *warp) {
		var win window
		if !to.open(w, &win, self) || checked && !to.checkWrite(w, &win, false) {
			return
		}
		var last *segment
		for m := w.exec; m != 0; m &= m - 1 {
			i := first(m)
			n := size
			if length >= 0 {
				n = int(min(w.r32[length][i], uint32(size)))
			}
			copied := pendingCopy{to: w.addr[i], size: size}
			if n > 0 {
				addr := w.laneAddr(from, i)
				if last == nil || addr < last.base || addr-last.base+uint64(n) > uint64(len(last.data)) {
					last = w.globalSegment(addr)
				}
				if !from.readLane(w, last, i, addr, n, checked) {
					return
				}
				copy(copied.data[:n], last.data[addr-last.base:])
			}
			if checked {
				for b := range size {
					w.cta.shared.written[copied.to+uint64(b)] = pending
				}
				w.copies.open = append(w.copies.open, copied)
				continue
			}
			copy(unsafe.Slice((*byte)(unsafe.Add(win.p, copied.to-win.base)), size), copied.data[:])
		}
	}
	return self, nil
}

// readLane says whether a lane may read n bytes at a global address, and is a fault if not.
func (a *access) readLane(w *warp, s *segment, lane int, addr uint64, n int, checked bool) bool {
	exec := w.exec
	w.exec = 1 << lane
	defer func() { w.exec = exec }()
	switch {
	case addr&uint64(a.size-1) != 0:
		w.fail(lane, "address %#x is not a multiple of %d%s", addr, a.size, w.whose(a, addr))
		w.fault.Kind, w.fault.Argument = Misaligned, w.argumentOf(a, addr)
	case s == nil || addr-s.base > uint64(len(s.data)) || uint64(len(s.data))-(addr-s.base) < uint64(n):
		a.outside(w)
	case checked && s.written != nil:
		for _, v := range s.written[addr-s.base:][:n] {
			if v != 1 {
				w.failAt(lane, a, "read of %d bytes at %#x that have never been written", n)
				return false
			}
		}
	}
	return w.fault == nil
}

// deliver makes a copy that has been waited for.
func (w *warp) deliver(p *pendingCopy) {
	s := &w.cta.shared
	copy(s.data[p.to:], p.data[:p.size])
	setWritten(unsafe.Pointer(&s.written[p.to]), p.size)
	now := w.mark()
	for b := range p.size {
		w.cta.races.writer[p.to+uint64(b)] = now
	}
}
