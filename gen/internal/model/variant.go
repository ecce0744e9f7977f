package model

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// variants sorts the images of one configuration into variants by their guards,
// in the order of dispatch.
func variants(all []compiled) ([]Variant, error) {
	var alike [][]compiled
	for _, c := range all {
		i := slices.IndexFunc(alike, func(same []compiled) bool { return slices.Equal(same[0].guards(), c.guards()) })
		if i < 0 {
			i = len(alike)
			alike = append(alike, nil)
		}
		alike[i] = append(alike[i], c)
	}
	slices.SortFunc(alike, func(a, b []compiled) int { return compareDispatch(a, b, narrowed(all)) })
	var faults diag.List
	var out []Variant
	for _, same := range alike {
		images, err := imagesOf(same)
		faults.Add(err)
		out = append(out, Variant{Guards: same[0].guards(), Constants: same[0].constants, Images: images})
	}
	return out, faults.Err()
}

// narrowed reports for each parameter whether an image is passed it in 32 bits of
// its 64.
func narrowed(all []compiled) []bool {
	narrow := make([]bool, len(all[0].params))
	for _, c := range all {
		for i, p := range c.params {
			narrow[i] = narrow[i] || p.narrow
		}
	}
	return narrow
}

// compareDispatch is the order of dispatch, as Variant describes it.
func compareDispatch(c, d []compiled, narrowed []bool) int {
	a, b := c[0].guards(), d[0].guards()
	nulls := func(gs []Guard) (n int) {
		for _, g := range gs {
			if g.Is == Null {
				n++
			}
		}
		return n
	}
	promises := func(gs []Guard) (n int) {
		for _, g := range gs {
			n++
			if g.Is == EqualTo1 && narrowed[g.Param] {
				n++ // 1 fits 32 bits
			}
		}
		return n
	}
	return cmp.Or(
		cmp.Compare(nulls(b), nulls(a)),
		cmp.Compare(promises(b), promises(a)),
		cmp.Compare(firstOrder(c), firstOrder(d)),
		slices.CompareFunc(a, b, func(g, h Guard) int {
			return cmp.Or(cmp.Compare(g.Param, h.Param), cmp.Compare(g.Is, h.Is))
		}),
	)
}

// firstOrder is the first place that an image of images has in the kernel's
// description.
func firstOrder(images []compiled) int {
	return slices.MinFunc(images, func(a, b compiled) int { return cmp.Compare(a.order, b.order) }).order
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
	slices.SortStableFunc(distinct, func(a, b compiled) int { return compareImages(a.image, b.image) })
	if rivals := rivals(distinct); rivals != nil {
		return nil, duplicates(rivals)
	}
	var images []Image
	for _, c := range distinct {
		if !sameConstants(c.constantList(), distinct[0].constantList()) {
			return nil, otherConstants(distinct)
		}
		images = append(images, c.image)
	}
	return images, nil
}

// rivals are those images, sorted by target, that share theirs with others.
func rivals(sorted []compiled) []compiled {
	var out []compiled
	for i, c := range sorted {
		shares := func(j int) bool {
			return j >= 0 && j < len(sorted) && compareImages(c.image, sorted[j].image) == 0
		}
		if shares(i-1) || shares(i+1) {
			out = append(out, c)
		}
	}
	return out
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
