package gen

import (
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/generated"
)

func TestDeclared(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"vec.go": `package vec

import (
	"fmt"
	_ "embed"
	. "math"
	alias "os"
	kernrt "github.com/kerngen/kerngen/runtime"
	"example.com/scale/v2"
)

const A, b = 1, 2

var (
	c int
	d, _ = 1, 2
)

type (
	E struct{ Field int }
	F = E
)

func g() { var local int; _ = local }
func (E) Method() {}
func init() {}
`,
		"in_test.go":     "package vec\n\nvar testOnly int\n",
		"ext_test.go":    "package vec_test\n\nvar external int\n",
		"add_kern.go":    generated.Marker + "\n\npackage other\n\nvar own int\n",
		"hand_kern.go":   "package vec\n\nvar handWritten int\n",
		"tool.go":        "//go:build ignore\n\npackage main\n\nvar ignored int\n",
		"_hidden.go":     "package x\n\nvar hidden int\n",
		"broken.go":      "package vec\n\nvar beforeFault int\n\nfunc {",
		"empty.go":       "",
		"notes.txt":      "package x",
		"sub/sub.go":     "package sub\n\nvar sub int\n",
		"folder.go/x.go": "package x\n",
	})
	taken, err := declared(dir, "vec")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"A", "E", "F", "_", "alias", "b", "beforeFault", "c", "d", "fmt", "g", "handWritten", "scale", "testOnly"}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(taken))); d != "" {
		t.Error(d)
	}
	if want := filepath.ToSlash(filepath.Join(dir, "vec.go")) + ":24:6"; taken["g"] != want {
		t.Errorf("g is at %s, want %s", taken["g"], want)
	}
}

func TestDeclaredOtherPackage(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.go": "package other\n"})
	_, err := declared(dir, "vec")
	want := filepath.ToSlash(filepath.Join(dir, "a.go")) + `:1:9: the folder holds package "other", not "vec"; use --package other, or another --out folder`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDeclaredNowhere(t *testing.T) {
	if taken, err := declared(filepath.Join(t.TempDir(), "none"), "vec"); err != nil || len(taken) > 0 {
		t.Errorf("got %v, %v", taken, err)
	}
}

// Every predeclared name that a generated file uses is refused where the package
// declares it by hand.
func TestDeclaredShadowsPredeclared(t *testing.T) {
	used := map[string]bool{}
	for _, pattern := range []string{golden + "/*/*" + generated.GoSuffix, "../generated/*/*" + generated.GoSuffix, "internal/emit/testdata/*/*" + generated.GoSuffix} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range file.Unresolved {
				if types.Universe.Lookup(id.Name) != nil {
					used[id.Name] = true
				}
			}
		}
	}
	if !used["error"] || !used["int32"] || !used["true"] || !used["string"] {
		t.Fatalf("found only %v", slices.Sorted(maps.Keys(used)))
	}
	for name := range used {
		dir := t.TempDir()
		put(t, dir, map[string]string{"hand.go": "package p\n\ntype " + name + " struct{}\n"})
		_, err := Generate(Config{Package: "p", Dir: dir, Paths: artefacts(t, "add.sm80")})
		want := "hand.go:3:6: " + name + " is declared here, but means Go's own in generated files; rename it"
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
