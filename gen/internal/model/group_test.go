package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

func TestWarnings(t *testing.T) {
	tests := []struct {
		name   string
		change func(*artefact.Image)
		want   string
	}{
		{"pdl without a wait", func(im *artefact.Image) { im.Meta.PDL = true },
			"a/scale.json: scale has no griddepcontrol.wait; launch_pdl is dropped, and it starts once its predecessor has ended"},
		{"pdl without ptx", func(im *artefact.Image) { im.Meta.PDL, im.PTX = true, nil },
			"a/scale.json: scale.ptx is not there to show that scale waits for its predecessor; launch_pdl is dropped, and it starts once its predecessor has ended"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			im := scale("a")
			tt.change(im)
			kernels, warnings := build(t, im)
			if diff := cmp.Diff([]string{tt.want}, warnings); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if kernels[0].Variants[0].Images[0].PDL {
				t.Error("the image is launched with PDL all the same")
			}
		})
	}
	t.Run("constants unknown", func(t *testing.T) {
		_, warnings := build(t, scale("a"), promise(scale("b"), 1, 16))
		want := []string{"scale: its 2 images do not tell their compile-time constants; that those are the same is taken on trust; " +
			"a NAME.kerngen.json beside each would tell"}
		if diff := cmp.Diff(want, warnings); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestKernelsByName(t *testing.T) {
	kernels, _ := build(t, newImage("b/zoom", scaleArgs()), scale("a"), newImage("a/fill", nil), newImage("b/Mul", scaleArgs()))
	var names []string
	for _, k := range kernels {
		names = append(names, k.Name)
	}
	if diff := cmp.Diff([]string{"Mul", "fill", "scale", "zoom"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSameImageTwice(t *testing.T) {
	a, b, c := describedScale("a"), describedScale("b"), describedScale("b")
	b.Cubin.Bytes, c.Cubin.Bytes = a.Cubin.Bytes, a.Cubin.Bytes
	kernels, _ := build(t, a, b, c)
	if images := kernels[0].Variants[0].Images; len(images) != 1 || images[0].Origin != "a/scale" {
		t.Errorf("images %+v, want that of a/scale", images)
	}
}

func TestCubinAndPTXOfOneTarget(t *testing.T) {
	a, b := scale("a"), scale("b")
	a.Cubin = nil
	kernels, _ := build(t, a, b)
	var kinds []ImageKind
	for _, im := range kernels[0].Variants[0].Images {
		kinds = append(kinds, im.Kind)
	}
	if diff := cmp.Diff([]ImageKind{Cubin, PTX}, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTritonVersions(t *testing.T) {
	a, b, c := retarget(scale("a"), 120), scale("b"), retarget(scale("c"), 75)
	a.Meta.TritonVersion, c.Meta.TritonVersion = "3.7.0", ""
	kernels, _ := build(t, a, b, c)
	if got := kernels[0].Triton; got != "3.6.0, 3.7.0" {
		t.Errorf("Triton is %q", got)
	}
}

func TestDocOfFirst(t *testing.T) {
	a, b := describedScale("a"), retarget(describedScale("b"), 86)
	b.Sidecar.Doc = "Edited by hand."
	kernels, _ := build(t, b, a)
	if got := kernels[0].Doc; got != "Multiply x by f." {
		t.Errorf("Doc is %q", got)
	}
}

func TestGroupFaults(t *testing.T) {
	const source = "; recompile both from the same source, or give one of them"
	describe := func(change func(*artefact.Image)) *artefact.Image {
		im := describedScale("b")
		change(im)
		return im
	}
	twins := func(a, b string) string {
		head := "scale: nothing at a launch tells these images apart: 2 for sm_80"
		if a == "" {
			head += "; they differ in their code only"
		}
		return head + "; " + apart +
			"\n  a/scale: num_warps 4, num_ctas 1, shared 0" + a + "; as scale_17f3ae" +
			"\n  b/scale: num_warps 4, num_ctas 1, shared 0" + b + "; as scale_5e76c0"
	}
	tests := []struct {
		name   string
		images []*artefact.Image
		want   string
	}{
		{"one without a sidecar", []*artefact.Image{describedScale("a"), scale("b")},
			"b/scale: scale: has no .kerngen.json file, but a/scale has; give one for each image of a kernel or for none"},
		{"one with a sidecar", []*artefact.Image{scale("a"), describedScale("b")},
			"b/scale: scale: has a .kerngen.json file, but a/scale has none; give one for each image of a kernel or for none"},
		{"other sources", []*artefact.Image{describedScale("a"), describe(func(im *artefact.Image) { im.Sidecar.Source[1].SHA256 = "ef" })},
			"b/scale: scale: is compiled from other source files, or another state of them, than a/scale" + source},
		{"argument missing", []*artefact.Image{scale("a"), newImage("b/scale", scaleArgs()[:2]), newImage("c/scale", scaleArgs()[:2])},
			"scale: f is a parameter of 1 of 3 images; the code of others has it compiled away for a value that their files do not tell; " +
				"use a NAME.kerngen.json beside each, since fp32 is neither an integer nor a pointer, or " + apart +
				"\n  without f: b/scale\n  without f: c/scale"},
		{"argument missing in the first", []*artefact.Image{newImage("a/scale", scaleArgs()[1:]), scale("b")},
			"scale: x is a parameter of 1 of 2 images; the code of others has it compiled away for a value that their files do not tell; " +
				"use --fold scale.x=null where it was None, an absent pointer, or " + apart + "\n  without x: a/scale"},
		{"integer missing", []*artefact.Image{scale("a"), newImage("b/scale", append(scaleArgs()[:1:1], scaleArgs()[2]))},
			"scale: n is a parameter of 1 of 2 images; the code of others has it compiled away for a value that their files do not tell; " +
				"use --fold scale.n=1 where it was the integer 1, or " + apart + "\n  without n: b/scale"},
		{"each lacks another argument", []*artefact.Image{newImage("a/scale", scaleArgs()[1:]), newImage("b/scale", append(scaleArgs()[:1:1], scaleArgs()[2]))},
			"scale: no image takes both n and x, so the order of the two is unknown; give an image that takes both, or " + apart},
		{"parameter made constant", []*artefact.Image{describedScale("a"), describe(func(im *artefact.Image) {
			fold(im, 1, "one").Sidecar.Params[1] = artefact.SidecarParam{Name: "n", Constant: &artefact.Constant{Int: new(int64(1))}}
		})}, "b/scale: scale: n is no parameter here, but in a/scale" + source},
		{"order", []*artefact.Image{scale("a"), newImage("b/scale", []artefact.Arg{scaleArgs()[0], scaleArgs()[2], scaleArgs()[1]})},
			"scale: its images take n, f in different orders; they are of different kernels: " + apart},
		{"nullable", []*artefact.Image{describedScale("a"), describe(func(im *artefact.Image) {
			promise(im, 0, 0).Sidecar.Params[0].Nullable = true
		}), fold(describedScale("c"), 0, "absent")},
			"b/scale: scale: x is nullable either here or in a/scale, but not in both" + source},
		{"constant", []*artefact.Image{describedScale("a"), describe(func(im *artefact.Image) {
			im.Sidecar.Params[3].Constant = &artefact.Constant{String: new("big")}
		})}, twins(", constants BLOCK=1024", `, constants BLOCK="big"`)},
		{"constant of another target", []*artefact.Image{describedScale("a"), retarget(describe(func(im *artefact.Image) {
			im.Sidecar.Params[3].Constant = &artefact.Constant{String: new("big")}
		}), 86)}, "scale: its images for different targets were compiled with different constants; compile all with the same, or " + apart +
			"\n  a/scale: num_warps 4, num_ctas 1, shared 0, target sm_80, constants BLOCK=1024; as scale_17f3ae" +
			"\n  b/scale: num_warps 4, num_ctas 1, shared 0, target sm_86, constants BLOCK=\"big\"; as scale_5e76c0"},
		{"some targets twice, one once", []*artefact.Image{scale("a"), retarget(scale("b"), 90), scale("c"), retarget(scale("d"), 90), scale("e"), retarget(scale("f"), 86)},
			"scale: nothing at a launch tells these images apart: 3 for sm_80, 2 for sm_90a; " + apart +
				"\n  a/scale: num_warps 4, num_ctas 1, shared 0, target sm_80; as scale_17f3ae" +
				"\n  c/scale: num_warps 4, num_ctas 1, shared 0, target sm_80; as scale_37d7ed" +
				"\n  e/scale: num_warps 4, num_ctas 1, shared 0, target sm_80; as scale_6b4f44" +
				"\n  b/scale: num_warps 4, num_ctas 1, shared 0, target sm_90a; as scale_5e76c0" +
				"\n  d/scale: num_warps 4, num_ctas 1, shared 0, target sm_90a; as scale_1a498b"},
		{"constant of another name", []*artefact.Image{describedScale("a"), describe(func(im *artefact.Image) { im.Sidecar.Params[3].Name = "SIZE" })},
			twins(", constants BLOCK=1024", ", constants SIZE=1024")},
		{"constant of one", []*artefact.Image{describedScale("a"), describe(func(im *artefact.Image) { im.Sidecar.Params = im.Sidecar.Params[:3] })},
			twins(", constants BLOCK=1024", ", constants none")},
		{"constant of the other", []*artefact.Image{describedScale("a"), describe(func(im *artefact.Image) {
			im.Sidecar.Params = append(im.Sidecar.Params, artefact.SidecarParam{Name: "ACT", Constant: &artefact.Constant{None: true}})
		})}, twins(", constants BLOCK=1024", ", constants BLOCK=1024 ACT=None")},
		{"one target twice", []*artefact.Image{scale("a"), scale("b")}, twins("", "")},
		{"one code, two launches", []*artefact.Image{describedScale("a"), describe(func(im *artefact.Image) {
			im.Cubin.Bytes, im.Meta.Shared, im.PTX.UsesShared = describedScale("a").Cubin.Bytes, 1024, true
		})}, "scale: nothing at a launch tells these images apart: 2 for sm_80; give one of them\n" +
			"  a/scale: num_warps 4, num_ctas 1, shared 0; as scale_17f3ae\n  b/scale: num_warps 4, num_ctas 1, shared 1024; as scale_17f3ae"},
		{"faults of all images", []*artefact.Image{scale("a"), func() *artefact.Image {
			im := newImage("c/fill", nil)
			im.Meta.Backend = "hip"
			return im
		}(), scale("b")},
			`c/fill.json: fill is compiled for backend "hip"; kerngen launches cuda kernels only; recompile it for an NVIDIA target` + "\n" + twins("", "")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, buildFault(t, tt.images...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
