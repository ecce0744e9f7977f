package ptx

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = ".version 8.7\n.target sm_80\n.address_size 64\n"

// parseBody parses statements as the body of an entry with one parameter.
func parseBody(t *testing.T, lines string) (*Func, error) {
	t.Helper()
	m, err := Parse(head + ".visible .entry k(.param .u64 .ptr .global .align 16 p) .reqntid 32, 2\n{\n" + lines + "\n}\n")
	if err != nil {
		return nil, err
	}
	return m.Func("k"), nil
}

func TestInstruction(t *testing.T) {
	f, err := parseBody(t, `.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
.loc 1 9 3
@!%p1 ld.global.L1::evict_last.v2.b32 {%r1, _}, [%rd1 + -8];
setp.eq.f32 %p0|%p1, %r1, 0f3F800000;
mov.u32 %r2, %tid.x; mov.b64 %rd0, p+16; add.s32 %r3, %r3, -1; $L1: bra.uni $L1;`)
	if err != nil {
		t.Fatal(err)
	}
	reg := func(n int, name string) Operand { return Operand{Kind: KindReg, Reg: n, Name: name} }
	want := []*Instr{
		{Line: 8, Loc: Loc{File: 1, Line: 9}, Guard: &Guard{1, true}, Op: "ld", Mods: []string{"global", "L1::evict_last", "v2", "b32"}, Operands: []Operand{
			{Kind: KindVec, Elems: []Operand{reg(3, "%r1"), {Kind: KindSink}}}, {Kind: KindAddr, Imm: -8, Elems: []Operand{reg(7, "%rd1")}}}},
		{Line: 9, Loc: Loc{File: 1, Line: 9}, Op: "setp", Mods: []string{"eq", "f32"}, Operands: []Operand{
			{Kind: KindPair, Elems: []Operand{reg(0, "%p0"), reg(1, "%p1")}}, reg(3, "%r1"), {Kind: KindFloat, Single: true, Imm: 0x3f800000}}},
		{Line: 10, Loc: Loc{File: 1, Line: 9}, Op: "mov", Mods: []string{"u32"}, Operands: []Operand{reg(4, "%r2"), {Kind: KindSpecial, Name: "%tid.x"}}},
		{Line: 10, Loc: Loc{File: 1, Line: 9}, Op: "mov", Mods: []string{"b64"}, Operands: []Operand{reg(6, "%rd0"), {Kind: KindName, Name: "p", Imm: 16}}},
		{Line: 10, Loc: Loc{File: 1, Line: 9}, Op: "add", Mods: []string{"s32"}, Operands: []Operand{reg(5, "%r3"), reg(5, "%r3"), {Kind: KindImm, Imm: -1}}},
		{Line: 10, Loc: Loc{File: 1, Line: 9}, Op: "bra", Mods: []string{"uni"}, Operands: []Operand{{Kind: KindName, Name: "$L1"}}},
	}
	if d := cmp.Diff(want, f.Body); d != "" {
		t.Errorf("the instructions differ (-want +got):\n%s", d)
	}
	if f.Labels["$L1"] != 5 || f.ReqTID != [3]int{32, 2, 1} || f.Params[0].Size != 8 {
		t.Errorf("the function is %+v", f)
	}
}

// TestScopes has registers and variables of the same names in blocks of their own, as inline assembly and calls do.
func TestScopes(t *testing.T) {
	f, err := parseBody(t, `.reg .b32 a; { .reg .b32 a; .param .b32 v; mov.b32 a, 1; st.param.b32 [v], a; } { .param .b32 v; st.param.b32 [v], a; } mov.b32 a, 2;`)
	if err != nil {
		t.Fatal(err)
	}
	if got := []int{f.Body[0].Operands[0].Reg, f.Body[1].Operands[1].Reg, f.Body[2].Operands[1].Reg, f.Body[3].Operands[0].Reg}; !cmp.Equal(got, []int{1, 1, 0, 0}) {
		t.Errorf("the registers are %v", got)
	}
	first, second := f.Body[1].Operands[0].Elems[0].Name, f.Body[2].Operands[0].Elems[0].Name
	if first == second || first != f.Vars[0].Name || second != f.Vars[1].Name {
		t.Errorf("the variables are %q and %q of %+v", first, second, f.Vars)
	}
}

