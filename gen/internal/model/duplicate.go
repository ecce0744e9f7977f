package model

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// duplicates is the fault of images, sorted by target, that nothing at a launch
// tells apart.
func duplicates(same []compiled) error {
	var counts []string
	for rest := same; len(rest) > 0; {
		n := 1
		for n < len(rest) && compareImages(rest[n].image, rest[0].image) == 0 {
			n++
		}
		count := fmt.Sprintf("%d for %s", n, rest[0].image.Target)
		if rest[0].image.Kind == PTX {
			count += " as PTX"
		}
		counts = append(counts, count)
		rest = rest[n:]
	}
	e := diag.Errorf("", "%s: nothing at a launch tells these images apart: %s", same[0].kernel, strings.Join(counts, ", ")).Fix(apart)
	if _, err := suffixes(same); err != nil {
		e.Fix("give one of them")
	}
	if len(counts) == 1 && !slices.ContainsFunc(same, func(c compiled) bool { return !slices.Equal(facts(c), facts(same[0])) }) {
		e.Fault += "; they differ in their code only"
	}
	return listFacts(e, same)
}

// otherConstants is the fault of images for different targets that one Launch,
// with one grid, cannot stand for.
func otherConstants(all []compiled) error {
	e := diag.Errorf("", "%s: its images for different targets were compiled with different constants", all[0].kernel).
		Fix("compile all with the same, or %s", apart)
	return listFacts(e, all)
}

// listFacts lists the images, each with what tells it from the others for a
// reader, and the name that a suffix would give it.
func listFacts(e *diag.Error, same []compiled) error {
	names := suffixNames(same)
	rows := make([][]fact, len(same))
	for i, c := range same {
		rows[i] = facts(c)
	}
	for i, row := range rows {
		var differing []string
		for n, f := range row {
			if f.always || slices.ContainsFunc(rows, func(other []fact) bool { return other[n].value != f.value }) {
				differing = append(differing, f.name+" "+f.value)
			}
		}
		e.List = append(e.List, fmt.Sprintf("%s: %s; as %s_%s", same[i].image.Origin, strings.Join(differing, ", "), same[i].kernel, names[i]))
	}
	return e
}

// fact is something by which a user may know an image.
type fact struct {
	name, value string
	always      bool // told even where it is the same for all
}

func facts(c compiled) []fact {
	im := c.image
	list := []fact{
		{"num_warps", fmt.Sprint(im.NumWarps), true},
		{"num_ctas", fmt.Sprint(im.Cluster[0] * im.Cluster[1] * im.Cluster[2]), true},
		{"shared", fmt.Sprint(im.Shared), true},
		{"target", im.Target.String(), false},
		{"triton", c.triton, false},
		{"symbol", im.Symbol, false},
		{"hidden parameters", fmt.Sprint(im.Hidden), false},
		{"global scratch", fmt.Sprint(im.GlobalScratch.Size), false},
		{"profile scratch", fmt.Sprint(im.ProfileScratch.Size), false},
		{"cooperative", fmt.Sprint(im.Cooperative), false},
		{"pdl", fmt.Sprint(im.PDL), false},
		{"code bytes", fmt.Sprint(len(im.Code)), false},
	}
	var constants []string
	for _, k := range c.constantList() {
		constants = append(constants, k.Name+"="+k.text())
	}
	list = append(list, fact{"constants", cmp.Or(strings.Join(constants, " "), "none"), false})
	return list
}

// suffixLength is how many hexadecimal digits of its code's SHA-256 tell an
// image from others of its name.
const suffixLength = 6

// suffixNames names each image by its code alone, so that the name stays
// whatever other images there are; longer where two would share it.
func suffixNames(all []compiled) []string {
	names := make([]string, len(all))
	sums := make([]string, len(all))
	for i, c := range all {
		sums[i] = fmt.Sprintf("%x", sha256.Sum256(c.image.Code))
	}
	for i, sum := range sums {
		n := suffixLength
		for _, other := range sums {
			for other != sum && n < len(sum) && other[:n] == sum[:n] {
				n++
			}
		}
		names[i] = sum[:n]
	}
	return names
}

// suffixes makes a class of each image. Images that differ in nothing but
// where they were found are one.
func suffixes(all []compiled) ([]class, error) {
	var faults diag.List
	var out []class
	for i, name := range suffixNames(all) {
		c := all[i]
		at := slices.IndexFunc(out, func(o class) bool { return o.suffix == name })
		switch {
		case at < 0:
			out = append(out, class{name, []compiled{c}})
		case !alike(out[at].images[0], c):
			faults.Add(diag.Errorf(c.image.Origin, "%s: its code is that of %s, but is launched in another way", c.kernel, out[at].images[0].image.Origin).
				Fix("give one of them"))
		}
	}
	return out, faults.Err()
}

// alike reports whether two images differ in nothing but where they were found.
func alike(a, b compiled) bool {
	return identical(a.image, b.image) && slices.Equal(a.params, b.params) && sameConstants(a.constantList(), b.constantList())
}
