package model

import (
	"strings"
	"testing"
)

func TestParseType(t *testing.T) {
	tests := []struct {
		in   string
		want Type
		out  string // where not in
		size int
	}{
		{"i1", Type{Elem: "i1"}, "", 1},
		{"u1", Type{Elem: "i1"}, "i1", 1},
		{"i8", Type{Elem: "i8"}, "", 1},
		{"u16", Type{Elem: "u16"}, "", 2},
		{"i32", Type{Elem: "i32"}, "", 4},
		{"u64", Type{Elem: "u64"}, "", 8},
		{"fp16", Type{Elem: "fp16"}, "", 2},
		{"bf16", Type{Elem: "bf16"}, "", 2},
		{"fp32", Type{Elem: "fp32"}, "", 4},
		{"f32", Type{Elem: "fp32"}, "fp32", 4},
		{"f64", Type{Elem: "fp64"}, "fp64", 8},
		{"*i1", Type{Elem: "i1", Pointer: 1}, "", 8},
		{"*fp16", Type{Elem: "fp16", Pointer: 1}, "", 8},
		{"*kfp32", Type{Elem: "fp32", Pointer: 1, Const: true}, "", 8},
		{"**i64", Type{Elem: "i64", Pointer: 2}, "", 8},
		{"*fp8e4nv", Type{Elem: "fp8e4nv", Pointer: 1}, "", 8},
		{"*fp8e5b16", Type{Elem: "fp8e5b16", Pointer: 1}, "", 8},
		{"*fp8e4b15", Type{Elem: "fp8e4b15", Pointer: 1}, "", 8},
	}
	for _, tt := range tests {
		got, err := ParseType(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("ParseType(%q) = %+v, %v, want %+v", tt.in, got, err, tt.want)
			continue
		}
		out := tt.out
		if out == "" {
			out = tt.in
		}
		if got.String() != out || got.Size() != tt.size {
			t.Errorf("%q: String %q, Size %d, want %q, %d", tt.in, got, got.Size(), out, tt.size)
		}
	}
	for _, in := range []string{"", "*", "*k", "kfp32", "**kfp32", "fp7", "i32 ", "fp32*", "i128", "fp8e5"} {
		if got, err := ParseType(in); err == nil {
			t.Errorf("ParseType(%q) = %+v, want an error", in, got)
		}
	}
}

func TestParseMLIR(t *testing.T) {
	tests := map[string]Type{
		"i1":                              {Elem: "i1"},
		"i8":                              {Elem: "i8"},
		"i64":                             {Elem: "i64"},
		"f16":                             {Elem: "fp16"},
		"bf16":                            {Elem: "bf16"},
		"f64":                             {Elem: "fp64"},
		"!tt.ptr<i8>":                     {Elem: "i8", Pointer: 1},
		"!tt.ptr<f32, 1>":                 {Elem: "fp32", Pointer: 1},
		`!tt.ptr<f32, "constant">`:        {Elem: "fp32", Pointer: 1, Const: true},
		"!tt.ptr<!tt.ptr<i64>>":           {Elem: "i64", Pointer: 2},
		"!tt.ptr<!tt.ptr<i64, 1>, 1>":     {Elem: "i64", Pointer: 2},
		"!tt.ptr<!tt.ptr<!tt.ptr<bf16>>>": {Elem: "bf16", Pointer: 3},
		"!tt.ptr<f8E4M3FN>":               {Elem: "fp8e4nv", Pointer: 1},
		"!tt.ptr<f8E5M2>":                 {Elem: "fp8e5", Pointer: 1},
		"!tt.ptr<f8E4M3FNUZ>":             {Elem: "fp8e4b8", Pointer: 1},
		"!tt.ptr<f8E5M2FNUZ>":             {Elem: "fp8e5b16", Pointer: 1},
	}
	for in, want := range tests {
		if got, err := parseMLIR(in); err != nil || got != want {
			t.Errorf("parseMLIR(%q) = %+v, %v, want %+v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"":                              "unknown TTIR type",
		"index":                         "unknown TTIR type",
		"tensor<64xf32>":                "unknown TTIR type",
		"!tt.ptr<tensor<64xf32>>":       "unknown TTIR type",
		"!tt.ptr<f32":                   "lacks its closing bracket",
		"!tt.ptr<":                      "lacks its closing bracket",
		"!tt.ptr<>":                     "unknown TTIR type",
		"!tt.ptr<f32, 3>":               "address space 3",
		"!tt.ptr<f32, 0>":               "address space 0",
		"!tt.ptr<!tt.ptr<f32, 3>, 1>":   "address space 3",
		"!tt.ptr<!tt.ptr<f32>, shared>": "address space shared",
	} {
		if got, err := parseMLIR(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseMLIR(%q) = %+v, %v, want an error with %q", in, got, err, want)
		}
	}
}

// Every type that TTIR can spell is found again by the way TTIR spells it.
func TestElementsAgree(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range elements {
		for _, name := range []string{e.name, e.alias} {
			if seen[name] && name != "" {
				t.Errorf("two element types are called %q", name)
			}
			seen[name] = true
		}
		got, err := parseMLIR("!tt.ptr<" + e.mlir + ">")
		if err != nil || got.element().mlir != e.mlir || got.element().size != e.size {
			t.Errorf("%s: TTIR %q is read as %v, %v", e.name, e.mlir, got, err)
		}
	}
}

func TestParseRelease(t *testing.T) {
	for in, want := range map[string]release{
		"": {}, "3.6.0": {3, 6}, "3.8.0+fb": {3, 8}, "3.10": {3, 10}, "4.0.0+git1a2b": {4, 0},
	} {
		if got, err := parseRelease(in); err != nil || got != want {
			t.Errorf("parseRelease(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"3", "v3.6", "-3.6", "3.-6", "3.x", "99999999999999999999.1"} {
		if got, err := parseRelease(in); err == nil {
			t.Errorf("parseRelease(%q) = %v, want an error", in, got)
		}
	}
	for _, tt := range []struct {
		r    release
		want bool
	}{{release{}, false}, {release{3, 5}, false}, {release{3, 6}, true}, {release{3, 10}, true}, {release{4, 0}, true}} {
		if got := tt.r.has(release{3, 6}); got != tt.want {
			t.Errorf("%v has what came with 3.6: %v", tt.r, got)
		}
	}
}
