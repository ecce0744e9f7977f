package model

import (
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// Facts is what one image passes, as far as its files tell, whether or not a
// kernel can be made of it.
type Facts struct {
	Params  []Passed
	Hidden  int   // parameters that follow, those for scratch pointers first; 0 where it is not known what precedes them
	Refused error // why no kernel can be made of the image by itself; nil if one can
}

// Passed is one argument that the code takes.
type Passed struct {
	Name        string // "" where the files do not tell
	Type        string // Triton's: "*fp32", "tensordesc<fp16[64, 64]>"; "" where the files do not tell
	DivisibleBy int    // 0: no promise
	Slots       int    // parameters of the code that make it up: more than one for a host tensor descriptor
}

// FactsOf reads one image by itself.
func FactsOf(im *artefact.Image) Facts {
	im, _ = withArguments(im)
	out, _, err := compile(im, Options{})
	f := Facts{Refused: err}
	switch {
	case err == nil:
		at := make([]int, len(out.params))
		for i, p := range out.params {
			if p.passed() {
				at[i] = len(f.Params)
				f.Params = append(f.Params, Passed{p.Name, p.Type.String(), p.guard.divisor(), 0})
			}
		}
		for _, s := range out.slots {
			f.Params[at[s.param]].Slots++
		}
	case im.TTIR != nil:
		f.Params = ttirFacts(im)
	default:
		return f
	}
	slots := 0
	for _, p := range f.Params {
		slots += p.Slots
	}
	switch {
	case im.Cubin != nil:
		f.Hidden = len(im.Cubin.Params) - slots
	case im.PTX != nil:
		f.Hidden = len(im.PTX.Params) - slots
	}
	f.Hidden = max(f.Hidden, 0)
	return f
}

// divisor is the divisibility that a guard promises, 0 for none.
func (g GuardKind) divisor() int {
	if g == DivisibleBy16 {
		return promised
	}
	return 0
}

// ttirFacts are the arguments of the TTIR, the pieces of a host descriptor put
// together again.
func ttirFacts(im *artefact.Image) []Passed {
	descriptors := descriptorTypes(im)
	var params []Passed
	last := ""
	for _, a := range im.TTIR.Args {
		whole, _, _ := strings.Cut(a.Name, ".")
		if d, ok := descriptors[whole]; ok {
			if whole == last {
				params[len(params)-1].Slots++
				continue
			}
			last = whole
			params = append(params, Passed{whole, d, 0, 1})
			continue
		}
		last = ""
		typ := a.Type
		if t, err := parseMLIR(a.Type); err == nil {
			typ = t.String()
		}
		params = append(params, Passed{a.Name, typ, a.Divisibility, 1})
	}
	return params
}

// descriptorTypes are the host tensor descriptors of an image by name.
func descriptorTypes(im *artefact.Image) map[string]string {
	types := map[string]string{}
	for _, s := range []*artefact.Signature{im.TTIR, im.Source} {
		if s == nil {
			continue
		}
		for _, a := range s.Args {
			if strings.HasPrefix(a.Type, descriptorPrefix) && a.Name != "" {
				types[a.Name] = a.Type
				if t, err := parseMLIR(a.Type); err == nil {
					types[a.Name] = t.String()
				}
			}
		}
	}
	return types
}
