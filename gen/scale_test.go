package gen

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kerngen/kerngen/gen/internal/manykernels"
)

const (
	ownArtefacts = "../kernels/artefacts"
	oneArtefact  = aot + "/add.sm90"
	many         = 1000 // kernels
)

// scaleModule is a module with package many, of a thousand kernels, and package
// one, of the first of them alone; it returns the kernels' names in Go.
func scaleModule(t testing.TB) (dir string, kernels []string) {
	t.Helper()
	dir = t.TempDir()
	artefacts := t.TempDir()
	names, err := manykernels.Copy(artefacts, oneArtefact, many)
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"many": artefacts, "one": filepath.Join(artefacts, names[0])} {
		result, err := Generate(Config{Package: name, Dir: filepath.Join(dir, name), Paths: []string{path}})
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(filepath.Join(dir, name), result.Files); err != nil {
			t.Fatal(err)
		}
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/scale\n\ngo 1.26.0\n\nrequire github.com/kerngen/kerngen v0.0.0\n\n"+
		"replace github.com/kerngen/kerngen => "+root+"\n")
	for _, name := range names {
		kernels = append(kernels, strings.ToUpper(name[:1])+name[1:])
	}
	return dir, kernels
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// buildProgram builds a program of a module and returns its path.
func buildProgram(t testing.TB, dir, name, source string) string {
	t.Helper()
	writeFile(t, filepath.Join(dir, "cmd", name, "main.go"), source)
	path := filepath.Join(dir, "bin", name)
	if out, err := goCommand(dir, nil, "build", "-o", path, "./cmd/"+name); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return path
}

// launching is a program that launches one kernel of a package.
func launching(pkg, kernel string) string {
	return fmt.Sprintf(`package main

import (
	"fmt"

	"example.com/scale/%s"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func main() {
	var p kernrt.Ptr[float32]
	fmt.Println(%s.Launch%s(nil, kernrt.Grid1D(1), p, p, p, 1))
}
`, pkg, pkg, kernel)
}

// A program that uses one kernel of a thousand is as large as with that kernel
// alone, within 5 %.
func TestProgramCarriesOneKernelOfMany(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package of a thousand kernels")
	}
	dir, kernels := scaleModule(t)
	sizes := map[string]int64{}
	for _, pkg := range []string{"one", "many"} {
		info, err := os.Stat(buildProgram(t, dir, pkg, launching(pkg, kernels[0])))
		if err != nil {
			t.Fatal(err)
		}
		sizes[pkg] = info.Size()
	}
	t.Logf("%d bytes with a package of %d kernels, %d with one of a single kernel", sizes["many"], many, sizes["one"])
	if float64(sizes["many"]) > 1.05*float64(sizes["one"]) {
		t.Errorf("%d bytes are more than 1.05 times %d", sizes["many"], sizes["one"])
	}
}

// BenchmarkStart runs programs by turns, from start to exit, and reports by how
// much each is slower in the median than one that imports the runtime alone: one
// that imports a package of a thousand kernels and uses none, and one that could
// launch every one of them. The program that imports nothing shows what the
// runtime itself costs.
func BenchmarkStart(b *testing.B) {
	dir, kernels := scaleModule(b)
	var all strings.Builder
	for _, kernel := range kernels {
		fmt.Fprintf(&all, "\tmany.Launch%s,\n", kernel)
	}
	const runtimeImport = "kernrt \"github.com/kerngen/kerngen/runtime\"\n"
	programs := map[string]string{
		"nothing": buildProgram(b, dir, "nothing", "package main\n\nfunc main() {}\n"),
		"runtime": buildProgram(b, dir, "runtime", "package main\n\nimport "+runtimeImport+"\nvar Open = kernrt.Open\n\nfunc main() {}\n"),
		"import":  buildProgram(b, dir, "import", "package main\n\nimport (\n\t_ \"example.com/scale/many\"\n\t"+runtimeImport+")\n\nvar Open = kernrt.Open\n\nfunc main() {}\n"),
		"reach": buildProgram(b, dir, "reach", "package main\n\nimport (\n\t\"os\"\n\n\t\"example.com/scale/many\"\n\t"+runtimeImport+")\n\n"+
			"var launches = []func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[float32], kernrt.Ptr[float32], kernrt.Ptr[float32], int32) error{\n"+all.String()+"}\n\n"+
			"func main() {\n\tif len(os.Args) > 1 {\n\t\tvar p kernrt.Ptr[float32]\n\t\tlaunches[len(os.Args)](nil, kernrt.Grid1D(1), p, p, p, 1)\n\t}\n}\n"),
	}
	names := []string{"nothing", "runtime", "import", "reach"}
	took := map[string][]time.Duration{}
	const rounds = 200
	for b.Loop() {
		for round := range rounds {
			for i := range names {
				name := names[(i+round)%len(names)]
				start := time.Now()
				if err := exec.Command(programs[name]).Run(); err != nil {
					b.Fatal(err)
				}
				took[name] = append(took[name], time.Since(start))
			}
		}
	}
	median := func(name string) float64 {
		sorted := slices.Sorted(slices.Values(took[name]))
		return float64(sorted[len(sorted)/2].Nanoseconds()) / 1e6
	}
	b.ReportMetric(median("runtime"), "ms/runtime")
	b.ReportMetric(median("runtime")-median("nothing"), "ms/runtime-nothing")
	b.ReportMetric(median("import")-median("runtime"), "ms/import-runtime")
	b.ReportMetric(median("reach")-median("runtime"), "ms/reach-runtime")
}

// BenchmarkGenerate generates all our packages, in memory.
func BenchmarkGenerate(b *testing.B) {
	folders := ownPackages(b)
	for b.Loop() {
		for _, folder := range folders {
			if _, err := Generate(Config{Package: filepath.Base(folder), Paths: []string{folder}}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkGenerateMany generates a package of a thousand kernels, in memory.
func BenchmarkGenerateMany(b *testing.B) {
	dir := b.TempDir()
	if _, err := manykernels.Copy(dir, oneArtefact, many); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Generate(Config{Package: "many", Paths: []string{dir}}); err != nil {
			b.Fatal(err)
		}
	}
}

// ownPackages are the folders of our own packages' artefacts.
func ownPackages(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(ownArtefacts)
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, filepath.Join(ownArtefacts, e.Name()))
		}
	}
	if len(folders) == 0 {
		t.Fatal("no artefacts")
	}
	return folders
}
