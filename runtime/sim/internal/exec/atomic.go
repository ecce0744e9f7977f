package exec

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

func init() {
	families["atom"] = compileAtomic
	families["red"] = compileAtomic
}

// Atomic operations, by operation and type: from what is there and the operands to what will be.
var (
	atomics32 = map[string]func(old, b, c uint32) uint32{
		"add.u32": func(old, b, _ uint32) uint32 { return old + b },
		"add.s32": func(old, b, _ uint32) uint32 { return old + b },
		"inc.u32": func(old, b, _ uint32) uint32 {
			if old >= b {
				return 0
			}
			return old + 1
		},
		"dec.u32": func(old, b, _ uint32) uint32 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		},
		"min.u32":  func(old, b, _ uint32) uint32 { return min(old, b) },
		"max.u32":  func(old, b, _ uint32) uint32 { return max(old, b) },
		"min.s32":  func(old, b, _ uint32) uint32 { return uint32(min(int32(old), int32(b))) },
		"max.s32":  func(old, b, _ uint32) uint32 { return uint32(max(int32(old), int32(b))) },
		"and.b32":  func(old, b, _ uint32) uint32 { return old & b },
		"or.b32":   func(old, b, _ uint32) uint32 { return old | b },
		"xor.b32":  func(old, b, _ uint32) uint32 { return old ^ b },
		"exch.b32": func(_, b, _ uint32) uint32 { return b },
		"cas.b32":  swapIf[uint32],
		"cas.b16":  swapIf[uint32],
		// In global memory subnormals are flushed, in shared memory not: see addFlushed.
		"add.f32": func(old, b, _ uint32) uint32 { return bits32(f32(old) + f32(b)) },
		"add.noftz.f16": func(old, b, _ uint32) uint32 {
			return uint32(float.ToF16(float.FromF16(uint16(old)) + float.FromF16(uint16(b))))
		},
		"add.noftz.bf16": func(old, b, _ uint32) uint32 {
			return uint32(float.ToBF16(float.FromBF16(uint16(old)) + float.FromBF16(uint16(b))))
		},
		"add.noftz.f16x2": func(old, b, _ uint32) uint32 {
			return uint32(float.ToF16(float.FromF16(uint16(old))+float.FromF16(uint16(b)))) |
				uint32(float.ToF16(float.FromF16(uint16(old>>16))+float.FromF16(uint16(b>>16))))<<16
		},
		"add.noftz.bf16x2": func(old, b, _ uint32) uint32 {
			return uint32(float.ToBF16(float.FromBF16(uint16(old))+float.FromBF16(uint16(b)))) |
				uint32(float.ToBF16(float.FromBF16(uint16(old>>16))+float.FromBF16(uint16(b>>16))))<<16
		},
	}
	atomics64 = map[string]func(old, b, c uint64) uint64{
		"add.u64":  func(old, b, _ uint64) uint64 { return old + b },
		"add.s64":  func(old, b, _ uint64) uint64 { return old + b },
		"min.u64":  func(old, b, _ uint64) uint64 { return min(old, b) },
		"max.u64":  func(old, b, _ uint64) uint64 { return max(old, b) },
		"min.s64":  func(old, b, _ uint64) uint64 { return uint64(min(int64(old), int64(b))) },
		"max.s64":  func(old, b, _ uint64) uint64 { return uint64(max(int64(old), int64(b))) },
		"and.b64":  func(old, b, _ uint64) uint64 { return old & b },
		"or.b64":   func(old, b, _ uint64) uint64 { return old | b },
		"xor.b64":  func(old, b, _ uint64) uint64 { return old ^ b },
		"exch.b64": func(_, b, _ uint64) uint64 { return b },
		"cas.b64":  swapIf[uint64],
		"add.f64":  func(old, b, _ uint64) uint64 { return math.Float64bits(f64(old) + f64(b)) },
	}
)

func swapIf[T uint32 | uint64](old, b, c T) T {
	if old == b {
		return c
	}
	return old
}

func addFlushed(old, b, _ uint32) uint32 { return flush(bits32(f32(flush(old)) + f32(flush(b)))) }

