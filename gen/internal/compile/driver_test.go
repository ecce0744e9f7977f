package compile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDriverWithoutTriton runs the driver with a Python that has no Triton, a
// broken one, or one that is too old.
func TestDriverWithoutTriton(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	version, err := exec.Command(python, "-c", "import platform; print(platform.python_version())").Output()
	if err != nil {
		t.Skipf("python3: %v", err)
	}
	for name, c := range map[string]struct{ triton, want string }{
		"none":       {"raise ModuleNotFoundError(\"No module named 'triton'\")", "cannot import triton: ModuleNotFoundError: No module named 'triton'"},
		"broken":     {"import no_such_module", "cannot import triton: ModuleNotFoundError: No module named 'no_such_module'"},
		"too old":    {`__version__ = "3.2.0"`, "Triton 3.2.0 at PACKAGES/triton is too old"},
		"no version": {"", "Triton of an unknown version at PACKAGES/triton is too old"},
		"incomplete": {`__version__ = "3.6.0"`, "cannot import triton: ModuleNotFoundError: No module named 'triton.compiler'"},
	} {
		t.Run(name, func(t *testing.T) {
			packages := t.TempDir()
			if err := os.Mkdir(filepath.Join(packages, "triton"), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(packages, "triton", "__init__.py"), []byte(c.triton+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PYTHONPATH", packages)
			w := newWorkplace(t, addYAML, map[string]fakeSource{"vec.py": {}})
			w.python = python
			_, err := w.run(w.options())
			want := "Python PYTHON (" + strings.TrimSpace(string(version)) + "): " + c.want +
				"; kernels need Triton 3.3 or later: pip install triton there, or name another interpreter with --python or KERNGEN_PYTHON"
			if diff := cmp.Diff(want, strings.ReplaceAll(w.fault(err), packages, "PACKAGES")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if files := w.tree(); len(files) > 0 {
				t.Errorf("%v have been left", files)
			}
		})
	}
}
