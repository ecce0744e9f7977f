package exec

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

func init() {
	families["ld"] = compileLoad
	families["ldu"] = compileLoad
	families["st"] = compileStore
	families["prefetch"] = compilePrefetch
	families["prefetchu"] = compilePrefetch
	families["applypriority"] = compilePrefetch
	families["createpolicy"] = compilePolicy
}

// memoryForm is what the modifiers of ld and st say.
type memoryForm struct {
	space  ptx.Space
	strong bool // ordered against other threads: volatile, relaxed, acquire, release
	count  int  // elements
	typ    ptx.Type
	policy bool // a cache policy follows the operands
}

// memoryForm takes the modifiers of ld or st. Cache operators and eviction priorities change no value.
func (c *compiler) memoryForm() (memoryForm, error) {
	f := memoryForm{count: 1}
	m := &c.mods
	switch m.any("weak", "volatile", "relaxed", "acquire", "release", "mmio") {
	case "", "weak":
	default:
		f.strong = true
	}
	m.any("cta", "cluster", "gpu", "sys")
	f.space, _ = m.takeSpace()
	m.any("ca", "cg", "cs", "lu", "cv", "wb", "wt")
	m.has("nc")
	m.takeCacheHints()
	f.policy = m.has("L2::cache_hint")
	switch m.any("v2", "v4", "v8") {
	case "v2":
		f.count = 2
	case "v4":
		f.count = 4
	case "v8":
		f.count = 8
	}
	var err error
	if f.typ, err = m.typ(); err != nil {
		return f, err
	}
	if f.typ == "pred" || f.typ.Bits() > 64 || f.count*f.typ.Bytes() > 32 {
		return f, fmt.Errorf("%d elements of type %s are not supported", f.count, f.typ)
	}
	return f, nil
}

// takeCacheHints takes eviction priorities and prefetch sizes.
func (m *mods) takeCacheHints() {
	for _, level := range []string{"L1", "L2"} {
		m.any(level+"::evict_normal", level+"::evict_unchanged", level+"::evict_first", level+"::evict_last", level+"::no_allocate")
	}
	m.any("L2::64B", "L2::128B", "L2::256B")
}

// elements gives the registers of a scalar or of {…}.
func elements(o operand, count int) ([]operand, error) {
	list := []operand{o}
	if o.kind == opVec {
		list = o.elems
	}
	if len(list) != count {
		return nil, fmt.Errorf("%d registers for %d elements", len(list), count)
	}
	return list, nil
}

// loader reads one element for every lane.
type (
	loader32 func(d *lanes32, p unsafe.Pointer, base uint64, addr *lanes64)
	loader64 func(d *lanes64, p unsafe.Pointer, base uint64, addr *lanes64)
)

func load[T uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64, D uint32 | uint64](d *[32]D, p unsafe.Pointer, base uint64, addr *lanes64) {
	for i := range d {
		d[i] = D(*(*T)(unsafe.Add(p, addr[i]-base)))
	}
}

// loadS16 widens a signed byte to a register of 16 bits.
func loadS16(d *lanes32, p unsafe.Pointer, base uint64, addr *lanes64) {
	for i := range d {
		d[i] = uint32(uint16(*(*int8)(unsafe.Add(p, addr[i]-base))))
	}
}

func loadStrong32(d *lanes32, p unsafe.Pointer, base uint64, addr *lanes64) {
	for i := range d {
		d[i] = atomic.LoadUint32((*uint32)(unsafe.Add(p, addr[i]-base)))
	}
}

func loadStrong64(d *lanes64, p unsafe.Pointer, base uint64, addr *lanes64) {
	for i := range d {
		d[i] = atomic.LoadUint64((*uint64)(unsafe.Add(p, addr[i]-base)))
	}
}

func pickLoader32(t ptx.Type, register int, strong bool) loader32 {
	switch {
	case t == "s8" && register == 16:
		return loadS16
	case t == "s8":
		return load[int8, uint32]
	case t == "s16" && register == 32:
		return load[int16, uint32]
	case t.Bits() == 8:
		return load[uint8, uint32]
	case t.Bits() == 16:
		return load[uint16, uint32]
	case strong:
		return loadStrong32
	}
	return load[uint32, uint32]
}

func pickLoader64(t ptx.Type, strong bool) loader64 {
	switch t {
	case "s8":
		return load[int8, uint64]
	case "s16":
		return load[int16, uint64]
	case "s32":
		return load[int32, uint64]
	}
	switch t.Bits() {
	case 8:
		return load[uint8, uint64]
	case 16:
		return load[uint16, uint64]
	case 32:
		return load[uint32, uint64]
	}
	if strong {
		return loadStrong64
	}
	return load[uint64, uint64]
}