// compileAtomic compiles atom[.sem][.scope][.space].op.type d, [a], b[, c] and red, which has no d. The lanes go in order, lowest first.
func compileAtomic(c *compiler, in *inst) (step, error) {
	m := &c.mods
	m.any("relaxed", "acquire", "release", "acq_rel", "seq_cst")
	m.any("cta", "cluster", "gpu", "sys")
	space, _ := m.takeSpace()
	op := m.any("add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas")
	name := op
	if m.has("noftz") {
		name += ".noftz"
	}
	policy := m.has("L2::cache_hint")
	t, err := m.typ()
	if err != nil {
		return nil, err
	}
	name += "." + string(t)
	ops := in.ops
	if policy && len(ops) > 0 {
		ops = ops[:len(ops)-1]
	}
	if in.Op == "red" {
		ops = append([]operand{{kind: opSink}}, ops...)
	}
	want := 3
	if op == "cas" {
		want = 4
	}
	if err := wants(ops, want); err != nil {
		return nil, err
	}
	a, err := c.newAccess(ops[1], space, t.Bytes(), true)
	if err != nil {
		return nil, err
	}
	full := &inst{Instr: in.Instr, guard: in.guard, not: in.not, ops: ops}
	r := operands{c: c, in: full}
	last := 2 // where there is no third operand, the second again
	if op == "cas" {
		last = 3
	}
	f := atomicForm{a: a, checked: c.checked}
	if f64, ok := atomics64[name]; ok {
		f.d, f.b, f.c = r.dst64(0), r.src64(2, t), r.src64(last, t)
		return f.step64(f64), r.err
	}
	f32, ok := atomics32[name]
	if !ok {
		return nil, fmt.Errorf("atomic operation %s is not supported", name)
	}
	f.d, f.b, f.c = r.dst32(0), r.src32(2, t), r.src32(last, t)
	if t.Bits() == 16 {
		return f.step16(f32), r.err
	}
	if name == "add.f32" && space != ptx.Shared {
		return f.stepFloat(f32), r.err
	}
	return f.step32(f32), r.err
}

// atomicForm is what the widths have in common.
type atomicForm struct {
	a       *access
	checked bool
	d, b, c int
}

func (f *atomicForm) open(w *warp, win *window, self step) bool {
	return f.a.open(w, win, self) && (!f.checked || f.a.checkRead(w, win, true))
}

func (f *atomicForm) step32(op func(old, b, c uint32) uint32) step {
	return f.each32(func(p *uint32, b, c uint32, _ bool) uint32 {
		return update(p, func(old uint32) uint32 { return op(old, b, c) })
	})
}

// stepFloat adds binary32: flushing subnormals, except in shared memory.
func (f *atomicForm) stepFloat(op func(old, b, c uint32) uint32) step {
	return f.each32(func(p *uint32, b, c uint32, shared bool) uint32 {
		if shared {
			return update(p, func(old uint32) uint32 { return op(old, b, c) })
		}
		return update(p, func(old uint32) uint32 { return addFlushed(old, b, c) })
	})
}

func (f *atomicForm) each32(do func(p *uint32, b, c uint32, shared bool) uint32) step {
	var self step
	self = func(w *warp) {
		var win window
		if !f.open(w, &win, self) {
			return
		}
		d, b, c := &w.r32[f.d], w.r32[f.b], w.r32[f.c]
		for m := w.exec; m != 0; m &= m - 1 {
			i := first(m)
			d[i] = do((*uint32)(unsafe.Add(win.p, w.addr[i]-win.base)), b[i], c[i], win.shared)
		}
	}
	return self
}

// step16 works on the word that holds the 16 bits.
func (f *atomicForm) step16(op func(old, b, c uint32) uint32) step {
	var self step
	self = func(w *warp) {
		var win window
		if !f.open(w, &win, self) {
			return
		}
		d, b, c := &w.r32[f.d], w.r32[f.b], w.r32[f.c]
		for m := w.exec; m != 0; m &= m - 1 {
			i := first(m)
			off := w.addr[i] - win.base
			shift := off & 2 * 8
			old := update((*uint32)(unsafe.Add(win.p, off&^3)), func(word uint32) uint32 {
				return word&^(0xffff<<shift) | op(word>>shift&0xffff, b[i], c[i])&0xffff<<shift
			})
			d[i] = old >> shift & 0xffff
		}
	}
	return self
}

func (f *atomicForm) step64(op func(old, b, c uint64) uint64) step {
	var self step
	self = func(w *warp) {
		var win window
		if !f.open(w, &win, self) {
			return
		}
		d, b, c := &w.r64[f.d], w.r64[f.b], w.r64[f.c]
		for m := w.exec; m != 0; m &= m - 1 {
			i := first(m)
			p := (*uint64)(unsafe.Add(win.p, w.addr[i]-win.base))
			for {
				old := atomic.LoadUint64(p)
				if v := op(old, b[i], c[i]); v == old || atomic.CompareAndSwapUint64(p, old, v) {
					d[i] = old
					break
				}
			}
		}
	}
	return self
}

// update changes a word and gives what it was. Memory is allocated in words of 8 bytes, so the word that holds a half is there.
func update(p *uint32, f func(uint32) uint32) uint32 {
	for {
		old := atomic.LoadUint32(p)
		if v := f(old); v == old || atomic.CompareAndSwapUint32(p, old, v) {
			return old
		}
	}
}
