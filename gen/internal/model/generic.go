package model

import (
	"slices"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// generic makes one kernel of those that were compiled of it for several element
// types, a class of images each.
func generic(classes []class, kernels []Kernel) (Kernel, error) {
	var faults diag.List
	first := kernels[0]
	k := Kernel{Name: first.Name, Doc: first.Doc, Source: first.Source, Grid: first.Grid, Key: first.Key, Instances: kernels}
	var images []compiled
	var variants []Variant
	for i, c := range classes {
		images = append(images, c.images...)
		variants = append(variants, kernels[i].Variants...)
		for _, t := range c.images[0].types {
			kernels[i].Types = append(kernels[i].Types, t.Type)
		}
		faults.Add(alikeButForTypes(classes[0], c, first, kernels[i]))
		for j, earlier := range classes[:i] {
			if earlier.suffix == c.suffix {
				faults.Add(diag.Errorf(c.images[0].image.Origin+sidecarExt, "%s: its type variables are those of %s, but %s has another type", k.Name,
					earlier.images[0].image.Origin, differing(kernels[j], kernels[i])).Fix(sameSource))
			}
		}
	}
	if err := faults.Err(); err != nil {
		return k, err
	}
	for i, t := range classes[0].images[0].types {
		v := TypeVar{Name: t.Name}
		for _, c := range classes {
			if name := c.images[0].types[i].Type; !slices.Contains(v.Types, name) {
				v.Types = append(v.Types, name)
			}
		}
		k.TypeVars = append(k.TypeVars, v)
	}
	k.Params = slices.Clone(first.Params)
	for i := range k.Params {
		for _, in := range kernels {
			if block := &k.Params[i].Type.Block; in.Params[i].Type.Block != *block {
				*block = ""
			}
		}
	}
	k.Triton = tritonVersions(images)
	k.Constants = sharedConstants(variants)
	for _, c := range first.Configs {
		k.Configs = append(k.Configs, Config{Name: c.Name})
	}
	return k, nil
}

// alikeButForTypes checks that two kernels of one source differ in nothing that
// a Launch function shows but what type variables stand for.
func alikeButForTypes(a, b class, k, l Kernel) error {
	at := b.images[0].image.Origin + sidecarExt
	other := a.images[0].image.Origin
	if !slices.EqualFunc(k.Configs, l.Configs, func(c, d Config) bool { return c.Name == d.Name }) {
		return diag.Errorf(at, "%s: %s has other configurations", k.Name, other).Fix(sameSource)
	}
	for i, p := range k.Params {
		q := l.Params[i]
		same := p
		same.Type.Const, same.Type.Block = q.Type.Const, q.Type.Block
		if p.TypeVar != "" {
			same.Type.Elem = q.Type.Elem
		}
		if same != q {
			return diag.Errorf(at, "%s: %s is %s, but %s in %s, and no type variable says so", k.Name, p.Name, paramText(q), paramText(p), other).Fix(sameSource)
		}
	}
	return nil
}

// paramText is a parameter's type for messages.
func paramText(p Param) string {
	text := p.Type.String()
	if p.TypeVar != "" {
		text += " of type variable " + p.TypeVar
	}
	if p.Nullable {
		text += " that may be null"
	}
	return text
}

// differing names the first parameter whose type differs.
func differing(k, l Kernel) string {
	for i, p := range k.Params {
		if p.Type != l.Params[i].Type {
			return p.Name
		}
	}
	return "one of them"
}
