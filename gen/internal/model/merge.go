package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// A Fold says what an argument was where the code of an image lacks it.
type Fold string

const (
	FoldOne  Fold = "1"    // an integer equal to 1
	FoldNull Fold = "null" // an absent pointer
)

// merger gives all images of one name the same parameters.
type merger struct {
	kernel string
	folds  map[string]Fold // by parameter
	used   map[string]bool // folds that had a say
	faults diag.List
}

// merge returns all with the parameters that any of them has, in one order: a
// parameter that the code of an image lacks is one that it was folded into.
// Sidecars tell that themselves; of other images only the user knows.
func (m *merger) merge(all []compiled) ([]compiled, error) {
	if !slices.ContainsFunc(all, func(c compiled) bool { return !sameNames(c, all[0]) }) {
		return all, nil
	}
	order, ok := m.order(all)
	if !ok {
		return nil, m.faults.Err()
	}
	merged := slices.Clone(all)
	for i := range merged {
		merged[i].params = make([]param, len(order))
	}
	for p, name := range order {
		var lacking []int
		for i, c := range all {
			at := slices.IndexFunc(c.params, func(q param) bool { return q.Name == name })
			if at < 0 {
				lacking = append(lacking, i)
				merged[i].params[p] = param{Param: Param{Name: name}}
				continue
			}
			merged[i].params[p] = all[i].params[at]
		}
		if len(lacking) > 0 {
			m.fold(merged, lacking, p)
		}
	}
	if err := m.faults.Err(); err != nil {
		return nil, err
	}
	m.foldedTypes(merged)
	for i := range merged {
		merged[i].image.Args = merged[i].args()
	}
	return merged, m.faults.Err()
}

func sameNames(a, b compiled) bool {
	return slices.EqualFunc(a.params, b.params, func(p, q param) bool { return p.Name == q.Name })
}

// order is the one order of parameters that all images keep to.
func (m *merger) order(all []compiled) (names []string, ok bool) {
	after := map[string]map[string]bool{} // name -> those known to come right before it
	var known []string
	for _, c := range all {
		for i, p := range c.params {
			if after[p.Name] == nil {
				after[p.Name] = map[string]bool{}
				known = append(known, p.Name)
			}
			if i > 0 {
				after[p.Name][c.params[i-1].Name] = true
			}
		}
	}
	for len(known) > 0 {
		var first []string
		for _, name := range known {
			if len(after[name]) == 0 {
				first = append(first, name)
			}
		}
		switch len(first) {
		case 0:
			m.add("", "its images take %s in different orders", strings.Join(known, ", ")).
				Fix("they are of different kernels: %s", apart)
			return nil, false
		case 1:
		default:
			m.add("", "no image takes both %s and %s, so the order of the two is unknown", first[0], first[1]).
				Fix("give an image that takes both, or %s", apart)
			return nil, false
		}
		names = append(names, first[0])
		known = slices.DeleteFunc(known, func(name string) bool { return name == first[0] })
		for _, before := range after {
			delete(before, first[0])
		}
	}
	return names, true
}

// fold marks parameter p of the images that lack it as folded away.
func (m *merger) fold(all []compiled, lacking []int, p int) {
	name := all[lacking[0]].params[p].Name
	has := all[slices.IndexFunc(all, func(c compiled) bool { return c.params[p].Type != Type{} })]
	position, known := has.positions[name]
	option := m.kernel + "." + name
	var untold []string
	for _, i := range lacking {
		at, value, told := all[i].foldedAt(position)
		fold, optional := m.folds[option]
		switch {
		case all[i].described:
			m.add(all[i].image.Origin, "%s is no parameter here, but in %s", name, has.image.Origin).Fix(sameSource)
			return
		case known && told && at == "":
			m.add(all[i].image.Origin, "%s is the constant %s here, but a parameter in %s", name, value.text(), has.image.Origin).Fix(apart)
			return
		case known && told:
			fold = at
		case optional:
			m.used[option] = true
		default:
			untold = append(untold, "without "+name+": "+all[i].image.Origin)
			continue
		}
		all[i].params[p].guard = map[Fold]GuardKind{FoldOne: EqualTo1, FoldNull: Null}[fold]
	}
	if untold != nil {
		m.add("", "%s is a parameter of %d of %d images; the code of others has it compiled away for a value that their files do not tell",
			name, len(all)-len(lacking), len(all)).
			Fix("use %s, or %s", foldOption(option, has.params, name), apart).List = untold
	}
}

// foldOption is the option that says what an argument of a known type was.
func foldOption(option string, params []param, name string) string {
	switch t := params[slices.IndexFunc(params, func(p param) bool { return p.Name == name })].Type; {
	case t.Pointer > 0:
		return "--fold " + option + "=null where it was None, an absent pointer"
	case t.isInteger():
		return "--fold " + option + "=1 where it was the integer 1"
	default:
		return fmt.Sprintf("a NAME.kerngen.json beside each, since %s is neither an integer nor a pointer", t)
	}
}

// apart is the remedy that treats images of one name as different kernels.
const apart = "use --on-duplicate=suffix to make a Launch function of each, or give one of them"

// foldedTypes gives folded parameters the type that they have where they are
// passed: in images that are otherwise alike, or in all.
func (m *merger) foldedTypes(all []compiled) {
	typed := slices.Clone(all)
	for i := range all {
		typed[i].params = slices.Clone(all[i].params)
	}
	for i, c := range all {
		for p, q := range c.params {
			if q.Type != (Type{}) {
				continue
			}
			alike := func(o compiled) bool {
				for n, r := range o.params {
					if n != p && r.Type != (Type{}) && c.params[n].Type != (Type{}) && family(r.Type) != family(c.params[n].Type) {
						return false
					}
				}
				return true
			}
			t, ok := oneType(all, p, alike)
			if !ok {
				t, ok = oneType(all, p, func(compiled) bool { return true })
			}
			switch {
			case !ok:
				m.add(c.image.Origin, "%s is folded away here, and has several types where it is passed", q.Name).Fix(apart)
			case q.guard == EqualTo1 && !t.isInteger():
				m.add(c.image.Origin, "%s is folded at 1 here, but it is %s, not an integer", q.Name, t).Fix("use --fold %s.%s=null for an absent pointer", m.kernel, q.Name)
			case q.guard == Null && t.Pointer == 0:
				m.add(c.image.Origin, "%s is absent here, but it is %s, not a pointer", q.Name, t).Fix("use --fold %s.%s=1 for the integer 1", m.kernel, q.Name)
			}
			typed[i].params[p].Type = t
		}
	}
	copy(all, typed)
}

// oneType is the type of parameter p in those images that take it, the widest
// where they differ in the width of integers; ok is false where they differ in more.
func oneType(all []compiled, p int, among func(compiled) bool) (t Type, ok bool) {
	for _, c := range all {
		u := c.params[p].Type
		switch {
		case u == Type{} || !among(c):
		case t == Type{}:
			t = u
		case family(t) != family(u):
			return Type{}, false
		case u.Size() > t.Size():
			t = u
		}
	}
	return t, t != Type{}
}

func (m *merger) add(pos, format string, args ...any) *diag.Error {
	e := diag.Errorf(pos, m.kernel+": "+format, args...)
	m.faults.Add(e)
	return e
}
