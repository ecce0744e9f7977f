package model

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// variants sorts the images of one class into variants by their guards, in the
// order of dispatch.
func variants(all []compiled) ([]Variant, error) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b compiled) int { return compareGuards(a.guards(), b.guards()) })
	var faults diag.List
	var out []Variant
	for len(all) > 0 {
		guards := all[0].guards()
		n := 1
		for n < len(all) && slices.Equal(all[n].guards(), guards) {
			n++
		}
		images, err := imagesOf(all[:n])
		faults.Add(err)
		out = append(out, Variant{Guards: guards, Constants: all[0].constants, Images: images})
		all = all[n:]
	}
	return out, faults.Err()
}

// compareGuards is the order of dispatch, as Variant describes it.
func compareGuards(a, b []Guard) int {
	nulls := func(gs []Guard) int {
		n := 0
		for _, g := range gs {
			if g.Is == Null {
				n++
			}
		}
		return n
	}
	return cmp.Or(
		cmp.Compare(nulls(b), nulls(a)),
		cmp.Compare(len(b), len(a)),
		slices.CompareFunc(a, b, func(g, h Guard) int {
			return cmp.Or(cmp.Compare(g.Param, h.Param), cmp.Compare(g.Is, h.Is))
		}),
	)
}

// imagesOf are the images of one variant by target. Nothing but the device
// tells them apart at launch, so there can be one for each, and their constants
// are the same.
func imagesOf(same []compiled) ([]Image, error) {
	var distinct []compiled
	for _, c := range same {
		if !slices.ContainsFunc(distinct, func(d compiled) bool { return alike(c, d) }) {
			distinct = append(distinct, c)
		}
	}
	var images []Image
	for _, c := range distinct {
		if slices.ContainsFunc(images, func(im Image) bool { return compareImages(im, c.image) == 0 }) ||
			!sameConstants(c.constantList(), distinct[0].constantList()) {
			return nil, duplicates(distinct)
		}
		images = append(images, c.image)
	}
	slices.SortFunc(images, compareImages)
	return images, nil
}

func compareImages(a, b Image) int {
	return cmp.Or(
		cmp.Compare(a.Target.SM, b.Target.SM),
		cmp.Compare(a.Target.Suffix, b.Target.Suffix),
		cmp.Compare(a.Kind, b.Kind),
	)
}

// identical reports whether two images differ in nothing but where they were
// found.
func identical(a, b Image) bool {
	same := bytes.Equal(a.Code, b.Code)
	a.Code, b.Code = nil, nil
	a.Origin, b.Origin = "", ""
	return same && reflect.DeepEqual(a, b)
}
