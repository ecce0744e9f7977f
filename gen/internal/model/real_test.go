package model

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

const aot = "../../testdata/triton-3.6.0/aot/"

// read reads folders of what Triton 3.6.0 compiled from kernels.py.
func read(t *testing.T, folders ...string) []*artefact.Image {
	t.Helper()
	var paths []string
	for _, f := range folders {
		paths = append(paths, aot+f)
	}
	images, err := artefact.Read(paths)
	if err != nil {
		t.Fatal(err)
	}
	return images
}

// list is parameters in words.
func list(params []Param) string {
	var s []string
	for _, p := range params {
		s = append(s, p.Name+" "+p.Type.String())
	}
	return strings.Join(s, ", ")
}

func TestReal(t *testing.T) {
	div := func(params ...int) []Guard {
		var gs []Guard
		for _, p := range params {
			gs = append(gs, Guard{p, DivisibleBy16})
		}
		return gs
	}
	args := func(n int) []int {
		var all []int
		for i := range n {
			all = append(all, i)
		}
		return all
	}
	cubin := func(folder, symbol string, target Target, n, warps, shared int) Image {
		return Image{
			Target: target, Kind: Cubin, Symbol: symbol, Args: args(n), Hidden: 2, NumWarps: warps, Cluster: [3]int{1, 1, 1},
			Shared: shared, Origin: aot + folder + "/" + symbol,
		}
	}
	const addParams = "x_ptr *fp32, y_ptr *fp32, out_ptr *fp32, n_elements i32"
	tests := []struct {
		name     string
		folders  []string
		params   string
		variants []Variant
		warnings int
	}{
		{"add", []string{"add.sm90", "add.sm75", "add.sm80", "add.sm86", "add.sm89", "add.sm100", "add.sm120", "add_nospec.sm90"}, addParams, []Variant{
			{Guards: div(0, 1, 2, 3), Images: []Image{
				cubin("add.sm75", "add_kernel", Target{75, ""}, 4, 4, 0),
				cubin("add.sm80", "add_kernel", Target{80, ""}, 4, 4, 0),
				cubin("add.sm86", "add_kernel", Target{86, ""}, 4, 4, 0),
				cubin("add.sm89", "add_kernel", Target{89, ""}, 4, 4, 0),
				cubin("add.sm90", "add_kernel", Target{90, "a"}, 4, 4, 0),
				cubin("add.sm100", "add_kernel", Target{100, "a"}, 4, 4, 0),
				cubin("add.sm120", "add_kernel", Target{120, "a"}, 4, 4, 0),
			}},
			{Images: []Image{cubin("add_nospec.sm90", "add_kernel", Target{90, "a"}, 4, 4, 0)}},
		}, 1},
		{"scalars", []string{"scalars.sm90"},
			"out_ptr *fp64, b i1, i8 i8, i16 i16, i32 i32, i64 i64, u8 i8, u16 i16, u32 i32, u64 i64, h fp16, bf bf16, f fp32, d fp64",
			[]Variant{{Images: []Image{cubin("scalars.sm90", "scalars_kernel", Target{90, "a"}, 14, 1, 0)}}}, 0},
		{"tuple", []string{"tuple.sm90"}, "ptrs.0 *fp32, ptrs.1 *fp32, shape.0 i32, shape.1 i32, n i32",
			[]Variant{{Images: []Image{cubin("tuple.sm90", "tuple_kernel", Target{90, "a"}, 5, 4, 0)}}}, 0},
		{"scratch", []string{"tma_scratch.sm90"}, "x_ptr *fp16, out_ptr *fp16, M i32, N i32",
			[]Variant{{Guards: div(0, 1, 2, 3), Images: []Image{func() Image {
				im := cubin("tma_scratch.sm90", "tma_scratch_kernel", Target{90, "a"}, 4, 4, 8200)
				im.GlobalScratch = Scratch{256, 128}
				return im
			}()}}}, 0},
		{"descriptors", []string{"tma_host.sm80", "tma_host.sm90"},
			"x_desc tensordesc<fp16[64, 64]>, out_desc tensordesc<fp16[64, 64]>", func() []Variant {
				apart, maps := cubin("tma_host.sm80", "tma_host_kernel", Target{80, ""}, 2, 4, 0), cubin("tma_host.sm90", "tma_host_kernel", Target{90, "a"}, 2, 4, 8200)
				apart.Descriptors = []Descriptor{{Flags: 1}, {Flags: 1}}
				d := Descriptor{Box: []int{64, 64}, DataType: 6, Swizzle: 3}
				maps.Descriptors = []Descriptor{d, d}
				return []Variant{{Images: []Image{apart, maps}}}
			}(), 1},
		{"pdl without a wait", []string{"opt_none.sm90"}, "x_ptr *bf16, out_ptr *bf16, n i32, scale fp32",
			[]Variant{{Guards: div(0, 1), Images: []Image{cubin("opt_none.sm90", "opt_kernel", Target{90, "a"}, 4, 4, 0)}}}, 1},
		{"cluster", []string{"matmul_cta2.sm90"},
			"a_ptr *fp16, b_ptr *fp16, c_ptr *fp16, M i32, N i32, K i32, stride_am i32, stride_bk i32, stride_cm i32",
			[]Variant{{Guards: div(0, 1, 2, 3, 4, 5, 6, 7, 8), Images: []Image{func() Image {
				im := cubin("matmul_cta2.sm90", "matmul_kernel", Target{90, "a"}, 9, 8, 98304)
				im.Cluster[0] = 2
				return im
			}()}}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kernels, warnings := build(t, read(t, tt.folders...)...)
			if len(kernels) != 1 {
				t.Fatalf("%d kernels, want 1", len(kernels))
			}
			k := kernels[0]
			if got := list(k.Params); got != tt.params || k.Triton != "3.6.0" {
				t.Errorf("parameters %q of Triton %q, want %q", got, k.Triton, tt.params)
			}
			if diff := cmp.Diff(tt.variants, k.Variants, cmpopts.IgnoreFields(Image{}, "Code")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, v := range k.Variants {
				for _, im := range v.Images {
					if code, err := os.ReadFile(im.Origin + ".cubin"); err != nil || !bytes.Equal(code, im.Code) {
						t.Errorf("%s: the code is not the cubin's (%v)", im.Origin, err)
					}
				}
			}
			if len(warnings) != tt.warnings {
				t.Errorf("warnings %q, want %d", warnings, tt.warnings)
			}
		})
	}
}

// The files of two compilations, mixed in one folder.
func TestRealMixed(t *testing.T) {
	swap := map[string]func(to, from *artefact.Image){
		"ttir":   func(to, from *artefact.Image) { to.TTIR = from.TTIR },
		"source": func(to, from *artefact.Image) { to.Source = from.Source },
		"ptx":    func(to, from *artefact.Image) { to.PTX = from.PTX },
		"cubin":  func(to, from *artefact.Image) { to.Cubin = from.Cubin },
		"json":   func(to, from *artefact.Image) { to.Meta = from.Meta },
	}
	images := read(t, "add.sm90", "matmul.sm80", "matmul_cta2.sm90", "scalars.sm90", "opt_none.sm90", "tuple.sm90", "tma_scratch.sm90")
	for _, a := range images {
		for _, b := range images {
			for file, change := range swap {
				mixed := *a
				change(&mixed, b)
				// Two builds of one kernel with one signature have equal TTIR here.
				alike := a.Meta.Name == b.Meta.Name && (file == "ttir" || file == "source")
				if _, _, err := Build([]*artefact.Image{&mixed}, Options{}); err == nil && a != b && !alike {
					t.Errorf("%s with the %s of %s is accepted", a.Path, file, b.Path)
				}
			}
		}
	}
}
