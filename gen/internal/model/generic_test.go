package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// typed is an image of scale for an element type of x.
func typed(folder string, order int, elem, mlir string) *artefact.Image {
	im := describedScale(folder)
	im.Sidecar.Types, im.Sidecar.Order = []artefact.SidecarType{{Name: "T", Type: elem}}, order
	im.Sidecar.Params[0].Type, im.Sidecar.Params[0].TypeVar = "*"+elem, "T"
	im.TTIR.Args[0].Type, im.Source.Args[0].Type = "!tt.ptr<"+mlir+">", "!tt.ptr<"+mlir+">"
	return im
}

func TestTypeVariables(t *testing.T) {
	fp16, fp32 := typed("a", 1, "fp16", "f16"), typed("b", 0, "fp32", "f32")
	plain16 := promise(typed("c", 3, "fp16", "f16"), 0, 0)
	for _, im := range []*artefact.Image{fp16, plain16} {
		im.Sidecar.Params[3].Constant = &artefact.Constant{Int: new(int64(2048))}
	}
	kernels, warnings := build(t, fp16, fp32, plain16)
	if len(kernels) != 1 || len(warnings) != 0 {
		t.Fatalf("%d kernels, want one; warnings %v", len(kernels), warnings)
	}
	k := kernels[0]
	if diff := cmp.Diff([]TypeVar{{"T", []string{"fp32", "fp16"}}}, k.TypeVars); diff != "" {
		t.Errorf("type variables (-want +got):\n%s", diff)
	}
	if k.ID() != "scale" || k.Params[0].TypeVar != "T" || k.Variants != nil || k.Constants != nil {
		t.Errorf("kernel %+v", k)
	}
	var got []string
	for _, in := range k.Instances {
		line := fmt.Sprintf("%s of %v, %v:", in.ID(), in.Types, in.Params[0].Type)
		for _, v := range in.Variants {
			line += " " + v.Images[0].Origin
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"scale_fp32 of [fp32], *fp32: b/scale", "scale_fp16 of [fp16], *fp16: a/scale c/scale"}, got); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
}

// Integers of two widths are one parameter, but not where a type variable tells
// them apart.
func TestTypeVariableOfIntegers(t *testing.T) {
	var images []*artefact.Image
	for i, elem := range []string{"i32", "i64"} {
		im := newImage(elem+"/scale", []artefact.Arg{arg("n", elem, 0)})
		im.Sidecar = &artefact.Sidecar{Schema: 2, Kernel: "scale", Triton: "3.6.0", Order: i, Types: []artefact.SidecarType{{Name: "T", Type: elem}},
			Params: []artefact.SidecarParam{{Name: "n", Type: elem, TypeVar: "T"}}}
		images = append(images, im)
	}
	kernels, _ := build(t, images...)
	if len(kernels) != 1 || len(kernels[0].Instances) != 2 || len(kernels[0].Instances[0].Variants[0].Guards) != 0 {
		t.Errorf("kernels %+v", kernels)
	}
}

func TestTypeVariableFaults(t *testing.T) {
	const source = "; recompile both from the same source, or give one of them"
	change := func(im *artefact.Image, f func(*artefact.Sidecar)) *artefact.Image {
		f(im.Sidecar)
		return im
	}
	for _, tt := range []struct {
		name   string
		images []*artefact.Image
		want   string
	}{
		{"no type variables", []*artefact.Image{typed("a", 0, "fp32", "f32"), describedScale("b")}, "b/scale: scale: has other type variables than a/scale" + source},
		{"another type variable", []*artefact.Image{typed("a", 0, "fp32", "f32"), change(typed("b", 1, "fp16", "f16"), func(s *artefact.Sidecar) { s.Types[0].Name = "U" })},
			"b/scale: scale: has other type variables than a/scale" + source},
		{"a type beside the variables", []*artefact.Image{typed("a", 0, "fp32", "f32"), change(typed("b", 1, "fp16", "f16"), func(s *artefact.Sidecar) { s.Params[0].TypeVar = "" })},
			"b/scale.kerngen.json: scale: x is *fp16, but *fp32 of type variable T in a/scale, and no type variable says so" + source},
		{"two kernels of the same types", []*artefact.Image{typed("a", 0, "fp32", "f32"), change(typed("b", 1, "fp16", "f16"), func(s *artefact.Sidecar) {
			s.Types[0].Type = "fp32"
		})}, "b/scale.kerngen.json: scale: its type variables are those of a/scale, but x has another type" + source},
		{"other configurations", []*artefact.Image{
			change(typed("a", 0, "fp32", "f32"), func(s *artefact.Sidecar) { s.Config = &artefact.SidecarConfig{Name: "num_warps=4"} }),
			change(typed("b", 0, "fp32", "f32"), func(s *artefact.Sidecar) { s.Config = &artefact.SidecarConfig{Index: 1, Name: "num_warps=8"} }),
			change(typed("c", 1, "fp16", "f16"), func(s *artefact.Sidecar) { s.Config = &artefact.SidecarConfig{Name: "num_warps=4"} }),
		}, "c/scale.kerngen.json: scale: a/scale has other configurations" + source},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := buildFault(t, tt.images...)
			if !strings.Contains(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
