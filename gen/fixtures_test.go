package gen

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var fixturesBinary = flag.String("fixtures", "", "keep the program that launches the fixtures as this `file`")

// fixtureModule is a module of packages, each made of one fixture.
type fixtureModule struct {
	*testing.T
	dir, parts string // the module; copies of fixtures without their cubins
	packages   []string
}

// refusals are why fixtures make no package.
var refusals = []string{
	"sets a tensor map's stride in PTX 8.4",
	"is a tensor map that no file tells how to encode", "is instrumented (", "add.json is missing beside it",
}

// TestFixtures makes a package of every artefact there is, builds and vets them
// all, and launches those of testdata/versions on a fake driver: the same program
// runs on a GPU, and there checks the numbers too.
func TestFixtures(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	m := fixtureModule{T: t, dir: t.TempDir(), parts: t.TempDir()}
	registry := m.versions()
	for _, folder := range append(m.glob(aot+"/*"), ownPackages(t)...) {
		if filepath.Base(folder) != "kernels.py" {
			m.generate(Config{Package: m.name(folder), Paths: []string{folder}})
		}
	}
	for name := range goldens {
		m.generate(Config{Package: m.name("all", name), Paths: artefacts(t, goldens[name]...)})
	}
	for _, cache := range []string{"testdata/triton-3.6.0/inductor-cache", "testdata/triton-3.6.0/jit-cache", "internal/artefact/testdata/triton-3.6.0/cache"} {
		m.generate(Config{Package: m.name(cache), Paths: []string{cache}, Suffix: true})
	}
	m.generate(configOf(t, "cache"))
	m.generate(configOf(t, "widths"))

	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	m.write("go.mod", "module example.com/fixtures\n\ngo 1.26.0\n\nrequire github.com/kerngen/kerngen v0.0.0\n\n"+
		"replace github.com/kerngen/kerngen => "+root+"\n")
	if err := os.CopyFS(filepath.Join(m.dir, "launch"), os.DirFS("testdata/launch")); err != nil {
		t.Fatal(err)
	}
	m.write("launch/registry_test.go", registry)
	binary := filepath.Join(m.dir, "launch.test")
	if *fixturesBinary != "" {
		if binary, err = filepath.Abs(*fixturesBinary); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"build", "./..."},
		{"vet", "./..."},
		{"test", "-c", "-ldflags=-s -w", "-o", binary, "./launch"},
	} {
		// Without paths in them, packages are found in the cache again.
		if out, err := goCommand(m.dir, []string{"GOFLAGS=-trimpath"}, args...); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	launch := exec.Command(binary)
	launch.Env = append(os.Environ(), "KERNGEN_LIBCUDA="+fakeDriver(t))
	if out, err := launch.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%d packages", len(m.packages))
}

// name is a package's name, after what it is made of.
func (m *fixtureModule) name(of ...string) string {
	name := strings.Join(of, "/")
	for _, prefix := range []string{"testdata/", "../"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return "f_" + regexp.MustCompile(`\W`).ReplaceAllString(strings.ToLower(name), "_")
}

func (m *fixtureModule) glob(patterns ...string) []string {
	var all []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || found == nil {
			m.Fatalf("no artefacts match %s: %v", pattern, err)
		}
		all = append(all, found...)
	}
	return all
}

func (m *fixtureModule) write(name, content string) {
	if err := os.MkdirAll(filepath.Join(m.dir, filepath.Dir(name)), 0o777); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(content), 0o666); err != nil {
		m.Fatal(err)
	}
}

// generate writes a package and returns its Launch functions, or why it is
// refused.
func (m *fixtureModule) generate(c Config) (launches []string, refusal string) {
	c.Dir = filepath.Join(m.dir, c.Package)
	if slices.Contains(m.packages, c.Package) {
		m.Fatalf("two packages are named %s", c.Package)
	}
	result, err := Generate(c)
	if err != nil {
		if !slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(err.Error(), r) }) {
			m.Errorf("%q: %v", c.Paths, err)
		}
		return nil, err.Error()
	}
	if err := Write(c.Dir, result.Files); err != nil {
		m.Fatal(err)
	}
	m.packages = append(m.packages, c.Package)
	for _, f := range result.Files {
		for _, found := range regexp.MustCompile(`(?m)^func (Launch\w+)`).FindAllSubmatch(f.Content, -1) {
			launches = append(launches, string(found[1]))
		}
	}
	return launches, ""
}

