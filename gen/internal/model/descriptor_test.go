package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

const hostSignature = "x_desc: tensordesc<fp16[32, 32]>, out_desc: tensordesc<fp16[32,32]>, n: i32"

// Each form of each release, described by each file that can describe it: what
// the code takes comes out the same.
func TestDescriptorSources(t *testing.T) {
	sidecar := func(im *artefact.Image) {
		im.Sidecar = &artefact.Sidecar{Schema: 1, Kernel: "host", Triton: im.Meta.TritonVersion, Params: []artefact.SidecarParam{
			{Name: "x_desc", Type: "tensordesc<fp16[32,32]>"}, {Name: "out_desc", Type: "tensordesc<fp16[32, 32]>"}, {Name: "n", Type: "i32"},
		}}
	}
	option, err := ParseSignature(hostSignature)
	if err != nil {
		t.Fatal(err)
	}
	told := Options{Signatures: map[string]Signature{"host": option}}
	for minor := 4; minor < 10; minor++ {
		for _, sm := range []int{80, 90} {
			for _, tt := range []struct {
				name    string
				options Options
				change  func(*artefact.Image)
				since   int
			}{
				{"files", Options{}, func(*artefact.Image) {}, 5},
				{"sidecar", Options{}, sidecar, 4},
				{"sidecar without PTX and TTIR", Options{}, func(im *artefact.Image) { sidecar(im); im.PTX, im.TTIR, im.Source = nil, nil, nil }, 4},
				{"sidecar without a cubin", Options{}, func(im *artefact.Image) { sidecar(im); im.Cubin = nil }, 4},
				{"signature", told, func(im *artefact.Image) { im.TTIR, im.Source = nil, nil }, 4},
			} {
				if minor < tt.since {
					continue
				}
				t.Run(fmt.Sprintf("3.%d/sm%d/%s", minor, sm, tt.name), func(t *testing.T) {
					images := readVersion(t, fmt.Sprintf("3.%d/host.sm%d", minor, sm))
					tt.change(images[0])
					kernels, _, err := Build(images, tt.options)
					if err != nil {
						t.Fatal(err)
					}
					im := kernels[0].Variants[0].Images[0]
					if diff := cmp.Diff(hostDescriptors(minor, sm), im.Descriptors); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
					const params = "x_desc tensordesc<fp16[32, 32]>, out_desc tensordesc<fp16[32, 32]>, n i32"
					if got := signature(kernels[0]); got != params || im.Hidden != hiddenIn(minor) || !slices.Equal(im.Args, []int{0, 1, 2}) {
						t.Errorf("(%s), %d hidden, passed %v", got, im.Hidden, im.Args)
					}
				})
			}
		}
	}
	// 3.4 has no names, but all the rest to check a signature against.
	for _, sm := range []int{80, 90} {
		if _, _, err := Build(readVersion(t, fmt.Sprintf("3.4/host.sm%d", sm)), told); err != nil {
			t.Error(err)
		}
	}
}

// Both forms make one variant, and blocks may differ between images.
func TestDescriptorVariants(t *testing.T) {
	images := append(readVersion(t, "3.6/host.sm80"), readVersion(t, "3.6/host.sm90")...)
	kernels, _ := build(t, images...)
	if len(kernels) != 1 || len(kernels[0].Variants) != 1 || len(kernels[0].Variants[0].Images) != 2 {
		t.Fatalf("%+v", kernels)
	}
	for _, s := range []*artefact.Signature{images[0].Source} {
		s.Args[0].Type = strings.Replace(s.Args[0].Type, "32x32", "64x16", 1)
	}
	kernels, _ = build(t, images...)
	if got := kernels[0].Params[0].Type.String(); got != "tensordesc<fp16[:, :]>" {
		t.Errorf("type %s", got)
	}
}

