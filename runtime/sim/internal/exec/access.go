package exec

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// access is what the instructions that use memory have in common: where the address comes from and how many bytes each lane uses.
type access struct {
	space  ptx.Space
	wide   bool // the address register has 64 bits
	reg    int
	offset uint64
	size   int // bytes a lane uses, which is also the alignment
	write  bool
}

// window is the memory behind the lanes of an access: base is the address of p, and w.addr holds each lane's. Every lane is in bounds
// and aligned.
type window struct {
	p       unsafe.Pointer
	written unsafe.Pointer // beside p; nil where nobody asks
	base    uint64
	shared  bool
}

// newAccess resolves an address operand.
func (c *compiler) newAccess(o operand, space ptx.Space, size int, write bool) (*access, error) {
	if o.kind != opAddr || len(o.elems) != 1 {
		return nil, fmt.Errorf("%v is not an address", o)
	}
	a := &access{space: space, offset: uint64(o.imm), size: size, write: write}
	base := o.elems[0]
	switch base.kind {
	case opReg:
		if base.typ == "pred" || base.typ.Bits() < 32 || base.typ.Bits() > 64 {
			return nil, fmt.Errorf("%v is not an address", base)
		}
		a.wide, a.reg = base.typ.Bits() == 64, base.reg
		if !a.wide && space != ptx.Shared && space != ptx.Local {
			return nil, fmt.Errorf("address of 32 bits in a space of 64")
		}
	case opPlace:
		if base.place.space != space && !(base.place.space == ptx.Local && space == ptx.Param) {
			return nil, fmt.Errorf("%s is not in the %s space", base.name, space)
		}
		a.space = base.place.space
		a.wide, a.reg = true, c.constant64(base.place.offset)
	case opImm:
		a.wide, a.reg = true, c.constant64(0)
	default:
		return nil, fmt.Errorf("%v is not an address", base)
	}
	if a.space == ptx.Const {
		a.space = ptx.Global
	}
	return a, nil
}

// gather fills w.addr with the lanes' addresses; lanes that are off get the first one's, so that reading there is harmless. It gives the lowest and the highest address and
// the bits that are set in any of them.
func (a *access) gather(w *warp) (lo, hi, union uint64) {
	off := a.offset
	addr := &w.addr
	if w.exec == allLanes {
		lo = ^uint64(0)
		if a.wide {
			for i, v := range &w.r64[a.reg] {
				v += off
				addr[i] = v
				lo, hi, union = min(lo, v), max(hi, v), union|v
			}
			return
		}
		for i, v32 := range &w.r32[a.reg] {
			v := uint64(v32 + uint32(off))
			addr[i] = v
			lo, hi, union = min(lo, v), max(hi, v), union|v
		}
		return
	}
	f := first(w.exec)
	start := w.laneAddr(a, f)
	lo, hi, union = start, start, start
	fill(addr, start)
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := w.laneAddr(a, i)
		addr[i] = v
		lo, hi, union = min(lo, v), max(hi, v), union|v
	}
	return
}

// laneAddr is the address of one lane.
func (w *warp) laneAddr(a *access, lane int) uint64 {
	if a.wide {
		return w.r64[a.reg][lane] + a.offset
	}
	return uint64(w.r32[a.reg][lane] + uint32(a.offset))
}

// open finds the memory of the access, which is step f. When the lanes are not all in one place it gives false, having done f for each lane alone; a fault gives false too.
func (a *access) open(w *warp, win *window, f step) bool {
	lo, hi, union := a.gather(w)
	size := uint64(a.size)
	if union&(size-1) != 0 {
		a.misaligned(w)
		return false
	}
	var s *segment
	switch a.space {
	case ptx.Global:
		s = w.globalSegment(lo)
	case ptx.Shared:
		s = &w.cta.shared
	case ptx.Param:
		s = &w.cta.launch.params
	default:
		s, lo, hi = w.translate(a.space, size)
	}
	if s == nil || lo < s.base || uint64(len(s.data)) < size || hi-s.base > uint64(len(s.data))-size {
		a.split(w, f)
		return false
	}
	if a.write && s.readOnly {
		w.fail(first(w.exec), "write to memory that is read-only")
		w.fault.Kind = Address
		return false
	}
	win.p, win.base, win.written = unsafe.Pointer(unsafe.SliceData(s.data)), s.base, nil
	if s.written != nil {
		win.written = unsafe.Pointer(unsafe.SliceData(s.written))
	}
	win.shared = s == &w.cta.shared
	return true
}

