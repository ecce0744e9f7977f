package model

import (
	"fmt"
	"slices"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// readParams finds the kernel's parameters: in the sidecar where there is one,
// else in the TTIR, which knows neither signs nor what was compiled away; where
// that is missing or has no names, in what the user says.
func (c *checker) readParams(out *compiled) {
	c.checkRange()
	c.checkSource()
	signature, isSigned := c.signatures[out.kernel]
	switch {
	case c.Sidecar != nil:
		c.describe(out)
	case c.Launch != nil:
		c.launchMeta(out)
	case c.TTIR != nil && c.named():
		c.ttirParams(out)
	case isSigned:
		c.signed(signature, out)
	case c.TTIR != nil:
		c.nameless(out)
	default:
		c.untold(metaExt, out.kernel, "nothing says what %s takes", c.Meta.Name)
	}
	if c.ok() && c.takenApart() {
		c.checkWhole(out)
	}
}

// layOut says what the parameters are passed as.
func (c *checker) layOut(out *compiled) {
	out.image.Descriptors = c.descriptors(out.params)
	out.slots = layOut(out.params, out.image.Descriptors)
}

// named reports whether the TTIR has the names of all arguments.
func (c *checker) named() bool {
	return !slices.ContainsFunc(c.TTIR.Args, func(a artefact.Arg) bool { return a.Name == "" })
}

// checkRange refuses promises on how much memory lies behind a pointer, which
// Triton gives its AMD compiler: no launch can check them.
func (c *checker) checkRange() {
	if c.TTIR == nil {
		return
	}
	for _, a := range c.TTIR.Args {
		if a.PointerRange != 0 {
			c.faultAt(ttirExt, a.Line, "argument %s has tt.pointer_range %d, a promise on the memory behind it that a launch cannot check", argName(a), a.PointerRange).
				Fix("recompile the kernel for an NVIDIA target, or without it")
		}
	}
}

// checkSource compares the module before any pass with the TTIR made from it.
func (c *checker) checkSource() {
	if c.TTIR == nil || c.Source == nil || c.takenApart() {
		return
	}
	ttir, source := c.TTIR.Args, c.Source.Args
	if len(ttir) != len(source) {
		c.fault(sourceExt, "%s has %d arguments, but %d in %s", c.Source.Name, len(source), len(ttir), c.file(ttirExt)).Fix(remake)
		return
	}
	for i, s := range source {
		t := ttir[i]
		if s.Name != t.Name || s.Type != t.Type || s.Divisibility != t.Divisibility {
			c.faultAt(sourceExt, s.Line, "argument %d is %s, but %s in %s", i, argText(s), argText(t), c.file(ttirExt)).Fix(remake)
		}
	}
}

func argText(a artefact.Arg) string {
	s := argName(a) + ": " + a.Type
	if a.Divisibility != 0 {
		s += fmt.Sprintf(" divisible by %d", a.Divisibility)
	}
	return s
}

// ttirParams takes the parameters as the TTIR alone tells them; where that has
// descriptors taken apart, as the module before any pass does.
func (c *checker) ttirParams(out *compiled) {
	ext, args := ttirExt, c.TTIR.Args
	if c.takenApart() {
		ext, args = sourceExt, c.Source.Args
	}
	args = c.heads(ext, args)
	names := c.ttirNames(ext, args)
	for i, a := range args {
		t, err := parseMLIR(a.Type)
		if err == nil {
			err = t.checkArgument()
		}
		if err != nil {
			c.faultAt(ext, a.Line, "argument %s: %v", argName(a), err)
			continue
		}
		guard := c.divisibleBy(fmt.Sprintf("%s:%d", ext, a.Line), argName(a), t, a.Divisibility)
		if len(names) > 0 {
			out.params = append(out.params, param{Param: Param{Name: names[i], Type: t}, guard: guard})
		}
	}
	if !c.ok() {
		return
	}
	c.layOut(out)
	if ext == sourceExt && c.ok() {
		c.compareSlots(ttirExt, c.TTIR.Args, out, out.slots)
	}
}

// ttirNames are the parameters' names. A tuple's members all have the tuple's
// name, and so have the pieces of a host descriptor that was taken apart; only
// the module before any pass tells which it is. None where a name is missing,
// which is then a fault.
func (c *checker) ttirNames(ext string, args []artefact.Arg) []string {
	count := map[string]int{}
	for _, a := range args {
		if a.Name == "" { // in one of two modules only
			c.faultAt(ext, a.Line, "argument %s has no name", argName(a)).Fix(remake)
			return nil
		}
		count[a.Name]++
	}
	names := make([]string, 0, len(args))
	member := map[string]int{}
	for i, a := range args {
		if count[a.Name] == 1 {
			names = append(names, a.Name)
			continue
		}
		if member[a.Name] > 0 && args[i-1].Name != a.Name {
			c.faultAt(ext, a.Line, "two arguments that do not follow each other are both named %s", a.Name).Fix(remake)
		}
		if member[a.Name] == 0 && c.Source == nil {
			c.faultAt(ext, a.Line, "%d arguments are named %s: a tuple or a host tensor descriptor, which only %s tells", count[a.Name], a.Name, c.file(sourceExt)).
				Fix("put %s or %s beside it", c.file(sourceExt), c.file(sidecarExt))
		}
		names = append(names, fmt.Sprintf("%s.%d", a.Name, member[a.Name]))
		member[a.Name]++
	}
	return names
}

// hasPromise reports whether an argument of type t can be promised to be
// divisible.
func (t Type) hasPromise() bool { return t.Pointer > 0 || t.isInteger() }

// promised is the divisibility that Triton's own specialisation promises, the
// only one that a launch knows how to check.
const promised = 16

// divisibleBy is the guard that a promise of divisibility makes, if any.
func (c *checker) divisibleBy(ext, name string, t Type, n int) GuardKind {
	switch {
	case n == 0:
		return 0
	case n != promised:
		c.fault(ext, "%s is promised to be divisible by %d; kerngen checks %d only", name, n, promised).
			Fix("recompile with %d or without the promise", promised)
		return 0
	case !t.hasPromise():
		c.fault(ext, "%s is promised to be divisible by %d, but %s is neither a pointer nor an integer", name, n, t).Fix(remake)
		return 0
	}
	return DivisibleBy16
}
