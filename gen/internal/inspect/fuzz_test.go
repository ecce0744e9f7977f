package inspect

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// FuzzPackage reads generated files that were changed.
func FuzzPackage(f *testing.F) {
	found, err := filepath.Glob("../../testdata/golden/*/*_kern.go")
	if err != nil || found == nil {
		f.Fatal("no generated files", err)
	}
	for _, name := range found {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		name := filepath.Join(t.TempDir(), "x_kern.go")
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
		kernels, err := Package(name)
		if err != nil && (len(kernels) > 0 || !diag.IsUser(err)) {
			t.Errorf("%d kernels, %v", len(kernels), err)
		}
	})
}
