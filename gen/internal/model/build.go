package model

import (
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Build says what images mean: the kernels they make up, sorted by name. All
// that they state is checked against each other; every disagreement is an
// error, and all of them are reported at once. What is right but probably not
// meant is a warning. The result does not depend on the order of images, and
// shares the bytes of their code.
func Build(images []*artefact.Image) (kernels []Kernel, warnings []string, err error) {
	images = slices.Clone(images)
	slices.SortStableFunc(images, func(a, b *artefact.Image) int { return strings.Compare(a.Path, b.Path) })

	var faults diag.List
	byKernel := map[string][]compiled{}
	for _, im := range images {
		c, warned, err := compile(im)
		warnings = append(warnings, warned...)
		if err != nil {
			faults.Add(err)
			continue
		}
		byKernel[c.kernel] = append(byKernel[c.kernel], c)
	}
	for _, all := range byKernel {
		k, warned, err := group(all)
		warnings = append(warnings, warned...)
		faults.Add(err)
		kernels = append(kernels, k)
	}
	slices.Sort(warnings)
	if err := faults.Err(); err != nil {
		return nil, warnings, err
	}
	slices.SortFunc(kernels, func(a, b Kernel) int { return strings.Compare(a.Name, b.Name) })
	return kernels, warnings, nil
}