func TestDescriptorFaults(t *testing.T) {
	const remake = "; recompile the kernel so that all its files come from one run"
	type image = artefact.Image
	meta := func(change func(*artefact.Descriptor)) func(*image) {
		return func(im *image) { change(&im.Meta.Descriptors[1]) }
	}
	for _, tt := range []struct {
		name   string
		folder string
		breaks func(*image)
		want   string
	}{
		{"too few entries", "3.6/host.sm90", func(im *image) { im.Meta.Descriptors = im.Meta.Descriptors[:1] },
			"host.json: tensordesc_meta has 1 entries, but host.ttir has 2 tensor descriptors" + remake},
		{"no entries", "3.6/host.sm90", func(im *image) { im.Meta.Descriptors = nil },
			"host.ptx: takes 13 parameters, but host.ttir has 19 arguments, after which come 0 to 2 scratch pointers" + remake},
		{"entries of what is taken apart", "3.6/host.sm80", func(im *image) {
			im.Meta.Descriptors = slices.Repeat([]artefact.Descriptor{{Swizzle: 2, ElemSize: 2, ElemType: 6, Block: []int{32, 32}}}, 2)
		}, "host.ttir: host has 21 arguments, but by host.ttir there are 11" + remake},
		{"im2col", "3.9/host.sm90", meta(func(d *artefact.Descriptor) { d.Im2col = true }),
			"host.json: tensordesc_meta of out_desc: it is an im2col map, which kerngen does not encode; pass a tiled tensor descriptor"},
		{"element size", "3.6/host.sm90", meta(func(d *artefact.Descriptor) { d.ElemSize = 4 }),
			"host.json: tensordesc_meta of out_desc: elem_size is 4 and elem_type 6, of 2 bytes, but the elements are fp16 of 2" + remake},
		{"element type", "3.6/host.sm90", meta(func(d *artefact.Descriptor) { d.ElemType = 7 }),
			"host.json: tensordesc_meta of out_desc: elem_size is 2 and elem_type 7, of 4 bytes, but the elements are fp16 of 2" + remake},
		{"unknown element type", "3.6/host.sm90", meta(func(d *artefact.Descriptor) { d.ElemType = 15 }),
			"host.json: tensordesc_meta of out_desc: unknown elem_type 15" + remake},
		{"padding of what is not fp4", "3.6/host.sm90", meta(func(d *artefact.Descriptor) { d.FP4Padded = true }),
			"host.json: tensordesc_meta of out_desc: fp4_padded is true, but elem_type 6" + remake},
		{"rank", "3.6/host.sm90", meta(func(d *artefact.Descriptor) { d.Block = []int{32} }),
			"host.json: tensordesc_meta of out_desc: block_size [32] has 1 dimensions, but the descriptor 2" + remake},
		{"box", "3.6/host.sm90", meta(func(d *artefact.Descriptor) { d.Block = []int{512, 32} }),
			"host.json: tensordesc_meta of out_desc: block_size [512 32] has more than 256 elements along a dimension" + remake},
		{"no map in the PTX", "3.6/host.sm90", func(im *image) { im.PTX.Params[5].Size = 8 },
			"host.ptx:18: parameter 5 is .b8 of 8 bytes, but out_desc is tensordesc<fp16[32, 32]> in host.ttir, which is .b8 of 128" + remake},
		{"no map in the cubin", "3.6/host.sm90", func(im *image) { im.Cubin.Params[5].Size = 8 },
			"host.cubin: parameter 5 has 8 bytes, but is out_desc of 128 bytes by host.ttir" + remake},
		{"another extent", "3.6/host.sm90", func(im *image) { im.PTX.Params[6].Type, im.PTX.Params[6].Size = ".u64", 8 },
			"host.ptx:19: parameter 6 is .u64 of 8 bytes, but out_desc.shape.0 is i32 in host.ttir, which is .u32 or .b32 of 4" + remake},
		{"a flag less", "3.6/host.sm80", func(im *image) { im.TTIR.Args = slices.Delete(im.TTIR.Args, 5, 6) },
			"host.ttir: host has 20 arguments, but by host.ttir there are 21" + remake},
		{"another rank before the passes", "3.6/host.sm80", func(im *image) { im.Source.Args[0].Type = "!tt.tensordesc<tensor<32xf16>>" },
			"host.source:5: argument x_desc is a tensor descriptor, but its extents and strides do not follow it" + remake},
		{"another type before the passes", "3.6/host.sm80", func(im *image) { im.Source.Args[0].Type = "!tt.tensordesc<tensor<32x32xf32>>" },
			"host.ttir:5: argument 0, x_desc, is !tt.ptr<f16>, but should be *fp32" + remake},
	} {
		t.Run(tt.name, func(t *testing.T) {
			images := readVersion(t, tt.folder)
			tt.breaks(images[0])
			want := "../../testdata/versions/" + tt.folder + "/" + tt.want
			if diff := cmp.Diff(want, buildFault(t, images...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A signature that names another descriptor than the code has.
func TestDescriptorSignatureFaults(t *testing.T) {
	for text, want := range map[string]string{
		"x_desc: tensordesc<fp16[32, 32]>, out_desc: tensordesc<fp16[32, 64]>, n: i32": "argument 5 is !tt.tensordesc<tensor<32x32xf16>>, but out_desc is tensordesc<fp16[32, 64]> in",
		"x_desc: tensordesc<fp16[32, 32]>, out_desc: tensordesc<fp16[32]>, n: i32":     "tensordesc_meta of out_desc: block_size [32 32] has 2 dimensions, but the descriptor 1",
		"x_desc: tensordesc<fp16[32, 32]>, out_desc: *fp16, n: i32":                    "tensordesc_meta has 2 entries, but --signature",
		"x_desc: tensordesc<fp16[32, 32]>, out_desc: tensordesc<bf16[32, 32]>, n: i32": "argument 5 is !tt.tensordesc<tensor<32x32xf16>>, but out_desc is tensordesc<bf16[32, 32]> in",
	} {
		s, err := ParseSignature(text)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = Build(readVersion(t, "3.4/host.sm90"), Options{Signatures: map[string]Signature{"host": s}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// What is passed beside a map of 4-bit elements is doubled in 3.5 and 3.6 only.
func TestDescriptorFP4(t *testing.T) {
	for minor := 4; minor < 10; minor++ {
		images := readVersion(t, fmt.Sprintf("3.%d/host.sm90", minor))
		c := &checker{Image: images[0]}
		p := param{Param: Param{Name: "x", Type: Type{Elem: "i8", Rank: 2}}}
		got := c.tensorMap(p, artefact.Descriptor{Swizzle: 3, ElemSize: 1, ElemType: 14, Block: []int{128, 128}, FP4Padded: true})
		want := Descriptor{Box: []int{128, 128}, DataType: 14, Swizzle: 3, FP4Padded: true, DoubledArg: minor == 5 || minor == 6}
		if diff := cmp.Diff(want, got); diff != "" || !c.ok() {
			t.Errorf("3.%d: %v (-want +got):\n%s", minor, c.faults.Err(), diff)
		}
	}
}

// TTIR tells the signs of a descriptor's elements, and no others.
func TestDescriptorMLIR(t *testing.T) {
	for mlir, want := range map[string]string{
		"!tt.tensordesc<tensor<64x32xui8>>":           "tensordesc<u8[64, 32]>",
		"!tt.tensordesc<64x32xsi64>":                  "tensordesc<i64[64, 32]>",
		"!tt.tensordesc<tensor<128xf8E5M2>>":          "tensordesc<fp8e5[128]>",
		"!tt.tensordesc<1x2x3x4x5xbf16, #shared>":     "tensordesc<bf16[1, 2, 3, 4, 5]>",
		"!tt.tensordesc<tensor<64xf32>, #shared>":     "tensordesc<fp32[64]>",
		"!tt.tensordesc<tensor<64xsi3>>":              `TTIR type "!tt.tensordesc<tensor<64xsi3>>": unknown type "i3"; Triton's are `,
		"!tt.tensordesc<tensor<f32>>":                 `unknown TTIR type "!tt.tensordesc<tensor<f32>>"`,
		"!tt.tensordesc<64xf32>>":                     `unknown TTIR type "!tt.tensordesc<64xf32>>"`,
		"!tt.tensordesc<1x1x1x1x1x1xf32>":             `type "!tt.tensordesc<1x1x1x1x1x1xf32>" has 6 dimensions; a tensor descriptor has 1 to 5`,
		"!tt.tensordesc<0xf32>":                       `type "!tt.tensordesc<0xf32>": "0" is not the extent of a block`,
		"!tt.tensordesc<99999999999999999999999xf32>": `type "!tt.tensordesc<99999999999999999999999xf32>": "99999999999999999999999" is not the extent of a block`,
	} {
		got, err := parseMLIR(mlir)
		text := got.String()
		if err != nil {
			text = err.Error()
		}
		if !strings.HasPrefix(text, want) || err == nil && text != want {
			t.Errorf("%s is %s, want %s", mlir, text, want)
		}
	}
	unsigned, _ := parseMLIR("!tt.tensordesc<8xui8>")
	if unsigned.spelled(Type{Elem: "i8", Rank: 1, Block: "8"}) {
		t.Error("signs are not compared")
	}
}
