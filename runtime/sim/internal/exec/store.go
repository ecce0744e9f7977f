package exec

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// storer writes one element for the lanes of mask, the highest lane last.
type (
	storer32 func(s *lanes32, p unsafe.Pointer, base uint64, addr *lanes64, mask uint32)
	storer64 func(s *lanes64, p unsafe.Pointer, base uint64, addr *lanes64, mask uint32)
)

func store[T uint8 | uint16 | uint32 | uint64, S uint32 | uint64](s *[32]S, p unsafe.Pointer, base uint64, addr *lanes64, mask uint32) {
	if mask == allLanes {
		for i := range s {
			*(*T)(unsafe.Add(p, addr[i]-base)) = T(s[i])
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		*(*T)(unsafe.Add(p, addr[i]-base)) = T(s[i])
	}
}

func storeStrong32(s *lanes32, p unsafe.Pointer, base uint64, addr *lanes64, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		atomic.StoreUint32((*uint32)(unsafe.Add(p, addr[i]-base)), s[i])
	}
}

func storeStrong64(s *lanes64, p unsafe.Pointer, base uint64, addr *lanes64, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		atomic.StoreUint64((*uint64)(unsafe.Add(p, addr[i]-base)), s[i])
	}
}

func pickStorer32(t ptx.Type, strong bool) storer32 {
	switch {
	case t.Bits() == 8:
		return store[uint8, uint32]
	case t.Bits() == 16:
		return store[uint16, uint32]
	case strong:
		return storeStrong32
	}
	return store[uint32, uint32]
}

func pickStorer64(t ptx.Type, strong bool) storer64 {
	switch {
	case t.Bits() == 8:
		return store[uint8, uint64]
	case t.Bits() == 16:
		return store[uint16, uint64]
	case t.Bits() == 32:
		return store[uint32, uint64]
	case strong:
		return storeStrong64
	}
	return store[uint64, uint64]
}

func compileStore(c *compiler, in *inst) (step, error) {
	f, err := c.memoryForm()
	if err != nil {
		return nil, err
	}
	if err := wants(in.ops, 2+int(b2u(f.policy))); err != nil {
		return nil, err
	}
	list, err := elements(in.ops[1], f.count)
	if err != nil {
		return nil, err
	}
	var elems []element
	for _, o := range list {
		if o.kind == opReg && (o.typ == "pred" || o.typ.Bits() < f.typ.Bits()) {
			return nil, fmt.Errorf("%v has not %d bits", o, f.typ.Bits())
		}
		e := element{wide: o.kind == opReg && o.typ.Bits() == 64 || o.kind != opReg && f.typ.Bits() == 64}
		if e.wide {
			e.s64 = pickStorer64(f.typ, f.strong)
			e.reg, err = c.src64(o, f.typ)
		} else {
			e.s32 = pickStorer32(f.typ, f.strong)
			e.reg, err = c.src32(o, f.typ)
		}
		if err != nil {
			return nil, err
		}
		elems = append(elems, e)
	}
	width := uint64(f.typ.Bytes())
	a, err := c.newAccess(in.ops[0], f.space, int(width)*f.count, true)
	if err != nil {
		return nil, err
	}
	checked := c.checked
	var self step
	self = func(w *warp) {
		var win window
		if !a.open(w, &win, self) || checked && !a.checkWrite(w, &win, f.strong) {
			return
		}
		for n := range elems {
			e := &elems[n]
			base := win.base - uint64(n)*width
			if e.wide {
				e.s64(&w.r64[e.reg], win.p, base, &w.addr, w.exec)
			} else {
				e.s32(&w.r32[e.reg], win.p, base, &w.addr, w.exec)
			}
		}
		if checked {
			w.settle(a)
		}
	}
	return self, nil
}
