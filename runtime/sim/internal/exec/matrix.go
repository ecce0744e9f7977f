package exec

import (
	"fmt"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

func init() {
	families["ldmatrix"] = compileLoadMatrix
	families["stmatrix"] = compileStoreMatrix
	families["movmatrix"] = compileMoveMatrix
}

// A matrix of ldmatrix and stmatrix has 8 rows of 8 values of 16 bits, two of which are in each lane: row lane/4, columns 2*(lane%4) and the next. Row r of matrix n is at the
// address that lane 8*n + r gives.

// matrixForm takes the modifiers that the two have in common.
func (c *compiler) matrixForm(regs operand) (count int, trans bool, list []int, err error) {
	m := &c.mods
	ok := m.has("sync") && m.has("aligned") && m.has("m8n8")
	count = map[string]int{"x1": 1, "x2": 2, "x4": 4}[m.any("x1", "x2", "x4")]
	trans = m.has("trans")
	space, _ := m.takeSpace()
	if !ok || count == 0 || space != ptx.Shared || !m.has("b16") {
		return 0, false, nil, fmt.Errorf("the form is not supported")
	}
	elems, err := elements(regs, count)
	if err != nil {
		return 0, false, nil, err
	}
	for _, e := range elems {
		if e.kind != opReg || e.typ.Bits() != 32 {
			return 0, false, nil, fmt.Errorf("%v is not a register of 32 bits", e)
		}
		list = append(list, e.reg)
	}
	return count, trans, list, nil
}

// rows opens the rows' memory and gives the offset of each from its beginning, or nil after a fault; only the lanes that give an address count.
func (a *access) rows(w *warp, count int, offsets *lanes64) unsafe.Pointer {
	if w.exec != w.live || w.live != allLanes {
		w.divergent("a matrix instruction")
		return nil
	}
	var win window
	w.exec = allLanes >> (32 - 8*count)
	ok := a.open(w, &win, func(w *warp) { a.outside(w) })
	if ok && w.cta.races != nil {
		if a.write {
			ok = a.checkWrite(w, &win, false)
		} else {
			ok = a.checkRead(w, &win, false)
		}
	}
	w.exec = allLanes
	if !ok {
		return nil
	}
	for i := range offsets {
		offsets[i] = w.addr[i] - win.base
	}
	return win.p
}

func compileLoadMatrix(c *compiler, in *inst) (step, error) {
	if err := wants(in.ops, 2); err != nil {
		return nil, err
	}
	count, trans, regs, err := c.matrixForm(in.ops[0])
	if err != nil {
		return nil, err
	}
	a, err := c.newAccess(in.ops[1], ptx.Shared, 16, false)
	if err != nil {
		return nil, err
	}
	return func(w *warp) {
		var off lanes64
		p := a.rows(w, count, &off)
		if p == nil {
			return
		}
		for n, r := range regs {
			d := &w.r32[r]
			row := off[8*n : 8*n+8 : 8*n+8]
			if trans {
				for i := range d {
					lo := *(*uint16)(unsafe.Add(p, row[2*(i&3)]+uint64(i>>2)*2))
					hi := *(*uint16)(unsafe.Add(p, row[2*(i&3)+1]+uint64(i>>2)*2))
					d[i] = uint32(lo) | uint32(hi)<<16
				}
				continue
			}
			for i := range d {
				d[i] = *(*uint32)(unsafe.Add(p, row[i>>2]+uint64(i&3)*4))
			}
		}
	}, nil
}

func compileStoreMatrix(c *compiler, in *inst) (step, error) {
	if err := wants(in.ops, 2); err != nil {
		return nil, err
	}
	count, trans, regs, err := c.matrixForm(in.ops[1])
	if err != nil {
		return nil, err
	}
	a, err := c.newAccess(in.ops[0], ptx.Shared, 16, true)
	if err != nil {
		return nil, err
	}
	return func(w *warp) {
		var off lanes64
		p := a.rows(w, count, &off)
		if p == nil {
			return
		}
		for n, r := range regs {
			row := off[8*n : 8*n+8 : 8*n+8]
			for i, v := range &w.r32[r] {
				if trans {
					*(*uint16)(unsafe.Add(p, row[2*(i&3)]+uint64(i>>2)*2)) = uint16(v)
					*(*uint16)(unsafe.Add(p, row[2*(i&3)+1]+uint64(i>>2)*2)) = uint16(v >> 16)
				} else {
					*(*uint32)(unsafe.Add(p, row[i>>2]+uint64(i&3)*4)) = v
				}
			}
		}
		if w.cta.races != nil {
			w.settle(a)
		}
		if w.cta.races != nil {
			w.settle(a)
		}
	}, nil
}

// compileMoveMatrix compiles movmatrix, which transposes a matrix within the warp.
func compileMoveMatrix(c *compiler, in *inst) (step, error) {
	m := &c.mods
	if !m.has("sync") || !m.has("aligned") || !m.has("m8n8") || !m.has("trans") || !m.has("b16") {
		return nil, fmt.Errorf("the form is not supported")
	}
	r := operands{c: c, in: in}
	d, a := r.dst32(0), r.src32(1, "b32")
	return func(w *warp) {
		if w.exec != allLanes {
			w.divergent("a matrix instruction")
			return
		}
		src := w.r32[a]
		element := func(row, col int) uint32 { return src[row*4+col/2] >> (col % 2 * 16) & 0xffff }
		for i := range 32 {
			w.r32[d][i] = element(2*(i&3), i>>2) | element(2*(i&3)+1, i>>2)<<16
		}
	}, r.done(2)
}
