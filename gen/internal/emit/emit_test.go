package emit

import (
	"bytes"
	_ "embed"
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/generated"
	"github.com/kerngen/kerngen/gen/internal/model"
	"github.com/kerngen/kerngen/gen/internal/names"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden is where the goldens are: packages of a module that gen's tests build,
// vet and run.
const golden = "../../testdata/golden"

func param(name, elem string, pointer int) model.Param {
	return model.Param{Name: name, Type: model.Type{Elem: elem, Pointer: pointer}}
}

func image(sm int, suffix string, args ...int) model.Image {
	return model.Image{
		Target: model.Target{SM: sm, Suffix: suffix}, Kind: model.Cubin, Symbol: "k", Args: args, Hidden: 2,
		NumWarps: 4, Cluster: [3]int{1, 1, 1}, Code: []byte("image"), Origin: "k",
	}
}

// Images of the golden "everything" that a driver takes: see testdata/README.md.
var (
	//go:embed testdata/everything_v1_sm80.cubin
	everythingV1SM80 []byte
	//go:embed testdata/everything_v1_sm90a.cubin
	everythingV1SM90a []byte
	//go:embed testdata/everything_v2_sm80.ptx
	everythingV2SM80 []byte
)

func withCode(im model.Image, code []byte) model.Image {
	im.Code = code
	return im
}

// cases show what real artefacts in testdata do not have.
var cases = map[string]model.Kernel{
	"everything": {
		Name: "_everything", Source: "kernels/all.py", Triton: "3.6.0",
		Doc: "Does all at once.\n\nArgs:\n    a: long " + strings.Repeat("words ", 30) + "\n    b: short\n\n" +
			"Deprecated: not so.\n+build never\n- one\n- two\n\n*/ package main // \x00\x1b[31m\u202e\ufeff",
		Params: []model.Param{
			param("type", "i1", 0), param("a", "fp32", 1), param("b", "fp32", 1),
			{Name: "bias", Type: model.Type{Elem: "bf16", Pointer: 1, Const: true}, Nullable: true},
			param("ptrs.0", "fp8e4nv", 1), param("ptrs.1", "fp16", 2), param("M", "u64", 0), param("N", "u64", 0),
			param("STRIDE_M", "i64", 0), param("scale", "fp16", 0), param("absent", "fp64", 1),
		},
		Constants: []model.Constant{
			{Name: "BLOCK", Value: int64(math.MinInt64)}, {Name: "EPS", Value: 1e-30}, {Name: "ONE", Value: 1.0},
			{Name: "LOW", Value: math.Inf(-1)}, {Name: "NAN", Value: math.NaN()}, {Name: "ZERO", Value: math.Copysign(0, -1)},
			{Name: "CAUSAL", Value: true}, {Name: "ACT", Value: "re\"lu\n`"}, {Name: "OUT", Value: model.DType("fp16")},
			{Name: "NONE", Value: nil},
		},
		Variants: []model.Variant{
			{
				Guards: []model.Guard{{Param: 1, Is: model.DivisibleBy16}, {Param: 2, Is: model.DivisibleBy16}, {Param: 8, Is: model.EqualTo1}, {Param: 10, Is: model.Null}},
				Constants: []model.Constant{
					{Name: "BLOCK", Value: int64(math.MinInt64)}, {Name: "TILE", Value: int64(128)},
				},
				Images: []model.Image{
					withCode(image(80, "", 0, 1, 2, 3, 4, 5, 6, 7, 9), everythingV1SM80),
					func() model.Image {
						im := withCode(image(90, "a", 0, 1, 2, 3, 4, 5, 6, 7, 9), everythingV1SM90a)
						im.Cluster = [3]int{2, 1, 1}
						im.Shared = 98304
						im.GlobalScratch = model.Scratch{Size: 256, Align: 128}
						im.ProfileScratch = model.Scratch{Size: 8, Align: 1}
						im.Cooperative, im.PDL = true, true
						return im
					}(),
				},
			},
			{
				Guards:    []model.Guard{{Param: 1, Is: model.DivisibleBy16}},
				Constants: []model.Constant{{Name: "TILE", Value: int64(64)}},
				Images: []model.Image{func() model.Image {
					im := image(80, "", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
					im.Kind, im.Code = model.PTX, everythingV2SM80
					return im
				}()},
			},
		},
	},
	"nothing": {
		Name:     "nop",
		Variants: []model.Variant{{Images: []model.Image{image(80, "")}}},
	},
}

func TestGolden(t *testing.T) {
	for name, k := range cases {
		t.Run(name, func(t *testing.T) {
			files := emitted(t, name, k)
			dir := filepath.Join(golden, name)
			if *update {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range files {
				path := filepath.Join(dir, f.Name)
				if *update {
					if err := os.WriteFile(path, f.Content, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(string(want), string(f.Content)); d != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, d)
				}
			}
		})
	}
}

func emitted(t *testing.T, pkg string, k model.Kernel) []File {
	t.Helper()
	named, err := names.Assign([]model.Kernel{k}, names.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files(pkg, &k, named[0])
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestElementTypes(t *testing.T) {
	for elem := range goElems {
		for pointer := range 3 {
			k := cases["nothing"]
			k.Params = []model.Param{param("x", elem, pointer)}
			emitted(t, "p", k)
		}
	}
	k := cases["nothing"]
	k.Params = []model.Param{param("x", "fp7", 0)}
	named, err := names.Assign([]model.Kernel{k}, names.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Files("p", &k, named[0]); err == nil || !strings.Contains(err.Error(), `"fp7"`) {
		t.Errorf("an unknown type gives %v", err)
	}
}

// What cannot be formatted is shown with numbered lines.
func TestRenderShowsFaultySource(t *testing.T) {
	k := cases["nothing"]
	named, _ := names.Assign([]model.Kernel{k}, names.Options{})
	named[0].Launch = "Launch Nop"
	_, err := Files("p", &k, named[0])
	if err == nil || !strings.Contains(err.Error(), "nop_kern.go:") || !strings.Contains(err.Error(), "    1\t"+generated.Marker) {
		t.Errorf("got %v", err)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct{ text, first, rest, want string }{
		{"", "", "", ""},
		{"a  b\nc", "", "", "a b c"},
		{strings.Repeat("x", 80) + " y", "", "", strings.Repeat("x", 80) + "\ny"},
		{strings.Repeat("é", 38) + " " + strings.Repeat("é", 38), "", "", strings.Repeat("é", 38) + " " + strings.Repeat("é", 38)},
		{strings.Repeat("é", 38) + " " + strings.Repeat("é", 39), "- ", "  ", "- " + strings.Repeat("é", 38) + "\n  " + strings.Repeat("é", 39)},
	} {
		if got := strings.Join(wrap(c.text, c.first, c.rest), "\n"); got != c.want {
			t.Errorf("wrap(%q):\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

func TestDocstring(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{"", ""},
		{"\n\n one \n\n", " one"},
		{"a\r\nb\rc\u2028d", "a\nb\nc\nd"},
		{"a\n\tb", "a\n    b"},
		{"Deprecated: x\n  Deprecated: y", "deprecated: x\n  deprecated: y"},
		{"+build x\n  +build y", "\\+build x\n  \\+build y"},
		{"a\x00b\x1bc\u202ed\ufeffe\xfff", "abcde\ufffdf"},
	} {
		if got := strings.Join(docstring(c.doc), "\n"); got != c.want {
			t.Errorf("docstring(%q) = %q, want %q", c.doc, got, c.want)
		}
	}
}

// Whatever a docstring, a name or a path holds, it stays within its comment and
// string, and gofmt has nothing left to do.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\nb", "*/ }", "//go:noinline", "go:build x", "+build x", "Deprecated: x", "# H", "1. a\n2. b", "- a\n\n  - b\n", "[a]: http://x", "\tcode\n\n\tmore", "a\x00", "\xff", "\u2028", "# \n", "#\n\n a\n", "  1. a", "*\n-", "BUG(x): y", "(:ml"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k := cases["everything"]
		k.Doc, k.Source = s, s
		k.Constants = []model.Constant{{Name: "ACT", Value: s}}
		content := emitted(t, "p", k)[0].Content
		again, err := format.Source(content)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(content, again) {
			t.Fatalf("gofmt changes the text:\n%s", cmp.Diff(string(content), string(again)))
		}
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", content, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(file) {
			t.Error("not recognised as generated")
		}
		if len(file.Decls) != 9 {
			t.Errorf("%d declarations, want 9:\n%s", len(file.Decls), content)
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				if !strings.HasPrefix(c.Text, "// ") && c.Text != "//" && !strings.HasPrefix(c.Text, "//\t") && !strings.HasPrefix(c.Text, "//go:embed ") {
					t.Errorf("a comment that may be an instruction: %q", c.Text)
				}
			}
		}
	})
}

// Variants are told once where all configurations and types have the same, else
// each with where it belongs.
func TestChoices(t *testing.T) {
	variant := func(config int, guards ...model.Guard) model.Variant {
		return model.Variant{Config: config, Guards: guards, Images: []model.Image{image(80, "")}}
	}
	aligned := model.Guard{Param: 0, Is: model.DivisibleBy16}
	k := model.Kernel{
		Name: "k", Params: []model.Param{{Name: "x", Type: model.Type{Elem: "fp16", Pointer: 1}, TypeVar: "T"}},
		TypeVars: []model.TypeVar{{Name: "T", Types: []string{"fp16", "bf16"}}},
	}
	configs := []model.Config{{Name: "num_warps=4"}, {Name: "num_warps=8"}}
	for _, elem := range k.TypeVars[0].Types {
		k.Instances = append(k.Instances, model.Kernel{
			Name: "k", Suffix: elem, Types: []string{elem}, Configs: configs,
			Variants: []model.Variant{variant(0, aligned), variant(0), variant(1, aligned), variant(1)},
		})
	}
	told := func() (list []string) {
		for _, c := range choices(&k) {
			list = append(list, strings.TrimSpace(c.where+" "+promises(kernel{Kernel: &k}, c.Variant)))
		}
		return list
	}
	if d := cmp.Diff([]string{"x is a multiple of 16", "any arguments"}, told()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	k.Instances[1].Variants = []model.Variant{variant(0), variant(1)}
	want := []string{
		"fp16 with num_warps=4 x is a multiple of 16", "fp16 with num_warps=4 any arguments",
		"fp16 with num_warps=8 x is a multiple of 16", "fp16 with num_warps=8 any arguments",
		"bf16 with num_warps=4 any arguments", "bf16 with num_warps=8 any arguments",
	}
	if d := cmp.Diff(want, told()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
