package emit

import (
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/model"
)

// choice is a variant as documentation tells it.
type choice struct {
	model.Variant
	where string // the types and the configuration it belongs to; "" where all have it
}

// choices are k's variants to be told: those of one configuration, and for one
// combination of types, where the others have the same, else all.
func choices(k *model.Kernel) []choice {
	groups := [][]choice{}
	kernels := k.Instances
	if k.TypeVars == nil {
		kernels = []model.Kernel{*k}
	}
	for _, in := range kernels {
		config := -1
		for _, v := range in.Variants {
			if v.Config != config {
				config = v.Config
				groups = append(groups, nil)
			}
			last := &groups[len(groups)-1]
			*last = append(*last, choice{v, where(k, in, config)})
		}
	}
	all := slices.Concat(groups...)
	for _, g := range groups {
		if !slices.EqualFunc(g, groups[0], choice.same) {
			return all
		}
	}
	for i := range groups[0] {
		groups[0][i].where = ""
	}
	return groups[0]
}

// where names the instance of k and its configuration, where there are several.
func where(k *model.Kernel, in model.Kernel, config int) string {
	var parts []string
	if k.TypeVars != nil {
		parts = append(parts, strings.Join(in.Types, ", "))
	}
	if len(in.Configs) > 1 {
		parts = append(parts, in.Configs[config].Name)
	}
	return strings.Join(parts, " with ")
}

// same reports whether two variants of different groups are told alike.
func (c choice) same(d choice) bool {
	return slices.Equal(c.Guards, d.Guards) && targets(c.Variant) == targets(d.Variant)
}
