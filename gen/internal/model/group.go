package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// grouper makes kernels of images.
type grouper struct {
	Options
	usedFolds map[string]bool
	warnings  []string
	faults    diag.List
}

// group makes kernels of all images of one name, which are sorted by path: one
// where a launch can tell them apart, else by Options.
func (g *grouper) group(all []compiled) []Kernel {
	classes, err := g.divide(all)
	if err != nil {
		if g.Suffix && len(all) > 1 {
			return g.each(all)
		}
		g.faults.Add(err)
		return nil
	}
	var kernels []Kernel
	apart, refused := false, false
	for _, c := range classes {
		k, err := kernelOf(c)
		switch {
		case err == nil:
			g.warnings = append(g.warnings, trust(k, c.images)...)
			kernels = append(kernels, k)
		case g.Suffix && len(c.images) > 1:
			kernels = append(kernels, g.each(c.images)...)
			apart = true
		default:
			g.faults.Add(err)
			refused = true
		}
	}
	if len(all[0].types) == 0 || apart || refused {
		return kernels
	}
	k, err := generic(classes, kernels)
	if err != nil {
		g.faults.Add(err)
		return nil
	}
	return []Kernel{k}
}

// divide gives the images the same parameters and divides them by their types.
func (g *grouper) divide(all []compiled) ([]class, error) {
	var faults diag.List
	for _, c := range all[1:] {
		faults.Add(agree(all[0], c))
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	m := merger{kernel: all[0].kernel, folds: g.Folds, used: g.usedFolds}
	merged, err := m.merge(all)
	if err != nil {
		return nil, err
	}
	return classes(merged), nil
}

// each makes a kernel of each image by itself.
func (g *grouper) each(all []compiled) []Kernel {
	named, err := suffixes(all)
	if err != nil {
		g.faults.Add(err)
		return nil
	}
	var kernels []Kernel
	for _, c := range named {
		k, err := kernelOf(c)
		g.faults.Add(err)
		kernels = append(kernels, k)
	}
	return kernels
}

// kernelOf is the kernel that the images of one class make up.
func kernelOf(c class) (Kernel, error) {
	var faults diag.List
	images := widen(c.images)
	first := images[0]
	k := Kernel{Name: first.kernel, Suffix: c.suffix, Doc: first.doc, Triton: tritonVersions(images)}
	if len(first.sources) > 0 {
		k.Source = first.sources[0].Path
	}
	var err error
	k.Params, err = mergeParams(images)
	faults.Add(err)
	for _, e := range first.grid {
		k.Grid = append(k.Grid, e.String())
	}
	configs, err := configurations(images)
	if err != nil {
		return k, err
	}
	for i, c := range configs {
		of, err := variants(c.images)
		faults.Add(err)
		for j := range of {
			of[j].Config = i
		}
		k.Variants = append(k.Variants, of...)
		if len(configs) > 1 || k.Grid != nil {
			grid, err := c.grid()
			faults.Add(err)
			k.Configs = append(k.Configs, Config{c.name, grid})
		}
	}
	if len(configs) > 1 {
		k.Key = first.key
		if k.Grid == nil {
			faults.Add(oneGrid(configs))
		}
	}
	k.Constants = sharedConstants(k.Variants)
	return k, faults.Err()
}

// mergeParams are the parameters on which all images agree. Whether a pointer
// may be null is up to those that take it.
func mergeParams(all []compiled) ([]Param, error) {
	var faults diag.List
	var params []Param
	for i, p := range all[0].params {
		merged := Param{Name: p.Name, Type: p.Type, TypeVar: p.TypeVar}
		origin := ""
		for _, c := range all {
			q := c.params[i]
			switch {
			case !q.passed():
			case origin == "":
				origin, merged.Nullable = c.image.Origin, q.Nullable
			case merged.Nullable != q.Nullable:
				faults.Add(diag.Errorf(c.image.Origin, "%s: %s is nullable either here or in %s, but not in both", c.kernel, p.Name, origin).
					Fix(sameSource))
			}
		}
		params = append(params, merged)
	}
	return params, faults.Err()
}

// sharedConstants are those that every variant has.
func sharedConstants(variants []Variant) []Constant {
	var shared []Constant
	for _, c := range variants[0].Constants {
		everywhere := true
		for _, v := range variants[1:] {
			everywhere = everywhere && slices.ContainsFunc(v.Constants, c.same)
		}
		if everywhere {
			shared = append(shared, c)
		}
	}
	return shared
}

// trust warns of what nobody can check: images without a description may have
// been compiled with different constants, and look alike.
func trust(k Kernel, all []compiled) []string {
	images := 0
	var warps []string
	for _, v := range k.Variants {
		images += len(v.Images)
		for _, im := range v.Images {
			if n := fmt.Sprint(im.NumWarps); !slices.Contains(warps, n) {
				warps = append(warps, n)
			}
		}
	}
	told := func(c compiled) bool { return c.described || c.unnamed != nil }
	if images < 2 || !slices.ContainsFunc(all, func(c compiled) bool { return !told(c) }) {
		return nil
	}
	text := fmt.Sprintf("%s: its %d images do not tell their compile-time constants; that those are the same is taken on trust; "+
		"a NAME%s beside each would tell", k.ID(), images, sidecarExt)
	if len(warps) > 1 {
		text = fmt.Sprintf("%s: its %d images do not tell their compile-time constants, but have %s warps: if they were tuned apart, "+
			"one grid does not suit all; a NAME%s beside each would tell", k.ID(), images, strings.Join(warps, " and "), sidecarExt)
	}
	return []string{text}
}

// tritonVersions are the versions that made the images. They may differ: each
// image states its own way of being launched.
func tritonVersions(all []compiled) string {
	var versions []string
	for _, c := range all {
		if c.triton != "" {
			versions = append(versions, c.triton)
		}
	}
	slices.Sort(versions)
	return strings.Join(slices.Compact(versions), ", ")
}
