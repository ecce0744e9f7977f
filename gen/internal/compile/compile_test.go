package compile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/config"
)

func constantOf(v any) *artefact.Constant {
	c := &artefact.Constant{}
	switch v := v.(type) {
	case bool:
		c.Bool = &v
	case int:
		n := int64(v)
		c.Int = &n
	case float64:
		c.Float = &v
	case string:
		c.String = &v
	}
	return c
}

// add is a kernel x_ptr, n, BLOCK: constexpr.
func add() *kernel {
	return &kernel{Doc: "add adds.", Params: []param{{Name: "x_ptr"}, {Name: "n"}, {Name: "BLOCK", Constexpr: true}}}
}

const addYAML = `targets: [sm_90, sm_80, ptx]
packages:
  - name: vec
    out: gen
    kernels:
      - source: vec.py
        kernel: add
        args: {x_ptr: "*fp32:16", n: [i32, "i32:16"], BLOCK: 1024}
`

// stale is what Check finds.
func stale(c *config.Config) error {
	_, err := Check(c)
	return err
}

// workplace is a folder with a configuration, sources and a fake Python.
type workplace struct {
	t      *testing.T
	dir    string
	python string
	log    string
}

func newWorkplace(t *testing.T, yaml string, sources map[string]fakeSource) *workplace {
	t.Helper()
	w := &workplace{t: t, dir: t.TempDir()}
	w.log = filepath.Join(t.TempDir(), "log")
	w.python = fakePython(t, fakeSettings{Triton: "3.6.0", Distribution: "triton-3.6.0.dist-info", Log: w.log})
	w.write(config.FileName, yaml)
	for name, s := range sources {
		w.source(name, s)
	}
	return w
}

func (w *workplace) write(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workplace) source(name string, s fakeSource) {
	w.t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(name, string(data))
}

func (w *workplace) config() *config.Config {
	w.t.Helper()
	c, err := config.Load(filepath.Join(w.dir, config.FileName))
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *workplace) options() Options { return Options{Python: w.python, Workers: 2} }

// run runs and returns what was asked of Python, sorted.
func (w *workplace) run(o Options) ([]string, error) {
	w.t.Helper()
	os.Remove(w.log)
	_, err := Run(context.Background(), w.config(), o)
	data, _ := os.ReadFile(w.log)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(data) == 0 {
		lines = nil
	}
	slices.Sort(lines)
	return lines, err
}

// must runs without a fault and compares what was asked of Python.
func (w *workplace) must(want ...string) {
	w.t.Helper()
	got, err := w.run(w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("asked of Python (-want +got)\n%s", diff)
	}
	if err := stale(w.config()); err != nil {
		w.t.Fatalf("stale after a run: %v", err)
	}
}

// tree is the files below the artefacts' folder with their contents.
func (w *workplace) tree() map[string]string {
	w.t.Helper()
	files := map[string]string{}
	root := filepath.Join(w.dir, "artefacts")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return files
}

// fault is err's text with the workplace's folder cut out.
func (w *workplace) fault(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(err.Error(), filepath.ToSlash(w.dir)+"/", ""), w.python, "PYTHON")
}

var addAll = []string{"compile vec.py add sm_80", "compile vec.py add sm_80", "compile vec.py add sm_90", "compile vec.py add sm_90"}

