package model

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// build is Build on images that must be right, in several orders, which must
// not matter.
func build(t *testing.T, images ...*artefact.Image) ([]Kernel, []string) {
	t.Helper()
	kernels, warnings, err := Build(images, Options{})
	if err != nil {
		t.Fatal(err)
	}
	images = slices.Clone(images)
	for range 8 {
		rand.Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
		k, w, err := Build(images, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(kernels, k, cmp.Comparer(bytes.Equal)); diff != "" {
			t.Fatalf("the kernels depend on the order of images:\n%s", diff)
		}
		if diff := cmp.Diff(warnings, w); diff != "" {
			t.Fatalf("the warnings depend on the order of images:\n%s", diff)
		}
	}
	return kernels, warnings
}

// buildFault is Build on images that do not go together, in several orders.
func buildFault(t *testing.T, images ...*artefact.Image) string {
	t.Helper()
	_, _, err := Build(images, Options{})
	if err == nil {
		t.Fatal("Build accepts it")
	}
	images = slices.Clone(images)
	for range 8 {
		rand.Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
		if _, _, again := Build(images, Options{}); again == nil || again.Error() != err.Error() {
			t.Fatalf("the error depends on the order of images: %v\n%v", err, again)
		}
	}
	return err.Error()
}

func TestBuildNothing(t *testing.T) {
	kernels, warnings := build(t)
	if len(kernels)+len(warnings) != 0 {
		t.Errorf("%v, %v from nothing", kernels, warnings)
	}
}

func TestBuildRaw(t *testing.T) {
	im := scale("a")
	im.Meta.Shared, im.Meta.Cooperative = 49152, true
	im.Meta.GlobalScratch, im.PTX.Params[3].Used = artefact.Scratch{Size: 256, Align: 128}, true
	im.PTX.UsesShared = true
	got, warnings := build(t, im)
	want := []Kernel{{
		Name: "scale", Triton: "3.6.0",
		Params: []Param{
			{Name: "x", Type: Type{Elem: "fp32", Pointer: 1}},
			{Name: "n", Type: Type{Elem: "i32"}},
			{Name: "f", Type: Type{Elem: "fp32"}},
		},
		Variants: []Variant{{
			Guards: []Guard{{0, DivisibleBy16}},
			Images: []Image{{
				Target: Target{SM: 80}, Kind: Cubin, Symbol: "scale", Args: []int{0, 1, 2}, Hidden: 2,
				NumWarps: 4, Cluster: [3]int{1, 1, 1}, Shared: 49152, GlobalScratch: Scratch{256, 128},
				Cooperative: true, Code: []byte("cubin of a/scale"), Origin: "a/scale",
			}},
		}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if warnings != nil {
		t.Errorf("warnings: %q", warnings)
	}
}

// Two architectures, a specialisation for n = 1 and one for n divisible by 16.
func TestBuildDescribed(t *testing.T) {
	plain90 := cluster(retarget(describedScale("plain90"), 90), 2)
	one := fold(describedScale("one"), 1, "one")
	for _, c := range []artefact.Constant{
		{Float: new(0.5)}, {Bool: new(true)}, {String: new("relu")}, {DType: "fp16"}, {None: true}, {Int: new(int64(-1))},
	} {
		for _, im := range []*artefact.Image{plain90, one} {
			im.Sidecar.Params = append(im.Sidecar.Params, artefact.SidecarParam{Name: string(rune('A' + len(im.Sidecar.Params))), Constant: &c})
		}
	}
	plain80, sixteen := describedScale("plain80"), promise(describedScale("sixteen"), 1, 16)
	rest := plain90.Sidecar.Params[4:]
	plain80.Sidecar.Params = append(plain80.Sidecar.Params, rest...)
	sixteen.Sidecar.Params = append(sixteen.Sidecar.Params, rest...)
	sixteen.Sidecar.Params[3].Constant = &artefact.Constant{Int: new(int64(2048))}

	constants := func(block int64) []Constant {
		return []Constant{{"BLOCK", block}, {"E", 0.5}, {"F", true}, {"G", "relu"}, {"H", DType("fp16")}, {"I", nil}, {"J", int64(-1)}}
	}
	image := func(folder string, target Target, cluster int, args ...int) Image {
		return Image{
			Target: target, Kind: Cubin, Symbol: "scale", Args: args, Hidden: 2, NumWarps: 4,
			Cluster: [3]int{cluster, 1, 1}, Code: []byte("cubin of " + folder + "/scale"), Origin: folder + "/scale",
		}
	}
	want := []Kernel{{
		Name: "scale", Doc: "Multiply x by f.", Source: "vec.py", Triton: "3.6.0",
		Params: []Param{
			{Name: "x", Type: Type{Elem: "fp32", Pointer: 1}},
			{Name: "n", Type: Type{Elem: "u32"}},
			{Name: "f", Type: Type{Elem: "fp32"}},
		},
		Constants: constants(0)[1:],
		Variants: []Variant{
			{
				Guards:    []Guard{{0, DivisibleBy16}, {1, DivisibleBy16}},
				Constants: constants(2048),
				Images:    []Image{image("sixteen", Target{SM: 80}, 1, 0, 1, 2)},
			},
			{
				Guards:    []Guard{{0, DivisibleBy16}, {1, EqualTo1}},
				Constants: constants(1024),
				Images:    []Image{image("one", Target{SM: 80}, 1, 0, 2)},
			},
			{
				Guards:    []Guard{{0, DivisibleBy16}},
				Constants: constants(1024),
				Images:    []Image{image("plain80", Target{SM: 80}, 1, 0, 1, 2), image("plain90", Target{90, "a"}, 2, 0, 1, 2)},
			},
		},
	}}
	got, warnings := build(t, plain90, one, sixteen, plain80)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if warnings != nil {
		t.Errorf("warnings: %q", warnings)
	}
}

// A variant without the pointer comes before every variant with it, however
// many promises that has: null is divisible by 16.
func TestNullGuardsFirst(t *testing.T) {
	absent := fold(describedScale("absent"), 0, "absent")
	given := promise(describedScale("given"), 1, 16)
	kernels, _ := build(t, given, absent)
	k := kernels[0]
	if len(k.Variants) != 2 || !slices.Equal(k.Variants[0].Guards, []Guard{{0, Null}}) {
		t.Errorf("variants %+v, want the one with a null x first", k.Variants)
	}
	if k.Params[0].Nullable {
		t.Error("x is nullable for the variant that takes it")
	}

	nullable := promise(describedScale("given"), 1, 16)
	nullable.Sidecar.Params[0].Nullable = true
	kernels, _ = build(t, nullable, absent)
	if !kernels[0].Params[0].Nullable {
		t.Error("x is not nullable, although the variant that takes it declares so")
	}
}

func TestTuples(t *testing.T) {
	args := []artefact.Arg{
		arg("ptrs", "!tt.ptr<f32>", 0), arg("ptrs", "!tt.ptr<f16>", 0), arg("n", "i32", 0), arg("shape", "i32", 0), arg("shape", "i32", 0),
	}
	names := func(im *artefact.Image) []string {
		t.Helper()
		kernels, _ := build(t, im)
		var names []string
		for _, p := range kernels[0].Params {
			names = append(names, p.Name+" "+p.Type.String())
		}
		return names
	}
	raw := newImage("k", args)
	want := []string{"ptrs.0 *fp32", "ptrs.1 *fp16", "n i32", "shape.0 i32", "shape.1 i32"}
	if diff := cmp.Diff(want, names(raw)); diff != "" {
		t.Errorf("raw (-want +got):\n%s", diff)
	}

	raw.Sidecar = &artefact.Sidecar{
		Kernel: "k", Triton: "3.6.0",
		Params: []artefact.SidecarParam{
			{Name: "ptrs", Tuple: []artefact.SidecarParam{
				{Name: "in", Type: "*kfp32"},
				{Name: "more", Tuple: []artefact.SidecarParam{{Type: "*fp16"}, {Constant: &artefact.Constant{Int: new(int64(3))}}}},
			}},
			{Name: "n", Type: "i32"},
			{Name: "shape", Tuple: []artefact.SidecarParam{{Type: "i32"}, {Type: "i64", Folded: "one"}, {Type: "u32"}}},
		},
	}
	want = []string{"ptrs.in *kfp32", "ptrs.more.0 *fp16", "n i32", "shape.0 i32", "shape.1 i64", "shape.2 u32"}
	if diff := cmp.Diff(want, names(raw)); diff != "" {
		t.Errorf("described (-want +got):\n%s", diff)
	}
	kernels, _ := build(t, raw)
	if diff := cmp.Diff([]Constant{{"ptrs.more.1", int64(3)}}, kernels[0].Constants); diff != "" {
		t.Errorf("constants (-want +got):\n%s", diff)
	}
}

// What of an image's files may be missing, and what Triton's releases do in
// different ways.
func TestAccepted(t *testing.T) {
	type image = artefact.Image
	older := func(im *image) {
		for i := range im.PTX.Params {
			im.PTX.Params[i].Pointer = false
		}
	}
	tests := []struct {
		name   string
		image  *image
		change func(*image)
		want   func(*Image)
	}{
		{"no source", scale("a"), func(im *image) { im.Source = nil }, func(*Image) {}},
		{"no cubin", scale("a"), func(im *image) { im.Cubin = nil }, func(im *Image) {
			im.Kind, im.Code = PTX, []byte("ptx of a/scale")
		}},
		{"no ptx", scale("a"), func(im *image) { im.PTX = nil }, func(*Image) {}},
		{"no ptx, sm_90", retarget(scale("a"), 90), func(im *image) { im.PTX = nil }, func(im *Image) { im.Target = Target{90, "a"} }},
		{"no ptx, flag clear", retarget(scale("a"), 100), func(im *image) { im.PTX, im.Cubin.Accelerated = nil, false },
			func(im *Image) { im.Target = Target{100, "a"} }},
		{"ptx decides the suffix", retarget(scale("a"), 120), func(im *image) { im.Cubin.Accelerated = false },
			func(im *Image) { im.Target = Target{120, "a"} }},
		{"ptx without suffix", retarget(scale("a"), 90), func(im *image) { im.PTX.Target, im.Cubin.Accelerated = "sm_90", false },
			func(im *Image) { im.Target = Target{90, ""} }},
		{"json, cubin and sidecar", describedScale("a"), func(im *image) { im.PTX, im.TTIR, im.Source = nil, nil, nil }, func(*Image) {}},
		{"repr", describedScale("a"), func(im *image) {
			for _, name := range []*string{&im.Meta.Name, &im.TTIR.Name, &im.Source.Name, &im.PTX.Entry, &im.Cubin.Symbol} {
				*name = "scale_fp32"
			}
		}, func(im *Image) { im.Symbol = "scale_fp32" }},
		{"names lost", describedScale("a"), func(im *image) {
			for i := range im.TTIR.Args {
				im.TTIR.Args[i].Name, im.Source.Args[i].Name = "", ""
			}
		}, func(*Image) {}},
		{"no version", scale("a"), func(im *image) { im.Meta.TritonVersion = "" }, func(*Image) {}},
		{"no hidden parameter", scale("a"), func(im *image) { im.PTX.Params, im.Cubin.Params = im.PTX.Params[:3], im.Cubin.Params[:3] },
			func(im *Image) { im.Hidden = 0 }},
		{"one hidden parameter", scale("a"), func(im *image) { im.PTX.Params, im.Cubin.Params = im.PTX.Params[:4], im.Cubin.Params[:4] },
			func(im *Image) { im.Hidden = 1 }},
		{"pointers not marked", scale("a"), older, func(*Image) {}},
		{"maxntid only", scale("a"), func(im *image) {
			im.PTX.MaxNTID, im.PTX.ReqNTID, im.Cubin.ReqNTID = im.PTX.ReqNTID, [3]int{}, [3]int{}
		}, func(*Image) {}},
		{"cluster of the launch only", retarget(scale("a"), 90), func(im *image) {
			im.Meta.NumCTAs, im.Meta.ClusterDims, im.Meta.TritonVersion = 4, [3]int{2, 2, 1}, "3.5.0"
		}, func(im *Image) { im.Target, im.Cluster = Target{90, "a"}, [3]int{2, 2, 1} }},
		{"pdl", scale("a"), func(im *image) { im.Meta.PDL, im.PTX.WaitsForGrid = true, true }, func(im *Image) { im.PDL = true }},
		{"odd warps", scale("a"), func(im *image) {
			im.Meta.NumWarps, im.PTX.ReqNTID[0], im.Cubin.ReqNTID[0] = 12, 384, 384
		}, func(im *Image) { im.NumWarps = 12 }},
		{"profile scratch", scale("a"), func(im *image) {
			im.Meta.ProfileScratch, im.PTX.Params[4].Used = artefact.Scratch{Size: 64, Align: 8}, true
		},
			func(im *Image) { im.ProfileScratch = Scratch{64, 8} }},
		{"no TTIR but the source", scale("a"), func(im *image) { im.TTIR = nil }, func(*Image) {}},
		{"cubin and source alone", scale("a"), func(im *image) { im.TTIR, im.PTX = nil, nil }, func(*Image) {}},
		{"unseen shared memory and scratch", scale("a"), func(im *image) {
			im.PTX, im.Meta.Shared, im.Meta.GlobalScratch = nil, 64, artefact.Scratch{Size: 64, Align: 8}
		}, func(im *Image) { im.Shared, im.GlobalScratch = 64, Scratch{64, 8} }},
		{"all the shared memory", scale("a"), func(im *image) { im.Meta.Shared, im.PTX.UsesShared = maxShared, true }, func(im *Image) { im.Shared = maxShared }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.change(tt.image)
			want := Image{
				Target: Target{SM: 80}, Kind: Cubin, Symbol: "scale", Args: []int{0, 1, 2}, Hidden: 2, NumWarps: 4,
				Cluster: [3]int{1, 1, 1}, Code: []byte("cubin of a/scale"), Origin: "a/scale",
			}
			tt.want(&want)
			kernels, warnings := build(t, tt.image)
			if len(kernels) != 1 || kernels[0].Name != "scale" {
				t.Fatalf("kernels %+v, want scale", kernels)
			}
			if diff := cmp.Diff([]Image{want}, kernels[0].Variants[0].Images); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if warnings != nil {
				t.Errorf("warnings: %q", warnings)
			}
		})
	}
}

func TestLongNameIsCutInFiles(t *testing.T) {
	name := strings.Repeat("k", 151)
	im := newImage("a/"+name[:150], scaleArgs())
	im.Sidecar = describedScale("a").Sidecar
	im.Sidecar.Kernel = name
	if kernels, _ := build(t, im); kernels[0].Name != name {
		t.Errorf("the kernel is called %s", kernels[0].Name)
	}
}

func TestTypesOfSidecar(t *testing.T) {
	var args []artefact.Arg
	sidecar := &artefact.Sidecar{Kernel: "k", Triton: "3.6.0"}
	var want []Type
	add := func(typ, ttir string) {
		name := "p" + string(rune('a'+len(args)))
		args = append(args, arg(name, ttir, 0))
		sidecar.Params = append(sidecar.Params, artefact.SidecarParam{Name: name, Type: typ})
		parsed, err := ParseType(typ)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, parsed)
	}
	for _, e := range elements {
		add("*"+e.name, "!tt.ptr<"+e.mlir+">")
		if e.ptx != nil {
			add(e.name, e.mlir)
		}
	}
	im := newImage("k", args)
	im.Sidecar = sidecar
	kernels, _ := build(t, im)
	var got []Type
	for _, p := range kernels[0].Params {
		got = append(got, p.Type)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
