package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// described by NAME.launch_metadata: the arguments with signs and const, and
// the values, without names, of what was compiled away.
func (c *checker) launchMeta(out *compiled) {
	m := c.Launch
	switch {
	case m.Foreign != "":
		c.fault(launchExt, "%s: a launch of this kind is not supported", m.Foreign).Fix("recompile without it")
		return
	case m.Descriptor:
		c.fault(launchExt, "%s takes host tensor descriptors, which files of this kind do not describe", m.Entry).Fix("put %s beside it", c.file(sidecarExt))
		return
	case m.Entry != c.Meta.Name:
		c.fault(launchExt, "the entry is %q, but %s says %q", m.Entry, c.file(metaExt), c.Meta.Name).Fix(remake)
		return
	case m.NumWarps != c.Meta.NumWarps || m.NumCTAs != c.Meta.NumCTAs || m.Shared != c.Meta.Shared:
		c.fault(launchExt, "a launch has %d warps, %d CTAs a cluster and %d bytes of shared memory, but %d, %d and %d in %s",
			m.NumWarps, m.NumCTAs, m.Shared, c.Meta.NumWarps, c.Meta.NumCTAs, c.Meta.Shared, c.file(metaExt)).Fix(remake)
		return
	}
	d := description{checker: c, out: out, seen: map[string]bool{}, ext: launchExt}
	for _, a := range m.Args {
		d.add(artefact.SidecarParam{Name: a.Name, Type: a.Type, DivisibleBy: a.DivisibleBy}, a.Name, a.Name)
	}
	if d.finish(); !c.ok() {
		return
	}
	out.positions = map[string]int{}
	for _, a := range m.Args {
		out.positions[a.Name] = a.Index
	}
	out.unnamed = map[int]Constant{}
	for _, i := range slices.Sorted(maps.Keys(m.Constants)) {
		constant := m.Constants[i]
		v, err := constantValue(&constant)
		if err != nil {
			c.fault(launchExt, "constant %d: %v", i, err)
			continue
		}
		out.unnamed[i] = Constant{fmt.Sprintf("#%d", i), v}
	}
}

// foldedAt is what an argument at a position of the source was, where the image
// tells: it is there a constant.
func (c compiled) foldedAt(position int) (fold Fold, value Constant, ok bool) {
	value, ok = c.unnamed[position]
	switch value.Value {
	case int64(1):
		fold = FoldOne
	case nil:
		fold = FoldNull
	}
	return fold, value, ok
}

// constantList is all that is known of an image's constants.
func (c compiled) constantList() []Constant {
	list := slices.Clone(c.constants)
	for _, i := range slices.Sorted(maps.Keys(c.unnamed)) {
		list = append(list, c.unnamed[i])
	}
	return list
}