func TestRun(t *testing.T) {
	w := newWorkplace(t, addYAML, map[string]fakeSource{"vec.py": {Kernels: map[string]*kernel{"add": add()}}})
	packages, err := Run(context.Background(), w.config(), w.options())
	if err != nil {
		t.Fatal(err)
	}
	in := func(folder string) string { return filepath.Join(w.dir, "artefacts", "vec", folder) }
	want := []Package{{Name: "vec", Out: filepath.Join(w.dir, "gen"), Names: map[string]string{}, Renames: map[string]string{}, Paths: []string{
		in("add.n-i32.sm80"), in("add.n-i32.ptx"), in("add.n-i32.sm90"),
		in("add.n-i32-16.sm80"), in("add.n-i32-16.ptx"), in("add.n-i32-16.sm90"),
	}}}
	if diff := cmp.Diff(want, packages); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	files := w.tree()
	if len(files) != 2*(6+4+6)+1 {
		t.Errorf("%d files", len(files))
	}
	for _, gone := range []string{"vec/add.n-i32.ptx/add.cubin", "vec/add.n-i32.ptx/add.source"} {
		if _, ok := files[gone]; ok {
			t.Errorf("%s: a fallback is PTX alone", gone)
		}
	}
	if files["vec/add.n-i32.ptx/add.ptx"] != files["vec/add.n-i32.sm80/add.ptx"] {
		t.Error("the fallback is not the PTX of sm_80")
	}
	wantSidecar := `{
  "schema": 2,
  "kernel": "add",
  "doc": "add adds.",
  "triton": "3.6.0",
  "source": [
    {
      "path": "vec.py",
      "sha256": "` + sum([]byte(readFile(t, filepath.Join(w.dir, "vec.py")))) + `"
    }
  ],
  "params": [
    {
      "name": "x_ptr",
      "type": "*fp32",
      "divisible_by": 16
    },
    {
      "name": "n",
      "type": "i32",
      "divisible_by": 16
    },
    {
      "name": "BLOCK",
      "constant": {
        "int": 1024
      }
    }
  ],
  "order": 1
}
`
	if diff := cmp.Diff(wantSidecar, files["vec/add.n-i32-16.sm90/add.kerngen.json"]); diff != "" {
		t.Errorf("sidecar (-want +got)\n%s", diff)
	}

	// Elsewhere, with one worker, the same bytes.
	other := newWorkplace(t, addYAML, map[string]fakeSource{"vec.py": {Kernels: map[string]*kernel{"add": add()}}})
	if _, err := Run(context.Background(), other.config(), Options{Python: other.python, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, other.tree()); diff != "" {
		t.Errorf("in two folders (-first +second)\n%s", diff)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestIncremental changes one thing after the other.
func TestIncremental(t *testing.T) {
	both := strings.Replace(addYAML, "BLOCK: 1024}\n", "BLOCK: 1024}\n      - {source: other.py, kernel: add2, args: {x_ptr: \"*fp32\", n: i32, BLOCK: 64}}\n", 1)
	sources := map[string]fakeSource{
		"vec.py":   {Imports: []string{"block.py"}, Kernels: map[string]*kernel{"add": add()}},
		"other.py": {Kernels: map[string]*kernel{"add2": add()}},
	}
	w := newWorkplace(t, both, sources)
	w.write("block.py", "one")
	other := []string{"compile other.py add2 sm_80", "compile other.py add2 sm_90"}
	w.must(append(append(slices.Clone(other), addAll...), "inspect other.py add2 sm_0", "inspect vec.py add sm_0")...)
	w.must()
	first := w.tree()

	w.write("block.py", "two")
	if got, want := w.fault(stale(w.config())), "block.py: has changed since the kernels of vec.py were compiled; run kerngen generate"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	w.must(append(slices.Clone(addAll), "inspect vec.py add sm_0")...)
	w.write("block.py", "one")
	w.must(append(slices.Clone(addAll), "inspect vec.py add sm_0")...)
	if diff := cmp.Diff(first, w.tree()); diff != "" {
		t.Errorf("after a change and back (-first +now)\n%s", diff)
	}

	// An option, a constant and a target touch what they belong to.
	w.write(config.FileName, strings.Replace(both, "BLOCK: 64}", "BLOCK: 128}", 1))
	w.must(other...)
	w.write(config.FileName, strings.Replace(both, "BLOCK: 64}", "BLOCK: 128}, options: {num_warps: 8}", 1))
	w.must(other...)
	w.write(config.FileName, strings.Replace(both, "sm_90, ", "", 1))
	w.must("compile other.py add2 sm_80")
	if _, ok := w.tree()["vec/add.n-i32.sm90/add.json"]; ok {
		t.Error("the artefacts of a target that is gone are still there")
	}
	w.write(config.FileName, both)
	w.must("compile other.py add2 sm_90", "compile vec.py add sm_90", "compile vec.py add sm_90")
	if diff := cmp.Diff(first, w.tree()); diff != "" {
		t.Errorf("after changes and back (-first +now)\n%s", diff)
	}

	// What only describes a kernel needs no Python.
	w.write(config.FileName, both+"        doc: Another.\n")
	w.write(config.FileName, strings.Replace(both, "kernel: add\n", "kernel: add\n        doc: Another.\n        grid: [\"cdiv(n, BLOCK)\"]\n", 1))
	w.must()
	if s := w.tree()["vec/add.n-i32.ptx/add.kerngen.json"]; !strings.Contains(s, `"doc": "Another."`) || !strings.Contains(s, "cdiv(n, BLOCK)") {
		t.Errorf("the description has not changed: %s", s)
	}
	w.write(config.FileName, both)
	w.must()
	if diff := cmp.Diff(first, w.tree()); diff != "" {
		t.Errorf("after other descriptions and back (-first +now)\n%s", diff)
	}

	// Artefacts that are not those that were compiled.
	cubin := filepath.Join(w.dir, "artefacts", "vec", "add.n-i32.sm80", "add.cubin")
	if err := os.Remove(cubin); err != nil {
		t.Fatal(err)
	}
	want := `kerngen.yaml:7:17: kernel "add", variant n-i32, sm_80: its artefacts in vec/add.n-i32.sm80 are not those that were compiled; run kerngen generate`
	if got := w.fault(stale(w.config())); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	w.must("compile vec.py add sm_80")
	if diff := cmp.Diff(first, w.tree()); diff != "" {
		t.Errorf("after a repair (-first +now)\n%s", diff)
	}

	// Another Triton.
	w.python = fakePython(t, fakeSettings{Triton: "3.7.0", Distribution: "triton-3.7.0.dist-info", Log: w.log})
	w.must() // nobody can tell without running it
	got, err := w.run(Options{Python: w.python, Mode: Always})
	if err != nil || len(got) != 8 {
		t.Errorf("%v: %v", err, got)
	}
	// A record that nobody understands is none.
	w.write("artefacts/"+recordName, "{")
	w.must(append(append(slices.Clone(other), addAll...), "inspect other.py add2 sm_0", "inspect vec.py add sm_0")...)
}

// TestOtherDistribution sees another Triton in the interpreter's environment.
func TestOtherDistribution(t *testing.T) {
	w := newWorkplace(t, addYAML, map[string]fakeSource{"vec.py": {Kernels: map[string]*kernel{"add": add()}}})
	w.must(append(slices.Clone(addAll), "inspect vec.py add sm_0")...)
	env := filepath.Join(t.TempDir(), "v[1]")
	packages := filepath.Join(env, "lib", "python3.12", "site-packages")
	for _, dir := range []string{filepath.Join(env, "bin"), filepath.Join(packages, "triton_kernels-3.7.0.dist-info")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	python := filepath.Join(env, "bin", "python")
	if err := os.Rename(fakePython(t, fakeSettings{Triton: "3.7.0", Distribution: "triton-3.7.0.dist-info", Log: w.log}), python); err != nil {
		t.Fatal(err)
	}
	w.python = python
	w.must()
	if err := os.Mkdir(filepath.Join(packages, "triton-3.7.0.dist-info"), 0o777); err != nil {
		t.Fatal(err)
	}
	w.must(append(slices.Clone(addAll), "inspect vec.py add sm_0")...)
	w.must()
}

func TestNever(t *testing.T) {
	w := newWorkplace(t, addYAML, map[string]fakeSource{"vec.py": {Kernels: map[string]*kernel{"add": add()}}})
	never := Options{Mode: Never, Python: w.python}
	asked, err := w.run(never)
	want := "vec.py: its kernels have not been compiled; compile it: run kerngen generate without --compile=never"
	if got := w.fault(err); got != want || asked != nil {
		t.Errorf("%s (%v)\nwant %s", got, asked, want)
	}
	w.must(append(slices.Clone(addAll), "inspect vec.py add sm_0")...)
	if asked, err := w.run(never); err != nil || asked != nil {
		t.Errorf("%v (%v)", err, asked)
	}
}

func TestFaults(t *testing.T) {
	one := func(kernel, rest string) string {
		return "targets: [sm_80, sm_90]\npackages:\n  - name: p\n    out: p\n    kernels:\n      - source: k.py\n        kernel: " + kernel + "\n        " + rest + "\n"
	}
	args := "args: {x_ptr: \"*fp32:16\", n: i32, BLOCK: 64}"
	for name, c := range map[string]struct{ yaml, want string }{
		"no such kernel": {one("ad", args), `k.yaml:6:17: source "k.py" has no "ad"; did you mean "add"?`},
		"compile error": {one("fail", args), "k.yaml:7:17: kernel \"fail\", sm_80: CompilationError: at 3:4:\n      no 80\n    printed meanwhile:\n    what MLIR printed\n" +
			"(2 of 2 images could not be compiled; this is the first)"},
		"crash": {one("crash", args), "k.yaml:7:17: kernel \"crash\", sm_80: the process ended without an answer: exit status 3\n    LLVM ERROR: cannot select\n" +
			"(2 of 2 images could not be compiled; this is the first)"},
		"unknown target":      {strings.Replace(one("newer", args), "sm_80, ", "", 1), `k.yaml:1:11: target "sm_90": Triton 3.6.0 does not know it; remove it, or compile with a Triton that knows it`},
		"source meddled with": {one("meddle", args), "k.py: it, or what it imports, has changed while its kernels were compiled\n(2 of 2 images could not be compiled; this is the first); run kerngen again"},
		"incomplete":          {one("incomplete", args), "k.yaml:7:17: kernel \"incomplete\", sm_80: Triton made no incomplete.ptx\n(2 of 2 images could not be compiled; this is the first)"},
		"unknown option":      {one("add", args+"\n        options: {num_warp: 4, arch: 1}"), "k.yaml:9:19: kernel \"add\": this Triton has no compile option \"num_warp\"; did you mean \"num_warps\"?\nk.yaml:9:32: kernel \"add\": option \"arch\" cannot be set; it follows from the target and the sources"},
	} {
		t.Run(name, func(t *testing.T) {
			kernels := map[string]*kernel{}
			for _, k := range []string{"add", "fail", "crash", "newer", "meddle", "incomplete"} {
				kernels[k] = add()
			}
			w := newWorkplace(t, c.yaml, map[string]fakeSource{"k.py": {Kernels: kernels}})
			_, err := w.run(w.options())
			got := strings.ReplaceAll(w.fault(err), config.FileName, "k.yaml")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for file := range w.tree() {
				if file != recordName {
					t.Errorf("%s has been left", file)
				}
			}
		})
	}
}

// TestOneFails keeps what is right of a run that fails, and what was there of
// what fails.
func TestOneFails(t *testing.T) {
	yaml := addYAML + "      - {source: vec.py, kernel: later, args: {x_ptr: \"*fp32\", n: i32, BLOCK: 64}}\n"
	w := newWorkplace(t, yaml, map[string]fakeSource{"vec.py": {Kernels: map[string]*kernel{"add": add(), "later": add()}}})
	w.must(append(append([]string{}, append(addAll, "compile vec.py later sm_80", "compile vec.py later sm_90")...), "inspect vec.py add,later sm_0")...)
	before := w.tree()
	failing := strings.Replace(yaml, "BLOCK: 1024", "BLOCK: 512", 1) + "      - {source: vec.py, kernel: fail, args: {x_ptr: \"*fp32\", n: i32, BLOCK: 64}}\n"
	w.source("vec.py", fakeSource{Kernels: map[string]*kernel{"add": add(), "later": add(), "fail": add()}})
	w.write(config.FileName, failing)
	if _, err := w.run(w.options()); err == nil || !strings.Contains(err.Error(), "(2 of 8 images could not be compiled; this is the first)") {
		t.Fatalf("%v", err)
	}
	after := w.tree()
	if after["vec/add.n-i32.sm80/add.cubin"] == before["vec/add.n-i32.sm80/add.cubin"] {
		t.Error("an image without fault has not been kept")
	}
	w.write(config.FileName, strings.Replace(yaml, "BLOCK: 1024", "BLOCK: 512", 1))
	w.must()
}

func TestNoPython(t *testing.T) {
	w := newWorkplace(t, addYAML, map[string]fakeSource{"vec.py": {Kernels: map[string]*kernel{"add": add()}}})
	t.Setenv("PATH", t.TempDir())
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("KERNGEN_PYTHON", "")
	check := func(python, want string) {
		t.Helper()
		_, err := w.run(Options{Python: python})
		if diff := cmp.Diff(want, w.fault(err)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if files := w.tree(); len(files) > 0 {
			t.Errorf("%v have been left", files)
		}
	}
	check("", "no Python: there is no python3 in PATH, and neither --python, KERNGEN_PYTHON nor VIRTUAL_ENV names one; "+
		"kernels have to be compiled: install Triton 3.3 or later (pip install triton), and activate its environment or name its interpreter with --python or KERNGEN_PYTHON")
	check("./none", `--python names the Python "./none", which cannot be run: no such file or directory`)
	t.Setenv("VIRTUAL_ENV", "/none")
	check("", `VIRTUAL_ENV names the Python "/none/bin/python", which cannot be run: no such file or directory`)
	t.Setenv("KERNGEN_PYTHON", "none")
	check("", `KERNGEN_PYTHON names the Python "none", which cannot be run: executable file not found in $PATH`)
	t.Setenv("PATH", os.Getenv("PATH")+":/bin:/usr/bin")
	w.python = fakePython(t, fakeSettings{Missing: true, Log: w.log})
	check(w.python, "Python PYTHON (3.99): cannot import triton: ModuleNotFoundError; "+
		"kernels need Triton 3.3 or later: pip install triton there, or name another interpreter with --python or KERNGEN_PYTHON")
	w.write("vec.py", "{")
	w.python = fakePython(t, fakeSettings{Triton: "3.6.0", Log: w.log})
	check(w.python, "kerngen.yaml:6:17: source \"vec.py\" cannot be imported: unexpected end of JSON input\n    printed meanwhile:\n    a line on standard error")
}

// TestCancel ends the compilers and leaves nothing half-written.
func TestCancel(t *testing.T) {
	yaml := addYAML + "      - {source: vec.py, kernel: hang, args: {x_ptr: \"*fp32\", n: i32, BLOCK: 64}}\n"
	w := newWorkplace(t, yaml, map[string]fakeSource{"vec.py": {Kernels: map[string]*kernel{"add": add(), "hang": add()}}})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := w.options()
	o.Progress = cancelAfter{4, cancel}
	start := time.Now()
	if _, err := Run(ctx, w.config(), o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("it took %v to stop", d)
	}
	entries, err := os.ReadDir(filepath.Join(w.dir, "artefacts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagingPrefix) {
			t.Errorf("%s has been left", e.Name())
		}
	}
	// What was done before is not done again.
	w.write(config.FileName, addYAML)
	w.must()
}

type cancelAfter struct {
	n      int
	cancel func()
}

func (c cancelAfter) Plan([]Product) {}
func (c cancelAfter) Done(_ string, done, _ int, _ error) {
	if done == c.n {
		c.cancel()
	}
}

// TestTwoRuns refuses to compile into a folder that another run is filling.
func TestTwoRuns(t *testing.T) {
	w := newWorkplace(t, addYAML, map[string]fakeSource{"vec.py": {Kernels: map[string]*kernel{"add": add()}}})
	folder := filepath.Join(w.dir, "artefacts")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.run(w.options())
	if got, want := w.fault(err), "artefacts: another kerngen is compiling into this folder; wait until it is done"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	unlock()
	w.must(append(slices.Clone(addAll), "inspect vec.py add sm_0")...)
}

// TestRecordOutside does not remove what an edited record names.
func TestRecordOutside(t *testing.T) {
	w := newWorkplace(t, addYAML, map[string]fakeSource{"vec.py": {Kernels: map[string]*kernel{"add": add()}}})
	w.must(append(slices.Clone(addAll), "inspect vec.py add sm_0")...)
	r, err := readRecord(filepath.Join(w.dir, "artefacts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"..", "../gen", ".", "", "/tmp/x"} {
		edited := *r
		edited.Jobs = append(slices.Clone(r.Jobs), made{Folder: bad})
		if err := edited.write(filepath.Join(w.dir, "artefacts")); err != nil {
			t.Fatal(err)
		}
		_, err := w.run(w.options())
		want := fmt.Sprintf("artefacts/%s: names the folder %q, which is not below it; remove the record; everything is then compiled anew", recordName, bad)
		if got := w.fault(err); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
