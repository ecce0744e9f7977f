package compile

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

//go:embed driver.py
var driver []byte

// oldest is the oldest Triton that the driver knows how to ask.
const oldest = "3.3"

// interpreter is the user's Python: what the caller names, else KERNGEN_PYTHON,
// else the active virtual environment's, else python3.
func interpreter(named string) (string, error) {
	venv := os.Getenv("VIRTUAL_ENV")
	if venv != "" {
		venv = filepath.Join(venv, "bin", "python")
	}
	for _, c := range []struct{ from, name string }{
		{"--python", named}, {"KERNGEN_PYTHON", os.Getenv("KERNGEN_PYTHON")}, {"VIRTUAL_ENV", venv},
	} {
		if c.name == "" {
			continue
		}
		path, err := exec.LookPath(c.name)
		if err != nil {
			return "", diag.Errorf("", "%s names the Python %q, which cannot be run: %v", c.from, c.name, lookFault(err))
		}
		return filepath.Abs(path) // workers run in another folder
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		return "", diag.Errorf("", "no Python: there is no python3 in PATH, and neither --python, KERNGEN_PYTHON nor VIRTUAL_ENV names one").
			Fix("kernels have to be compiled: install Triton %s or later (pip install triton), and activate its environment or name its interpreter with --python or KERNGEN_PYTHON", oldest)
	}
	return filepath.Abs(path)
}

func lookFault(err error) error {
	if e, ok := err.(*exec.Error); ok {
		err = e.Err
	}
	return diag.Bare(err)
}

// otherDistribution reports whether python surely has another Triton than the
// recorded one, without running it: pip keeps each version in a folder of its
// own, below the interpreter's environment. Where none is found there nobody
// knows, and the record is trusted.
func otherDistribution(python, recorded string) bool {
	name, _, ok := strings.Cut(recorded, "-")
	if !ok {
		return false
	}
	env := filepath.Dir(filepath.Dir(python))
	same, _ := filepath.Glob(filepath.Join(escape(env), "lib", "python3*", "site-packages", escape(recorded)))
	others, _ := filepath.Glob(filepath.Join(escape(env), "lib", "python3*", "site-packages", escape(name)+"-*.dist-info"))
	return len(same) == 0 && len(others) > 0
}

var globMeta = regexp.MustCompile(`[*?\[\\]`)

// escape makes s stand for itself in a pattern.
func escape(s string) string { return globMeta.ReplaceAllString(s, `\$0`) }

// environment is what workers see of ours: enough to find Python and its
// packages, and nothing that could change what Triton makes of a kernel.
func environment() []string {
	env := []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"}
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE",
		"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
