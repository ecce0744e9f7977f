package gen

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/generated"
	"github.com/kerngen/kerngen/gen/internal/inspect"
)

// Report is what [Inspect] found: facts of compiled images, also of those that
// Generate would refuse.
type Report = inspect.Report

// Inspect reports what paths hold. A path is as in [Config], or a folder that
// Generate wrote or one of its Go files.
func Inspect(paths []string) (Report, error) {
	report := Report{Schema: inspect.Schema}
	var faults diag.List
	var artefacts []string // in a row, to be read at once
	read := func() {
		if len(artefacts) == 0 {
			return
		}
		images, err := artefact.Read(artefacts)
		faults.Add(err)
		report.Kernels = append(report.Kernels, inspect.Images(images)...)
		artefacts = nil
	}
	for _, path := range paths {
		files := generatedIn(path)
		if len(files) == 0 {
			artefacts = append(artefacts, path)
			continue
		}
		read()
		for _, name := range files {
			kernels, err := inspect.Package(name)
			faults.Add(err)
			report.Kernels = append(report.Kernels, kernels...)
		}
	}
	read()
	return report, faults.Err()
}

// generatedIn lists the Go files that Generate wrote: path itself, or those in
// that folder.
func generatedIn(path string) []string {
	candidates := []string{path}
	if entries, err := os.ReadDir(path); err == nil {
		candidates = nil
		for _, e := range entries {
			candidates = append(candidates, filepath.Join(path, e.Name()))
		}
	}
	return slices.DeleteFunc(candidates, func(name string) bool {
		if !strings.HasSuffix(name, generated.GoSuffix) {
			return true
		}
		content, err := os.ReadFile(name)
		return err != nil || !generated.IsOwn(filepath.Base(name), content)
	})
}
