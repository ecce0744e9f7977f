package starter

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/config"
)

var update = flag.Bool("update", false, "rewrite the golden file")

func TestFunctions(t *testing.T) {
	source, err := os.ReadFile("testdata/forms.py")
	if err != nil {
		t.Fatal(err)
	}
	want := []function{
		{name: "first", line: 19, params: []parameter{{name: "x_ptr"}, {name: "n"}}},
		{name: "tuned", line: 25, autotuned: true, heuristics: []string{"EVEN"}, params: []parameter{
			{name: "x_ptr"}, {name: "out", annotated: true, annotation: "*fp32"}, {name: "n", annotated: true, annotation: "i64"},
			{name: "flag", annotated: true, value: "true", hasDefault: true},
			{name: "step", value: "1", hasDefault: true}, {name: "big", value: "10000000000", hasDefault: true},
			{name: "scale", value: "-0.5", hasDefault: true}, {name: "name", value: `"relu"`, hasDefault: true},
			{name: "mode", hasDefault: true}, {name: "nothing", value: "null", hasDefault: true}, {name: "null", value: "3", hasDefault: true},
			{name: "EVEN", annotated: true, constexpr: true, value: "null", hasDefault: true}, {name: "BLOCK", annotated: true, constexpr: true, value: "64", hasDefault: true},
			{name: "DTYPE", annotated: true, constexpr: true, hasDefault: true}, {name: "ACT", annotated: true, constexpr: true, hasDefault: true},
			{name: "OTHER", annotated: true, constexpr: true, hasDefault: true}, {name: "SIZE", annotated: true, constexpr: true, hasDefault: true},
			{name: "LAST", annotated: true, constexpr: true, value: "-3", hasDefault: true},
		}},
		{name: "within_if", line: 50, params: []parameter{{name: "a"}, {name: "b", annotated: true, constexpr: true}}},
		{name: "helper", line: 58, params: []parameter{{name: "x"}}, returns: true},
		{name: "inline", line: 74, params: []parameter{{name: "x"}}, returns: true},
		{name: "no_arguments", line: 89},
	}
	for name, text := range map[string]string{"as it is": string(source), "CRLF, BOM": "\ufeff" + strings.ReplaceAll(string(source), "\n", "\r\n")} {
		got, err := functions("forms.py", text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(function{}, parameter{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestWrite holds the file against a golden one, and has the configuration's own
// reader take it.
func TestWrite(t *testing.T) {
	source, err := os.ReadFile("testdata/forms.py")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Write("forms.py", "forms.py", source)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "forms.yaml")
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{"forms.py": source, config.FileName: got} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(filepath.Join(dir, config.FileName))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	blanks := 0
	for _, k := range c.Packages[0].Kernels {
		names = append(names, k.Function)
		for _, s := range k.Args {
			if s.Value.String == config.Blank {
				blanks++
			}
		}
	}
	if diff := cmp.Diff([]string{"first", "tuned", "within_if", "no_arguments"}, names); diff != "" || blanks != 10 {
		t.Errorf("%d blanks, kernels (-want +got)\n%s", blanks, diff)
	}
}

func TestPackageName(t *testing.T) {
	for file, want := range map[string]string{"vec.py": "vec", "My_Kernels.py": "mykernels", "2d.py": "kernels", "func.py": "kernels", "é.py": "kernels", "a-b.c.py": "abc"} {
		if got := packageName(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"no kernel":        {"import triton\ndef f(x): pass\n", "k.py: has no @triton.jit function; name the file that defines the kernels"},
		"of another":       {"import numba\n@numba.jit\ndef f(x): pass\n", "k.py: has no @triton.jit function; name the file that defines the kernels"},
		"helpers only":     {"import triton\n@triton.jit\ndef f(x): return x\n", "k.py: all its @triton.jit functions return values, so none of them can be launched; name the file that defines the kernels"},
		"open bracket":     {"x = 1\ny = (2,\n", `k.py:2: "(" is not closed`},
		"wrong bracket":    {"x = (1]\n", `k.py:1: "]" closes nothing`},
		"open string":      {"x = 'a\n'\n", "k.py:1: a string is not closed"},
		"open long string": {"\nx = '''a\n", "k.py:2: a string is not closed"},
		"open prefix":      {"x = rb'", "k.py:1: a string is not closed"},
		"any arguments":    {"from triton import *\n@jit\ndef f(x, *args): pass\n", `k.py:3: kernel "f" takes any number of arguments, which a compiled kernel cannot`},
		"no definition":    {"import triton\n@triton.jit\ndef f\n", "k.py:3: this is no definition of a function"},
		"not UTF-8":        {"# \xff", "k.py: is not UTF-8"},
		"empty":            {"", "k.py: has no @triton.jit function; name the file that defines the kernels"},
	} {
		if _, err := Write("k.py", "k.py", []byte(c.source)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// FuzzWrite takes any text: a file that the configuration's reader takes, or an
// error.
func FuzzWrite(f *testing.F) {
	source, err := os.ReadFile("testdata/forms.py")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(source))
	f.Add("import triton\n@triton.jit\ndef f(x: tl.constexpr = '#', y=\"\\n\", **z): pass")
	f.Add("@\ndef\nfrom\nimport\nfrom x import (\n)")
	f.Fuzz(func(t *testing.T, source string) {
		got, err := Write("k.py", "k.py", []byte(source))
		if err != nil {
			return
		}
		dir := t.TempDir()
		for name, content := range map[string][]byte{"k.py": nil, config.FileName: got} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := config.Load(filepath.Join(dir, config.FileName)); err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
	})
}

// TestStrings finds the ends of strings: what follows them is one more word.
func TestStrings(t *testing.T) {
	for _, source := range []string{
		`""`, `''''''`, `"a'b"`, `'a\'b'`, `r'\'x'`, `b"\\"`, `'''a'b''c'''`, `"""a"b""c"""`,
		`f"{x}"`, `f"{{x}} '"`, `f"{x['a']}"`, `f"{x["a"]}"`, `f'{x!r:>{10}}'`, `f"{x:'^10}"`, `f"{x:'^10}" + 'a'`, `f"{(lambda: "}")()}"`,
		`rf"{x["}"]}\""`, `f"""{x["a"]} "b" '{y}'"""`, `f"{x[":"]}"`, `t'{x}'`, `u"#"`,
	} {
		got, err := statements("k.py", "x = "+source+" + last\n")
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if tokens := got[0].tokens; len(got) != 1 || tokens[len(tokens)-1].text != "last" || tokens[2].kind != text {
			t.Errorf("%s: %v", source, tokens)
		}
	}
}
