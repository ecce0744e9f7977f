package compile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/config"
)

// everyKind is a kernel with parameters of every kind.
func everyKind() *kernel {
	return &kernel{
		Params: []param{
			{Name: "x"}, {Name: "y"}, {Name: "n"},
			{Name: "typed", Annotation: "i64"},
			{Name: "odd", Annotation: "no type", Default: &given{Constant: constantOf(1)}},
			{Name: "step", Default: &given{Constant: constantOf(3)}},
			{Name: "BLOCK", Constexpr: true},
			{Name: "ACT", Constexpr: true, Default: &given{Constant: constantOf("relu")}},
			{Name: "FN", Constexpr: true, Default: &given{Unsupported: "function <lambda>"}},
			{Name: "EVEN", Constexpr: true},
		},
		Heuristics: []string{"EVEN"},
		Configs: []autotuned{
			{Settings: map[string]given{"BLOCK": {Constant: constantOf(64)}, "num_warps": {Constant: constantOf(2)}}},
			{Settings: map[string]given{"BLOCK": {Constant: constantOf(128)}, "num_warps": {Constant: constantOf(4)}}},
		},
		Key: []string{"n", "BLOCK"},
	}
}

// kernelOf reads a kernel of the configuration with these lines.
func kernelOf(t *testing.T, lines ...string) *config.Kernel {
	t.Helper()
	dir := t.TempDir()
	text := "targets: [sm_80]\npackages:\n  - name: p\n    out: p\n    kernels:\n      - source: k.py\n        kernel: k\n        " + strings.Join(lines, "\n        ") + "\n"
	for name, content := range map[string]string{config.FileName: text, "k.py": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	c, err := config.Load(config.FileName)
	if err != nil {
		t.Fatal(err)
	}
	return &c.Packages[0].Kernels[0]
}

// expandAll resolves and expands, answering what the heuristics are asked.
func expandAll(conf *config.Kernel, facts *kernel) ([]variant, error) {
	k, err := resolve(conf, facts, []string{"num_stages", "num_warps"})
	if err != nil {
		return nil, err
	}
	variants, questions, err := k.expand()
	if err != nil || questions == nil {
		return variants, err
	}
	facts.Evaluated = map[string]map[string]given{}
	for _, q := range questions {
		for _, c := range q.constants {
			if c.Name == "BLOCK" {
				facts.Evaluated[q.key] = map[string]given{"EVEN": {Constant: constantOf(*c.Constant.Int%128 == 0)}}
			}
		}
	}
	variants, questions, err = k.expand()
	if questions != nil {
		return nil, fmt.Errorf("asks again: %v", questions)
	}
	return variants, err
}

// params are v's in short: "*fp16:16", "1", "null", "=64".
func params(v variant) string {
	var out []string
	for _, p := range v.params {
		out = append(out, p.Name+" "+short(p))
	}
	return strings.Join(out, ", ")
}

func short(p artefact.SidecarParam) string {
	switch {
	case p.Tuple != nil:
		var members []string
		for _, m := range p.Tuple {
			members = append(members, strings.TrimSpace(m.Name+" "+short(m)))
		}
		return "(" + strings.Join(members, ", ") + ")"
	case p.Constant != nil:
		return "=" + paramValue(p).Text()
	}
	s := p.Type
	if p.DivisibleBy != 0 {
		s += ":16"
	}
	if p.Nullable {
		s += "?"
	}
	if p.Folded != "" {
		s += " is " + p.Folded
	}
	return s
}

func TestExpand(t *testing.T) {
	const rest = ", typed i64, odd i32, step i32"
	for name, c := range map[string]struct {
		yaml []string
		want []string
	}{
		"plain": {
			[]string{`args: {x: "*fp32:16", y: fp64, n: i32, odd: i32, BLOCK: 64, FN: 1, EVEN: true}`},
			[]string{" | x *fp32:16, y fp64, n i32" + rest + `, BLOCK =64, ACT ="relu", FN =1, EVEN =true`},
		},
		"types and alternatives": {
			[]string{"types: {T: [fp32, fp16], U: [i8]}", `args: {x: ["*T:16", null], y: "*kU", n: [i32, i64, 1], odd: i32, BLOCK: 128, FN: {dtype: T}, ACT: [1, {dtype: U}, null]}`},
			func() []string {
				var want []string
				for _, typ := range []string{"fp32", "fp16"} {
					for _, x := range []string{"x-T-16 |*T:16", "x-null |*T is absent"} {
						for _, n := range []string{"n-i32 |i32", "n-i64 |i64", "n-1 |i64 is one"} {
							xl, xt, _ := strings.Cut(x, " |")
							nl, nt, _ := strings.Cut(n, " |")
							want = append(want, fmt.Sprintf("%s.%s.%s | x %s, y *ki8, n %s%s, BLOCK =128, ACT (=1, ={dtype: \"i8\"}, =null), FN ={dtype: %q}, EVEN =true",
								typ, xl, nl, strings.ReplaceAll(xt, "T", typ), nt, rest, typ))
						}
					}
				}
				return want
			}(),
		},
		"configs": {
			[]string{`args: {x: "tensordesc<fp16[BLOCK, 32]>", y: "*fp32", n: 1, odd: i32, FN: 0.5}`, `nullable: [y]`, "options: {num_stages: 3}",
				"configs: [{BLOCK: 64, num_warps: 4}, {BLOCK: 128, num_warps: 8}]", `grid: ["cdiv(n, BLOCK)"]`},
			[]string{
				`BLOCK-64.num_warps-4 | x tensordesc<fp16[64,32]>, y *fp32?, n i32 is one` + rest + `, BLOCK =64, ACT ="relu", FN =0.5, EVEN =false | map[num_stages:3 num_warps:4]`,
				`BLOCK-128.num_warps-8 | x tensordesc<fp16[128,32]>, y *fp32?, n i32 is one` + rest + `, BLOCK =128, ACT ="relu", FN =0.5, EVEN =true | map[num_stages:3 num_warps:8]`,
			},
		},
		"autotune and tuples": {
			[]string{`args: {x: {tuple: ["*fp32:16", 1, {tuple: {a: i32, b: null}}]}, y: {tuple: {p: "*kfp16", q: "i64:1"}}, n: "i32:16", odd: i32, FN: {tuple: {a: 1, b: [2, 3]}}}`, "autotune: true"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			variants, err := expandAll(kernelOf(t, c.yaml...), everyKind())
			if c.want == nil {
				if err == nil || !strings.Contains(err.Error(), "argument x.b is null, but no alternative says what it points to") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range variants {
				s := v.name + " | " + params(v)
				if len(v.options) > 0 {
					s += " | " + fmt.Sprint(v.options)
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAutotuned(t *testing.T) {
	conf := kernelOf(t, `args: {x: {tuple: ["*fp32:16", 1, {tuple: {a: i32, b: i1}}]}, y: {tuple: {p: "*kfp16", q: "i64:1"}}, n: "i32:16", odd: i32, FN: {tuple: {a: 1, b: [2, 3]}}}`, "autotune: true", "default: {BLOCK: 128}", `grid: ["cdiv(n, BLOCK)"]`)
	facts := everyKind()
	variants, err := expandAll(conf, facts)
	if err != nil {
		t.Fatal(err)
	}
	const same = `x (*fp32:16, i32 is one, (a i32, b i1)), y (p *kfp16, q i64 is one), n i32:16, typed i64, odd i32, step i32, `
	want := []string{
		"BLOCK-64.num_warps-2 | " + same + `BLOCK =64, ACT ="relu", FN (a =1, b (=2, =3)), EVEN =false`,
		"BLOCK-128.num_warps-4 | " + same + `BLOCK =128, ACT ="relu", FN (a =1, b (=2, =3)), EVEN =true`,
	}
	var got []string
	for _, v := range variants {
		got = append(got, v.name+" | "+params(v))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	k, err := resolve(conf, facts, nil)
	if err != nil {
		t.Fatal(err)
	}
	if k.deflt != 1 || !cmp.Equal(k.key, []string{"n"}) {
		t.Errorf("default %d, key %v", k.deflt, k.key)
	}
}

// What the generator is told of each variant beside its parameters.
func TestDescribe(t *testing.T) {
	conf := kernelOf(t, "types: {T: [fp32, fp16], U: [i8]}", `args: {x: "*T:16", y: {tuple: ["*kU", i32]}, n: [i32, i64], odd: i32, FN: {dtype: T}}`,
		`configs: [{BLOCK: 64, num_warps: 4, ACT: "b"}, {num_warps: 8, BLOCK: 128, ACT: "a"}]`, "default: {num_warps: 8}", "key: [n, odd]", `grid: ["cdiv(n, BLOCK)"]`)
	facts := everyKind()
	variants, err := expandAll(conf, facts)
	if err != nil {
		t.Fatal(err)
	}
	k, err := resolve(conf, facts, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for order, v := range variants {
		text, err := describe(k, v, order, &source{Triton: "3.6.0"})
		if err != nil {
			t.Fatal(err)
		}
		var s artefact.Sidecar
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(s.Schema, s.Order, s.Types, *s.Config, s.Key, s.Grid, s.Params[0].TypeVar, s.Params[1].Tuple[0].TypeVar))
	}
	var want []string
	for _, typ := range []string{"fp32", "fp16"} {
		for range 2 { // n
			for _, c := range []string{`{0 BLOCK=64,num_warps=4,ACT="b" false}`, `{1 num_warps=8,BLOCK=128,ACT="a" true}`} {
				want = append(want, fmt.Sprintf("2 %d [{T %s} {U i8}] %s [n odd] [cdiv(n, BLOCK)]TU", len(want), typ, c))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestResolveFaults(t *testing.T) {
	const good = `x: i32, y: i32, n: i32, odd: i32, FN: 1, EVEN: true`
	for name, c := range map[string]struct {
		yaml []string
		want []string
	}{
		"nothing given": {[]string{"args: {}"}, []string{
			`7:17: kernel "k": argument n is missing; add it to args, such as "n: i32"`,
			`7:17: kernel "k": argument odd is missing; add it to args, such as "odd: i32"`,
			`7:17: kernel "k": argument x is missing; add it to args, such as "x: i32"`,
			`7:17: kernel "k": argument y is missing; add it to args, such as "y: i32"`,
			`7:17: kernel "k": constant BLOCK is missing; add it to args or configs, or take the configurations of @triton.autotune with autotune: true`,
			`7:17: kernel "k": the default of constant FN is function <lambda>, which is no constant that Triton compiles; add it to args`}},
		"surplus": {[]string{"args: {" + good + ", BLOCK: 1, BLOK: 2}"}, []string{
			`8:79: kernel "k": it has no parameter "BLOK"; did you mean "BLOCK"?`}},
		"unknown type": {[]string{`args: {x: int, y: "*fp31", n: ["i32:8", 1], odd: i32, FN: 1, BLOCK: 1, EVEN: 1}`}, []string{
			`8:19: kernel "k": argument x: unknown type "int"; Triton's are i1, i8, i16, i32, i64, u1, u8, u16, u32, u64, fp16, bf16, fp32, fp64, fp8e4nv, fp8e4b8, fp8e4b15, fp8e5, fp8e5b16, and pointers such as *fp32`,
			`8:27: kernel "k": argument y: unknown type "fp31"; did you mean "*fp32"?`,
			`8:40: kernel "k": argument n: unknown promise ":8" in "i32:8"; there are :16 (divisible by 16) and :1 (equal to 1)`}},
		"constant for a value": {[]string{`args: {x: 5, y: true, n: {dtype: fp16}, odd: 0.5, FN: 1, BLOCK: 1, EVEN: 1}`}, []string{
			`8:19: kernel "k": argument x is 5, a constant, but the kernel takes it at run time; give its type, such as i32, or declare the parameter tl.constexpr in the source`,
			`8:25: kernel "k": argument y is true, a constant, but the kernel takes it at run time; give its type, such as i32, or declare the parameter tl.constexpr in the source`,
			`8:34: kernel "k": argument n is {dtype: "fp16"}, a constant, but the kernel takes it at run time; give its type, such as i32, or declare the parameter tl.constexpr in the source`,
			`8:54: kernel "k": argument odd is 0.5, a constant, but the kernel takes it at run time; give its type, such as i32, or declare the parameter tl.constexpr in the source`}},
		"alternatives at odds": {[]string{`args: {x: ["*fp32", "*fp16"], y: [i32, u32], n: [i32, "*i32"], odd: [i32, i32], FN: 1, BLOCK: 1, EVEN: 1}`}, []string{
			`8:29: kernel "k": argument x is *fp32 and *fp16, which no Go type can be; give the element types to a type variable: "types: {T: [fp32, fp16]}"`,
			`8:48: kernel "k": argument y is i32 and u32, which no Go type can be; give the element types to a type variable: "types: {T: [i32, u32]}"`,
			`8:63: kernel "k": argument n is i32 and *i32, which no Go type can be; give alternatives of one type`,
			`8:83: kernel "k": argument odd: i32 is given twice`}},
		"alternatives that cannot be": {[]string{`args: {x: ["*fp32", 1], y: [i32, null], n: null, odd: [], FN: 1, BLOCK: 1, EVEN: 1}`}, []string{
			`8:29: kernel "k": argument x is *fp32, so it cannot be 1`,
			`8:42: kernel "k": argument y is i32, so it cannot be null`,
			`8:52: kernel "k": argument n is null, but no alternative says what it points to; such as ["*fp16", null]`,
			`8:63: kernel "k": argument odd has no alternative; give its type, such as i32`}},
		"constants that are none": {[]string{`args: {x: i32, y: i32, n: i32, odd: i32, FN: {dtype: fp15}, BLOCK: {a: 1}, EVEN: []}`}, []string{
			`8:62: kernel "k": constant FN: unknown type "fp15"; did you mean "fp16"?`,
			`8:76: kernel "k": constant BLOCK: {a: 1} is no constant; write a type as {dtype: fp16} and a named tuple as {tuple: {x: 1, y: 2}}`,
			`8:90: kernel "k": constant EVEN is an empty tuple`}},
		"configs": {[]string{"args: {" + good + "}", "configs: [{BLOCK: 1}, {num_warp: 2}, {step: 3, BLOCK: 1}]"}, []string{
			`9:31: kernel "k": this configuration has no BLOCK, but others do; give it in all`,
			`9:32: kernel "k": this Triton has no compile option "num_warp"; did you mean "num_warps"?`,
			`9:47: kernel "k": a configuration cannot set step, which the kernel takes at run time; give its type in args`}},
		"autotune overlaps": {[]string{"args: {" + good + ", BLOCK: 1}", "options: {num_warps: 4}", "autotune: true"}, []string{
			`8:69: kernel "k": BLOCK is given by @triton.autotune too; remove it, or list configs instead of autotune`,
			`9:19: kernel "k": num_warps is given by @triton.autotune too; remove it, or list configs instead of autotune`}},
		"default of autotune": {[]string{"args: {" + good + "}", "autotune: true", "default: {BLOCK: 1}"}, []string{
			`10:18: no configuration has the default's values; name values of exactly one`}},
		"key": {[]string{"args: {" + good + ", BLOCK: 1}", "key: [m, BLOCK]"}, []string{
			`9:15: kernel "k": key names "m", which is no parameter; did you mean "x"?`,
			`9:18: kernel "k": key names "BLOCK", a constant; configurations are chosen by run-time arguments`}},
		"nullable": {[]string{"args: {" + good + ", BLOCK: 1}", "nullable: [z, n]"}, []string{
			`9:20: kernel "k": nullable names "z", which is no parameter; did you mean "x"?`,
			`9:23: kernel "k": argument n is nullable, but it is i32, no pointer`}},
		"grid": {[]string{"args: {" + good + ", BLOCK: 1}", `grid: ["2 * m_blocks", EVEN, "typed * step"]`}, []string{
			`9:21: kernel "k": the grid names "m_blocks", which is no parameter; known: x, y, n, typed, odd, step, BLOCK, ACT, FN and EVEN`}},
		"grid of what is no integer": {[]string{"args: {" + good + ", BLOCK: 1}", `grid: [n, EVEN, "typed * step"]`}, []string{
			`9:19: kernel "k": the grid names EVEN, which is no integer`}},
		"options": {[]string{"args: {" + good + ", BLOCK: 1}", "options: {num_warps: {a: 1}, arch: 90}"}, []string{
			`9:30: kernel "k": option num_warps cannot be {a: 1}`,
			`9:38: kernel "k": option "arch" cannot be set; it follows from the target and the sources`}},
		"tuples": {[]string{`args: {x: {tuple: [[i32, i64]]}, y: {tuple: {}}, n: {tuple: [what]}, odd: i32, FN: 1, BLOCK: 1, EVEN: 1}`}, []string{
			`8:28: kernel "k": argument x: a tuple's member has one type, not alternatives`,
			`8:53: kernel "k": argument y: a tuple is a list of types, or a mapping of names to types`,
			`8:70: kernel "k": argument n: unknown type "what"; Triton's are i1, i8, i16, i32, i64, u1, u8, u16, u32, u64, fp16, bf16, fp32, fp64, fp8e4nv, fp8e4b8, fp8e4b15, fp8e5, fp8e5b16, and pointers such as *fp32`}},
		"block of a descriptor": {[]string{`args: {x: "tensordesc<fp16[ROWS, 32]>", y: i32, n: i32, odd: i32, FN: 1, BLOCK: 1, EVEN: 1}`}, []string{
			`8:19: kernel "k": argument x: "ROWS" in its block is neither a number nor an integer constant`}},
		"promise about a type variable": {[]string{"types: {T: [i32, fp32]}", `args: {x: "T:16", y: i32, n: i32, odd: i32, FN: 1, BLOCK: 1, EVEN: 1}`}, []string{
			`9:19: kernel "k": argument x: "fp32:16": only a pointer or an integer can be promised to be divisible by 16`}},
		"configs without a grid": {[]string{`args: {x: "*fp32", y: i32, n: i32, odd: i32, FN: 1, EVEN: 1}`, "configs: [{BLOCK: 1, num_warps: 4}, {BLOCK: 2, num_warps: 8}]"}, []string{
			`9:19: kernel "k": its configurations differ in BLOCK, so each may need another grid; declare its grid, such as grid: ["cdiv(n, BLOCK)"]`}},
		"too many": {[]string{"types: {T: [fp32, fp16, bf16]}",
			`args: {x: ["*T", "*T:16", null], y: ["i32", "i32:16", 1, i64], n: ["i32", "i32:16", 1, i64], odd: [i32, 1], FN: 1, EVEN: 1}`,
			"configs: [{BLOCK: 1}, {BLOCK: 2}]", "grid: [BLOCK]"}, []string{
			`7:17: kernel "k" has more than 256 variants: 3 types T × 3 alternatives of x × 4 alternatives of y × 4 alternatives of n × 2 alternatives of odd × 2 configs; give fewer alternatives, types or configs, or divide it among packages`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := expandAll(kernelOf(t, c.yaml...), everyKind())
			got := ""
			if err != nil {
				got = strings.ReplaceAll(err.Error(), "kerngen.yaml:", "")
			}
			if diff := cmp.Diff(strings.Join(c.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestAutotuneOptions takes what a triton.Config sets beside constants for
// compile options, and nothing that is none.
func TestAutotuneOptions(t *testing.T) {
	conf := kernelOf(t, `args: {x: i32, y: i32, n: i32, odd: i32, FN: 1, EVEN: true}`, "autotune: true")
	for name, c := range map[string]struct {
		value given
		want  string
	}{
		"num_stages":  {given{Constant: constantOf(3)}, ""},
		"num_stage":   {given{Constant: constantOf(3)}, `kernel "k": this Triton has no compile option "num_stage"; did you mean "num_stages"?`},
		"ir_override": {given{Constant: constantOf("k.ttgir")}, `kernel "k": option "ir_override" cannot be set; it follows from the target and the sources`},
		"num_warps":   {given{Unsupported: "object <1>"}, `kernel "k": configuration 1 of @triton.autotune: num_warps is object <1>, which is no constant that Triton compiles`},
	} {
		facts := everyKind()
		facts.Configs = []autotuned{{Settings: map[string]given{"BLOCK": {Constant: constantOf(64)}, name: c.value}}}
		variants, err := expandAll(conf, facts)
		switch {
		case c.want == "" && err == nil:
			if diff := cmp.Diff(map[string]any{name: *c.value.Constant.Int}, variants[0].options); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		case err == nil || err.Error() != "kerngen.yaml:9:19: "+c.want:
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// TestFolderName keeps names short, portable and apart.
func TestFolderName(t *testing.T) {
	for _, c := range []struct{ labels, want string }{
		{"", ""},
		{"x-*fp16:16 n-1", "x-fp16-16.n-1"},
		{`ACT-"a/b\c:d" S-[1,é]`, "ACT-a-b-c-d.S--1---"},
		{strings.Repeat("BLOCK_M-128 ", 12), "BLOCK_M-128.BLOCK_M-128.BLOCK_M-128.BLOCK_M-128.BLOCK_M-128.BLOCK_M-128.BLOCK_M-128.BLOCK_M-89ba82ed"},
	} {
		if got := folderName(strings.Fields(c.labels)); got != c.want && !(len(got) == longestName && strings.HasPrefix(got, c.want[:80])) {
			t.Errorf("%q gives %q, want %q", c.labels, got, c.want)
		}
	}
	variants := []variant{{name: "a"}, {name: "A"}, {name: "b"}, {name: "a"}}
	distinguish(variants)
	for i, want := range []string{"a", "A-2", "b", "a-3"} {
		if variants[i].name != want {
			t.Errorf("variant %d is %q, want %q", i, variants[i].name, want)
		}
	}
}
