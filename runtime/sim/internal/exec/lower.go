package exec

import (
	"fmt"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// inst is an instruction of a kernel after its device functions have been put in place of their calls.
type inst struct {
	*ptx.Instr
	guard int // a predicate; -1 without
	not   bool
	ops   []operand
	jump  int // of op "bra": an index in the list
}

// operand is an operand with its names resolved.
type operand struct {
	kind   operandKind
	typ    ptx.Type // of a register
	reg    int      // in the warp's registers of its class
	not    bool
	float  bool // imm is a float's bits: of binary32 where single, else of binary64
	single bool
	imm    int64
	name   string
	place  place
	elems  []operand
}

type operandKind uint8

const (
	opReg operandKind = iota
	opImm
	opSpecial
	opPlace // the address of a variable: place, plus imm
	opAddr  // memory at elems[0] plus imm
	opVec
	opPair
	opSink
	opName // a function
	opList
)

// place is where a variable is.
type place struct {
	space  ptx.Space
	frame  bool   // a .param variable of a body, kept in local memory
	offset uint64 // in its space, or the address of a global variable
	size   int
}

// maxInlined bounds what calls within calls can grow to.
const maxInlined = 1 << 20

// maxRegs bounds a kernel's registers: a warp has 32 words for each.
const maxRegs = 1 << 17

// lowerer flattens a kernel.
type lowerer struct {
	c     *compiler
	insts []inst
	depth []*ptx.Func
}

// instance is one function in the flat list.
type instance struct {
	fn     *ptx.Func
	regs   []operand
	places map[string]place
}

// lower flattens the function, whose parameters and results are at the places given.
func (l *lowerer) lower(fn *ptx.Func, places map[string]place) error {
	for _, f := range l.depth {
		if f == fn {
			return l.c.errorAt(fn.Line, "function %q calls itself; recursion is not supported", fn.Name)
		}
	}
	l.depth = append(l.depth, fn)
	defer func() { l.depth = l.depth[:len(l.depth)-1] }()

	n := &instance{fn: fn, places: places}
	for _, r := range fn.Regs {
		if l.c.r32+l.c.r64+l.c.preds >= maxRegs {
			return l.c.errorAt(fn.Line, "more than %d registers, those of the functions that it calls among them", maxRegs)
		}
		n.regs = append(n.regs, l.c.newReg(r.Type))
	}
	for _, v := range fn.Vars {
		p, err := l.c.placeVar(v)
		if err != nil {
			return err
		}
		places[v.Name] = p
	}
	start := make([]int, len(fn.Body)+1) // where each instruction of the body begins in the list
	type patch struct {
		at    int
		label string
	}
	var jumps []patch
	var returns []int
	for i, src := range fn.Body {
		start[i] = len(l.insts)
		if len(l.insts) > maxInlined {
			return l.c.errorAt(src.Line, "more than %d instructions", maxInlined)
		}
		in := inst{Instr: src, guard: -1}
		if g := src.Guard; g != nil {
			in.guard, in.not = n.regs[g.Reg].reg, g.Not
		}
		switch src.Op {
		case "bra":
			if len(src.Operands) != 1 || src.Operands[0].Kind != ptx.KindName {
				return l.c.errorAt(src.Line, "bra without a label")
			}
			jumps = append(jumps, patch{len(l.insts), src.Operands[0].Name})
			l.insts = append(l.insts, in)
		case "ret":
			if len(l.depth) == 1 {
				in.Instr = &ptx.Instr{Line: src.Line, Loc: src.Loc, Op: "exit"}
			} else {
				in.Instr = &ptx.Instr{Line: src.Line, Loc: src.Loc, Op: "bra"}
				returns = append(returns, len(l.insts))
			}
			l.insts = append(l.insts, in)
		case "call":
			if err := l.call(n, in); err != nil {
				return err
			}
		default:
			for _, o := range src.Operands {
				r, err := l.resolve(n, src, o)
				if err != nil {
					return err
				}
				in.ops = append(in.ops, r)
			}
			l.insts = append(l.insts, in)
		}
	}
	start[len(fn.Body)] = len(l.insts)
	for _, p := range jumps {
		t, ok := fn.Labels[p.label]
		if !ok {
			return l.c.errorAt(l.insts[p.at].Line, "label %q is not defined", p.label)
		}
		l.insts[p.at].jump = start[t]
	}
	for _, at := range returns {
		l.insts[at].jump = len(l.insts)
	}
	return nil
}

// call puts the callee's body here, its parameters being the caller's variables; functions of the driver stay as instructions.
func (l *lowerer) call(n *instance, in inst) error {
	var results, args []ptx.Operand
	ops := in.Operands
	if len(ops) > 0 && ops[0].Kind == ptx.KindList {
		results, ops = ops[0].Elems, ops[1:]
	}
	if len(ops) == 0 || ops[0].Kind != ptx.KindName {
		return l.c.errorAt(in.Line, "call through a register; only calls of named functions are supported")
	}
	name := ops[0].Name
	if len(ops) > 2 {
		return l.c.errorAt(in.Line, "call of %q with more than a list of arguments", name)
	}
	if len(ops) == 2 {
		args = ops[1].Elems
	}
	fn := l.c.module.Func(name)
	if fn == nil {
		return l.c.errorAt(in.Line, "function %q is not defined in this module", name)
	}
	if len(results) != len(fn.Returns) || len(args) != len(fn.Params) {
		return l.c.errorAt(in.Line, "function %q has %d results and %d parameters, the call %d and %d", name, len(fn.Returns), len(fn.Params), len(results), len(args))
	}
	places := map[string]place{}
	var flat []operand
	for i, formal := range append(append([]*ptx.Var{}, fn.Returns...), fn.Params...) {
		actual := append(append([]ptx.Operand{}, results...), args...)[i]
		o, err := l.resolve(n, in.Instr, actual)
		if err != nil {
			return err
		}
		if o.kind != opPlace || !o.place.frame || o.place.size < formal.Size {
			return l.c.errorAt(in.Line, "argument %d of %q is not a .param variable of at least %d bytes", i, name, formal.Size)
		}
		places[formal.Name] = o.place
		flat = append(flat, o)
	}
	if !fn.Defined {
		in.Instr = &ptx.Instr{Line: in.Line, Loc: in.Loc, Op: "call", Mods: []string{name}}
		in.ops = flat
		l.insts = append(l.insts, in)
		return nil
	}
	skip := -1
	if in.guard >= 0 {
		skip = len(l.insts)
		l.insts = append(l.insts, inst{Instr: &ptx.Instr{Line: in.Line, Loc: in.Loc, Op: "bra"}, guard: in.guard, not: !in.not})
	}
	if err := l.lower(fn, places); err != nil {
		return err
	}
	if skip >= 0 {
		l.insts[skip].jump = len(l.insts)
	}
	return nil
}

func (l *lowerer) resolve(n *instance, src *ptx.Instr, o ptx.Operand) (operand, error) {
	r := operand{not: o.Not, imm: o.Imm, name: o.Name}
	switch o.Kind {
	case ptx.KindReg:
		not := r.not
		r = n.regs[o.Reg]
		r.not, r.name = not, o.Name
	case ptx.KindImm:
		r.kind = opImm
	case ptx.KindFloat:
		r.kind, r.float, r.single = opImm, true, o.Single
	case ptx.KindSpecial:
		r.kind = opSpecial
	case ptx.KindSink:
		r.kind = opSink
	case ptx.KindName:
		p, ok := n.places[o.Name]
		if !ok {
			p, ok = l.c.globals[o.Name]
		}
		if !ok {
			return r, l.c.errorAt(src.Line, "%q is not defined", o.Name)
		}
		r.kind, r.place = opPlace, p
	case ptx.KindAddr, ptx.KindVec, ptx.KindPair, ptx.KindList:
		r.kind = map[ptx.Kind]operandKind{ptx.KindAddr: opAddr, ptx.KindVec: opVec, ptx.KindPair: opPair, ptx.KindList: opList}[o.Kind]
		for _, e := range o.Elems {
			re, err := l.resolve(n, src, e)
			if err != nil {
				return r, err
			}
			r.elems = append(r.elems, re)
		}
	default:
		return r, l.c.errorAt(src.Line, "operand of a kind that is not known")
	}
	return r, nil
}

func (o operand) String() string {
	switch o.kind {
	case opReg, opSpecial, opName, opPlace:
		return o.name
	case opImm:
		return fmt.Sprint(o.imm)
	case opSink:
		return "_"
	}
	return "{…}"
}
