package gen

import (
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	aot    = "testdata/triton-3.6.0/aot"
	golden = "testdata/golden"
)

// goldens are packages made of real artefacts; emit's tests make more.
var goldens = map[string][]string{
	"add":         {"add.*", "add_nospec.*"},
	"matmul":      {"matmul.*"},
	"matmul_cta2": {"matmul_cta2.*"},
	"opt_none":    {"opt_none.*"},
	"scalars":     {"scalars.*"},
	"tma_host":    {"tma_host.*"},
	"tma_scratch": {"tma_scratch.*"},
	"tuple":       {"tuple.*"},
}

func artefacts(t *testing.T, patterns ...string) []string {
	t.Helper()
	var paths []string
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(aot, p))
		if err != nil || found == nil {
			t.Fatalf("no artefacts match %s: %v", p, err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// configOf is how the golden package name is made.
func configOf(t *testing.T, name string) Config {
	c := Config{Package: name, Dir: filepath.Join(golden, name)}
	switch name {
	case "cache":
		c.Paths, c.Folds = []string{"testdata/triton-3.6.0/jit-cache"}, map[string]string{"add_kernel.n_elements": "1"}
		return c
	case "widths":
		c.Paths = []string{"testdata/triton-3.6.0/widths"}
		return c
	case "tuned": // compiled by testdata/tuned/kerngen.yaml
		c.Paths = []string{"testdata/tuned/artefacts"}
		return c
	}
	c.Paths = artefacts(t, goldens[name]...)
	return c
}

func TestGolden(t *testing.T) {
	for _, name := range append(slices.Sorted(maps.Keys(goldens)), "cache", "tuned", "widths") {
		t.Run(name, func(t *testing.T) {
			c := configOf(t, name)
			result, err := Generate(c)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := Write(c.Dir, result.Files); err != nil {
					t.Fatal(err)
				}
			}
			if diff, err := Check(c.Dir, result.Files); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// The goldens are a module; all its packages must build, satisfy vet, and launch
// on a fake driver.
func TestGoldensBuildAndRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	driver := fakeDriver(t)
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} {
		if out, err := goCommand("testdata", []string{"KERNGEN_LIBCUDA=" + driver}, args...); err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// goCommand runs the go command in dir, without the network.
func goCommand(dir string, env []string, args ...string) (output string, err error) {
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off"), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// fakeDriver builds the fake of libcuda; where there is no C compiler it names a
// file that does not exist, and nothing launches.
func fakeDriver(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path, err := fakecuda.Build(dir)
	if errors.Is(err, exec.ErrNotFound) {
		return filepath.Join(dir, "none.so")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGenerateIsDeterministic(t *testing.T) {
	paths := artefacts(t, "add.*", "add_nospec.*", "matmul.*", "scalars.*")
	first, err := Generate(Config{Package: "p", Paths: paths})
	if err != nil {
		t.Fatal(err)
	}
	moved := t.TempDir()
	var reversed []string
	for i := range paths {
		from := paths[len(paths)-1-i]
		to := filepath.Join(moved, filepath.Base(from))
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		reversed = append(reversed, to)
	}
	second, err := Generate(Config{Package: "p", Paths: reversed})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(first.Files, second.Files); d != "" {
		t.Error(d)
	}
}

func TestGenerateFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"package", Config{Package: "a-b"}, `"a-b" is not a package name; use letters and digits, a letter first`},
		{"keyword", Config{Package: "func"}, `"func" is not a package name; use letters and digits, a letter first`},
		{"name", Config{Package: "p", Paths: artefacts(t, "tuple.sm90"), Names: map[string]string{"x": "y"}},
			`--name x=y: no kernel is named "x"; there is tuple_kernel(`},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := Generate(c.config)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if !IsUserError(err) || result.Files != nil {
				t.Errorf("user's error: %v, files: %d", IsUserError(err), len(result.Files))
			}
		})
	}
}