// split does a step lane by lane; a single lane that has no memory is a fault.
func (a *access) split(w *warp, f step) {
	if w.exec&(w.exec-1) == 0 {
		a.outside(w)
		return
	}
	all := w.exec
	for m := all; m != 0 && w.fault == nil; m &= m - 1 {
		w.exec = m & -m
		f(w)
	}
	w.exec = all
}

func (w *warp) globalSegment(addr uint64) *segment {
	if al := find(w.cta.launch.table, addr); al != nil {
		return al.segment.Load()
	}
	return nil
}

func (a *access) misaligned(w *warp) {
	for m := w.exec; m != 0; m &= m - 1 {
		i := first(m)
		if v := w.addr[i]; v&uint64(a.size-1) != 0 {
			w.fail(i, "address %#x is not a multiple of %d%s", v, a.size, w.whose(a, v))
			w.fault.Kind, w.fault.Argument = Misaligned, w.argumentOf(a, v)
			return
		}
	}
}

// outside reports an access that has no memory.
func (a *access) outside(w *warp) {
	what := "read"
	if a.write {
		what = "write"
	}
	lane := first(w.exec)
	addr := w.laneAddr(a, lane)
	switch a.space {
	case ptx.Shared:
		w.fail(lane, "%s of %d bytes at %#x, outside the %d bytes of shared memory", what, a.size, addr, len(w.cta.shared.data))
	case ptx.Param:
		w.fail(lane, "%s of %d bytes at %#x, outside the %d bytes of parameters", what, a.size, addr, len(w.cta.launch.params.data))
	case ptx.Local:
		w.fail(lane, "%s of %d bytes outside the thread's %d bytes of local memory", what, a.size, w.cta.program.localBytes)
	default:
		w.fail(lane, "%s of %d bytes at %#x%s", what, a.size, addr, w.whose(a, addr))
		w.fault.Argument = w.argumentOf(a, addr)
	}
	w.fault.Kind = Address
}

// inGlobal says whether an address of the access is one of global memory.
func (a *access) inGlobal(addr uint64) bool {
	return a.space == ptx.Global || a.space == ptx.Generic && addr&windowMask == 0
}

// argumentOf is argument for an access, -1 where it is not of global memory.
func (w *warp) argumentOf(a *access, addr uint64) int {
	if !a.inGlobal(addr) {
		return -1
	}
	return w.argument(addr)
}

// whose says where a global address lies.
func (w *warp) whose(a *access, addr uint64) string {
	if !a.inGlobal(addr) {
		return ""
	}
	where := ", in no allocation"
	if al := find(w.cta.launch.table, addr); al != nil {
		where = ", " + al.describe(addr)
	}
	if n := w.argument(addr); n >= 0 {
		where += ", nearest to " + w.paramName(n)
	}
	return where
}

// paramName names a parameter as the program that launched does.
func (w *warp) paramName(n int) string {
	if names := w.cta.launch.config.Names; n < len(names) {
		return "argument " + names[n]
	}
	return fmt.Sprintf("parameter %d (%s)", n, w.cta.program.params[n].Name)
}

// argument is the parameter whose value, as an address, is nearest: the last at or before addr in the same allocation, else the last before it within a window. It is -1 where
// no parameter holds an address of global memory.
func (w *warp) argument(addr uint64) int {
	table := w.cta.launch.table
	target := find(table, addr)
	best, value := -1, uint64(0)
	for i, p := range w.cta.program.params {
		if p.Size != 8 {
			continue
		}
		v := *(*uint64)(unsafe.Pointer(&w.cta.launch.params.data[p.Offset]))
		al := find(table, v)
		if al == nil {
			continue
		}
		switch {
		case best < 0,
			al == target && find(table, value) != target,
			(al == target) == (find(table, value) == target) && distance(v, addr) < distance(value, addr):
			best, value = i, v
		}
	}
	return best
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }
