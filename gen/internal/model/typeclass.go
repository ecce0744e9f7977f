package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// family is what a Launch function can take in one Go type: the widest, for
// integers of 32 and 64 bits, since a launch sees whether a value fits the
// narrower one. What a kernel does with a pointer is not the caller's business.
func family(t Type) Type {
	t.Const, t.Block = false, ""
	if narrow, ok := narrower[t]; ok {
		return narrow
	}
	return t
}

// narrower maps the integers that may be passed as another.
var narrower = map[Type]Type{
	{Elem: "i64"}: {Elem: "i32"},
	{Elem: "u64"}: {Elem: "u32"},
}

// class is the images of one name whose parameters, and type variables, have the
// same types.
type class struct {
	suffix string // tells it from the other classes; "" for the only one
	images []compiled
}

// classes divides images with the same parameters by those parameters' types,
// of which an argument can have one only. The types that differ make the suffix.
func classes(all []compiled) []class {
	var out []class
	for _, c := range all {
		i := slices.IndexFunc(out, func(o class) bool { return sameFamilies(o.images[0], c) })
		if i < 0 {
			i = len(out)
			out = append(out, class{})
		}
		out[i].images = append(out[i].images, c)
	}
	switch {
	case len(all[0].types) > 0:
		slices.SortStableFunc(out, func(a, b class) int { return cmp.Compare(firstOrder(a.images), firstOrder(b.images)) })
		for i := range out {
			out[i].suffix = out[i].typeSuffix()
		}
	case len(out) > 1:
		nameClasses(out)
	}
	return out
}

// typeSuffix is made of what the type variables are.
func (c class) typeSuffix() string {
	var names []string
	for _, t := range c.images[0].types {
		names = append(names, t.Type)
	}
	return strings.Join(names, "_")
}

func sameFamilies(a, b compiled) bool {
	return slices.Equal(a.types, b.types) && slices.EqualFunc(a.params, b.params, func(p, q param) bool { return family(p.Type) == family(q.Type) })
}

// widen gives each parameter the widest type that it has in any image. Where
// an image takes a narrower one, that the value fits is one more promise.
func widen(all []compiled) []compiled {
	all = slices.Clone(all)
	widest := slices.Clone(all[0].params)
	for _, c := range all {
		for p, q := range c.params {
			w := &widest[p].Type
			if q.Type.Size() > w.Size() {
				*w = q.Type
			}
			w.Const = w.Const && q.Type.Const
			if q.Type.Block != w.Block {
				w.Block = ""
			}
		}
	}
	for i, c := range all {
		all[i].params = slices.Clone(c.params)
		for p, q := range c.params {
			all[i].params[p].narrow = q.passed() && q.Type.Size() < widest[p].Type.Size()
			all[i].params[p].Type = widest[p].Type
		}
	}
	return all
}

// nameClasses makes suffixes of the types that differ, in the order of
// parameters. A parameter that always goes with an earlier one adds nothing.
func nameClasses(all []class) {
	var widest [][]param
	for _, c := range all {
		widest = append(widest, widen(c.images)[0].params)
	}
	var columns [][]string
	for p := range widest[0] {
		var types []Type
		for _, params := range widest {
			types = append(types, params[p].Type)
		}
		column := typeNames(types)
		differs := slices.ContainsFunc(column, func(s string) bool { return s != column[0] })
		if differs && !slices.ContainsFunc(columns, func(c []string) bool { return slices.Equal(c, column) }) {
			columns = append(columns, column)
		}
	}
	for i := range all {
		var parts []string
		for _, column := range columns {
			parts = append(parts, column[i])
		}
		all[i].suffix = strings.Join(parts, "_")
	}
}

// typeNames are types as parts of names: their elements, with what tells
// pointers from values where there are both.
func typeNames(types []Type) []string {
	mixed := slices.ContainsFunc(types, func(t Type) bool { return t.Pointer != types[0].Pointer || t.Rank != types[0].Rank })
	var names []string
	for _, t := range types {
		name := t.Elem
		if mixed {
			name = strings.Repeat("ptr_", t.Pointer) + name
			if t.Rank > 0 {
				name = fmt.Sprintf("desc%d_%s", t.Rank, t.Elem)
			}
		}
		names = append(names, name)
	}
	return names
}
