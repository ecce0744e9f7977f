package exec

import (
	"fmt"
	"maps"
	"math"
	"strings"

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
		if c.paramBytes > maxParams {
			return nil, c.errorAt(v.Line, "%d bytes of parameters; %d are possible", c.paramBytes, maxParams)
		}
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
	if c.localBytes > maxLocal {
		return nil, c.errorAt(entry.Line, "%d bytes of local memory per thread; %d are possible", c.localBytes, maxLocal)
	}
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

// maxParams is the most memory that the parameters of a kernel can have, in bytes.
const maxParams = 32764

// maxLocal is the most local memory that a thread of a real device can have, in bytes.
const maxLocal = 512 << 10

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
