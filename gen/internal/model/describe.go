package model

import (
	"fmt"
	"strconv"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// describe takes the parameters from the sidecar and checks them against the
// TTIR, argument by argument.
func (c *checker) describe(out *compiled) {
	s := c.Sidecar
	out.described = true
	out.doc = s.Doc
	out.sources = s.Source
	out.triton = s.Triton
	if _, err := parseRelease(s.Triton); err != nil {
		c.fault(sidecarExt, "triton: %v", err)
	}
	d := description{checker: c, out: out, seen: map[string]bool{}, ext: sidecarExt}
	for _, p := range s.Params {
		d.add(p, p.Name, p.Name)
	}
	out.key, out.config, out.types, out.order = s.Key, s.Config, s.Types, s.Order
	out.grid = c.declaredGrid(out)
	d.finish()
}

// description is a file that names the arguments, on its way into a compiled.
type description struct {
	*checker
	out   *compiled
	outer []string // by parameter, the Python parameter's name: of a tuple's member, the tuple's
	seen  map[string]bool
	ext   string // of the file that describes
}

// add takes one parameter; name is its own, "ptrs.0" or "ptrs.field" for a
// tuple's member.
func (d *description) add(p artefact.SidecarParam, name, outer string) {
	if name == "" {
		d.fault(d.ext, "a parameter has no name").Fix(remake)
		return
	}
	if d.seen[name] {
		d.fault(d.ext, "two parameters are named %s", name).Fix(remake)
		return
	}
	d.seen[name] = true
	kinds := 0
	for _, set := range []bool{p.Type != "", p.Constant != nil, p.Tuple != nil} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		d.fault(d.ext, "parameter %s has %d of type, constant and tuple; it must have one", name, kinds).Fix(remake)
	case p.Type != "":
		d.addArgument(p, name, outer)
	case p.Constant != nil:
		v, err := constantValue(p.Constant)
		if err != nil {
			d.fault(d.ext, "constant %s: %v", name, err).Fix(remake)
			return
		}
		d.out.constants = append(d.out.constants, Constant{name, v})
	default:
		for i, member := range p.Tuple {
			field := member.Name
			if field == "" {
				field = strconv.Itoa(i)
			}
			d.add(member, name+"."+field, outer)
		}
	}
}

func (d *description) addArgument(p artefact.SidecarParam, name, outer string) {
	t, err := ParseType(p.Type)
	if err != nil {
		d.fault(d.ext, "parameter %s: %v", name, err)
		return
	}
	q := param{Param: Param{Name: name, Type: t, TypeVar: p.TypeVar, Nullable: p.Nullable}}
	switch p.Folded {
	case "":
		q.guard = d.divisibleBy(d.ext, "parameter "+name, t, p.DivisibleBy)
	case "one":
		q.guard = EqualTo1
		if !t.isInteger() {
			d.fault(d.ext, "parameter %s is folded at one, but %s is not an integer", name, t).Fix(remake)
		}
	case "absent":
		q.guard = Null
		if t.Pointer == 0 {
			d.fault(d.ext, "parameter %s is absent, but %s is not a pointer", name, t).Fix(remake)
		}
	default:
		d.fault(d.ext, "parameter %s is folded %q; kerngen knows one and absent", name, p.Folded).Fix(remake)
	}
	if p.Folded != "" && p.DivisibleBy != 0 {
		d.fault(d.ext, "parameter %s is both folded away and promised to be divisible by %d", name, p.DivisibleBy).Fix(remake)
	}
	if p.Nullable && t.Pointer == 0 {
		d.fault(d.ext, "parameter %s is nullable, but %s is not a pointer", name, t).Fix("remove nullable")
	}
	d.out.params = append(d.out.params, q)
	d.outer = append(d.outer, outer)
}

// finish lays the parameters out and checks them against the TTIR.
func (d *description) finish() {
	if !d.ok() {
		return
	}
	d.layOut(d.out)
	if d.TTIR != nil && d.ok() {
		d.compare(d.TTIR.Args)
	}
}

// compare checks what is passed against the TTIR.
func (d *description) compare(args []artefact.Arg) {
	if len(args) != len(d.out.slots) {
		d.fault(d.ext, "%d arguments are passed, but %s has %d", len(d.out.slots), d.file(ttirExt), len(args)).Fix(remake)
		return
	}
	r, _ := parseRelease(d.out.triton)
	for i, a := range args {
		want := d.out.slots[i]
		if !want.named(a, d.out.params, d.outer[want.param]) {
			d.faultAt(ttirExt, a.Line, "argument %d is %s, but %s in %s", i, a.Name, want.name, d.file(d.ext)).Fix(remake)
			continue
		}
		t, err := parseMLIR(a.Type)
		if err != nil {
			d.faultAt(ttirExt, a.Line, "argument %s: %v", want.name, err)
			continue
		}
		if !r.prints(want.typ, t) {
			d.faultAt(ttirExt, a.Line, "argument %s is %s, but %s in %s", want.name, a.Type, want.typ, d.file(d.ext)).Fix(remake)
		}
		if a.Divisibility != want.guard.divisor() {
			d.faultAt(ttirExt, a.Line, "argument %s has tt.divisibility %d, but %d in %s", want.name, a.Divisibility, want.guard.divisor(), d.file(d.ext)).Fix(remake)
		}
	}
}

// constantValue is a constant's Value.
func constantValue(c *artefact.Constant) (any, error) {
	var values []any
	if c.Int != nil {
		values = append(values, *c.Int)
	}
	if c.Float != nil {
		values = append(values, *c.Float)
	}
	if c.Bool != nil {
		values = append(values, *c.Bool)
	}
	if c.String != nil {
		values = append(values, *c.String)
	}
	if c.DType != "" {
		e, err := parseElement(c.DType)
		if err != nil {
			return nil, err
		}
		values = append(values, DType(e.name))
	}
	if c.None {
		values = append(values, nil)
	}
	if len(values) != 1 {
		return nil, fmt.Errorf("%d values; it must have one", len(values))
	}
	return values[0], nil
}
