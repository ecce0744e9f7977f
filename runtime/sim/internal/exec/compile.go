package exec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// forms are the instructions that do the same to every lane and touch nothing but registers: the whole name to a lane function.
// A lane function takes its destination and its sources in the order of the operands; compiler.lanes lists the types that it may have.
var forms = map[string]form{}

type form struct {
	lanes any
	typ   ptx.Type // of the operands that are immediates
}

// families are all other instructions: the mnemonic to what compiles its forms. A family takes every modifier it knows from compiler.mods; one that is left is an error.
var families = map[string]func(c *compiler, in *inst) (step, error){}

// define adds instruction forms; the last modifier is the type.
func define(lanes any, names ...string) {
	for _, name := range names {
		if _, dup := forms[name]; dup {
			panic("instruction form defined twice: " + name)
		}
		forms[name] = form{lanes, ptx.Type(name[strings.LastIndexByte(name, '.')+1:])}
	}
}

// compiler turns one kernel into a program.
type compiler struct {
	*program
	kernel  string
	checked bool
	globals map[string]place // module variables
	mods    mods             // of the instruction being compiled
	index   int              // of it in insts
}

func (c *compiler) errorAt(line int, format string, args ...any) error {
	return &LoadError{Kernel: c.kernel, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// compile makes the program of an entry.
func compile(m *ptx.Module, entry *ptx.Func, globals map[string]place, checked bool) (*program, error) {
	c := &compiler{
		program: &program{name: entry.Name, module: m, special: map[string]int{}, reqTID: entry.ReqTID, maxTID: entry.MaxTID},
		kernel:  entry.Name, checked: checked, globals: maps.Clone(globals),
	}
	places := map[string]place{}
	for _, v := range entry.Params {
		off := align(c.paramBytes, v.Align)
		places[v.Name] = place{space: ptx.Param, offset: uint64(off), size: v.Size}
		c.params = append(c.params, Param{Name: v.Name, Offset: off, Size: v.Size})
		c.paramBytes = off + v.Size
	}
	// Shared variables of the module first, then those of functions as they are met; unsized ones begin where all of them end.
	var dynamic []string
	dynamicAlign := 16
	for _, v := range m.Vars {
		switch {
		case v.Space != ptx.Shared:
		case v.Unsized:
			dynamic = append(dynamic, v.Name)
			dynamicAlign = max(dynamicAlign, v.Align)
		default:
			p, err := c.placeVar(v)
			if err != nil {
				return nil, err
			}
			c.globals[v.Name] = p
		}
	}
	for _, name := range dynamic {
		c.globals[name] = place{space: ptx.Shared, offset: dynamicOffset}
	}
	l := &lowerer{c: c}
	if err := l.lower(entry, places); err != nil {
		return nil, err
	}
	c.insts = l.insts
	c.sharedBytes = align(c.sharedBytes, dynamicAlign)
	c.localBytes = align(c.localBytes, 16)
	for i := range c.insts {
		fixDynamic(c.insts[i].ops, uint64(c.sharedBytes))
	}
	blocks, err := splitBlocks(c.insts)
	if err != nil {
		return nil, err
	}
	c.blocks = blocks
	for n := range blocks {
		if err := c.compileBlock(&blocks[n], n); err != nil {
			return nil, err
		}
	}
	return c.program, nil
}

// dynamicOffset stands for the beginning of dynamic shared memory until the static variables have been counted.
const dynamicOffset = math.MaxUint64

func fixDynamic(ops []operand, offset uint64) {
	for i := range ops {
		if p := &ops[i].place; p.space == ptx.Shared && p.offset == dynamicOffset {
			p.offset = offset
		}
		fixDynamic(ops[i].elems, offset)
	}
}

func align(n, a int) int { return (n + a - 1) &^ (a - 1) }

// placeVar gives a variable of a body, or a shared variable of the module, its place.
func (c *compiler) placeVar(v *ptx.Var) (place, error) {
	switch v.Space {
	case ptx.Shared:
		if v.Unsized {
			return place{space: ptx.Shared, offset: dynamicOffset}, nil
		}
		off := align(c.sharedBytes, v.Align)
		c.sharedBytes = off + v.Size
		return place{space: ptx.Shared, offset: uint64(off), size: v.Size}, nil
	case ptx.Local, ptx.Param:
		off := align(c.localBytes, v.Align)
		c.localBytes = off + v.Size
		return place{space: ptx.Local, frame: v.Space == ptx.Param, offset: uint64(off), size: v.Size}, nil
	}
	return place{}, c.errorAt(v.Line, "variable %q of state space %s inside a function is not supported", v.Name, v.Space)
}

func (c *compiler) compileBlock(b *block, n int) error {
	end := len(c.insts)
	if n+1 < len(c.blocks) {
		end = c.blocks[n+1].first
	}
	for i := b.first; i < end; i++ {
		in := &c.insts[i]
		if in.Op == "bra" || in.Op == "exit" {
			continue // the block's ending
		}
		c.index = i
		s, err := c.compileInst(in)
		if err != nil {
			return &LoadError{Kernel: c.kernel, Line: in.Line, Source: c.source(in.Loc), Msg: fmt.Sprintf("%s: %v", in.Name(), err)}
		}
		b.steps = append(b.steps, c.guarded(in, s))
	}
	return nil
}

func (c *compiler) compileInst(in *inst) (step, error) {
	if f, ok := forms[in.Name()]; ok {
		return c.lanes(in, f)
	}
	family, ok := families[in.Op]
	if !ok {
		return nil, fmt.Errorf("the instruction is not supported")
	}
	c.mods = mods{list: in.Mods}
	s, err := family(c, in)
	if err != nil {
		return nil, err
	}
	if left := c.mods.left(); len(left) > 0 {
		return nil, fmt.Errorf("modifier %q is not supported here", "."+strings.Join(left, "."))
	}
	return s, nil
}

// guarded runs a step on the lanes that the guard lets through.
func (c *compiler) guarded(in *inst, s step) step {
	if in.guard < 0 {
		return s
	}
	g, flip := in.guard, uint32(0)
	if in.not {
		flip = allLanes
	}
	return func(w *warp) {
		if w.exec = w.active & (w.pred[g] ^ flip); w.exec != 0 {
			s(w)
		}
		w.exec = w.active
	}
}

// mods are the modifiers of an instruction, taken one by one.
type mods struct {
	list []string
	used uint64
}

// has takes a modifier if it is there.
func (m *mods) has(name string) bool {
	for i, s := range m.list {
		if s == name && m.used>>i&1 == 0 {
			m.used |= 1 << i
			return true
		}
	}
	return false
}

// any takes the first modifier there is of several; "" when there is none.
func (m *mods) any(names ...string) string {
	for _, n := range names {
		if m.has(n) {
			return n
		}
	}
	return ""
}

// typ takes the next modifier that is a type.
func (m *mods) typ() (ptx.Type, error) {
	for i, s := range m.list {
		if ptx.IsType(s) && m.used>>i&1 == 0 {
			m.used |= 1 << i
			return ptx.Type(s), nil
		}
	}
	return "", fmt.Errorf("a type is missing")
}

// left gives the modifiers that nobody took.
func (m *mods) left() []string {
	var left []string
	for i, s := range m.list {
		if m.used>>i&1 == 0 {
			left = append(left, s)
		}
	}
	return left
}

// newReg makes a register for a type.
func (c *compiler) newReg(t ptx.Type) operand {
	o := operand{kind: opReg, typ: t}
	switch {
	case t == "pred":
		o.reg = c.preds
		c.preds++
	case t.Bits() <= 32:
		o.reg = c.r32
		c.r32++
	default: // two of them for 128 bits
		o.reg = c.r64
		c.r64 += t.Bits() / 64
	}
	return o
}

func wants(ops []operand, n int) error {
	if len(ops) != n {
		return fmt.Errorf("%d operands where %d were expected", len(ops), n)
	}
	return nil
}

// dst32 is the register that a result of at most 32 bits goes to.
func (c *compiler) dst32(o operand) (int, error) {
	if o.kind == opSink {
		return c.newReg("b32").reg, nil
	}
	if o.kind != opReg || o.typ == "pred" || o.typ.Bits() > 32 {
		return 0, fmt.Errorf("%v is not a register for a result of 32 bits", o)
	}
	return o.reg, nil
}

func (c *compiler) dst64(o operand) (int, error) {
	if o.kind == opSink {
		return c.newReg("b64").reg, nil
	}
	if o.kind != opReg || o.typ.Bits() != 64 {
		return 0, fmt.Errorf("%v is not a register for a result of 64 bits", o)
	}
	return o.reg, nil
}

func (c *compiler) dstPred(o operand) (int, error) {
	if o.kind == opSink {
		return c.newReg("pred").reg, nil
	}
	if o.kind != opReg || o.typ != "pred" || o.not {
		return 0, fmt.Errorf("%v is not a predicate register for a result", o)
	}
	return o.reg, nil
}

// src32 is the register of a source of type t of at most 32 bits; an immediate gets one of its own.
func (c *compiler) src32(o operand, t ptx.Type) (int, error) {
	switch o.kind {
	case opReg:
		if o.typ == "pred" || o.typ.Bits() > 32 || o.not {
			return 0, fmt.Errorf("%v is not a register of %d bits", o, t.Bits())
		}
		return o.reg, nil
	case opSpecial:
		return c.specialReg(o.name, 32)
	}
	v, err := c.value(o, t)
	if err != nil {
		return 0, err
	}
	return c.constant32(uint32(v)), nil
}

func (c *compiler) src64(o operand, t ptx.Type) (int, error) {
	switch o.kind {
	case opReg:
		if o.typ.Bits() != 64 || o.not {
			return 0, fmt.Errorf("%v is not a register of 64 bits", o)
		}
		return o.reg, nil
	case opSpecial:
		return c.specialReg(o.name, 64)
	}
	v, err := c.value(o, t)
	if err != nil {
		return 0, err
	}
	return c.constant64(v), nil
}

// srcPred is a predicate and what to flip in it; an immediate is a constant of all lanes.
func (c *compiler) srcPred(o operand) (reg int, flip uint32, err error) {
	if o.not {
		flip = allLanes
	}
	switch {
	case o.kind == opReg && o.typ == "pred":
		return o.reg, flip, nil
	case o.kind == opImm && !o.float:
		// A predicate that nobody writes is false.
		if o.imm != 0 {
			flip ^= allLanes
		}
		return c.newReg("pred").reg, flip, nil
	}
	return 0, 0, fmt.Errorf("%v is not a predicate", o)
}

// value is an immediate or an address as a value of type t.
func (c *compiler) value(o operand, t ptx.Type) (uint64, error) {
	v := uint64(o.imm)
	switch {
	case o.kind == opPlace:
		v += o.place.offset
	case o.kind != opImm:
		return 0, fmt.Errorf("%v is not a value", o)
	case o.float && o.single && t.Bits() == 64:
		v = math.Float64bits(float64(math.Float32frombits(uint32(v))))
	case o.float && !o.single && t.Bits() == 32:
		v = uint64(math.Float32bits(float32(math.Float64frombits(v))))
	case o.float && t == "f16":
		v = uint64(float.F16.Round(math.Float64frombits(v), float.RN))
	case o.float && t.Bits() < 32:
		return 0, fmt.Errorf("a floating-point literal has no value of type %s", t)
	}
	if b := t.Bits(); b < 64 {
		v &= 1<<b - 1
	}
	return v, nil
}

func (c *compiler) constant32(v uint32) int {
	i := slices.IndexFunc(c.const32, func(k constant[uint32]) bool { return k.value == v })
	if i >= 0 {
		return c.const32[i].reg
	}
	r := c.newReg("b32").reg
	c.const32 = append(c.const32, constant[uint32]{r, v})
	return r
}

func (c *compiler) constant64(v uint64) int {
	i := slices.IndexFunc(c.const64, func(k constant[uint64]) bool { return k.value == v })
	if i >= 0 {
		return c.const64[i].reg
	}
	r := c.newReg("b64").reg
	c.const64 = append(c.const64, constant[uint64]{r, v})
	return r
}
