package model

import (
	"fmt"
	"slices"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/internal/gridexpr"
)

// agree checks that two images of one name can be of one kernel. Which
// parameters they have is merge's business.
func agree(a, b compiled) error {
	other := a.image.Origin
	at := func(format string, args ...any) *diag.Error {
		return diag.Errorf(b.image.Origin, "%s: %s", b.kernel, fmt.Sprintf(format, args...))
	}
	switch {
	case a.described && !b.described:
		return at("has no %s file, but %s has", sidecarExt, other).Fix("give one for each image of a kernel or for none")
	case b.described && !a.described:
		return at("has a %s file, but %s has none", sidecarExt, other).Fix("give one for each image of a kernel or for none")
	case !slices.Equal(a.sources, b.sources):
		return at("is compiled from other source files, or another state of them, than %s", other).Fix(sameSource)
	case !slices.EqualFunc(a.grid, b.grid, func(x, y gridexpr.Expr) bool { return x.String() == y.String() }):
		return at("declares another grid than %s", other).Fix(sameSource)
	case !slices.Equal(a.key, b.key):
		return at("has another key than %s", other).Fix(sameSource)
	case (a.config == nil) != (b.config == nil):
		return at("either it or %s is one of several configurations, but not both", other).Fix(sameSource)
	case !slices.EqualFunc(a.types, b.types, func(x, y artefact.SidecarType) bool { return x.Name == y.Name }):
		return at("has other type variables than %s", other).Fix(sameSource)
	}
	return nil
}

// sameSource is the remedy where images of one name speak of different kernels.
const sameSource = "recompile both from the same source, or give one of them"
