package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/internal/gridexpr"
)

const whole = `# a comment
targets: [sm_90, sm_80, ptx]
artefacts: built
packages:
  - name: vec
    out: ../generated/vec
    kernels:
      - source: vec.py
        kernel: add_kernel
        types: {T: [fp32, fp16]}
        args: &args
          x_ptr: "*T:16"
          n: ["i32", "i32:16", 1]
          bias: ["*T", null]
          BLOCK: 1024
          EPS: 1e-5
          FLAGS: [true, -0x10, {dtype: T}]
        options: {num_warps: 8}
        grid: ["cdiv(n, BLOCK)", 2]
        name: add
        rename: {x_ptr: x}
        doc: Adds.
      - source: sub/mm.py
        kernel: matmul
        targets: [sm_100, sm_90]
        args: {a: "*fp16:16", M: i32}
        nullable: [a]
        configs:
          - {BLOCK_M: 128, num_warps: 8}
          - {BLOCK_M: 64, num_warps: 8}
        default: {BLOCK_M: 64}
        key: [M]
  - name: other
    out: other
    kernels:
      - {source: vec.py, kernel: add_kernel, types: {T: [fp64]}, args: *args, autotune: true}
`

func TestParse(t *testing.T) {
	c, err := parse("kerngen.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	add, mm := c.Packages[0].Kernels[0], c.Packages[0].Kernels[1]
	dim, err := gridexpr.Parse("cdiv(n, BLOCK)")
	if err != nil {
		t.Fatal(err)
	}
	args := []Setting{
		{"kerngen.yaml:12:11", "x_ptr", Value{Pos: "kerngen.yaml:12:18", Kind: String, String: "*T:16"}},
		{"kerngen.yaml:13:11", "n", Value{Pos: "kerngen.yaml:13:14", Kind: List, List: []Value{
			{Pos: "kerngen.yaml:13:15", Kind: String, String: "i32"},
			{Pos: "kerngen.yaml:13:22", Kind: String, String: "i32:16"},
			{Pos: "kerngen.yaml:13:32", Kind: Int, Int: 1},
		}}},
		{"kerngen.yaml:14:11", "bias", Value{Pos: "kerngen.yaml:14:17", Kind: List, List: []Value{
			{Pos: "kerngen.yaml:14:18", Kind: String, String: "*T"},
			{Pos: "kerngen.yaml:14:24", Kind: Null},
		}}},
		{"kerngen.yaml:15:11", "BLOCK", Value{Pos: "kerngen.yaml:15:18", Kind: Int, Int: 1024}},
		{"kerngen.yaml:16:11", "EPS", Value{Pos: "kerngen.yaml:16:16", Kind: Float, Float: 1e-5}},
		{"kerngen.yaml:17:11", "FLAGS", Value{Pos: "kerngen.yaml:17:18", Kind: List, List: []Value{
			{Pos: "kerngen.yaml:17:19", Kind: Bool, Bool: true},
			{Pos: "kerngen.yaml:17:25", Kind: Int, Int: -16},
			{Pos: "kerngen.yaml:17:32", Kind: Map, Map: []Setting{
				{"kerngen.yaml:17:33", "dtype", Value{Pos: "kerngen.yaml:17:40", Kind: String, String: "T"}},
			}},
		}}},
	}
	want := Kernel{
		Pos: "kerngen.yaml:9:17", Source: Name{"kerngen.yaml:8:17", "vec.py"}, Function: "add_kernel",
		Types:   []TypeVar{{"kerngen.yaml:10:17", "T", []string{"fp32", "fp16"}}},
		Args:    args,
		Options: []Setting{{"kerngen.yaml:18:19", "num_warps", Value{Pos: "kerngen.yaml:18:30", Kind: Int, Int: 8}}},
		Grid: []Dimension{
			{Pos: "kerngen.yaml:19:16", Expr: dim},
			{Pos: "kerngen.yaml:19:34", Expr: gridexpr.Expr{Op: gridexpr.Int, Int: 2}},
		},
		GoName: "add", Renames: map[string]string{"x_ptr": "x"}, Doc: "Adds.",
	}
	if diff := cmp.Diff(want, add, cmpopts.IgnoreUnexported(Dimension{})); diff != "" {
		t.Errorf("add_kernel (-want +got)\n%s", diff)
	}
	if pos := add.Grid[0].At(8); pos != "kerngen.yaml:19:25" {
		t.Errorf("byte 8 of the grid's first expression is at %s", pos)
	}
	if i, err := MatchConfig(*mm.Default, mm.Configs); i != 1 || err != nil {
		t.Errorf("the default is configuration %d (%v)", i, err)
	}
	aliased := c.Packages[1].Kernels[0]
	if diff := cmp.Diff(args, aliased.Args); diff != "" {
		t.Errorf("aliased arguments (-want +got)\n%s", diff)
	}
	if aliased.Autotune == nil {
		t.Error("autotune is lost")
	}
	if diff := cmp.Diff([]Target{80, 90}, c.Targets.Archs); diff != "" || c.Targets.PTX != 80 || c.Artefacts != "built" {
		t.Errorf("targets %v, PTX of sm_%d, artefacts in %s", c.Targets.Archs, c.Targets.PTX, c.Artefacts)
	}
	if diff := cmp.Diff(c.Targets, c.TargetsOf(&add)); diff != "" {
		t.Errorf("targets of a kernel without its own (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(Targets{Archs: []Target{90, 100}, Pos: map[Target]string{90: "kerngen.yaml:25:27", 100: "kerngen.yaml:25:19"}}, c.TargetsOf(&mm)); diff != "" {
		t.Errorf("targets of a kernel with its own (-want +got)\n%s", diff)
	}
}

// kernelWith is a configuration whose only kernel has these lines too.
func kernelWith(lines ...string) string {
	return "targets: [sm_80]\npackages:\n  - name: p\n    out: p\n    kernels:\n      - source: k.py\n        kernel: k\n        " +
		strings.Join(lines, "\n        ") + "\n"
}

func targetsOf(targets string) string {
	return "targets: " + targets + "\npackages: [{name: p, out: p, kernels: [{source: k.py, kernel: k}]}]\n"
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		want []string
	}{
		"empty":        {"", []string{`k.yaml: is empty; it lists targets and packages`}},
		"comment only": {"# nothing\n", []string{`k.yaml: is empty; it lists targets and packages`}},
		"not YAML":     {"targets: [sm_80\n", []string{`k.yaml:1: not YAML: did not find expected ',' or ']'`}},
		"tab":          {"targets:\n\t- sm_80\n", []string{`k.yaml:2: not YAML: found character that cannot start any token`}},
		"two documents": {targetsOf("[sm_80]") + "---\nx: 1\n",
			[]string{`k.yaml:3:1: a second document; kerngen.yaml has one`}},
		"a list": {"- a\n", []string{`k.yaml:1:1: the configuration is a list, not a mapping`}},
		"nothing given": {"{}\n", []string{
			`k.yaml:1:1: the configuration has no "packages"`,
			`k.yaml:1:1: the configuration has no "targets"`}},
		"unknown key": {kernelWith("arg: {}", "zzzzzz: 1"), []string{
			`k.yaml:8:9: unknown key "arg" in a kernel; did you mean "args"?`,
			`k.yaml:9:9: unknown key "zzzzzz" in a kernel; known: source, kernel, targets, types, args, nullable, configs, autotune, default, key, options, grid, name, rename and doc`}},
		"misspelt required key": {"targets: [sm_80]\npackage: []\n", []string{
			`k.yaml:1:1: the configuration has no "packages"`,
			`k.yaml:2:1: unknown key "package" in the configuration; did you mean "packages"?`}},
		"key twice":       {kernelWith("doc: a", "doc: b"), []string{`k.yaml:9:9: key "doc" is given twice; first in line 8`}},
		"argument twice":  {kernelWith("args: {x: i32, x: i64}"), []string{`k.yaml:8:24: key "x" is given twice; first in line 8`}},
		"key not a name":  {kernelWith("args: {1: i32}"), []string{`k.yaml:8:16: a key must be a name; put it in quotes`}},
		"key a list":      {kernelWith("args: {[a]: i32}"), []string{`k.yaml:8:16: a key must be a name; put it in quotes`}},
		"merge key":       {kernelWith("args: {<<: {x: i32}}"), []string{`k.yaml:8:16: merge keys are not supported; name an anchor for a whole value, or write the keys out`}},
		"recursive alias": {kernelWith("args: &a {x: *a}"), []string{`k.yaml:8:22: alias "*a" stands within the value that it names`}},
		"alias bomb": {kernelWith("args:", "  a: &a [1,1,1,1,1,1,1,1]", "  b: &b [*a,*a,*a,*a,*a,*a,*a,*a]", "  c: &c [*b,*b,*b,*b,*b,*b,*b,*b]",
			"  d: &d [*c,*c,*c,*c,*c,*c,*c,*c]", "  e: &e [*d,*d,*d,*d,*d,*d,*d,*d]", "  f: &f [*e,*e,*e,*e,*e,*e,*e,*e]", "  g: [*f,*f,*f,*f,*f,*f,*f,*f]"),
			[]string{`k.yaml:1:1: aliases make more than 1048576 values of the file`}},

		"no targets":      {targetsOf("[]"), []string{`k.yaml:1:10: targets is empty; list the architectures to compile for, such as sm_80`}},
		"targets text":    {targetsOf("sm_80"), []string{`k.yaml:1:10: targets is a string, not a list`}},
		"target number":   {targetsOf("[80]"), []string{`k.yaml:1:11: a target is a number, not a string`}},
		"target cc":       {targetsOf("[sm80, cuda:90]"), []string{`k.yaml:1:11: unknown target "sm80"; did you mean "sm_80"?`, `k.yaml:1:17: unknown target "cuda:90"; did you mean "sm_90"?`}},
		"target unknown":  {targetsOf("[sm_42]"), []string{`k.yaml:1:11: unknown target "sm_42"; known: ptx, sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_101, sm_103, sm_110, sm_120 and sm_121`}},
		"target suffixed": {targetsOf("[sm_90a]"), []string{`k.yaml:1:11: target "sm_90a": Triton decides about the suffix itself; write "sm_90"`}},
		"target twice":    {targetsOf("[sm_80, ptx, sm_80, ptx]"), []string{`k.yaml:1:23: target "sm_80" is given twice`, `k.yaml:1:30: target "ptx" is given twice`}},
		"hip": {targetsOf(`["hip:gfx942"]`), []string{
			`k.yaml:1:11: target "hip:gfx942": kernels for AMD GPUs cannot be launched by kerngen's runtime, which speaks to NVIDIA's driver only`}},
		"ptx alone": {targetsOf("[sm_90, ptx]"), []string{
			`k.yaml:1:18: target "ptx" needs a target below sm_90: PTX that Triton makes for sm_90 or newer runs on that very architecture only, so it is no fallback for another; add sm_80`}},

		"a kernel's ptx alone": {kernelWith("targets: [sm_90, ptx]"), []string{
			`k.yaml:8:26: target "ptx" needs a target below sm_90: PTX that Triton makes for sm_90 or newer runs on that very architecture only, so it is no fallback for another; add sm_80`}},
		"a kernel's targets empty": {kernelWith("targets: []"), []string{`k.yaml:8:18: targets is empty; list the architectures to compile for, such as sm_80`}},
		"package name":             {"targets: [sm_80]\npackages: [{name: a-b, out: p, kernels: [{source: k.py, kernel: k}]}]", []string{`k.yaml:2:19: "a-b" is not a package name; use letters and digits, a letter first`}},
		"package incapable":        {"targets: [sm_80]\npackages: [{name: a}]", []string{`k.yaml:2:12: a package has no "kernels"`, `k.yaml:2:12: a package has no "out"`}},
		"packages share": {"targets: [sm_80]\npackages:\n- {name: a, out: p, kernels: [{source: k.py, kernel: k}]}\n- {name: b, out: ./p, kernels: [{source: k.py, kernel: k}]}", []string{
			`k.yaml:4:3: package "b" has the same folder "p" as package "a"; list their kernels in one package: what a run makes replaces what is there`}},
		"absolute out":  {"targets: [sm_80]\npackages: [{name: a, out: /p, kernels: [{source: k.py, kernel: k}]}]", []string{`k.yaml:2:27: out "/p" is not a relative path with slashes; give the folder relative to this file`}},
		"no kernels":    {"targets: [sm_80]\npackages: [{name: a, out: p, kernels: []}]", []string{`k.yaml:2:39: kernels is empty`}},
		"kernel twice":  {"targets: [sm_80]\npackages: [{name: a, out: p, kernels: [{source: k.py, kernel: k}, {source: l.py, kernel: k}]}]", []string{`k.yaml:2:67: kernel "k" is in package "a" already, at k.yaml:2:63; give alternatives or configs to one entry, or put it into another package`}},
		"source above":  {"targets: [sm_80]\npackages: [{name: a, out: p, kernels: [{source: ../k.py, kernel: k}]}]", []string{`k.yaml:2:49: source "../k.py" is not a relative path with slashes in or below this file's folder; put kerngen.yaml where its kernels are: line information is relative to it`}},
		"source no .py": {"targets: [sm_80]\npackages: [{name: a, out: p, kernels: [{source: k.cu, kernel: k}]}]", []string{`k.yaml:2:49: source "k.cu" is not a Python file`}},
		"artefacts up":  {"artefacts: ../x\n" + targetsOf("[sm_80]"), []string{`k.yaml:1:12: artefacts "../x" is not a folder below the configuration's own`}},
		"empty string":  {kernelWith(`doc: ""`), []string{`k.yaml:8:14: doc is empty`}},
		"wrong kind":    {kernelWith(`doc: [a]`), []string{`k.yaml:8:14: doc is a list, not a string`}},

		"type variable unused": {kernelWith("types: {T: [fp32]}", "args: {x: \"*fp32\"}"), []string{`k.yaml:8:17: type variable T is used by no argument; write it as a type, such as "*T", or remove it`}},
		"type variable types": {kernelWith("types: {T: [fp32, fp32, float], U: fp16, t: [i8]}", "args: {x: \"*T\", y: [\"*U\"], z: {tuple: [\"*t\"]}}"), []string{
			`k.yaml:8:27: type variable T names "fp32" twice`,
			`k.yaml:8:33: type variable T: unknown type "float"; known: i1, i8, i16, i32, i64, u1, u8, u16, u32, u64, fp16, bf16, fp32, fp64, fp8e4nv, fp8e4b8, fp8e4b15, fp8e5 and fp8e5b16`,
			`k.yaml:8:44: type variable U is not a list of types; such as [fp32, fp16]`,
			`k.yaml:8:50: "t" is no name for a type variable; start it with a capital letter, such as T`}},

		"number too large": {kernelWith("args: {N: 9223372036854775808, M: 99999999999999999999}"), []string{
			`k.yaml:8:19: 9223372036854775808 is larger than 64 bits with sign hold`,
			`k.yaml:8:43: 99999999999999999999 is larger than 64 bits with sign hold`}},
		"octal": {kernelWith("args: {N: 010, M: 1_000, O: 0o7}"), []string{
			`k.yaml:8:19: 010 is not written as a plain decimal or hexadecimal number`,
			`k.yaml:8:27: 1_000 is not written as a plain decimal or hexadecimal number`,
			`k.yaml:8:37: 0o7 is not written as a plain decimal or hexadecimal number`}},
		"date": {kernelWith("args: {N: 2020-01-01}"), []string{`k.yaml:8:19: a value of type "timestamp" has no meaning here; put it in quotes if it is a string`}},
		"nullable": {kernelWith("args: {b: [\"*fp32\", null], n: 1}", "nullable: [b, n, n]"), []string{
			`k.yaml:9:20: argument b is nullable, and null is one of its alternatives too; give one of them: nullable passes a null pointer, the alternative null compiles the kernel without it`,
			`k.yaml:9:23: argument n is nullable, but it is 1, no pointer`,
			`k.yaml:9:26: nullable names "n" twice`}},

		"configs and autotune": {kernelWith("configs: [{B: 1}]", "autotune: true"), []string{`k.yaml:9:19: kernel "k" has both configs and autotune; give one of them`}},
		"autotune text":        {kernelWith("autotune: please"), []string{`k.yaml:8:19: autotune is a string, not true or false`}},
		"configs empty":        {kernelWith("configs: []"), []string{`k.yaml:8:18: configs is empty; leave it out, or list constants and options such as {BLOCK: 128, num_warps: 4}`}},
		"config twice":         {kernelWith("configs: [{B: 1, C: 2}, {C: 2, B: 1}]"), []string{`k.yaml:8:33: configs 1 and 2 are the same`}},
		"config overlaps": {kernelWith("args: {B: 1}", "options: {num_warps: 4}", "configs: [{B: 1, num_warps: 8}]"), []string{
			`k.yaml:10:20: B is given by args too; remove one of them`,
			`k.yaml:10:26: num_warps is given by options too; remove one of them`}},
		"default unneeded":  {kernelWith("default: {B: 1}"), []string{`k.yaml:8:18: kernel "k" has a default but neither configs nor autotune to choose it from`}},
		"default unknown":   {kernelWith("configs: [{B: 1}]", "default: {B: 2}"), []string{`k.yaml:9:18: no configuration has the default's values; name values of exactly one`}},
		"default ambiguous": {kernelWith("configs: [{B: 1, C: 1}, {B: 1, C: 2}]", "default: {B: 1}"), []string{`k.yaml:9:18: 2 configurations have the default's values; name values of exactly one`}},

		"grid empty":   {kernelWith("grid: []"), []string{`k.yaml:8:15: grid has 0 dimensions; it must have one to three`}},
		"grid of four": {kernelWith("grid: [1, 1, 1, 1]"), []string{`k.yaml:8:15: grid has 4 dimensions; it must have one to three`}},
		"grid text":    {kernelWith("grid: n"), []string{`k.yaml:8:15: grid is a string, not a list`}},
		"grid syntax": {kernelWith(`grid: ["cdiv(n; 4)", 'M +', N N]`, `rename: {a: [b]}`, `name: true`), []string{
			`k.yaml:8:23: grid expression "cdiv(n; 4)": no ")" for the "(" at byte 5`,
			`k.yaml:8:34: grid expression "M +": the expression ends where a value is missing`,
			`k.yaml:8:39: grid expression "N N": unexpected "N" after "N "`,
			`k.yaml:9:21: rename a: ["b"] is not a name`,
			`k.yaml:10:15: name is true or false, not a string`}},
		"grid kind": {kernelWith(`grid: [1.5, [n]]`), []string{
			`k.yaml:8:16: a dimension of the grid is a number, not an expression`,
			`k.yaml:8:21: a dimension of the grid is a list, not an expression`}},
		"rename": {kernelWith("rename: {a: 1}"), []string{`k.yaml:8:21: rename a: 1 is not a name`}},
		"deep":   {kernelWith("args: {x: [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}"), []string{`k.yaml:8:36: more than 16 levels of lists and mappings`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse("k.yaml", []byte(c.yaml))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(strings.Join(c.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseArgument(t *testing.T) {
	for text, want := range map[string]Argument{
		"i32":                        {Elem: "i32"},
		"u8:16":                      {Elem: "u8", Hint: 16},
		"i64:1":                      {Elem: "i64", Hint: 1},
		"*fp16:16":                   {Pointer: 1, Elem: "fp16", Hint: 16},
		"*kT":                        {Pointer: 1, Const: true, Elem: "T"},
		"**fp8e5":                    {Pointer: 2, Elem: "fp8e5"},
		"T":                          {Elem: "T"},
		"i1":                         {Elem: "i1"},
		"tensordesc<T[BLOCK_M, 64]>": {Elem: "T", Block: []string{"BLOCK_M", "64"}},
	} {
		got, err := ParseArgument(text, []string{"T"})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"int":      `unknown type "int"; Triton's are i1, i8, i16, i32, i64, u1, u8, u16, u32, u64, fp16, bf16, fp32, fp64, fp8e4nv, fp8e4b8, fp8e4b15, fp8e5, fp8e5b16, and pointers such as *fp32`,
		"*float32": `unknown type "float32"; did you mean "*fp32"?`,
		"*fp23":    `unknown type "fp23"; did you mean "*fp32"?`,
		"*U":       `unknown type "U"; give it its types: "types: {U: [fp32, fp16]}"`,
		"*":        `"*" names no type; Triton's are i1, i8, i16, i32, i64, u1, u8, u16, u32, u64, fp16, bf16, fp32, fp64, fp8e4nv, fp8e4b8, fp8e4b15, fp8e5, fp8e5b16, and pointers such as *fp32`,
		"i32:8":    `unknown promise ":8" in "i32:8"; there are :16 (divisible by 16) and :1 (equal to 1)`,
		"*i32:1":   `"*i32:1": only an integer can be promised to be 1`,
		"fp32:16":  `"fp32:16": only a pointer or an integer can be promised to be divisible by 16`,
		"i1:1":     `"i1:1": only an integer can be promised to be 1`,
		"fp8e5":    `"fp8e5": an 8-bit float can be pointed to, not passed`,
	} {
		if _, err := ParseArgument(text, []string{"T"}); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestLocate(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "module", "a", "b")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, FileName)) // beyond the module: never found
	write(filepath.Join(root, "module", "go.mod"))
	want := deep + ": no kerngen.yaml here or above, up to the module's root; name one with --config, or a PATH of artefacts"
	if _, err := Locate(deep); err == nil || err.Error() != filepath.ToSlash(want) {
		t.Errorf("%v, want %s", err, want)
	}
	for _, dir := range []string{filepath.Join(root, "module"), filepath.Join(root, "module", "a"), deep} {
		write(filepath.Join(dir, FileName))
		path, err := Locate(deep)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Clean(path) != filepath.Join(dir, FileName) {
			t.Errorf("found %s, want that in %s", path, dir)
		}
	}
	t.Chdir(deep)
	if path, err := Locate("."); path != FileName || err != nil {
		t.Errorf("in the working folder: %q, %v", path, err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	for name, content := range map[string]string{
		FileName: "targets: [sm_80]\npackages: [{name: p, out: p, kernels: [{source: add.py, kernel: k}, {source: other.py, kernel: l}, {source: sub/x.py, kernel: m}]}]",
		"vec.py": "", "adds.py": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pos := filepath.ToSlash(path)
	_, err := Load(path)
	want := pos + `:2:49: source "add.py" does not exist; did you mean "adds.py"?` + "\n" +
		pos + `:2:78: source "other.py" does not exist; it is looked for in the folder of kerngen.yaml` + "\n" +
		pos + `:2:109: source "sub/x.py" does not exist; it is looked for in the folder of kerngen.yaml`
	got := ""
	if err != nil {
		got = err.Error()
	}
	lines := strings.Split(want, "\n")
	for _, l := range lines {
		if !strings.Contains(got, l) {
			t.Errorf("no %q in\n%s", l, got)
		}
	}
	if _, err := Load(filepath.Join(dir, "none.yaml")); err == nil || err.Error() != filepath.ToSlash(filepath.Join(dir, "none.yaml"))+": no such file or directory" {
		t.Errorf("a missing file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add(kernelWith("args: {x: [1, null, \"*fp32\"]}", "configs: [{B: 1}]", "default: {B: 1}"))
	own, err := os.ReadFile("../compile/testdata/triton/kerngen.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(own))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parse("k.yaml", []byte(text))
		var one *diag.Error
		switch {
		case err == nil:
			if len(c.Targets.Archs) == 0 || len(c.Packages) == 0 {
				t.Errorf("read as %+v", c)
			}
		case c != nil || !diag.IsUser(err):
			t.Errorf("%+v, %v", c, err)
		case errors.As(err, &one) && (!strings.HasPrefix(one.Pos, "k.yaml") || one.Fault == ""):
			t.Errorf("no position or no fault: %v", err)
		}
	})
}
