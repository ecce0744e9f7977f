package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// group makes one kernel of all images of its name, which are sorted by path.
func group(all []compiled) (Kernel, []string, error) {
	var faults diag.List
	first := all[0]
	k := Kernel{Name: first.kernel, Doc: first.doc, Triton: tritonVersions(all)}
	if len(first.sources) > 0 {
		k.Source = first.sources[0].Path
	}
	for _, c := range all[1:] {
		faults.Add(agree(first, c))
	}
	if err := faults.Err(); err != nil {
		return Kernel{}, nil, err
	}
	var err error
	k.Params, err = mergeParams(all)
	faults.Add(err)
	k.Variants, err = variants(all)
	faults.Add(err)
	k.Constants = sharedConstants(k.Variants)
	return k, trust(k, first.described), faults.Err()
}

// mergeParams are the parameters on which all images agree. Whether a pointer
// may be null is up to those that take it.
func mergeParams(all []compiled) ([]Param, error) {
	var faults diag.List
	var params []Param
	for i, p := range all[0].params {
		merged := Param{Name: p.Name, Type: p.Type}
		origin := ""
		for _, c := range all {
			q := c.params[i]
			switch {
			case !q.passed():
			case origin == "":
				origin, merged.Nullable = c.image.Origin, q.Nullable
			case merged.Nullable != q.Nullable:
				faults.Add(diag.Errorf(c.image.Origin, "%s: %s is nullable either here or in %s, but not in both", c.kernel, p.Name, origin).
					Fix("recompile both from the same source, or give one of them"))
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
			everywhere = everywhere && slices.Contains(v.Constants, c)
		}
		if everywhere {
			shared = append(shared, c)
		}
	}
	return shared
}

// trust warns of what nobody can check: images without a description may have
// been compiled with different constants, and look alike.
func trust(k Kernel, described bool) []string {
	images := 0
	for _, v := range k.Variants {
		images += len(v.Images)
	}
	if images < 2 || described {
		return nil
	}
	return []string{fmt.Sprintf("%s: its %d images do not tell their compile-time constants; that those are the same is taken on trust; "+
		"a NAME%s beside each would tell", k.Name, images, sidecarExt)}
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
