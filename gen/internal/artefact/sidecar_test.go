package artefact

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestSidecar(t *testing.T) {
	low, high, half, inf, nan, yes, word := int64(math.MinInt64), int64(math.MaxInt64), 0.5, math.Inf(-1), math.NaN(), false, "relu"
	want := &Sidecar{
		Schema: 1, Kernel: "matmul", Doc: "matmul multiplies.\n\nTwice.", Triton: "3.6.0",
		Source: []SidecarFile{{"kernels/matmul.py", hash}, {"kernels/lib/cdiv.py", hash}},
		Params: []SidecarParam{
			{Name: "a", Type: "*kfp16", DivisibleBy: 16},
			{Name: "bias", Type: "*fp16", Nullable: true, Folded: "absent"},
			{Name: "stride", Type: "i64", Folded: "one"},
			{Name: "seed", Type: "u32", DivisibleBy: 16},
			{Name: "größe", Type: "i1"},
			{Name: "desc", Type: "tensordesc<fp16[64,64]>"},
			{Name: "shape", Tuple: []SidecarParam{{Type: "i32"}, {Type: "i32", Folded: "one"}, {Tuple: []SidecarParam{{Name: "x", Type: "*fp32"}}}}},
			{Name: "nothing", Tuple: []SidecarParam{}},
			{Name: "LOW", Constant: &Constant{Int: &low}},
			{Name: "HIGH", Constant: &Constant{Int: &high}},
			{Name: "EPS", Constant: &Constant{Float: &half}},
			{Name: "INIT", Constant: &Constant{Float: &inf}},
			{Name: "NAN", Constant: &Constant{Float: &nan}},
			{Name: "FLAG", Constant: &Constant{Bool: &yes}},
			{Name: "ACT", Constant: &Constant{String: &word}},
			{Name: "DTYPE", Constant: &Constant{DType: "fp16"}},
			{Name: "NONE", Constant: &Constant{None: true}},
		},
		Grid: []string{"cdiv(M, BLOCK_M)", "B"},
	}
	got, err := parseSidecar("matmul.kerngen.json", file(t, "sidecar/matmul.kerngen.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The documentation shows a whole file.
func TestSidecarDocumentation(t *testing.T) {
	page := string(file(t, "../../../../docs/sidecar.md"))
	_, rest, ok := strings.Cut(page, "```json\n")
	example, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("no example in docs/sidecar.md")
	}
	if _, err := parseSidecar("example", []byte(example)); err != nil {
		t.Error(err)
	}
}

func TestSidecarFaults(t *testing.T) {
	whole := func(s string) string { return `{"schema": 1, "kernel": "k", "triton": "3.6.0", "params": []` + s + "}" }
	params := func(s string) string { return `{"schema": 1, "kernel": "k", "triton": "3.6.0", "params": [` + s + "]}" }
	second := func(s string, params ...string) string {
		return `{"schema": 2, "kernel": "k", "triton": "3.6.0", "params": [` + strings.Join(params, ", ") + "]" + s + "}"
	}
	constant := func(s string) string { return params(`{"name": "N", "constant": ` + s + "}") }
	for _, test := range []struct {
		name, text, want string
	}{
		{"no JSON", "{", "k.kerngen.json:1:1: not JSON: unexpected end of JSON input"},
		{"key twice", whole(`, "triton": "3.5.0"`), `key "triton" is given twice`},
		{"no schema", "{}", `k.kerngen.json: no schema; it must say "schema": 2`},
		{"newer schema", `{"schema": 3, "params": {}}`, "k.kerngen.json: schema 3 is unknown; this kerngen reads 1 and 2; use the kerngen that wrote the file, or compile the kernel again"},
		{"odd schema", `{"schema": "1"}`, `schema "1" is unknown`},
		{"unknown field", whole(`, "version": 3`), `k.kerngen.json: unknown field "version"`},
		{"unknown field of a parameter", params(`{"name": "x", "typ": "i32"}`), `unknown field "typ"`},
		{"unknown field of a constant", constant(`{"integer": 3}`), `unknown field "integer"`},
		{"another case", params(`{"name": "x", "Type": "i32"}`), `k.kerngen.json: unknown field "Type"`},
		{"odd case", params(`{"name": "x", "ſtring": "i32"}`), `unknown field "ſtring"`},
		{"odd kernel", strings.Replace(whole(""), `"k"`, `"a-b"`, 1), `k.kerngen.json: kernel: "a-b" is not a name of a Python function`},
		{"wrong type", params(`{"name": 3}`), `k.kerngen.json:1:70: field "params.name" cannot be number; it must be a string`},
		{"wrong type of params", `{"schema": 1, "params": 3}`, `field "params" cannot be number; it must be an array`},
		{"wrong type of a flag", params(`{"name": "x", "nullable": 1}`), `field "params.nullable" cannot be number; it must be true or false`},
		{"many faults", `{"schema": 1}`, "k.kerngen.json: kernel: \"\" is not a name of a Python function\n" +
			"k.kerngen.json: params: is missing\nk.kerngen.json: triton: is missing or empty"},
		{"absolute path", whole(`, "source": [{"path": "/a.py", "sha256": "` + hash + `"}]`), `source[0]: path "/a.py" is not relative, with slashes and without ".."`},
		{"path upward", whole(`, "source": [{"path": "a/../../b.py", "sha256": "` + hash + `"}]`), `path "a/../../b.py" is not relative`},
		{"backslash", whole(`, "source": [{"path": "a\\b.py", "sha256": "` + hash + `"}]`), `path "a\\b.py" is not relative`},
		{"drive", whole(`, "source": [{"path": "C:/b.py", "sha256": "` + hash + `"}]`), `path "C:/b.py" is not relative`},
		{"no path", whole(`, "source": [{"sha256": "` + hash + `"}]`), `path "" is not relative`},
		{"path twice", whole(`, "source": [{"path": "a.py", "sha256": "` + hash + `"}, {"path": "a.py", "sha256": "` + hash + `"}]`), `source[1]: path "a.py" is given twice`},
		{"odd hash", whole(`, "source": [{"path": "a.py", "sha256": "` + strings.ToUpper(hash) + `"}]`), "is not 64 lower-case hexadecimal digits"},
		{"four dimensions", whole(`, "grid": ["1", "1", "1", "1"]`), "grid: has 4 dimensions; CUDA has three"},
		{"empty dimension", whole(`, "grid": ["1", " "]`), "grid[1]: is empty"},
		{"types of schema 1", whole(`, "types": [{"name": "T", "type": "fp16"}]`), "types: is of schema 2, but the file says 1"},
		{"configuration of schema 1", whole(`, "config": {"index": 0, "name": "BLOCK=1"}`), "config: is of schema 2, but the file says 1"},
		{"key of schema 1", whole(`, "key": []`), "key: is of schema 2, but the file says 1"},
		{"order of schema 1", whole(`, "order": 3`), "order: is of schema 2, but the file says 1"},
		{"negative order", second(`, "order": -3`), "order: is -3"},
		{"type variable of schema 1", params(`{"name": "x", "type": "fp16", "type_var": "T"}`), "params[0]: type_var: is of schema 2, but the file says 1"},
		{"odd type variable", second(`, "types": [{"name": "a-b", "type": "fp16"}]`), `types[0]: "a-b" is not a name of a type variable`},
		{"type variable twice", second(`, "types": [{"name": "T", "type": "fp16"}, {"name": "T", "type": "fp16"}]`), `types[1]: name "T" is given twice`},
		{"type variable without a type", second(`, "types": [{"name": "T"}]`), `types[0]: type is missing or empty`},
		{"unknown type variable", second(`, "types": [{"name": "U", "type": "fp16"}]`, `{"name": "x", "type": "*fp16", "type_var": "T"}`), `params[0]: type_var "T" is not among types`},
		{"type variable of another type", second(`, "types": [{"name": "T", "type": "fp16"}]`, `{"name": "x", "type": "*kfp32", "type_var": "T"}`), `params[0]: type is "*kfp32", but type_var T is fp16`},
		{"type variable in a tuple", second(`, "types": [{"name": "T", "type": "fp16"}]`, `{"name": "x", "tuple": [{"type": "bf16", "type_var": "T"}]}`), `params[0].tuple[0]: type is "bf16", but type_var T is fp16`},
		{"negative configuration", second(`, "config": {"index": -1, "name": "BLOCK=1"}`), "config: index is -1"},
		{"configuration without a name", second(`, "config": {"index": 0}`), "config: name is missing or empty"},
		{"key of nothing", second(`, "key": ["M"]`), `key[0]: "M" is no run-time parameter`},
		{"key of a constant", second(`, "key": ["M"]`, `{"name": "M", "constant": {"int": 1}}`), `key[0]: "M" is no run-time parameter`},
		{"key twice", second(`, "key": ["M", "M"]`, `{"name": "M", "type": "i32"}`), `key[1]: "M" is given twice`},
		{"no name", params(`{"type": "i32"}`), `params[0]: "" is not a name of a parameter`},
		{"odd name", params(`{"name": "1x", "type": "i32"}`), `params[0]: "1x" is not a name of a parameter`},
		{"name twice", params(`{"name": "x", "type": "i32"}, {"name": "x", "type": "i32"}`), `params[1]: name "x" is given twice`},
		{"nothing set", params(`{"name": "x"}`), `params[0] (x): 0 of type, constant and tuple are set, not one`},
		{"two set", params(`{"name": "x", "type": "i32", "constant": {"int": 1}}`), `params[0] (x): 2 of type, constant and tuple are set, not one`},
		{"odd promise", params(`{"name": "x", "type": "i32", "divisible_by": 8}`), "params[0] (x): divisible_by is 8, not 16"},
		{"promise of a float", params(`{"name": "x", "type": "fp32", "divisible_by": 16}`), "params[0] (x): divisible_by is for pointers and integers only"},
		{"promise of a constant", params(`{"name": "x", "constant": {"int": 16}, "divisible_by": 16}`), "divisible_by is for pointers and integers only"},
		{"nullable integer", params(`{"name": "x", "type": "i32", "nullable": true}`), "params[0] (x): nullable is for pointers only"},
		{"folded pointer", params(`{"name": "x", "type": "*fp32", "folded": "one"}`), `params[0] (x): folded "one" is for integers only`},
		{"folded bool", params(`{"name": "x", "type": "i1", "folded": "one"}`), `params[0] (x): folded "one" is for integers only`},
		{"absent integer", params(`{"name": "x", "type": "i32", "folded": "absent"}`), `params[0] (x): folded "absent" is for pointers only`},
		{"odd fold", params(`{"name": "x", "type": "i32", "folded": "two"}`), `params[0] (x): folded is "two", neither "one" nor "absent"`},
		{"folded and divisible", params(`{"name": "x", "type": "i32", "folded": "one", "divisible_by": 16}`), "params[0] (x): a folded argument is not passed, so divisible_by has no meaning"},
		{"empty constant", constant(`{}`), `params[0] (N): 0 of int, float, bool, string, dtype and none are set in its constant, not one`},
		{"two values", constant(`{"int": 1, "none": true}`), "params[0] (N): 2 of int, float, bool, string, dtype and none"},
		{"half an integer", constant(`{"int": 1.5}`), `constant: field "int" cannot be number 1.5; it must be a whole number of 64 bits with sign`},
		{"large integer", constant(`{"int": 9223372036854775808}`), `constant: field "int" cannot be number 9223372036854775808; it must be a whole number of 64 bits with sign`},
		{"odd float", constant(`{"float": "Infinity"}`), `float "Infinity" is neither a number of 64 bits nor "inf", "-inf" or "nan"`},
		{"large float", constant(`{"float": 1e999}`), `float 1e999 is neither a number of 64 bits`},
		{"constant in a word", constant(`"fp16"`), "cannot be string; it must be an object"},
		{"name twice in a tuple", params(`{"name": "t", "tuple": [{"name": "x", "type": "i32"}, {"name": "x", "type": "i32"}]}`), `params[0] (t).tuple[1]: name "x" is given twice`},
		{"unnamed after named", params(`{"name": "t", "tuple": [{"name": "x", "type": "i32"}, {"type": "i32"}]}`), `params[0] (t).tuple[1]: "" is not a name of a parameter`},
		{"named after unnamed", params(`{"name": "t", "tuple": [{"type": "i32"}, {"name": "x", "type": "i32"}]}`), `params[0] (t).tuple[1]: "x" has a name, but the members before it have none`},
		{"deep tuples", params(`{"name": "t", ` + strings.Repeat(`"tuple": [{`, 20) + `"type": "i32"` + strings.Repeat("}]", 20) + "}"), "more than 16 levels of tuples"},
		{"fault in a tuple", params(`{"name": "t", "tuple": [{"type": "i32", "nullable": true}]}`), "params[0] (t).tuple[0]: nullable is for pointers only"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := parseSidecar("k.kerngen.json", []byte(test.text))
			if err == nil {
				t.Fatalf("read as %+v", s)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "k.kerngen.json:") {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestSidecarCut(t *testing.T) {
	data := file(t, "sidecar/matmul.kerngen.json")
	for n := range len(data) - 1 { // without the last newline
		if _, err := parseSidecar("k.kerngen.json", data[:n]); err == nil {
			t.Errorf("the first %d of %d bytes pass", n, len(data))
		}
	}
}
