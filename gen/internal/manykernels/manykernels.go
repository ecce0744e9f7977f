// Package manykernels makes packages of many kernels, for tests and benchmarks of
// what grows with their number.
package manykernels

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Copy writes n kernels below dir, a folder each: one artefact's files under other
// names. It returns their names, which are as long as the artefact's own, so that
// every offset in the cubin stays right.
func Copy(dir, artefact string, n int) ([]string, error) {
	files, err := os.ReadDir(artefact)
	if err != nil {
		return nil, err
	}
	kernel := ""
	content := map[string][]byte{} // by extension
	for _, f := range files {
		name, ext, _ := strings.Cut(f.Name(), ".")
		if kernel != "" && name != kernel {
			return nil, fmt.Errorf("%s: files of two kernels, %s and %s", artefact, kernel, name)
		}
		kernel = name
		if content[ext], err = os.ReadFile(filepath.Join(artefact, f.Name())); err != nil {
			return nil, err
		}
	}
	digits := len(kernel) - 1
	var names []string
	for i := range n {
		name := fmt.Sprintf("k%0*d", digits, i)
		if len(name) != len(kernel) {
			return nil, fmt.Errorf("%s: %d kernels need longer names than %s", artefact, n, kernel)
		}
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return nil, err
		}
		for ext, c := range content {
			c = bytes.ReplaceAll(c, []byte(kernel), []byte(name))
			if err := os.WriteFile(filepath.Join(folder, name+"."+ext), c, 0o666); err != nil {
				return nil, err
			}
		}
		names = append(names, name)
	}
	return names, nil
}