// signatures tell the arguments where no file of a fixture does: before 3.5
// Triton did not keep their names.
func signatures(release, name string) map[string]string {
	const (
		add   = "x_ptr: *fp32:16, y_ptr: *fp32:16, out_ptr: *fp32:16, n: i32"
		scale = "x_ptr: *fp16, n: i32"
		host  = "x_desc: tensordesc<fp16[32, 32]>, out_desc: tensordesc<fp16[32, 32]>, n: i32"
	)
	switch old := release < "3.5"; {
	case name == "add.raw.sm80" && old:
		return map[string]string{"add": add}
	case strings.HasPrefix(name, "host.") && old:
		return map[string]string{"host": host}
	case name == "raw/cache" && old:
		return map[string]string{"add": add, "scale_by_two": scale}
	}
	return nil
}

// versions makes two packages of each folder below testdata/versions, one with
// its cubins and one with its PTX, and the file that tells testdata/launch of
// them.
func (m *fixtureModule) versions() (registry string) {
	var imports, entries strings.Builder
	for _, folder := range m.glob("testdata/versions/3.*/*.sm*", "testdata/versions/3.*/raw/*") {
		release, name, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(folder), "testdata/versions/"), "/")
		for _, kind := range []string{"cubin", "ptx"} {
			images := m.images(folder, kind)
			if images == nil {
				continue
			}
			c := Config{Package: m.name(release, name, kind), Paths: []string{folder}, Signatures: signatures(release, name)}
			if kind == "ptx" {
				c.Paths[0] = filepath.Join(m.parts, c.Package)
				m.copyWithoutCubins(c.Paths[0], folder)
			}
			launches, refusal := m.generate(c)
			fmt.Fprintf(&entries, "\t\t{%q, %q, %q, []image{%s}, %q, map[string]any{", release, name, kind, strings.Join(images, ", "), refusal)
			for _, l := range launches {
				fmt.Fprintf(&entries, "%q: %s.%s, ", l, c.Package, l)
			}
			entries.WriteString("}},\n")
			if refusal == "" {
				fmt.Fprintf(&imports, "\t%q\n", "example.com/fixtures/"+c.Package)
			}
		}
	}
	return "package launch\n\nimport (\n" + imports.String() + ")\n\nfunc init() {\n\tfixtures = []fixture{\n" + entries.String() + "\t}\n}\n"
}

// files are all files below a folder that have the extension.
func (m *fixtureModule) files(folder, ext string) (files []string) {
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if filepath.Ext(path) == ext {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		m.Fatal(err)
	}
	return files
}

func (m *fixtureModule) copyWithoutCubins(to, from string) {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		m.Fatal(err)
	}
	for _, cubin := range m.files(to, ".cubin") {
		if err := os.Remove(cubin); err != nil {
			m.Fatal(err)
		}
	}
}

var ptxVersion = regexp.MustCompile(`(?m)^\.version (\d+)\.(\d+)$`)

// images are what the images of one kind are for, as testdata/launch writes it.
func (m *fixtureModule) images(folder, kind string) (images []string) {
	for _, file := range m.files(folder, "."+kind) {
		code, err := os.ReadFile(file)
		if err != nil {
			m.Fatal(err)
		}
		version := "0, 0"
		if kind == "ptx" {
			found := ptxVersion.FindSubmatch(code)
			version = fmt.Sprintf("%s, %s", found[1], found[2])
		}
		images = append(images, fmt.Sprintf("{%s, [2]int{%s}}", m.arch(strings.TrimSuffix(file, "."+kind)), version))
	}
	return images
}

// arch is the architecture that a kernel's JSON names; 0 where there is none.
func (m *fixtureModule) arch(stem string) string {
	var meta struct{ Target struct{ Arch json.Number } }
	data, err := os.ReadFile(stem + ".json")
	if os.IsNotExist(err) {
		return "0"
	}
	if err == nil {
		err = json.Unmarshal(data, &meta)
	}
	if err != nil {
		m.Fatal(err)
	}
	return meta.Target.Arch.String()
}
