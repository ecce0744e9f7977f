package kernrt

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/kerngen/kerngen/internal/gridexpr"
)

// declaredGrid computes a grid from an args struct. It is laid out at the first
// launch, so that a later one takes a few nanoseconds.
type declaredGrid struct {
	exprs []gridexpr.Expr // one to three, for messages
	steps [][]step        // of each dimension
	named []gridArg       // the arguments in them, each once
}

// step is one operation on what has been computed so far and one value more. A
// step without an operation is that value.
type step struct {
	op    gridexpr.Op
	from  source
	keep  bool  // put what has been computed so far aside
	value int64 // an immediate value, or the offset in the args struct
}

// source says where a step's value comes from.
type source uint8

const (
	immediate source = iota
	aside            // what was put aside last, as the left operand
	argI8
	argI16
	argI32
	argI64
	argU8
	argU16
	argU32
	argU64
)

var argSources = map[string]source{
	"i8": argI8, "i16": argI16, "i32": argI32, "i64": argI64,
	"u8": argU8, "u16": argU16, "u32": argU32, "u64": argU64,
}

// gridArg is an argument that a grid names.
type gridArg struct {
	name   string
	from   source
	offset uintptr
}

// declares reports whether the kernel's grid follows from its arguments.
func (k *Kernel) declares() bool { return len(k.Configs) > 0 && len(k.Configs[0].Grid) > 0 }

// parseGrid reads a declared grid and checks that it names integer parameters.
func (k *Kernel) parseGrid(dims []string) ([]gridexpr.Expr, error) {
	if len(dims) > 3 {
		return nil, fmt.Errorf("a grid has at most three dimensions, not %d", len(dims))
	}
	var exprs []gridexpr.Expr
	for _, text := range dims {
		e, err := gridexpr.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("grid %q: %w", text, err)
		}
		for _, name := range e.Names() {
			i := k.param(name)
			if i < 0 {
				return nil, fmt.Errorf("grid %q names %s, which is no parameter", text, name)
			}
			if !isInteger(k.Params[i].Type) {
				return nil, fmt.Errorf("grid %q names %s, which is %s, no integer", text, name, k.Params[i].Type)
			}
		}
		exprs = append(exprs, e)
	}
	return exprs, nil
}

// param is the index of a parameter, or -1.
func (k *Kernel) param(name string) int {
	for i := range k.Params {
		if k.Params[i].Name == name {
			return i
		}
	}
	return -1
}

// layGrid lays a grid, which check has seen, out for the args struct; nil for
// none.
func (k *Kernel) layGrid(dims []string, offsets []uintptr) *declaredGrid {
	exprs, err := k.parseGrid(dims)
	if err != nil || len(exprs) == 0 {
		return nil
	}
	g := &declaredGrid{exprs: exprs}
	for _, e := range exprs {
		for _, name := range e.Names() {
			if _, known := g.arg(name); !known {
				i := k.param(name)
				g.named = append(g.named, gridArg{name, argSources[k.Params[i].Type], offsets[i]})
			}
		}
	}
	for _, e := range exprs {
		g.steps = append(g.steps, g.compile(nil, e, false))
	}
	return g
}

func (g *declaredGrid) arg(name string) (gridArg, bool) {
	for _, a := range g.named {
		if a.name == name {
			return a, true
		}
	}
	return gridArg{}, false
}

// compile appends the steps of an expression; keep says that what the steps
// before have computed is needed after them.
func (g *declaredGrid) compile(steps []step, e gridexpr.Expr, keep bool) []step {
	if e.Args == nil {
		s := g.leaf(e)
		s.keep = keep
		return append(steps, s)
	}
	steps = g.compile(steps, e.Args[0], keep)
	for _, right := range e.Args[1:] {
		s := step{op: e.Op, from: aside}
		if right.Args == nil {
			s = g.leaf(right)
			s.op = e.Op
		} else {
			steps = g.compile(steps, right, true)
		}
		steps = append(steps, s)
	}
	return steps
}

