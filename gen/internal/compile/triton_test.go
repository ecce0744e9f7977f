package compile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/config"
)

// pythons are the interpreters with Triton to test with: those that
// KERNGEN_TEST_PYTHON lists, separated by colons, else python3 where it has one.
func pythons(t testing.TB) []string {
	t.Helper()
	if list := os.Getenv("KERNGEN_TEST_PYTHON"); list != "" {
		return filepath.SplitList(list)
	}
	path, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(path, "-c", "import triton").Run()
	}
	if err != nil {
		t.Skip("no Triton: set KERNGEN_TEST_PYTHON to the interpreters of environments that have one")
	}
	return []string{path}
}

// eachTriton runs f for each Triton, with the sources in a folder of its own.
func eachTriton(t *testing.T, f func(t *testing.T, python, dir string)) {
	for _, python := range pythons(t) {
		t.Run(python, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "triton"))); err != nil {
				t.Fatal(err)
			}
			f(t, python, dir)
		})
	}
}

func load(t *testing.T, dir string) *config.Config {
	t.Helper()
	c, err := config.Load(filepath.Join(dir, config.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTriton(t *testing.T) {
	eachTriton(t, func(t *testing.T, python, dir string) {
		w := &workplace{t: t, dir: dir}
		packages, err := Run(context.Background(), load(t, dir), Options{Python: python})
		if err != nil {
			t.Fatal(err)
		}
		// 4 of scale, 4 of add_bias, 1, 1 and 2: for two targets and the fallback.
		if len(packages) != 1 || len(packages[0].Paths) != 3*12 {
			t.Fatalf("%d folders of artefacts", len(packages[0].Paths))
		}
		images, err := artefact.Read(packages[0].Paths)
		if err != nil {
			t.Fatal(err)
		}
		if len(images) != 3*12 {
			t.Errorf("%d images", len(images))
		}
		for _, i := range images {
			if ptx := strings.HasSuffix(filepath.Dir(i.Path), ".ptx"); ptx != (i.Cubin == nil) {
				t.Errorf("%s: a cubin where there should be none, or none where one should be", i.Path)
			}
			if i.PTX == nil || i.TTIR == nil || i.Sidecar == nil {
				t.Errorf("%s: files are missing", i.Path)
			}
		}
		sidecar := func(folder string) *artefact.Sidecar {
			t.Helper()
			for _, i := range images {
				if strings.HasSuffix(filepath.ToSlash(filepath.Dir(i.Path)), "/"+folder) {
					return i.Sidecar
				}
			}
			t.Fatalf("no %s", folder)
			return nil
		}
		scale := sidecar("scale.fp16.n-i32-16.sm90")
		if len(scale.Source) != 2 || scale.Source[0].Path != "kernels.py" || scale.Source[1].Path != "shared.py" {
			t.Errorf("sources of scale: %v", scale.Source)
		}
		if scale.Doc != "Doubles n elements." || !cmp.Equal(scale.Grid, []string{"cdiv(n, BLOCK)"}) {
			t.Errorf("scale: doc %q, grid %q", scale.Doc, scale.Grid)
		}
		one, block := int64(64), int64(128)
		wantBias := []artefact.SidecarParam{
			{Name: "x_ptr", Type: "*fp32", DivisibleBy: 16}, {Name: "bias_ptr", Type: "*fp32", Folded: "absent"},
			{Name: "stride", Type: "i64", Folded: "one"}, {Name: "count", Type: "i64"}, {Name: "step", Type: "i32"},
			{Name: "BLOCK", Constant: &artefact.Constant{Int: &one}},
		}
		if diff := cmp.Diff(wantBias, sidecar("add_bias.bias_ptr-null.stride-1.sm80").Params); diff != "" {
			t.Errorf("add_bias (-want +got)\n%s", diff)
		}
		wantTuned := []artefact.SidecarParam{{Name: "x_ptr", Type: "*i32", DivisibleBy: 16}, {Name: "n", Type: "i32"},
			{Name: "BLOCK", Constant: &artefact.Constant{Int: &block}}, {Name: "EVEN", Constant: constantOf(true)}}
		if diff := cmp.Diff(wantTuned, sidecar("tuned.BLOCK-128.enable_fp_fusion-false.num_ctas-1.num_stages-3.num_warps-4.sm80").Params); diff != "" {
			t.Errorf("tuned (-want +got)\n%s", diff)
		}

		// Elsewhere, one after the other, the same bytes; and nothing of the machine.
		first := w.tree()
		deep := filepath.Join(t.TempDir(), "elsewhere")
		if err := os.CopyFS(deep, os.DirFS(filepath.Join("testdata", "triton"))); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(context.Background(), load(t, deep), Options{Python: python, Workers: 1}); err != nil {
			t.Fatal(err)
		}
		second := (&workplace{t: t, dir: deep}).tree()
		for name, content := range first {
			if second[name] != content {
				t.Errorf("%s differs between two folders", name)
			}
			for _, path := range []string{dir, os.TempDir(), filepath.Dir(filepath.Dir(python))} {
				if strings.Contains(content, path) {
					t.Errorf("%s names %s", name, path)
				}
			}
		}
		if len(first) != len(second) {
			t.Errorf("%d files, but %d elsewhere", len(first), len(second))
		}
		if _, err := os.Stat(filepath.Join(dir, "__pycache__")); err == nil {
			t.Error("__pycache__ has been left beside the sources")
		}
		ptx := first["kernels/scale.fp16.n-i32.sm80/scale.ptx"]
		for _, file := range []string{"kernels.py", "shared.py"} {
			if !strings.Contains(ptx, `"`+file+`"`) && !strings.Contains(ptx, "/"+file+`"`) {
				t.Errorf("line information does not name %s", file)
			}
		}

		// What a called function does is part of the kernel.
		if err := stale(load(t, dir)); err != nil {
			t.Errorf("stale: %v", err)
		}
		shared := readFile(t, filepath.Join(dir, "shared.py"))
		w.write("shared.py", strings.Replace(shared, "constexpr(2)", "constexpr(3)", 1))
		if err := stale(load(t, dir)); err == nil {
			t.Error("not stale after a change of an imported file")
		}
		if _, err := Run(context.Background(), load(t, dir), Options{Python: python}); err != nil {
			t.Fatal(err)
		}
		if w.tree()["kernels/scale.fp16.n-i32.sm80/scale.ttir"] == first["kernels/scale.fp16.n-i32.sm80/scale.ttir"] {
			t.Error("the kernel has not changed")
		}
		w.write("shared.py", shared)
		if _, err := Run(context.Background(), load(t, dir), Options{Python: python}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, w.tree()); diff != "" {
			t.Errorf("after a change and back (-first +now)\n%s", diff)
		}
	})
}

// TestTritonFaults has each fault of a source told in Triton's words.
func TestTritonFaults(t *testing.T) {
	eachTriton(t, func(t *testing.T, python, dir string) {
		w := &workplace{t: t, dir: dir, python: python}
		for _, c := range []struct{ source, kernel, args, want string }{
			{"kernels.py", "scal", "", `kerngen.yaml:2:49: source "kernels.py" has no "scal"; did you mean "scale"?`},
			{"kernels.py", "plain", "", `kerngen.yaml:2:49: source "kernels.py" has a "plain", but it is no @triton.jit function; known: `},
			{"kernels.py", "unknowable", `x_ptr: "*i32", n: i32`, `kernel "unknowable": heuristic for EVEN reads n, which is known at run time only`},
			{"kernels.py", "wrong", `x_ptr: "*i32", n: i32`, `kernel "wrong", sm_80: CompilationError: at 2:20:`},
			{"kernels.py", "wrong", `x_ptr: "*i32", n: i32`, "undefined is not defined"},
			{"kernels.py", "scale", `x_ptr: "*i32", out_ptr: "*i32", n: i32, BLOCK: 100`, "power of 2"},
			{"kernels.py", "scale", `x_ptr: "*i32", out_ptr: "*i32", n: i32`, `kernel "scale": constant BLOCK is missing; add it to args or configs`},
			{"kernels.py", "tuned", `x_ptr: "*i32", n: i32`, `kernel "tuned": constant BLOCK is missing; add it to args or configs, or take the configurations of @triton.autotune with autotune: true`},
			{"broken.py", "x", "", `kerngen.yaml:2:49: source "broken.py" cannot be imported: broken.py:4: AttributeError: module 'triton.language' has no attribute 'no_such_thing'`},
			{"broken.py", "x", "", "\n    printed meanwhile:\n    about to fail"},
		} {
			w.write(config.FileName, fmt.Sprintf("targets: [sm_80]\npackages: [{name: p, out: p, kernels: [{source: %s, kernel: %s, args: {%s}}]}]\n", c.source, c.kernel, c.args))
			_, err := Run(context.Background(), load(t, dir), Options{Python: python})
			if got := w.fault(err); !strings.Contains(got, c.want) {
				t.Errorf("%s of %s: %s\nwant %s", c.kernel, c.source, got, c.want)
			}
		}
	})
}

// TestTritonTargets compiles for every architecture: what a Triton does not know
// is the target's fault, not the kernel's.
func TestTritonTargets(t *testing.T) {
	eachTriton(t, func(t *testing.T, python, dir string) {
		w := &workplace{t: t, dir: dir, python: python}
		for _, arch := range []int{75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121} {
			w.write(config.FileName, fmt.Sprintf("targets: [sm_%d]\npackages: [{name: p, out: p, kernels: [{source: kernels.py, kernel: tuned, args: {x_ptr: \"*i32\", n: i32, BLOCK: 64}}]}]\n", arch))
			_, err := Run(context.Background(), load(t, dir), Options{Python: python})
			known := regexp.MustCompile(fmt.Sprintf(`^kerngen.yaml:1:11: target "sm_%d": Triton [0-9.]+ does not know it; remove it, or compile with a Triton that knows it$`, arch))
			if err != nil && (arch < 100 || !known.MatchString(w.fault(err))) {
				t.Errorf("sm_%d: %s", arch, w.fault(err))
			}
		}
	})
}
