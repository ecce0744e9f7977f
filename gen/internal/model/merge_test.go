package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// raw is an image without a sidecar, of scale with some types changed: "n: i64".
func raw(folder string, args ...string) *artefact.Image {
	var list []artefact.Arg
	for _, a := range args {
		name, typ, _ := strings.Cut(a, ": ")
		typ, divisible := strings.CutSuffix(typ, ":16")
		divisibility := 0
		if divisible {
			divisibility = 16
		}
		if elem, ok := strings.CutPrefix(typ, "*"); ok {
			typ = "!tt.ptr<" + elem + ">"
		}
		list = append(list, arg(name, typ, divisibility))
	}
	return newImage(folder+"/scale", list)
}

// text is what kernels are, in short.
func text(kernels []Kernel) string {
	var b strings.Builder
	for _, k := range kernels {
		fmt.Fprintf(&b, "%s(", k.ID())
		for i, p := range k.Params {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s %v", p.Name, p.Type)
		}
		b.WriteString(")")
		for _, v := range k.Variants {
			b.WriteString(" |")
			for _, g := range v.Guards {
				fmt.Fprintf(&b, " %s%s", k.Params[g.Param].Name, [...]string{"", "%16", "=1", "=null", "<32"}[g.Is])
			}
			for _, im := range v.Images {
				fmt.Fprintf(&b, " %s%v", im.Origin, im.Args)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestRawFolders(t *testing.T) {
	sixFour := func(s string) Signature {
		sig, err := ParseSignature(s)
		if err != nil {
			t.Fatal(err)
		}
		return sig
	}
	bare := func(folder string) *artefact.Image {
		im := raw(folder, "x: *f32", "n: i32", "f: f32")
		im.TTIR, im.Source, im.PTX = nil, nil, nil
		return im
	}
	unnamed := forgetNames(raw("a", "x: *f32:16", "n: i32", "f: f32"))
	launch := func(folder string, constants map[int]artefact.Constant, args ...string) *artefact.Image {
		im := raw(folder, args...)
		m := &artefact.LaunchMeta{Entry: "scale", NumWarps: 4, NumCTAs: 1, Constants: constants}
		for i, a := range im.TTIR.Args {
			typ, _ := parseMLIR(a.Type)
			m.Args = append(m.Args, artefact.LaunchArg{Name: a.Name, Type: typ.String(), Index: i, DivisibleBy: a.Divisibility})
		}
		im.Launch = m
		return im
	}
	tests := []struct {
		name    string
		images  []*artefact.Image
		options Options
		want    string
	}{
		{"widths", []*artefact.Image{raw("a", "n: i32"), raw("b", "n: i64"), raw("c", "n: i32:16"), raw("d", "n: i64:16")}, Options{},
			"scale(n i64) | n%16 n<32 c/scale[0] | n%16 d/scale[0] | n<32 a/scale[0] | b/scale[0]\n"},
		{"one width", []*artefact.Image{raw("a", "n: i32", "m: i32"), raw("b", "n: i64", "m: i32")}, Options{},
			"scale(n i64, m i32) | n<32 a/scale[0 1] | b/scale[0 1]\n"},
		{"short integers are types", []*artefact.Image{raw("a", "n: i16"), raw("b", "n: i32")}, Options{},
			"scale_i16(n i16) | a/scale[0]\nscale_i32(n i32) | b/scale[0]\n"},
		{"element types", []*artefact.Image{raw("a", "x: *f32", "y: *f32"), raw("b", "x: *f16", "y: *f16")}, Options{},
			"scale_fp16(x *fp16, y *fp16) | b/scale[0 1]\nscale_fp32(x *fp32, y *fp32) | a/scale[0 1]\n"},
		{"only the types that differ", []*artefact.Image{raw("a", "x: *f32", "y: *f32", "z: i32"), raw("b", "x: *f32", "y: *f16", "z: i32")}, Options{},
			"scale_fp16(x *fp32, y *fp16, z i32) | b/scale[0 1 2]\nscale_fp32(x *fp32, y *fp32, z i32) | a/scale[0 1 2]\n"},
		{"two types that differ", []*artefact.Image{raw("a", "x: *f32", "y: *f32"), raw("b", "x: *f16", "y: *f32"), raw("c", "x: *f16", "y: *f16")}, Options{},
			"scale_fp16_fp16(x *fp16, y *fp16) | c/scale[0 1]\nscale_fp16_fp32(x *fp16, y *fp32) | b/scale[0 1]\nscale_fp32_fp32(x *fp32, y *fp32) | a/scale[0 1]\n"},
		{"value and pointer", []*artefact.Image{raw("a", "x: f32"), raw("b", "x: *f32")}, Options{},
			"scale_fp32(x fp32) | a/scale[0]\nscale_ptr_fp32(x *fp32) | b/scale[0]\n"},
		{"folded", []*artefact.Image{raw("a", "x: *f32", "n: i32", "f: f32"), raw("b", "x: *f32", "f: f32"), raw("c", "x: *f32", "n: i64", "f: f32")},
			Options{Folds: map[string]Fold{"scale.n": FoldOne}},
			"scale(x *fp32, n i64, f fp32) | n=1 b/scale[0 2] | n<32 a/scale[0 1 2] | c/scale[0 1 2]\n"},
		{"absent", []*artefact.Image{raw("a", "x: *f32", "y: *f32"), raw("b", "x: *f32")},
			Options{Folds: map[string]Fold{"scale.y": FoldNull}},
			"scale(x *fp32, y *fp32) | y=null b/scale[0] | a/scale[0 1]\n"},
		{"folded in one type only", []*artefact.Image{raw("a", "x: *f32", "n: i32"), raw("b", "x: *f16")},
			Options{Folds: map[string]Fold{"scale.n": FoldOne}},
			"scale_fp16(x *fp16, n i32) | n=1 b/scale[0]\nscale_fp32(x *fp32, n i32) | a/scale[0 1]\n"},
		{"absent of its type", []*artefact.Image{raw("a", "x: *f32", "y: *f32"), raw("b", "x: *f16", "y: *f16"), raw("c", "x: *f16")},
			Options{Folds: map[string]Fold{"scale.y": FoldNull}},
			"scale_fp16(x *fp16, y *fp16) | y=null c/scale[0] | b/scale[0 1]\nscale_fp32(x *fp32, y *fp32) | a/scale[0 1]\n"},
		{"several folded", []*artefact.Image{raw("a", "a: i32", "b: i32", "c: i32"), raw("b", "b: i32"), raw("c", "a: i32", "c: i32")},
			Options{Folds: map[string]Fold{"scale.a": FoldOne, "scale.b": FoldOne, "scale.c": FoldOne}},
			"scale(a i32, b i32, c i32) | a=1 c=1 b/scale[1] | b=1 c/scale[0 2] | a/scale[0 1 2]\n"},
		{"suffixes", []*artefact.Image{scale("a"), scale("b"), scale("c")}, Options{Suffix: true},
			"scale_17f3ae(x *fp32, n i32, f fp32) | x%16 a/scale[0 1 2]\nscale_37d7ed(x *fp32, n i32, f fp32) | x%16 c/scale[0 1 2]\n" +
				"scale_5e76c0(x *fp32, n i32, f fp32) | x%16 b/scale[0 1 2]\n"},
		{"no suffix where none is needed", []*artefact.Image{scale("a")}, Options{Suffix: true}, "scale(x *fp32, n i32, f fp32) | x%16 a/scale[0 1 2]\n"},
		{"suffixes of one type", []*artefact.Image{raw("a", "x: *f32"), raw("b", "x: *f32"), raw("c", "x: *f16")}, Options{Suffix: true},
			"scale_17f3ae(x *fp32) | a/scale[0]\nscale_5e76c0(x *fp32) | b/scale[0]\nscale_fp16(x *fp16) | c/scale[0]\n"},
		{"suffixes of kernels that only share a name", []*artefact.Image{raw("a", "x: *f32"), raw("b", "y: *f32", "x: i32")}, Options{Suffix: true},
			"scale_17f3ae(x *fp32) | a/scale[0]\nscale_5e76c0(y *fp32, x i32) | b/scale[0 1]\n"},
		{"suffixes undo widths", []*artefact.Image{raw("a", "n: i32"), raw("b", "n: i32"), raw("c", "n: i64")}, Options{Suffix: true},
			"scale_17f3ae(n i32) | a/scale[0]\nscale_37d7ed(n i64) | c/scale[0]\nscale_5e76c0(n i32) | b/scale[0]\n"},
		{"signature", []*artefact.Image{bare("a")}, Options{Signatures: map[string]Signature{"scale": sixFour(" ptr: *kfp32:16 , n: u32:16, f: fp32")}},
			"scale(ptr *kfp32, n u32, f fp32) | ptr%16 n%16 a/scale[0 1 2]\n"},
		{"signature of nameless TTIR", []*artefact.Image{unnamed}, Options{Signatures: map[string]Signature{"scale": sixFour("p: *fp32, n: u32, f: fp32")}},
			"scale(p *fp32, n u32, f fp32) | p%16 a/scale[0 1 2]\n"},
		{"names of nameless TTIR", []*artefact.Image{old("a", "*f32:16", "i32"), old("b", "*f32", "i64"), old("c", "*f16", "i32:16")},
			Options{Signatures: map[string]Signature{"scale": sixFour("x, n")}},
			"scale_fp16_i32(x *fp16, n i32) | n%16 c/scale[0 1]\nscale_fp32_i64(x *fp32, n i64) | x%16 n<32 a/scale[0 1] | b/scale[0 1]\n"},
		{"names and signs", []*artefact.Image{old("a", "*f32", "i32"), old("b", "*f16", "i32")},
			Options{Signatures: map[string]Signature{"scale": sixFour("x, n: u32")}},
			"scale_fp16(x *fp16, n u32) | b/scale[0 1]\nscale_fp32(x *fp32, n u32) | a/scale[0 1]\n"},
		{"names of what is folded", []*artefact.Image{
			old("a", "*f32", "*f32", "i32", "i32"), old("b", "*f32", "i32", "i32"), old("c", "*f32", "*f32", "i32"), old("d", "*f32", "i32"),
		}, Options{Signatures: map[string]Signature{"scale": sixFour("x, y, s, n")}, Folds: map[string]Fold{"scale.y": FoldNull, "scale.s": FoldOne}},
			"scale(x *fp32, y *fp32, s i32, n i32) | y=null s=1 d/scale[0 3] | y=null b/scale[0 2 3] | s=1 c/scale[0 1 3] | a/scale[0 1 2 3]\n"},
		{"types tell what is folded", []*artefact.Image{old("a", "i64", "i32", "f32"), old("b", "i32", "f32"), old("c", "i64", "f32")},
			Options{Signatures: map[string]Signature{"scale": sixFour("s: i64, n: i32, f")}, Folds: map[string]Fold{"scale.s": FoldOne, "scale.n": FoldOne}},
			"scale(s i64, n i32, f fp32) | s=1 b/scale[1 2] | n=1 c/scale[0 2] | a/scale[0 1 2]\n"},
		{"launch metadata tells what was folded", []*artefact.Image{
			launch("a", nil, "x: *f32", "n: i32"), launch("b", map[int]artefact.Constant{1: {Int: new(int64(1))}}, "x: *f32"),
			launch("c", map[int]artefact.Constant{0: {None: true}, 1: {Int: new(int64(1))}}),
		}, Options{}, "scale(x *fp32, n i32) | x=null n=1 c/scale[] | n=1 b/scale[0] | a/scale[0 1]\n"},
		{"launch metadata has signs", []*artefact.Image{func() *artefact.Image {
			im := launch("a", nil, "x: *f32:16", "n: i32")
			im.Launch.Args[0].Type, im.Launch.Args[1].Type = "*kfp32", "u32"
			return im
		}()}, Options{}, "scale(x *kfp32, n u32) | x%16 a/scale[0 1]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kernels, _, err := Build(tt.images, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, text(kernels)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// old is an image of Triton before 3.5 with arguments such as "*f32:16".
func old(folder string, types ...string) *artefact.Image {
	args := make([]string, len(types))
	for i, t := range types {
		args[i] = fmt.Sprintf("a%d: %s", i, t)
	}
	return forgetNames(raw(folder, args...))
}

// forgetNames makes an image one of Triton before 3.5.
func forgetNames(im *artefact.Image) *artefact.Image {
	for i := range im.TTIR.Args {
		im.TTIR.Args[i].Name, im.Source.Args[i].Name = "", ""
	}
	return im
}

func TestOptionFaults(t *testing.T) {
	signature := func(s string) map[string]Signature {
		sig, err := ParseSignature(s)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]Signature{"scale": sig}
	}
	const names = "; Triton's do since 3.5; name them, without constants, with --signature 'scale="
	const or = "; or put a NAME.kerngen.json beside each, or recompile with a later Triton"
	bare := func(args ...string) []*artefact.Image {
		im := raw("a", args...)
		im.TTIR, im.Source, im.PTX = nil, nil, nil
		return []*artefact.Image{im}
	}
	tests := []struct {
		name    string
		images  []*artefact.Image
		options Options
		want    string
	}{
		{"no such kernel", []*artefact.Image{scale("a")}, Options{Folds: map[string]Fold{"scael.n": FoldOne}, Signatures: map[string]Signature{"x": {}}},
			"--fold scael.n=1: no kernel is named \"scael\"; there is scale\n--signature \"x=\": no kernel is named \"x\"; there is scale"},
		{"nothing folded", []*artefact.Image{scale("a")}, Options{Folds: map[string]Fold{"scale.n": FoldOne}},
			"--fold scale.n=1: every image of scale takes n or says itself why not; remove the option"},
		{"no such argument", []*artefact.Image{scale("a")}, Options{Folds: map[string]Fold{"scale.m": FoldOne}},
			`--fold scale.m=1: no image of scale takes "m"; name an argument that some of its images take`},
		{"pointer at 1", []*artefact.Image{raw("a", "x: *f32"), raw("b")}, Options{Folds: map[string]Fold{"scale.x": FoldOne}},
			"b/scale: scale: x is folded at 1 here, but it is *fp32, not an integer; use --fold scale.x=null for an absent pointer"},
		{"integer null", []*artefact.Image{raw("a", "x: i32"), raw("b")}, Options{Folds: map[string]Fold{"scale.x": FoldNull}},
			"b/scale: scale: x is absent here, but it is i32, not a pointer; use --fold scale.x=1 for the integer 1"},
		{"folded type unknown", []*artefact.Image{raw("a", "x: *f32"), raw("b", "x: *f16"), raw("c")}, Options{Folds: map[string]Fold{"scale.x": FoldNull}},
			"c/scale: scale: x is folded away here, and has several types where it is passed; " + apart},
		{"signature not needed", []*artefact.Image{scale("a")}, Options{Signatures: signature("x: *fp32")},
			`--signature "scale=x: *fp32": the kernel's files tell its arguments; remove the option`},
		{"names missing", []*artefact.Image{old("a", "*f32:16", "i32"), old("b", "*f16", "i32")}, Options{},
			"scale: no file names the arguments of these images" + names + "NAME, NAME'" + or + "\n  a/scale: *fp32:16, i32\n  b/scale: *fp16, i32"},
		{"names missing of what is folded", []*artefact.Image{old("a", "i32"), old("b", "*f16", "i32")}, Options{},
			"scale: no file names the arguments of these images" + names + "NAME, NAME', and with --fold scale.NAME=1 or =null " +
				"for those that are not in all images, which were the integer 1 or None there" + or + "\n  a/scale: i32\n  b/scale: *fp16, i32"},
		{"names of another type", []*artefact.Image{old("a", "*f32"), old("b", "*f16")}, Options{Signatures: signature("x: *fp32")},
			"b/scale.ttir:7: argument 0 is !tt.ptr<f16>, but x is *fp32 in --signature \"scale=x: *fp32\"; correct the type, or leave it out: the TTIR of each image tells it"},
		{"names of another promise", []*artefact.Image{old("a", "*f32:16"), old("b", "*f32")}, Options{Signatures: signature("x: *fp32:16")},
			"b/scale.ttir:7: argument 0 is not promised to be divisible by 16, but x is in --signature \"scale=x: *fp32:16\"; leave :16 out: the TTIR of each image tells it"},
		{"too few names", []*artefact.Image{old("a", "*f32", "i32")}, Options{Signatures: signature("x")},
			`a/scale.ttir: scale has 2 arguments, but 1 in --signature "scale=x"; name all the arguments that any image takes`},
		{"too many names", []*artefact.Image{old("a", "i32")}, Options{Signatures: signature("x, n")},
			`a/scale.ttir: scale has 1 arguments, but 2 in --signature "scale=x, n"; ` +
				"say what was compiled away here: --fold scale.NAME=1 for the integer 1, =null for an absent pointer"},
		{"names that fit twice", []*artefact.Image{old("a", "i32", "i32"), old("b", "i32")},
			Options{Signatures: signature("m, n"), Folds: map[string]Fold{"scale.m": FoldOne, "scale.n": FoldOne}},
			`b/scale.ttir: scale has 1 arguments, but 2 in --signature "scale=m, n", and more than one choice of what --fold says was compiled away fits; ` +
				"give types in the option where they tell, or put scale.kerngen.json beside it"},
		{"names that do not fit", []*artefact.Image{old("a", "*f32", "i32"), old("b", "f32")},
			Options{Signatures: signature("x, n"), Folds: map[string]Fold{"scale.x": FoldNull, "scale.n": FoldOne}},
			`b/scale.ttir: scale has 1 arguments, but 2 in --signature "scale=x, n", and no choice of what --fold says was compiled away fits; ` +
				"correct the types, or leave those out that differ between images: the TTIR of each tells them"},
		{"names without TTIR", bare("x: *f32", "n: i32"), Options{Signatures: signature("x: *fp32, n")},
			`a/scale.json: --signature "scale=x: *fp32, n" gives no type for n, and there is no scale.ttir to tell; write NAME: TYPE`},
		{"signature too short", bare("x: *f32", "y: *f32"), Options{Signatures: signature("x: *fp32")},
			`a/scale.cubin: takes 4 parameters, but --signature "scale=x: *fp32" has 1 arguments, after which come 0 to 2 scratch pointers; correct the option`},
		{"signature too long", bare("x: *f32", "y: *f32"), Options{Signatures: signature("x: *fp32, y: *fp32, z: *fp32")},
			`--signature "scale=x: *fp32, y: *fp32, z: *fp32" leaves 1 parameters of a/scale for scratch pointers, but Triton 3.6.0 appends 2; name all the arguments that the code takes`},
		{"signature of another size", bare("x: *f32", "n: i32"), Options{Signatures: signature("x: *fp32, n: i64")},
			`a/scale.cubin: parameter 1 has 4 bytes, but is n of 8 bytes by --signature "scale=x: *fp32, n: i64"; correct the option`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Build(tt.images, tt.options)
			if err == nil {
				t.Fatal("Build accepts it")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseSignature(t *testing.T) {
	for in, want := range map[string]string{
		": i32":                                 `": i32" is not an argument; write NAME: TYPE, such as "n: i32" or "x_ptr: *fp32:16", or NAME`,
		"x: *fp32,":                             `"" is not an argument; write NAME: TYPE, such as "n: i32" or "x_ptr: *fp32:16", or NAME`,
		"x:":                                    "x: ",
		"x, x":                                  "two arguments are named x",
		"2x: i32":                               `"2x" is not the name of an argument`,
		"x: i32, x: i32":                        "two arguments are named x",
		"x: i32:8":                              `x: ":8" is not a promise that a launch can check; :16 is`,
		"x: i32:":                               `x: ":" is not a promise that a launch can check; :16 is`,
		"x: fp32:16":                            "x: only pointers and integers are promised to be divisible by 16, not fp32",
		"x: tensordesc<f16>":                    `x: unknown type "tensordesc<f16>"; a tensor descriptor is tensordesc<fp16[64, 64]>`,
		"x: tensordesc<f16[8]>":                 `x: type "tensordesc<f16[8]>": unknown type "f16"`,
		"x: tensordesc<fp16[8, 8, 8, 8, 8, 8]>": `x: type "tensordesc<fp16[8, 8, 8, 8, 8, 8]>" has 6 dimensions; a tensor descriptor has 1 to 5`,
		"x: tensordesc<fp16[8, 0]>":             `x: type "tensordesc<fp16[8, 0]>": "0" is not the extent of a block`,
		"x: tensordesc<fp16[]>":                 `x: type "tensordesc<fp16[]>": "" is not the extent of a block`,
		"x: tensordesc<fp16[8]>:16":             "x: only pointers and integers are promised to be divisible by 16, not tensordesc<fp16[8]>",
	} {
		if _, err := ParseSignature(in); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("ParseSignature(%q): %v, want %s", in, err, want)
		}
	}
}

// A name stays whatever other images there are, and is longer only where two
// would share it.
func TestSuffixNames(t *testing.T) {
	var all []compiled
	for i := range 5000 {
		all = append(all, compiled{image: Image{Code: fmt.Append(nil, i)}})
	}
	names := suffixNames(all)
	seen := map[string]bool{}
	longer := 0
	for i, name := range names {
		if seen[name] {
			t.Fatalf("two images are named %s", name)
		}
		seen[name] = true
		if len(name) > suffixLength {
			longer++
		}
		if alone := suffixNames(all[i : i+1])[0]; !strings.HasPrefix(name, alone) {
			t.Fatalf("image %d is %s alone, %s among others", i, alone, name)
		}
	}
	if longer > 10 {
		t.Errorf("%d names are longer than they need be", longer)
	}
}

func FuzzParseSignature(f *testing.F) {
	f.Add("x_ptr: *fp32:16, n: i32")
	f.Add("x: tensordesc<fp16[64, 64],layout(a, b)>, n: i32")
	f.Add("x, n: u32")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSignature(text)
		if err != nil {
			return
		}
		for _, a := range s.args {
			untyped := a.typ == Type{} && !a.promised
			if a.name == "" || !untyped && a.typ.Size() < 1 || a.promised && a.typ.Pointer == 0 && !a.typ.isInteger() {
				t.Errorf("%q is read as %+v", text, a)
			}
		}
	})
}
