package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tutorial is the module that the README has its reader make.
const tutorial = "examples/tutorial"

// TestReadme makes the README's module from nothing but its text and commands, in
// its order, and wants examples/tutorial: sources, compiled kernels and generated
// package. It builds, says where there is no driver that there is none, and its
// test passes on the simulated device.
//
// Where there is a Python with the Triton that compiled the committed kernels,
// they are compiled anew; else the committed ones take their place.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := readmeModule{T: t, root: root, dir: t.TempDir()}
	m.write("go.mod", "module example.com/app\n\ngo 1.26.0\n")
	if sums, err := os.ReadFile(filepath.Join(root, tutorial, "go.sum")); err != nil { // for the versions that are in the cache
		t.Fatal(err)
	} else {
		m.write("go.sum", string(sums))
	}
	var files []string
	generated := false
	for _, b := range blocks(string(text)) {
		switch {
		case b.file != "":
			m.write(b.file, b.text)
			files = append(files, b.file)
		case strings.HasPrefix(b.text, "go get -tool "):
			// What the README says of a version that is not published.
			m.must("go", "mod", "edit", "-require="+modulePath+"@v0.0.0", "-replace="+modulePath+"="+root)
			m.must("go", "mod", "edit", "-tool="+modulePath+"/cmd/kerngen")
			m.must("go", "mod", "tidy")
			m.must("go", "tool", "kerngen", "init", "kernels/vec.py")
		case b.text == "go generate ./...\n":
			m.compiled()
			m.must("go", "generate", "./...")
			generated = true
		}
	}
	slices.Sort(files)
	want := []string{"generate.go", "kernels/kerngen.yaml", "kernels/vec.py", "main.go", "main_test.go"}
	if diff := cmp.Diff(want, files); diff != "" || !generated {
		t.Fatalf("generated: %t; the README's files (-want +got)\n%s", generated, diff)
	}
	m.must("go", "mod", "tidy")
	m.sameAsTutorial()

	// Every error that it names.
	errs := regexp.MustCompile(`kernrt\.Err\w+`).FindAllString(string(text), -1)
	m.write("errors.go", fmt.Sprintf("package main\n\nimport kernrt \"github.com/kerngen/kerngen/runtime\"\n\nvar _ = []error{%s}\n", strings.Join(errs, ", ")))
	m.must("go", "vet", "./...")
	if out, err := m.run("go", "run", "."); err == nil || !strings.Contains(out, "no CUDA driver") {
		t.Errorf("without a driver, main.go: %v\n%s", err, out)
	}
	t.Setenv("KERNGEN_DEVICE", "sim")
	m.must("go", "test", "./...")
}

// readmeModule is the module in the making.
type readmeModule struct {
	*testing.T
	root, dir string
}

func (m readmeModule) write(name, content string) {
	m.Helper()
	path := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		m.Fatal(err)
	}
}

func (m readmeModule) run(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir = m.dir
	c.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-trimpath", "GOWORK=off", "GOPACKAGE=", "KERNGEN_LIBCUDA="+filepath.Join(m.dir, "none.so"))
	out, err := c.CombinedOutput()
	return string(out), err
}

func (m readmeModule) must(name string, args ...string) {
	m.Helper()
	if out, err := m.run(name, args...); err != nil {
		m.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// compiled puts the tutorial's compiled kernels into the module, unless there is a
// Python to compile them with.
func (m readmeModule) compiled() {
	m.Helper()
	python := os.Getenv("KERNGEN_PYTHON")
	if python == "" {
		python = "python3"
	}
	if _, err := m.run(python, "-c", `import triton; assert triton.__version__ == "3.6.0"`); err == nil {
		m.Log("compiled with", python)
		return
	}
	if err := os.CopyFS(filepath.Join(m.dir, "kernels/artefacts"), os.DirFS(filepath.Join(m.root, tutorial, "kernels/artefacts"))); err != nil {
		m.Fatal(err)
	}
}

// sameAsTutorial compares the whole module with the tutorial, byte for byte but for
// the path that go.mod has of the checkout.
func (m readmeModule) sameAsTutorial() {
	m.Helper()
	got, want := m.tree(m.dir), m.tree(filepath.Join(m.root, tutorial))
	got["go.mod"] = strings.ReplaceAll(got["go.mod"], m.root, "../..")
	for name := range want {
		if _, ok := got[name]; !ok {
			m.Errorf("%s/%s: the README makes no such file", tutorial, name)
		}
	}
	for name, content := range got {
		switch {
		case want[name] == content:
		case strings.Contains(content, "\x00"):
			m.Errorf("%s: is not what the README makes", name)
		default:
			m.Errorf("%s (-%s +README)\n%s", name, tutorial, cmp.Diff(want[name], content))
		}
	}
}

// tree is every file below a folder, by path. What Python and Git leave is none of
// the module's.
func (m readmeModule) tree(dir string) map[string]string {
	m.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "__pycache__":
			return filepath.SkipDir
		case e.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)] = string(content)
		return nil
	})
	if err != nil {
		m.Fatal(err)
	}
	return files
}

// block is a fenced block of code; file is the name that its first line gives.
type block struct{ file, text string }

var (
	fence    = regexp.MustCompile("(?ms)^```\\w+\n(.*?)^```$")
	fileName = regexp.MustCompile(`^(?://|#) (\S+\.\w+)\n`)
)

func blocks(markdown string) []block {
	var all []block
	for _, m := range fence.FindAllStringSubmatch(markdown, -1) {
		b := block{text: m[1]}
		if name := fileName.FindStringSubmatch(b.text); name != nil {
			b.file = name[1]
		}
		all = append(all, b)
	}
	return all
}