func TestVariables(t *testing.T) {
	m, err := Parse(head + `.extern .shared .align 16 .b8 smem[];
.global .align 4 .u32 table[3][2] = {{1}, {}, {0xffffffff, 2}}, last;
.const .f32 half = 0.5;
.visible .global .u64 where[2] = {table+8, generic(last)};`)
	if err != nil {
		t.Fatal(err)
	}
	want := []*Var{
		{Name: "smem", Line: 4, Space: Shared, Type: "b8", Align: 16, Unsized: true, Extern: true},
		{Name: "table", Line: 5, Space: Global, Type: "u32", Align: 4, Size: 24, Init: []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 2, 0, 0, 0}},
		{Name: "last", Line: 5, Space: Global, Type: "u32", Align: 4, Size: 4},
		{Name: "half", Line: 6, Space: Const, Type: "f32", Align: 4, Size: 4, Init: []byte{0, 0, 0, 0x3f}},
		{Name: "where", Line: 7, Space: Global, Type: "u64", Align: 8, Size: 16, Init: make([]byte, 16), Refs: []Ref{{0, "table", 8}, {8, "last", 0}}},
	}
	if d := cmp.Diff(want, m.Vars); d != "" {
		t.Errorf("the variables differ (-want +got):\n%s", d)
	}
}

func TestErrors(t *testing.T) {
	for lines, want := range map[string]string{
		"mov.u32 %r1, 0;":                   `ptx line 6: register "%r1" is neither declared nor a special register`,
		"add.s32 1 2;":                      `"2" where "," was expected`,
		".reg .b33 %r<2>;":                  `register type ".b33" is not known`,
		".reg .b32 %r<99999999>;":           "99999999 registers",
		".local .b8 x[99999999999];":        "larger than",
		"mov.u32 _, 0f12;":                  "needs 8 hexadecimal digits",
		"mov.u32 _, 12x;":                   `"12x" is not a number`,
		"L: L: ret;":                        `label "L" is defined twice`,
		"@q ret;":                           `guard "q" is not a predicate register`,
		"ld.global.u32 _, [{1}];":           "address that is neither",
		".local .align 3 .b8 x;":            "alignment 3 is not a power of two",
		".local .u8 x[2][2] = {{1, 2, 3}};": "too long",
		".local .u8 x = {1};":               "more levels than dimensions",
		"\"":                                "string without an end",
		"/*":                                "comment without an end",
		"mov.u32 _, ^;":                     "unexpected character",
		".local .u16 x[1] = {1, 2, 3};":     "more than its 2",
	} {
		_, err := parseBody(t, lines)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", lines, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "not a PTX module", ".version 8.7\n.target sm_80\n.address_size 32": "addresses of 32 bits", head + ".entry k()\n{": "has no end", head + "frob": "not known at the level of a module", head + ".section .x {": "section without an end",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

// Where code was inlined, the comment that LLVM writes behind .loc says from where it was called.
func TestCaller(t *testing.T) {
	for loc, want := range map[string]Loc{
		"9 3":                             {File: 1, Line: 9},
		"9 3 // f.py:9:3":                 {File: 1, Line: 9},
		"9 3 // f.py:9:3 @[ g.py:32:21 ]": {File: 1, Line: 9, Caller: "g.py:32"},
		"9 3 // f.py:9:3 @[ f.py:191:40 @[ g.py:32:21 ] ]":      {File: 1, Line: 9, Caller: "g.py:32"},
		"9 3, function_name $L__info_string0, inlined_at 1 4 3": {File: 1, Line: 9},
		"9 3 // @[ ":  {File: 1, Line: 9},
		"9 3 // @[ :": {File: 1, Line: 9},
	} {
		m, err := Parse(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.loc 1 " + loc + "\nret;\n}\n.file 1 \"f.py\"\n")
		if err != nil {
			t.Errorf("%s: %v", loc, err)
			continue
		}
		if got := m.Funcs[0].Body[0].Loc; got != want {
			t.Errorf("%s gives %+v, want %+v", loc, got, want)
		}
	}
}
