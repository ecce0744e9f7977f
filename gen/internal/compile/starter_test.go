package compile

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/starter"
)

// TestTritonStarter fills in what starter.Write leaves open and compiles it.
// What it says may be left out can be.
func TestTritonStarter(t *testing.T) {
	fill := strings.NewReplacer(
		`_ptr: "?"`, `_ptr: "*i32:16"`, `"n": "?"`, `n: i32`, `stride: "?"`, `stride: i64`,
		`      - source: kernels.py
        kernel: scale`, `      - source: kernels.py
        options: {num_warps: 2}
        kernel: scale`,
		`# grid: ["cdiv(n, BLOCK)"] # as here, Launch computes the grid; needed`, `grid: ["cdiv(n, BLOCK)"] # needed`,
		`BLOCK: "?"`, `BLOCK: 64`, `I: "?"`, `I: -3`, `F: "?"`, `F: 0.5`, `B: "?"`, `B: true`, `S: "?"`, `S: relu`, `"N": "?"`, `"N": null`,
		`D: "?"`, `D: {dtype: fp32}`, `T: "?"`, `T: [16, 2]`, `args: "?"`, `args: {tuple: {x: "*i32", out: "*i32", step: i32}}`,
	)
	// These have a fault, as other tests want.
	faulty := regexp.MustCompile(`(?s)      - source: kernels.py\n        kernel: (?:unknowable|wrong) .*$`)
	eachTriton(t, func(t *testing.T, python, dir string) {
		w := &workplace{t: t, dir: dir, python: python}
		source, err := os.ReadFile(filepath.Join(dir, "kernels.py"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := starter.Write("kernels.py", "kernels.py", source)
		if err != nil {
			t.Fatal(err)
		}
		w.write(config.FileName, string(text))
		_, err = Run(context.Background(), load(t, dir), Options{Python: python})
		for _, want := range []string{
			`kerngen.yaml:16:18: kernel "scale": argument x_ptr has not been filled in; put its type in the place of "?", such as i32 or "*fp32:16"`,
			`kerngen.yaml:19:18: kernel "scale": constant BLOCK has not been filled in; put its value in the place of "?"`,
		} {
			if got := w.fault(err); !strings.Contains(got, want+"\n") {
				t.Errorf("%s\nlacks %s", got, want)
			}
		}
		if got := w.fault(err); strings.Contains(got, "is missing") {
			t.Errorf("something that the file does not list: %s", got)
		}
		w.write(config.FileName, faulty.ReplaceAllString(fill.Replace(string(text)), ""))
		packages, err := Run(context.Background(), load(t, dir), Options{Python: python})
		if err != nil {
			t.Fatal(err)
		}
		if want := 3 * 6; len(packages[0].Paths) != want { // 4 kernels, one of them with two configurations
			t.Errorf("%d folders of artefacts, want %d", len(packages[0].Paths), want)
		}
	})
}

// TestTritonReadsTheSame compares what starter.Write takes for kernels and
// parameters with what Python does, in all sources of this folder.
func TestTritonReadsTheSame(t *testing.T) {
	entry := regexp.MustCompile(`(?m)^        kernel: (\w+)`)
	eachTriton(t, func(t *testing.T, python, dir string) {
		for _, file := range []string{"triton/kernels.py", "triton/forms.py", "bench/mm.py"} {
			source, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			text, err := starter.Write(name, name, source)
			if err != nil {
				t.Fatal(err)
			}
			var kernels []string
			for _, m := range entry.FindAllSubmatch(text, -1) {
				kernels = append(kernels, string(m[1]))
			}
			if err := os.WriteFile(filepath.Join(dir, name), source, 0o666); err != nil {
				t.Fatal(err)
			}
			pool, err := newPool(python, dir, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.close()
			var answer inspected
			if _, err := pool.first(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			err = pool.run(t.Context(), []task{{request{Op: "inspect", Source: name, Kernels: kernels}, &answer, func(err error) {
				if err != nil {
					t.Error(err)
				}
			}}})
			if err != nil {
				t.Fatal(err)
			}
			for kernel, f := range answer.Faults {
				t.Errorf("%s: %s: %v", file, kernel, f)
			}
			for kernel, facts := range answer.Kernels {
				compareEntry(t, file+": "+kernel, entryOf(string(text), kernel), facts)
			}
		}
	})
}

// entryOf is the text of a kernel's entry.
func entryOf(text, kernel string) string {
	_, entry, _ := strings.Cut(text, "\n        kernel: "+kernel+" ")
	entry, _, _ = strings.Cut(entry, "\n      - ")
	return entry
}

// compareEntry compares an entry with Python's facts: a line for each parameter,
// with the type that Triton would take it for where it is known.
func compareEntry(t *testing.T, name, entry string, facts *kernel) {
	t.Helper()
	if strings.Contains(entry, "autotune: true") != (facts.Configs != nil) {
		t.Errorf("%s: autotune is told wrongly", name)
	}
	line := regexp.MustCompile(`(?m)^          (?:# )?"?(\w+)"?: ?(\S*) +# (.*)$`)
	lines := line.FindAllStringSubmatch(entry, -1)
	if len(lines) != len(facts.Params) {
		t.Fatalf("%s: %d parameters, not %d:\n%s", name, len(lines), len(facts.Params), entry)
	}
	for i, p := range facts.Params {
		param, value, note := lines[i][1], strings.Trim(lines[i][2], `"`), lines[i][3]
		constant := strings.HasPrefix(note, "a constant") || strings.HasPrefix(note, "given by @triton.heuristics")
		if param != p.Name || constant != p.Constexpr {
			t.Errorf("%s: %s is told wrongly: %s", name, p.Name, lines[i][0])
		}
		omitted := resolver{conf: &config.Kernel{}, facts: facts}
		if p.Constexpr || value == config.Blank {
			continue
		}
		if a := omitted.omittedArgument(p); len(a) > 0 && a[0].label != value {
			t.Errorf("%s: %s is %s, not %s", name, p.Name, a[0].label, value)
		}
	}
}