// element is one destination of a load, or one source of a store.
type element struct {
	wide bool
	reg  int
	l32  loader32
	l64  loader64
	s32  storer32
	s64  storer64
}

func compileLoad(c *compiler, in *inst) (step, error) {
	f, err := c.memoryForm()
	if err != nil {
		return nil, err
	}
	if err := wants(in.ops, 2+int(b2u(f.policy))); err != nil {
		return nil, err
	}
	list, err := elements(in.ops[0], f.count)
	if err != nil {
		return nil, err
	}
	var elems []element
	for _, o := range list {
		if o.kind == opSink {
			o = c.newReg(f.typ)
		}
		if o.kind != opReg || o.typ.Bits() < f.typ.Bits() {
			return nil, fmt.Errorf("%v is not a register of at least %d bits", o, f.typ.Bits())
		}
		e := element{reg: o.reg, wide: o.typ.Bits() == 64}
		if e.wide {
			e.l64 = pickLoader64(f.typ, f.strong)
		} else {
			e.l32 = pickLoader32(f.typ, o.typ.Bits(), f.strong)
		}
		elems = append(elems, e)
	}
	if s, ok, err := c.constantParam(in, f, elems); ok || err != nil {
		return s, err
	}
	width := uint64(f.typ.Bytes())
	a, err := c.newAccess(in.ops[1], f.space, int(width)*f.count, false)
	if err != nil {
		return nil, err
	}
	checked := c.checked
	var self step
	self = func(w *warp) {
		var win window
		if !a.open(w, &win, self) || checked && !a.checkRead(w, &win, f.strong) {
			return
		}
		full := w.exec == allLanes
		for n := range elems {
			e := &elems[n]
			base := win.base - uint64(n)*width
			switch {
			case e.wide && full:
				e.l64(&w.r64[e.reg], win.p, base, &w.addr)
			case e.wide:
				e.l64(&w.t64[0], win.p, base, &w.addr)
				blend(&w.r64[e.reg], &w.t64[0], w.exec)
			case full:
				e.l32(&w.r32[e.reg], win.p, base, &w.addr)
			default:
				e.l32(&w.t32[0], win.p, base, &w.addr)
				blend(&w.r32[e.reg], &w.t32[0], w.exec)
			}
		}
	}
	return self, nil
}

// constantParam compiles a load of a kernel parameter from a fixed place: every lane gets the same.
func (c *compiler) constantParam(in *inst, f memoryForm, elems []element) (step, bool, error) {
	o := in.ops[1]
	if f.space != ptx.Param || o.kind != opAddr || o.elems[0].kind != opPlace || o.elems[0].place.space != ptx.Param {
		return nil, false, nil
	}
	width := f.typ.Bytes()
	offset := int(o.elems[0].place.offset) + int(o.imm)
	if o.imm < 0 || int(o.imm)+width*len(elems) > o.elems[0].place.size {
		return nil, true, fmt.Errorf("load of %d bytes at %d of a parameter of %d", width*len(elems), o.imm, o.elems[0].place.size)
	}
	if offset%(width*len(elems)) != 0 {
		return nil, true, fmt.Errorf("load of %d bytes from parameter offset %d, which is not a multiple of it", width*len(elems), offset)
	}
	return func(w *warp) {
		p := unsafe.Pointer(unsafe.SliceData(w.cta.launch.params.data))
		var zero lanes64
		for n := range elems {
			e := &elems[n]
			at := unsafe.Add(p, offset+n*width)
			if e.wide {
				e.l64(&w.t64[0], at, 0, &zero)
				blend(&w.r64[e.reg], &w.t64[0], w.exec)
			} else {
				e.l32(&w.t32[0], at, 0, &zero)
				blend(&w.r32[e.reg], &w.t32[0], w.exec)
			}
		}
	}, true, nil
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// compilePrefetch compiles hints that change nothing; the address is not even used by the hardware when it is bad.
func compilePrefetch(c *compiler, in *inst) (step, error) {
	c.mods.takeSpace()
	c.mods.takeCacheHints()
	c.mods.any("L1", "L2")
	return func(*warp) {}, nil
}

// compilePolicy compiles createpolicy, whose result only means something to the cache of a real device.
func compilePolicy(c *compiler, in *inst) (step, error) {
	c.mods.any("fractional", "range")
	for range 2 {
		c.mods.takeCacheHints()
	}
	if !c.mods.has("b64") || len(in.ops) == 0 {
		return nil, fmt.Errorf("the type is not supported")
	}
	d, err := c.dst64(in.ops[0])
	return func(w *warp) {
		fill(&w.t64[0], 0)
		blend(&w.r64[d], &w.t64[0], w.exec)
	}, err
}
