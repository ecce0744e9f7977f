package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkNothingToDo runs the whole command over 216 variants that are up to
// date: "go test -run none -bench NothingToDo -benchtime 50x ./cmd/kerngen", with
// the interpreter that has Triton in KERNGEN_PYTHON. "full" is the same without
// what is remembered of the run before.
func BenchmarkNothingToDo(b *testing.B) {
	if os.Getenv("KERNGEN_PYTHON") == "" {
		b.Skip("KERNGEN_PYTHON names no interpreter")
	}
	dir, bin, cache := b.TempDir(), filepath.Join(b.TempDir(), "kerngen"), b.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	var yaml strings.Builder
	yaml.WriteString("targets: [sm_80]\npackages:\n")
	for i := range 9 {
		fmt.Fprintf(&yaml, `  - name: add%d
    out: add%d
    kernels:
      - source: mm.py
        kernel: add
        args: {x_ptr: ["*fp32:16", "*fp32"], y_ptr: ["*fp32:16", "*fp32"], out_ptr: ["*fp32:16", "*fp32"], n: [i32, "i32:16", i64], BLOCK: %d}
`, i, i, 64<<i)
	}
	source, err := os.ReadFile("../../gen/internal/compile/testdata/bench/mm.py")
	if err != nil {
		b.Fatal(err)
	}
	for name, content := range map[string]string{"kerngen.yaml": yaml.String(), "mm.py": string(source), "go.mod": "module example.com/m\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	run := func(args ...string) {
		b.Helper()
		cmd := exec.Command(bin, append([]string{"generate"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	run()
	b.Run("stamped", func(b *testing.B) {
		for b.Loop() {
			run("--compile=never")
		}
	})
	b.Run("full", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			if err := os.RemoveAll(filepath.Join(cache, "kerngen")); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			run("--compile=never")
		}
	})
}
