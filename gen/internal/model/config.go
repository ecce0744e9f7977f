package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/internal/gridexpr"
)

// declaredGrid reads the sidecar's grid and checks that what it names are
// integers.
func (c *checker) declaredGrid(out *compiled) []gridexpr.Expr {
	var exprs []gridexpr.Expr
	for i, text := range c.Sidecar.Grid {
		e, err := gridexpr.Parse(text)
		if err != nil {
			c.fault(sidecarExt, "grid[%d] %q: %v", i, text, err)
			continue
		}
		for _, name := range e.Names() {
			p := slices.IndexFunc(out.params, func(p param) bool { return p.Name == name })
			k := slices.IndexFunc(out.constants, func(k Constant) bool { return k.Name == name })
			switch {
			case p >= 0 && !out.params[p].Type.isInteger():
				c.fault(sidecarExt, "grid[%d] %q names %s, which is %s, no integer", i, text, name, out.params[p].Type)
			case p >= 0:
			case k < 0:
				c.fault(sidecarExt, "grid[%d] %q names %s, which is no parameter", i, text, name)
			default:
				if _, ok := out.constants[k].Value.(int64); !ok {
					c.fault(sidecarExt, "grid[%d] %q names %s, which is %s, no integer", i, text, name, out.constants[k].text())
				}
			}
		}
		exprs = append(exprs, e)
	}
	return exprs
}

// configuration is the images of one configuration.
type configuration struct {
	index  int
	name   string
	deflt  bool
	images []compiled
}

// configurations divides the images of a class: the default first, the others in
// their order.
func configurations(all []compiled) ([]configuration, error) {
	var faults diag.List
	var out []configuration
	for _, c := range all {
		if c.config == nil { // so are all
			return []configuration{{images: all}}, nil
		}
		at := slices.IndexFunc(out, func(o configuration) bool { return o.index == c.config.Index || o.name == c.config.Name })
		if at < 0 {
			at = len(out)
			out = append(out, configuration{index: c.config.Index, name: c.config.Name, deflt: c.config.Default})
		}
		o := &out[at]
		if o.index != c.config.Index || o.name != c.config.Name || o.deflt != c.config.Default {
			faults.Add(diag.Errorf(c.image.Origin+sidecarExt, "%s: configuration %d is %s, but %d is %s in %s", c.kernel,
				c.config.Index, configText(c.config.Name, c.config.Default), o.index, configText(o.name, o.deflt), o.images[0].image.Origin).Fix(sameSource))
			continue
		}
		o.images = append(o.images, c)
	}
	slices.SortFunc(out, func(a, b configuration) int {
		return cmp.Or(-compareBool(a.deflt, b.deflt), cmp.Compare(a.index, b.index))
	})
	if len(out) > 1 && out[1].deflt {
		faults.Add(diag.Errorf(out[1].images[0].image.Origin+sidecarExt, "%s: configuration %d is the default, but so is %d in %s", all[0].kernel,
			out[1].index, out[0].index, out[0].images[0].image.Origin).Fix(sameSource))
	}
	return out, faults.Err()
}

func configText(name string, deflt bool) string {
	if deflt {
		return fmt.Sprintf("%q, the default", name)
	}
	return fmt.Sprintf("%q", name)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// grid is the declared grid with the configuration's constants in it.
func (c configuration) grid() ([]string, error) {
	var faults diag.List
	var dims []string
	first := c.images[0]
	for _, e := range first.grid {
		for _, name := range e.Names() {
			here, constant := first.constant(name)
			for _, other := range c.images[1:] {
				if there, _ := other.constant(name); constant && !here.same(there) {
					faults.Add(diag.Errorf(other.image.Origin+sidecarExt, "%s: the grid names %s, which is %s, but %s in %s", other.kernel,
						name, there.text(), here.text(), first.image.Origin).Fix("give configurations of their own to those that differ"))
				}
			}
		}
		folded, err := e.Fold(func(name string) (int64, bool) {
			k, _ := first.constant(name)
			v, ok := k.Value.(int64)
			return v, ok
		})
		if err != nil {
			faults.Add(diag.Errorf(first.image.Origin+sidecarExt, "%s: grid %q: %v", first.kernel, e, err).Fix("correct the grid or the constants"))
		}
		dims = append(dims, folded.String())
	}
	return dims, faults.Err()
}

// constant is the constant of that name.
func (c compiled) constant(name string) (Constant, bool) {
	i := slices.IndexFunc(c.constants, func(k Constant) bool { return k.Name == name })
	if i < 0 {
		return Constant{}, false
	}
	return c.constants[i], true
}

// oneGrid refuses configurations that may want a grid each, of which the caller
// could give one only.
func oneGrid(configs []configuration) error {
	first := configs[0].images[0]
	var differing []string
	for _, k := range first.constants {
		for _, c := range configs[1:] {
			if other, _ := c.images[0].constant(k.Name); !k.same(other) {
				differing = append(differing, k.Name)
				break
			}
		}
	}
	if differing == nil {
		return nil
	}
	return diag.Errorf(first.image.Origin+sidecarExt, "%s: its configurations differ in %s, so each may need another grid", first.kernel, strings.Join(differing, ", ")).
		Fix("declare its grid, such as [\"cdiv(n, %s)\"]", differing[0])
}
