package model

import (
	"fmt"
	"slices"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// agree checks that two images of one name are of one kernel.
func agree(a, b compiled) error {
	other := a.image.Origin
	remedy := "give one of them"
	if a.described && b.described {
		remedy = "recompile both from the same source, or give one of them"
	}
	at := func(format string, args ...any) *diag.Error {
		return diag.Errorf(b.image.Origin, "%s: %s", b.kernel, fmt.Sprintf(format, args...)).Fix("%s", remedy)
	}
	switch {
	case a.described && !b.described:
		return at("has no %s file, but %s has", sidecarExt, other).Fix("give one for each image of a kernel or for none")
	case b.described && !a.described:
		return at("has a %s file, but %s has none", sidecarExt, other).Fix("give one for each image of a kernel or for none")
	case !slices.Equal(a.sources, b.sources):
		return at("is compiled from other source files, or another state of them, than %s", other)
	}
	if name, has, lacks := unmatched(a, b); name != "" {
		e := at("%s is a parameter in %s but not in %s", name, has, lacks)
		if !a.described {
			e = at("%s is a parameter in %s but not in %s, whose code has it compiled away for a value that the files do not tell", name, has, lacks).
				Fix("give one of them, or a %s file for each", sidecarExt)
		}
		return e
	}
	for i, p := range a.params {
		q := b.params[i]
		switch {
		case p.Name != q.Name:
			return at("parameter %d is %s, but %s in %s", i, q.Name, p.Name, other)
		case p.Type != q.Type:
			return at("%s is %s, but %s in %s", q.Name, q.Type, p.Type, other)
		}
	}
	return nil
}

// unmatched finds a parameter that only one of two images has, and says which.
func unmatched(a, b compiled) (name, has, lacks string) {
	for _, pair := range [][2]compiled{{a, b}, {b, a}} {
		for _, p := range pair[0].params {
			same := func(q param) bool { return q.Name == p.Name }
			if !slices.ContainsFunc(pair[1].params, same) {
				return p.Name, pair[0].image.Origin, pair[1].image.Origin
			}
		}
	}
	return "", "", ""
}
