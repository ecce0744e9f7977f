package exec

import (
	"fmt"
	"math"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

func init() {
	families["setp"] = compileSetp
	families["set"] = compileSet
	for name, f := range map[string]func(a, b uint32) uint32{
		"and": func(a, b uint32) uint32 { return a & b },
		"or":  func(a, b uint32) uint32 { return a | b },
		"xor": func(a, b uint32) uint32 { return a ^ b },
	} {
		families[name] = predicateLogic(f)
	}
	families["not"] = func(c *compiler, in *inst) (step, error) {
		if !c.mods.has("pred") {
			return nil, fmt.Errorf("the type is not supported")
		}
		r := operands{c: c, in: in}
		d := r.dstPred(0)
		a, flip := r.srcPred(1)
		return func(w *warp) { w.setPred(d, ^(w.pred[a] ^ flip)) }, r.done(2)
	}
}

// predicateLogic compiles and.pred and its kind; the other types are lane functions.
func predicateLogic(f func(a, b uint32) uint32) func(c *compiler, in *inst) (step, error) {
	return func(c *compiler, in *inst) (step, error) {
		if !c.mods.has("pred") {
			return nil, fmt.Errorf("the type is not supported")
		}
		r := operands{c: c, in: in}
		d := r.dstPred(0)
		a, flipA := r.srcPred(1)
		b, flipB := r.srcPred(2)
		return func(w *warp) { w.setPred(d, f(w.pred[a]^flipA, w.pred[b]^flipB)) }, r.done(3)
	}
}

// comparison takes a comparison and its type from the modifiers and gives a lane function for it: of func(a, b *lanes32) uint32 or of 64 bits.
func (c *compiler) comparison() (any, ptx.Type, error) {
	op := c.mods.any("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
	if op == "" {
		return nil, "", fmt.Errorf("the comparison is missing")
	}
	ftz := c.mods.has("ftz")
	t, err := c.mods.typ()
	if err != nil {
		return nil, "", err
	}
	var f any
	switch {
	case t.Float():
		f = compareFloats(op, t, ftz)
	case ftz:
		return nil, "", fmt.Errorf("ftz with a type that is not f32")
	default:
		f = compareIntegers(op, t)
	}
	if f == nil {
		return nil, "", fmt.Errorf("comparison %s of %s is not supported", op, t)
	}
	return f, t, nil
}

// unsignedNames are the other names of unsigned comparisons.
var unsignedNames = map[string]string{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}

func compareIntegers(op string, t ptx.Type) any {
	if o, ok := unsignedNames[op]; ok {
		if t.Signed() {
			return nil
		}
		op = o
	}
	if len(op) != 2 || t.Bits() < 16 { // the others are of floats
		return nil
	}
	switch t {
	case "s16":
		return mask2(ordered(op, sext16))
	case "s32":
		if f, ok := hotComparisons[op]; ok {
			return f
		}
		return mask2(ordered(op, func(a uint32) int32 { return int32(a) }))
	case "u16", "b16", "u32", "b32":
		return mask2(ordered(op, func(a uint32) uint32 { return a }))
	case "s64":
		return mask2(ordered(op, func(a uint64) int64 { return int64(a) }))
	case "u64", "b64":
		return mask2(ordered(op, func(a uint64) uint64 { return a }))
	}
	return nil
}

// hotComparisons are those that every kernel's masks are made of.
var hotComparisons = map[string]func(a, b *lanes32) uint32{
	"lt": func(a, b *lanes32) uint32 {
		var m uint32
		for i := range a {
			m |= uint32(uint64(int64(int32(a[i]))-int64(int32(b[i])))>>63) << i
		}
		return m
	},
	"gt": func(a, b *lanes32) uint32 {
		var m uint32
		for i := range a {
			m |= uint32(uint64(int64(int32(b[i]))-int64(int32(a[i])))>>63) << i
		}
		return m
	},
}

func ordered[A uint32 | uint64, T int32 | uint32 | int64 | uint64 | float32 | float64](op string, as func(A) T) func(a, b A) bool {
	switch op {
	case "eq":
		return func(a, b A) bool { return as(a) == as(b) }
	case "ne":
		return func(a, b A) bool { x, y := as(a), as(b); return x < y || x > y }
	case "lt":
		return func(a, b A) bool { return as(a) < as(b) }
	case "le":
		return func(a, b A) bool { return as(a) <= as(b) }
	case "gt":
		return func(a, b A) bool { return as(a) > as(b) }
	case "ge":
		return func(a, b A) bool { return as(a) >= as(b) }
	case "num":
		return func(a, b A) bool { x, y := as(a), as(b); return x == x && y == y }
	}
	return nil
}

// unordered comparisons are the opposites of ordered ones.
var opposites = map[string]string{"equ": "ne", "neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt", "nan": "num"}

func compareFloats(op string, t ptx.Type, ftz bool) any {
	ordinary, negate := op, false
	if o, ok := opposites[op]; ok {
		ordinary, negate = o, true
	}
	f32 := func(as func(uint32) float32) any {
		f := ordered(ordinary, as)
		if f == nil {
			return nil
		}
		if negate {
			return mask2(func(a, b uint32) bool { return !f(a, b) })
		}
		return mask2(f)
	}
	switch {
	case t == "f32" && ftz:
		return f32(func(a uint32) float32 { return math.Float32frombits(flush(a)) })
	case t == "f32":
		return f32(math.Float32frombits)
	case t == "f16" && ftz:
		return f32(func(a uint32) float32 { return float.FromF16(flush16(uint16(a))) })
	case t == "f16":
		return f32(func(a uint32) float32 { return float.FromF16(uint16(a)) })
	case t == "bf16" && !ftz:
		return f32(func(a uint32) float32 { return float.FromBF16(uint16(a)) })
	case t == "f64" && !ftz:
		f := ordered(ordinary, math.Float64frombits)
		if f == nil {
			return nil
		}
		if negate {
			return mask2(func(a, b uint64) bool { return !f(a, b) })
		}
		return mask2(f)
	}
	return nil
}

// maskOf resolves the two sources of a comparison.
func (r *operands) maskOf(f any, t ptx.Type, at int) func(w *warp) uint32 {
	switch f := f.(type) {
	case func(a, b *lanes32) uint32:
		a, b := r.src32(at, t), r.src32(at+1, t)
		return func(w *warp) uint32 { return f(&w.r32[a], &w.r32[b]) }
	case func(a, b *lanes64) uint32:
		a, b := r.src64(at, t), r.src64(at+1, t)
		return func(w *warp) uint32 { return f(&w.r64[a], &w.r64[b]) }
	}
	return nil
}

// compileSetp compiles setp.cmp[.bool][.ftz].type p[|q], a, b[, c].
func compileSetp(c *compiler, in *inst) (step, error) {
	if h, ok := pairOf(in); ok {
		return c.setpPair(in, h)
	}
	f, t, err := c.comparison()
	if err != nil {
		return nil, err
	}
	logic := c.mods.any("and", "or", "xor")
	r := operands{c: c, in: in}
	if len(in.ops) == 0 {
		return nil, wants(in.ops, 3)
	}
	p, q := in.ops[0], operand{kind: opSink}
	if p.kind == opPair && len(p.elems) == 2 {
		p, q = p.elems[0], p.elems[1]
	}
	dp, err := c.dstPred(p)
	r.keep(dp, err)
	mask := r.maskOf(f, t, 1)
	if logic == "" && q.kind == opSink {
		return func(w *warp) { w.setPred(dp, mask(w)) }, r.done(3)
	}
	dq, err := c.dstPred(q)
	r.keep(dq, err)
	extra, flip, n := 0, uint32(0), 3
	if logic != "" {
		extra, flip = r.srcPred(3)
		n = 4
	}
	return func(w *warp) {
		m := mask(w)
		p, q := m, ^m
		if logic != "" {
			e := w.pred[extra] ^ flip
			p, q = combine(logic, p, e), combine(logic, q, e)
		}
		w.setPred(dq, q)
		w.setPred(dp, p)
	}, r.done(n)
}

func combine(logic string, a, b uint32) uint32 {
	switch logic {
	case "and":
		return a & b
	case "or":
		return a | b
	}
	return a ^ b
}

// compileSet compiles set.cmp[.ftz].dtype.stype d, a, b: all ones or 1.0, or zero.
func compileSet(c *compiler, in *inst) (step, error) {
	if h, ok := pairOf(in); ok {
		return c.setPair(in, h)
	}
	// The result's type comes before the sources'.
	var dt ptx.Type
	for i, m := range c.mods.list {
		if ptx.IsType(m) {
			dt = ptx.Type(m)
			c.mods.used |= 1 << i
			break
		}
	}
	f, t, err := c.comparison()
	if err != nil {
		return nil, err
	}
	yes := ^uint32(0)
	switch dt {
	case "u32", "s32":
	case "f32":
		yes = math.Float32bits(1)
	case "f16":
		yes = 0x3c00
	case "bf16":
		yes = 0x3f80
	case "u16", "s16":
		yes = 0xffff
	default:
		return nil, fmt.Errorf("a result of type %s is not supported", dt)
	}
	r := operands{c: c, in: in}
	d := r.dst32(0)
	mask := r.maskOf(f, t, 1)
	return func(w *warp) {
		m := mask(w)
		for i := range 32 {
			w.t32[0][i] = -(m >> i & 1) & yes
		}
		blend(&w.r32[d], &w.t32[0], w.exec)
	}, r.done(3)
}
