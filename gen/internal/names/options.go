package names

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/model"
)

// stems answers which name a kernel or parameter goes by, and remembers which
// options had a say.
type stems struct {
	names, renames map[string]string
	used           map[string]bool // options, as the user writes them
}

// Validate refuses options that no kernel could follow.
func (o Options) Validate() error {
	var faults diag.List
	for _, option := range []struct {
		flag   string
		values map[string]string
	}{{"--name", o.Names}, {"--rename", o.Renames}} {
		for from, to := range option.values {
			if !isName(to) {
				faults.Add(diag.Errorf("", "%s %s=%s: %q is not a name", option.flag, from, to, to).
					Fix("use letters, digits and underscores, a letter first"))
			}
		}
	}
	return faults.Err()
}

// isName reports whether s, as a stem, gives Go identifiers that look like it.
func isName(s string) bool {
	for i, r := range s {
		letter := unicode.IsLetter(r) || r == '_' && i > 0
		if !letter && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// kernel prefers the option that names one of several kernels of a name; one
// that names them all leaves them what tells them apart.
func (s *stems) kernel(k *model.Kernel) string {
	if to, ok := s.names[k.ID()]; ok {
		s.used["--name "+k.ID()] = true
		return to
	}
	if to, ok := s.names[k.Name]; ok {
		s.used["--name "+k.Name] = true
		return to + "_" + k.Suffix
	}
	return k.ID()
}

// param prefers the option that names the kernel too.
func (s *stems) param(k *model.Kernel, name string) string {
	for _, from := range []string{k.ID() + "." + name, k.Name + "." + name, name} {
		if to, ok := s.renames[from]; ok {
			s.used["--rename "+from] = true
			return to
		}
	}
	return name
}

func (s *stems) reportUnused(kernels []model.Kernel, faults *diag.List) {
	for _, from := range slices.Sorted(maps.Keys(s.names)) {
		if !s.used["--name "+from] {
			faults.Add(diag.Errorf("", "--name %s=%s: no kernel is named %q", from, s.names[from], from).
				Fix("there is %s", listKernels(kernels)))
		}
	}
	for _, from := range slices.Sorted(maps.Keys(s.renames)) {
		if !s.used["--rename "+from] {
			faults.Add(diag.Errorf("", "--rename %s=%s: no parameter is named %q, or a more exact --rename names each", from, s.renames[from], from).
				Fix("write PARAM or KERNEL.PARAM as in the Python source; kernels: %s", listKernels(kernels)))
		}
	}
}

// listKernels names a few kernels with their parameters.
func listKernels(kernels []model.Kernel) string {
	const most = 4
	var b strings.Builder
	for i, k := range kernels {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(kernels)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		var params []string
		for _, p := range k.Params {
			params = append(params, p.Name)
		}
		for _, c := range k.Constants {
			params = append(params, c.Name)
		}
		fmt.Fprintf(&b, "%s(%s)", k.ID(), strings.Join(params, ", "))
	}
	return b.String()
}