// leaf is the step that yields a number or an argument.
func (g *declaredGrid) leaf(e gridexpr.Expr) step {
	if e.Op == gridexpr.Int {
		return step{from: immediate, value: e.Int}
	}
	a, _ := g.arg(e.Name)
	return step{from: a.from, value: int64(a.offset)}
}

// compute is the grid of a launch with args.
func (g *declaredGrid) compute(args unsafe.Pointer) (Grid, error) {
	sides := [3]int{1, 1, 1}
	for i, steps := range g.steps {
		side, ok := run(steps, args)
		if !ok {
			return Grid{}, g.fault(args)
		}
		if sides[i] = int(side); int64(sides[i]) != side {
			return Grid{}, faultf(ErrLimit, "%s is too large", g.text(args))
		}
	}
	grid := Grid3D(sides[0], sides[1], sides[2])
	if grid.x < 0 || grid.y < 0 || grid.z < 0 {
		return grid, faultf(ErrArgument, "%s has a negative dimension", g.text(args))
	}
	return grid, nil
}

// run computes one dimension; ok is false where it has no value of 64 bits.
func run(steps []step, args unsafe.Pointer) (value int64, ok bool) {
	var kept [gridexpr.MaxDepth]int64
	top := 0
	for i := range steps {
		s := &steps[i]
		left, right := value, s.value
		switch s.from {
		case immediate:
		case aside:
			top--
			left, right = kept[top], value
		default:
			if right, ok = s.from.load(unsafe.Add(args, s.value)); !ok {
				return 0, false
			}
		}
		if s.keep {
			kept[top] = value
			top++
		}
		if s.op == 0 {
			value = right
		} else if value, ok = s.op.Apply(left, right); !ok {
			return 0, false
		}
	}
	return value, true
}

// load reads an integer; ok is false for one beyond 63 bits.
func (from source) load(at unsafe.Pointer) (value int64, ok bool) {
	switch from {
	case argI8:
		return int64(*(*int8)(at)), true
	case argI16:
		return int64(*(*int16)(at)), true
	case argI32:
		return int64(*(*int32)(at)), true
	case argU8:
		return int64(*(*uint8)(at)), true
	case argU16:
		return int64(*(*uint16)(at)), true
	case argU32:
		return int64(*(*uint32)(at)), true
	}
	value = *(*int64)(at)
	return value, from == argI64 || value >= 0
}

// fault says why the grid of args has no value.
func (g *declaredGrid) fault(args unsafe.Pointer) error {
	values := map[string]int64{} // args itself, handed to a function value, would escape
	for _, a := range g.named {
		v, ok := a.from.load(unsafe.Add(args, a.offset))
		if !ok {
			return faultf(ErrArgument, "%s cannot be computed: %s has more than 63 bits", g.text(args), a.name)
		}
		values[a.name] = v
	}
	for _, e := range g.exprs {
		if _, err := e.Eval(func(name string) (int64, bool) { v, ok := values[name]; return v, ok }); err != nil {
			return faultf(ErrArgument, "%s cannot be computed: %v", g.text(args), err)
		}
	}
	return nil
}

// text is the grid with the arguments it names: "the grid (cdiv(n, 1024)), with
// n = 5,".
func (g *declaredGrid) text(args unsafe.Pointer) string {
	var dims, values []string
	for _, e := range g.exprs {
		dims = append(dims, e.String())
	}
	for _, a := range g.named {
		v, _ := a.from.load(unsafe.Add(args, a.offset))
		value := fmt.Sprint(v)
		if a.from == argU64 {
			value = fmt.Sprint(uint64(v))
		}
		values = append(values, a.name+" = "+value)
	}
	text := "the grid (" + strings.Join(dims, ", ") + ")"
	if values != nil {
		text += ", with " + strings.Join(values, ", ") + ","
	}
	return text
}
