package model

import (
	"fmt"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Signature is what a user says of a kernel's arguments, in order.
type Signature struct {
	text string
	args []signatureArg
}

type signatureArg struct {
	name     string
	typ      Type // zero: each image's TTIR tells it
	promised bool // to be divisible by 16
}

// ParseSignature reads "x_ptr: *fp32:16, n: i32": names, Triton's types, and
// ":16" where the compiler was promised that an argument is divisible by 16.
// A name alone is an argument whose type TTIR tells.
func ParseSignature(text string) (Signature, error) {
	s := Signature{text: text}
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	seen := map[string]bool{}
	for _, item := range splitArguments(text) {
		name, typ, typed := strings.Cut(item, ":")
		name = strings.TrimSpace(name)
		if name == "" {
			return s, fmt.Errorf("%q is not an argument; write NAME: TYPE, such as %q or %q, or NAME where TTIR tells the type", strings.TrimSpace(item), "n: i32", "x_ptr: *fp32:16")
		}
		if !artefact.IsIdentifier(name) {
			return s, fmt.Errorf("%q is not the name of an argument", name)
		}
		if seen[name] {
			return s, fmt.Errorf("two arguments are named %s", name)
		}
		seen[name] = true
		a := signatureArg{name: name}
		if !typed {
			s.args = append(s.args, a)
			continue
		}
		typ, promise, hasPromise := strings.Cut(typ, ":")
		var err error
		if a.typ, err = ParseType(strings.TrimSpace(typ)); err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
		if hasPromise {
			switch {
			case strings.TrimSpace(promise) != fmt.Sprint(promised):
				return s, fmt.Errorf("%s: %q is not a promise that a launch can check; :%d is", name, ":"+strings.TrimSpace(promise), promised)
			case !a.typ.hasPromise():
				return s, fmt.Errorf("%s: only pointers and integers are promised to be divisible by %d, not %s", name, promised, a.typ)
			}
			a.promised = true
		}
		s.args = append(s.args, a)
	}
	return s, nil
}

// splitArguments splits at commas, but not at those within a type.
func splitArguments(text string) []string {
	var items []string
	depth, start := 0, 0
	for i, r := range text {
		switch r {
		case '[', '<', '(':
			depth++
		case ']', '>', ')':
			depth--
		case ',':
			if depth <= 0 {
				items = append(items, text[start:i])
				start = i + 1
			}
		}
	}
	return append(items, text[start:])
}

// option is the option that gave s.
func (s Signature) option(kernel string) string {
	return fmt.Sprintf("--signature %q", kernel+"="+s.text)
}

// signed takes the parameters from what the user says, checked against what
// the TTIR tells of them: before Triton 3.5 all but their names and signs.
func (c *checker) signed(s Signature, out *compiled) {
	out.signed, c.option = true, s.option(out.kernel)
	taken := c.fit(s.args, out.kernel)
	if !c.ok() {
		return
	}
	for _, a := range taken {
		p := param{Param: Param{Name: a.name, Type: a.typ}}
		if a.promised {
			p.guard = DivisibleBy16
		}
		out.params = append(out.params, p)
	}
	if c.layOut(out); c.TTIR == nil || !c.ok() {
		return
	}
	args := c.TTIR.Args
	if len(args) != len(out.slots) {
		c.fault(ttirExt, "%s has %d arguments, but %d in %s", c.TTIR.Name, len(args), len(out.slots), c.option).
			Fix("name all that the code of this image takes")
		return
	}
	for i, a := range args {
		s := out.slots[i]
		p := &out.params[s.param]
		t, err := parseMLIR(a.Type)
		switch {
		case err != nil:
			c.faultAt(ttirExt, a.Line, "argument %s: %v", s.name, err)
		case !t.spelled(s.typ):
			c.faultAt(ttirExt, a.Line, "argument %d is %s, but %s is %s in %s", i, a.Type, s.name, s.typ, c.option).
				Fix("correct the type, or leave it out: the TTIR of each image tells it")
		case p.Type.Rank > 0: // it has no promise
		case p.guard == DivisibleBy16 && a.Divisibility == 0:
			c.faultAt(ttirExt, a.Line, "argument %d is not promised to be divisible by %d, but %s is in %s", i, promised, p.Name, c.option).
				Fix("leave :%d out: the TTIR of each image tells it", promised)
		default:
			p.guard = c.divisibleBy(fmt.Sprintf("%s:%d", ttirExt, a.Line), p.Name, p.Type, a.Divisibility)
		}
	}
}

// checkHidden refuses a signature without which as many parameters would be
// left over as no release of Triton appends: then it lacks arguments or has too
// many. Nothing else could tell a pointer from scratch memory's.
func (c *checker) checkHidden(hidden int) {
	if c.option == "" || c.TTIR != nil || c.Meta.InPTX {
		return
	}
	r, err := parseRelease(c.Meta.TritonVersion)
	if err != nil {
		return // told already
	}
	want := 0
	for _, since := range []release{globalScratchPassed, profileScratchPassed} {
		if r.has(since) {
			want++
		}
	}
	if hidden != want {
		c.faults.Add(diag.Errorf("", "%s leaves %d parameters of %s for scratch pointers, but Triton %s appends %d",
			c.option, hidden, c.Path, orOlder(c.Meta.TritonVersion), want).Fix("name all the arguments that the code takes"))
	}
}

func orOlder(version string) string {
	if version == "" {
		return "before 3.3"
	}
	return version
}

// untold is the fault of an image whose files do not tell its arguments.
func (c *checker) untold(ext, kernel string, format string, args ...any) {
	var sizes []string
	switch {
	case c.Cubin != nil:
		for _, p := range c.Cubin.Params {
			sizes = append(sizes, fmt.Sprint(p.Size))
		}
	case c.PTX != nil:
		for _, p := range c.PTX.Params {
			sizes = append(sizes, fmt.Sprint(p.Size))
		}
	}
	c.fault(ext, format, args...).
		Fix("put %s or %s beside it, or tell with --signature '%s=NAME: TYPE, …'; the code takes %d parameters, of %s bytes, the last of which may be scratch pointers",
			c.file(ttirExt), c.file(sidecarExt), kernel, len(sizes), strings.Join(sizes, ", "))
}
