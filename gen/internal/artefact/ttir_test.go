package artefact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plain drops the lines of a signature, for tests that are not about them.
func plain(s *Signature) *Signature {
	for i := range s.Args {
		s.Args[i].Line = 0
	}
	return s
}

func TestTTIRArtefacts(t *testing.T) {
	const desc, i32, i64 = "!tt.tensordesc<tensor<64x64xf16>>", "i32", "i64"
	arg := func(name, ssa, typ string, divisibility, line int) Arg {
		return Arg{Name: name, SSA: ssa, Type: typ, Divisibility: divisibility, Line: line}
	}
	for _, test := range []struct {
		file string
		want Signature
	}{
		{"triton-3.6.0/add.sm80/add_kernel.ttir", Signature{"add_kernel", []Arg{
			arg("x_ptr", "x_ptr", "!tt.ptr<f32>", 16, 7), arg("y_ptr", "y_ptr", "!tt.ptr<f32>", 16, 7),
			arg("out_ptr", "out_ptr", "!tt.ptr<f32>", 16, 7), arg("n_elements", "n_elements", i32, 16, 7),
		}}},
		{"triton-3.6.0/add.sm80/add_kernel.source", Signature{"add_kernel", []Arg{
			arg("x_ptr", "x_ptr", "!tt.ptr<f32>", 16, 7), arg("y_ptr", "y_ptr", "!tt.ptr<f32>", 16, 7),
			arg("out_ptr", "out_ptr", "!tt.ptr<f32>", 16, 7), arg("n_elements", "n_elements", i32, 16, 7),
		}}},
		{"triton-3.6.0/scalars.sm90/scalars_kernel.ttir", Signature{"scalars_kernel", []Arg{
			arg("out_ptr", "out_ptr", "!tt.ptr<f64>", 0, 17), arg("b", "b", "i1", 0, 17), arg("i8", "i8", "i8", 0, 17),
			arg("i16", "i16", "i16", 0, 17), arg("i32", "i32", i32, 0, 17), arg("i64", "i64", i64, 0, 17), arg("u8", "u8", "i8", 0, 17),
			arg("u16", "u16", "i16", 0, 17), arg("u32", "u32", i32, 0, 17), arg("u64", "u64", i64, 0, 17), arg("h", "h", "f16", 0, 17),
			arg("bf", "bf", "bf16", 0, 17), arg("f", "f", "f32", 0, 17), arg("d", "d", "f64", 0, 17),
		}}},
		{"triton-3.6.0/tma_host.sm90/tma_host_kernel.ttir", Signature{"tma_host_kernel", []Arg{
			arg("x_desc", "x_desc", desc, 0, 5), arg("x_desc", "x_desc_0", i32, 0, 5), arg("x_desc", "x_desc_1", i32, 0, 5),
			arg("x_desc", "x_desc_2", i64, 0, 5), arg("x_desc", "x_desc_3", i64, 0, 5),
			arg("out_desc", "out_desc", desc, 0, 5), arg("out_desc", "out_desc_4", i32, 0, 5), arg("out_desc", "out_desc_5", i32, 0, 5),
			arg("out_desc", "out_desc_6", i64, 0, 5), arg("out_desc", "out_desc_7", i64, 0, 5),
		}}},
		{"triton-3.6.0/tuple.sm90/tuple_kernel.source", Signature{"tuple_kernel", []Arg{
			arg("ptrs", "ptrs", "!tt.ptr<f32>", 0, 6), arg("ptrs", "ptrs_0", "!tt.ptr<f32>", 0, 6),
			arg("shape", "shape", i32, 0, 6), arg("shape", "shape_1", i32, 0, 6), arg("n", "n", i32, 0, 6),
		}}},
	} {
		got, err := parseTTIR(test.file, file(t, test.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(&test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.file, diff)
		}
	}
}

func TestTTIRForms(t *testing.T) {
	x := func(name, ssa, typ string, divisibility int) *Signature {
		return &Signature{"k", []Arg{{Name: name, SSA: ssa, Type: typ, Divisibility: divisibility}}}
	}
	for _, test := range []struct {
		name, text string
		want       *Signature
	}{
		{"no arguments", `module { tt.func public @k() attributes {noinline = false} { tt.return } }`, &Signature{Name: "k"}},
		{"no visibility is public", `module { tt.func @k() { tt.return } }`, &Signature{Name: "k"}},
		{"module with attributes", `module attributes {"ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
			tt.func public @k(%x: i32) { tt.return } }`, x("", "x", "i32", 0)},
		{"no locations", `module { tt.func public @k(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}) { } }`, x("", "arg0", "!tt.ptr<f32>", 16)},
		{"file location", `module { tt.func public @k(%arg0: i32 {tt.divisibility = 16 : i32} loc("/a/k.py":28:0)) { } }`, x("", "arg0", "i32", 16)},
		{"location before attributes", `module { tt.func public @k(%x: i32 loc("n"(#loc)) {tt.divisibility = 8 : i32}) { } }
			#loc = loc("k.py":1:0)`, x("n", "x", "i32", 8)},
		{"alias of a file location", "#loc = loc(\"k.py\":1:0)\nmodule { tt.func public @k(%arg0: i32 loc(#loc)) { } }", x("", "arg0", "i32", 0)},
		{"alias of a name at the head", "#loc = loc(\"k.py\":1:0)\n#loc1 = loc(\"x_ptr\"(#loc))\nmodule { tt.func public @k(%x: i32 loc(#loc1)) { } }", x("x_ptr", "x", "i32", 0)},
		{"alias of a name at the end", "module { tt.func public @k(%x: i32 loc(#loc1)) { } }\n#loc = loc(\"k.py\":1:0)\n#loc1 = loc(\"x_ptr\"(#loc))", x("x_ptr", "x", "i32", 0)},
		{"alias of an alias", "module { tt.func public @k(%x: i32 loc(#loc2)) { } }\n#loc1 = loc(\"x\"(unknown))\n#loc2 = loc(#loc1)", x("x", "x", "i32", 0)},
		{"name without a child", `module { tt.func public @k(%x: i32 loc("n")) { } }`, x("n", "x", "i32", 0)},
		{"call site below a name", `module { tt.func public @k(%x: i32 loc("n"(callsite("a":1:2 at fused<#llvm.di>["b":3:4, unknown])))) { } }`, x("n", "x", "i32", 0)},
		{"unknown location", `module { tt.func public @k(%x: i32 loc(unknown)) { } }`, x("", "x", "i32", 0)},
		{"CRLF", "module {\r\n  tt.func public @k(%x: i32 loc(\"n\")) {\r\n  }\r\n}\r\n", x("n", "x", "i32", 0)},
		{"escapes", `module { tt.func public @"k"(%x: i32 loc("\C3\A9t\C3\A9")) { } }`, x("été", "x", "i32", 0)},
		{"unicode as it is", `module { tt.func public @k(%x: i32 loc("größe")) { } }`, x("größe", "x", "i32", 0)},
		{"quotes in a name", `module { tt.func public @k(%x: i32 loc("a\22b\5C")) { } }`, x(`a"b\`, "x", "i32", 0)},
		{"nested types", `module { tt.func public @k(%x: !ttg.memdesc<64x64xf16, #ttg.shared<{order = [1, 0]}>, (i32, i1) -> f32, 2> loc("n")) { } }`,
			x("n", "x", "!ttg.memdesc<64x64xf16, #ttg.shared<{order = [1, 0]}>, (i32, i1) -> f32, 2>", 0)},
		{"pointer in an address space", `module { tt.func public @k(%x: !tt.ptr<!tt.ptr<f32>, 3>) { } }`, x("", "x", "!tt.ptr<!tt.ptr<f32>, 3>", 0)},
		{"private functions on both sides", `module {
			tt.func private @"a.b(1,)"(%x: f32) -> (f32, i32) { tt.return }
			tt.func public @k(%x: i32) { tt.call @"a.b(1,)"(%x) : (f32) -> f32 }
			tt.func private @c(%y: f32) { tt.return } }`, x("", "x", "i32", 0)},
		{"comments and strings that look like code", `// tt.func public @no(%x: i32) {
			module { "op"() {s = "tt.func public @no() { ((("} : () -> ()
			tt.func public @k( // %y: i32,
			%x: i32) { } }`, x("", "x", "i32", 0)},
		{"aliases of other attributes", "#blocked = #ttg.blocked<{order = [0]}>\nmodule { tt.func public @k(%x: i32) { %0 = a.b {e = #blocked, loc = 3} } }", x("", "x", "i32", 0)},
		{"all attributes", `module { tt.func public @k(%x: i32 {tt.nv_tma_desc = 1 : i32, tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) { } }`,
			&Signature{"k", []Arg{{SSA: "x", Type: "i32", Divisibility: 16, PointerRange: 32, TensorMap: true}}}},
		{"quoted attribute", `module { tt.func public @k(%x: i32 {"tt.divisibility" = 16}) { } }`, x("", "x", "i32", 16)},
		{"empty attributes", `module { tt.func public @k(%x: i32 {}) { } }`, x("", "x", "i32", 0)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseTTIR("k.ttir", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, plain(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestTTIRManyArguments(t *testing.T) {
	const n = 3000
	var text strings.Builder
	text.WriteString("module {\n tt.func public @k(")
	for i := range n {
		if i > 0 {
			text.WriteString(",\n")
		}
		fmt.Fprintf(&text, "%%a_%d: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(#loc%d)", i, i)
	}
	text.WriteString(") { }\n}\n")
	for i := range n {
		fmt.Fprintf(&text, "#loc%d = loc(\"p%d\"(unknown))\n", i, i)
	}
	got, err := parseTTIR("k.ttir", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range got.Args {
		want := Arg{Name: fmt.Sprint("p", i), SSA: fmt.Sprint("a_", i), Type: "!tt.ptr<f32>", Divisibility: 16, Line: i + 2}
		if a != want {
			t.Fatalf("argument %d is %+v, want %+v", i, a, want)
		}
	}
	if len(got.Args) != n {
		t.Errorf("%d arguments, want %d", len(got.Args), n)
	}
}

func TestTTIRFaults(t *testing.T) {
	arg := func(s string) string { return "module {\n  tt.func public @k(" + s + ") { }\n}" }
	for _, test := range []struct {
		name, text, want string
	}{
		{"empty", "", "k.ttir: no public function (tt.func public @NAME); the file must be the TTIR that Triton's compiler writes"},
		{"private only", "module { tt.func private @k() { } }", "k.ttir: no public function"},
		{"not text", "\xff\xfe\x00", "k.ttir: not MLIR text: it is not UTF-8"},
		{"zero byte", "module {\n\x00}", "k.ttir:2:1: not text: a zero byte"},
		{"two kernels", "module { tt.func public @k() { }\ntt.func public @l() { } }", `k.ttir:2:16: a second public function, "l" after "k"; a module must hold one kernel`},
		{"no name", "module { tt.func public @() { } }", "k.ttir:1:25: the function has no name"},
		{"no list", "module { tt.func public @k { } }", `k.ttir:1:28: "{" instead of the argument list`},
		{"no colon", arg("%x i32"), `k.ttir:2:24: "i32" instead of a colon and the argument's type`},
		{"no type", arg("%x:, %y: i32"), "k.ttir:2:24: argument %x has no type"},
		{"no value", arg("i32"), `k.ttir:2:21: "i32" instead of an argument`},
		{"no argument", arg("%: i32"), "k.ttir:2:21: an argument without a name"},
		{"trailing comma", arg("%x: i32, "), `k.ttir:2:30: ")" instead of an argument`},
		{"twice", arg("%x: i32, %x: i32"), "k.ttir:2:30: argument %x is given twice"},
		{"words after the type", arg("%x: i32 {} {}"), `k.ttir:2:32: "{" after argument %x`},
		{"angles", arg("%x: !a>b"), `k.ttir:2:27: ">" closes nothing`},
		{"open angles", arg("%x: !a<b"), `k.ttir:2:29: ")" inside angle brackets`},
		{"crossed brackets", arg("%x: !a<(b]>"), `k.ttir:2:30: "]" where ')' must close line 2`},
		{"closed too often", "module { } }", `k.ttir:1:12: "}" closes nothing`},
		{"cut", "module {\n tt.func public @k(%x: i32) {\n", `k.ttir:3:1: the file ends early: "{" of line 2 is not closed; compile the kernel again`},
		{"cut in a location", "module {}\n#loc = loc(", `k.ttir:2:12: the file ends early: "(" of line 2 is not closed`},
		{"cut in a string", `module { tt.func public @k(%x: i32 loc("x`, "k.ttir:1:40: the file ends inside a string"},
		{"string over lines", "module { \"a\nb\" }", "k.ttir:1:10: a string has no end"},
		{"undefined location", arg("%x: i32 loc(#loc3)"), "k.ttir:2:33: location #loc3 is not defined in the file, one of 1; the file was cut short or edited; compile the kernel again"},
		{"location defined twice", "#loc = loc(unknown)\n#loc = loc(unknown)\n" + arg(""), "k.ttir:2:1: #loc is defined twice"},
		{"circle of locations", "#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)\n" + arg("%x: i32 loc(#loc1)"), "leads through more than 16 others"},
		{"unknown attribute", arg("%x: i32 {tt.contiguity = 1 : i32}"), `k.ttir:2:30: argument %x: unknown attribute "tt.contiguity"; use a newer kerngen`},
		{"no value of pointer_range", arg("%x: i32 {tt.pointer_range = -1 : i32}"), `tt.pointer_range = "-1 : i32" is not one whole number above 0`},
		{"no attribute", arg("%x: i32 {16}"), `"16" instead of an attribute's name`},
		{"no value of divisibility", arg("%x: i32 {tt.divisibility}"), `"}" instead of the value of tt.divisibility`},
		{"odd divisibility", arg(`%x: i32 {tt.divisibility = "16"}`), `argument %x: tt.divisibility = "\"16\"" is not one whole number above 0`},
		{"zero divisibility", arg("%x: i32 {tt.divisibility = 0 : i32}"), `tt.divisibility = "0 : i32" is not`},
		{"divisibility twice", arg("%x: i32 {tt.divisibility = 16 : i32, tt.divisibility = 8 : i32}"), `argument %x: tt.divisibility is given twice`},
		{"malformed escape", arg(`%x: i32 loc("\zz")`), `k.ttir:2:33: malformed string "\"\\zz\""`},
		{"escapes that are not UTF-8", arg(`%x: i32 loc("\FF")`), "malformed string"},
		{"control character", arg(`%x: i32 loc("a\0Ab")`), `name "a\nb" holds a character that cannot be printed`},
		{"nesting", arg("%x: !a" + strings.Repeat("<", 2000)), "more than 1000 levels of brackets"},
		{"nesting of brackets", strings.Repeat("(", 2000), "k.ttir:1:1001: more than 1000 levels of brackets"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := parseTTIR("k.ttir", []byte(test.text))
			if err == nil {
				t.Fatalf("read as %+v", s)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "k.ttir:") {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// A file that was cut anywhere but in its last line must be noticed.
func TestTTIRCut(t *testing.T) {
	for _, name := range []string{"triton-3.6.0/add.sm80/add_kernel.ttir", "triton-3.6.0/tuple.sm90/tuple_kernel.source"} {
		data := file(t, name)
		last := bytes.LastIndexByte(bytes.TrimSpace(data), '\n')
		for n := range last {
			if _, err := parseTTIR("k.ttir", data[:n]); err == nil {
				t.Errorf("%s: the first %d of %d bytes pass", name, n, len(data))
			}
		}
	}
}
