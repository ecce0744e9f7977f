package model

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Options settle what images alone leave open. Each must have a say.
type Options struct {
	Folds      map[string]Fold      // KERNEL.PARAM -> what the argument was where the code of an image lacks it
	Signatures map[string]Signature // KERNEL -> its arguments, where no file tells their names and types
	Suffix     bool                 // make a kernel of each image of those that a launch cannot tell apart; else refuse them
}

// Build says what images mean: the kernels they make up, sorted by name. All
// that they state is checked against each other; every disagreement is an
// error, and all of them are reported at once. What is right but probably not
// meant is a warning. The result does not depend on the order of images, and
// shares the bytes of their code.
func Build(images []*artefact.Image, o Options) (kernels []Kernel, warnings []string, err error) {
	images = slices.Clone(images)
	slices.SortStableFunc(images, func(a, b *artefact.Image) int { return strings.Compare(a.Path, b.Path) })

	g := grouper{Options: o, usedFolds: map[string]bool{}}
	byKernel, nameless := map[string][]compiled{}, map[string][]compiled{}
	type result struct {
		compiled
		warnings []string
		err      error
	}
	results := make([]result, len(images))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, im := range images {
		group.Go(func() error {
			r := &results[i]
			r.compiled, r.warnings, r.err = compile(im, o)
			return nil
		})
	}
	group.Wait() // the errors are in results
	for _, r := range results {
		g.warnings = append(g.warnings, r.warnings...)
		switch {
		case r.untold != nil:
			nameless[r.kernel] = append(nameless[r.kernel], r.compiled)
			continue
		case r.err != nil:
			g.faults.Add(r.err)
			continue
		}
		byKernel[r.kernel] = append(byKernel[r.kernel], r.compiled)
	}
	for _, all := range nameless {
		g.faults.Add(namelessKernel(all))
	}
	readAll := g.faults.Err() == nil
	for _, all := range byKernel {
		kernels = append(kernels, g.group(all)...)
	}
	if readAll {
		g.reportUnused(byKernel)
	}
	slices.Sort(g.warnings)
	if err := g.faults.Err(); err != nil {
		return nil, g.warnings, err
	}
	slices.SortFunc(kernels, func(a, b Kernel) int { return strings.Compare(a.ID(), b.ID()) })
	return kernels, g.warnings, nil
}

// reportUnused refuses options that changed nothing: they are misspelt, or
// their reason is gone.
func (g *grouper) reportUnused(byKernel map[string][]compiled) {
	there := "there is " + strings.Join(slices.Sorted(maps.Keys(byKernel)), ", ")
	for option, fold := range g.Folds {
		if g.usedFolds[option] {
			continue
		}
		kernel, name, _ := strings.Cut(option, ".")
		fault := func(format string, args ...any) *diag.Error {
			e := diag.Errorf("", "--fold %s=%s: "+format, append([]any{option, fold}, args...)...)
			g.faults.Add(e)
			return e
		}
		all := byKernel[kernel]
		has := func(c compiled) bool {
			return slices.ContainsFunc(c.params, func(p param) bool { return p.Name == name })
		}
		switch {
		case all == nil:
			fault("no kernel is named %q", kernel).Fix("%s", there)
		case slices.ContainsFunc(all, has):
			fault("every image of %s takes %s or says itself why not", kernel, name).Fix("remove the option")
		default:
			fault("no image of %s takes %q", kernel, name).Fix("name an argument that some of its images take")
		}
	}
	for kernel, s := range g.Signatures {
		all := byKernel[kernel]
		switch {
		case all == nil:
			g.faults.Add(diag.Errorf("", "%s: no kernel is named %q", s.option(kernel), kernel).Fix("%s", there))
		case !slices.ContainsFunc(all, func(c compiled) bool { return c.signed }):
			g.faults.Add(diag.Errorf("", "%s: the kernel's files tell its arguments", s.option(kernel)).Fix("remove the option"))
		}
	}
}
