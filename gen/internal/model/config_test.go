package model

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// configured is an image of scale in a configuration, with a declared grid.
func configured(folder string, index int, block int64, deflt bool) *artefact.Image {
	im := describedScale(folder)
	im.Sidecar.Config = &artefact.SidecarConfig{Index: index, Name: fmt.Sprintf("BLOCK=%d", block), Default: deflt}
	im.Sidecar.Params[3].Constant = &artefact.Constant{Int: new(block)}
	im.Sidecar.Grid = []string{"cdiv(n, BLOCK * 2)"}
	im.Sidecar.Key = []string{"n"}
	return im
}

// inWords is what tells configurations and variants apart: a line each.
func inWords(k Kernel) []string {
	var lines []string
	for _, c := range k.Configs {
		lines = append(lines, fmt.Sprintf("config %s: %s", c.Name, c.Grid))
	}
	for _, v := range k.Variants {
		lines = append(lines, fmt.Sprintf("%d: %v %s", v.Config, v.Guards, v.Images[0].Origin))
	}
	return lines
}

func TestConfigurations(t *testing.T) {
	// Each configuration has two variants; the last is the default.
	var images []*artefact.Image
	for i, block := range []int64{64, 128, 256} {
		images = append(images, configured(fmt.Sprintf("c%d", i), i, block, i == 2), promise(configured(fmt.Sprintf("d%d", i), i, block, i == 2), 1, 16))
	}
	kernels, warnings := build(t, images...)
	want := []string{
		"config BLOCK=256: [cdiv(n, 512)]", "config BLOCK=64: [cdiv(n, 128)]", "config BLOCK=128: [cdiv(n, 256)]",
		"0: [{0 1} {1 1}] d2/scale", "0: [{0 1}] c2/scale",
		"1: [{0 1} {1 1}] d0/scale", "1: [{0 1}] c0/scale",
		"2: [{0 1} {1 1}] d1/scale", "2: [{0 1}] c1/scale",
	}
	k := kernels[0]
	if diff := cmp.Diff(want, inWords(k)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"cdiv(n, BLOCK * 2)"}, {"n"}}, [][]string{k.Grid, k.Key}); diff != "" {
		t.Errorf("grid and key (-want +got):\n%s", diff)
	}
	if len(k.Constants) != 0 || len(warnings) != 0 || len(kernels) != 1 {
		t.Errorf("%d kernels, constants %v, warnings %v", len(kernels), k.Constants, warnings)
	}
}

// A grid that is declared makes one configuration; several without a grid must
// not differ in constants.
func TestGridAndConfigurationAlone(t *testing.T) {
	grid := describedScale("a")
	grid.Sidecar.Grid = []string{"n", "BLOCK", "BLOCK / 3"}
	kernels, _ := build(t, grid)
	if diff := cmp.Diff([]string{"config : [n 1024 341]", "0: [{0 1}] a/scale"}, inWords(kernels[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	few, many := configured("a", 0, 64, false), configured("b", 1, 64, false)
	many.Sidecar.Config.Name = "num_warps=8"
	few.Sidecar.Grid, many.Sidecar.Grid = nil, nil
	kernels, _ = build(t, few, many)
	if diff := cmp.Diff([]string{"config BLOCK=64: []", "config num_warps=8: []", "0: [{0 1}] a/scale", "1: [{0 1}] b/scale"}, inWords(kernels[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of variants with as many guards, the description's order decides; one that is
// narrower by nature comes first all the same.
func TestDispatchOrder(t *testing.T) {
	ordered := func(folder string, order int, change func(*artefact.Image) *artefact.Image) *artefact.Image {
		im := change(describedScale(folder))
		im.Sidecar.Order = order
		return im
	}
	wide := func(im *artefact.Image) *artefact.Image { // n has 64 bits
		im.Sidecar.Params[1].Type = "u64"
		im.TTIR.Args[1].Type, im.Source.Args[1].Type = "i64", "i64"
		im.PTX.Params, im.Cubin.Params = nil, nil
		for _, a := range im.TTIR.Args {
			take(im, a.Type)
		}
		take(im, "!tt.ptr<i8>")
		take(im, "!tt.ptr<i8>")
		return im
	}
	narrow := func(im *artefact.Image) *artefact.Image { return im }
	sixteen := func(im *artefact.Image) *artefact.Image { return promise(wide(im), 1, 16) }
	one := func(im *artefact.Image) *artefact.Image {
		im.Sidecar.Params[1].Type = "u64"
		return fold(im, 1, "one")
	}
	for _, tt := range []struct {
		orders [3]int
		want   []string
	}{
		{[3]int{0, 0, 0}, []string{"one/scale", "sixteen/scale", "narrow/scale"}},
		{[3]int{0, 1, 2}, []string{"one/scale", "narrow/scale", "sixteen/scale"}},
		{[3]int{2, 1, 0}, []string{"one/scale", "sixteen/scale", "narrow/scale"}},
	} {
		kernels, _ := build(t, ordered("narrow", tt.orders[0], narrow), ordered("sixteen", tt.orders[1], sixteen), ordered("one", tt.orders[2], one))
		var got []string
		for _, v := range kernels[0].Variants {
			got = append(got, v.Images[0].Origin)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("orders %v (-want +got):\n%s", tt.orders, diff)
		}
	}
}

func TestConfigurationFaults(t *testing.T) {
	const source = "; recompile both from the same source, or give one of them"
	change := func(im *artefact.Image, f func(*artefact.Sidecar)) *artefact.Image {
		f(im.Sidecar)
		return im
	}
	one := func(f func(*artefact.Sidecar)) []*artefact.Image {
		return []*artefact.Image{change(describedScale("a"), f)}
	}
	gridOf := func(text string) []*artefact.Image {
		return one(func(s *artefact.Sidecar) { s.Grid = []string{"1", text} })
	}
	second := func(index int, block int64, deflt bool, f func(*artefact.Sidecar)) []*artefact.Image {
		return []*artefact.Image{configured("a", 0, 64, true), change(configured("b", index, block, deflt), f)}
	}
	nothing := func(*artefact.Sidecar) {}
	none := func(im *artefact.Image) *artefact.Image {
		im.Sidecar.Grid = nil
		return im
	}
	for _, tt := range []struct {
		name   string
		images []*artefact.Image
		want   string
	}{
		{"grid of no expression", gridOf("n +"), `a/scale.kerngen.json: grid[1] "n +": the expression ends where a value is missing`},
		{"grid of nothing", gridOf("M"), `a/scale.kerngen.json: grid[1] "M" names M, which is no parameter`},
		{"grid of a pointer", gridOf("x"), `a/scale.kerngen.json: grid[1] "x" names x, which is *fp32, no integer`},
		{"grid of a float", gridOf("n * f"), `a/scale.kerngen.json: grid[1] "n * f" names f, which is fp32, no integer`},
		{"grid of a word", one(func(s *artefact.Sidecar) {
			s.Grid = []string{"BLOCK"}
			s.Params[3].Constant = &artefact.Constant{String: new("big")}
		}), `a/scale.kerngen.json: grid[0] "BLOCK" names BLOCK, which is "big", no integer`},
		{"division by a constant 0", gridOf("cdiv(n, BLOCK - 1024)"),
			`a/scale.kerngen.json: scale: grid "cdiv(n, BLOCK - 1024)": cdiv(n, BLOCK - 1024) divides by 0; correct the grid or the constants`},
		{"another grid", second(1, 128, false, func(s *artefact.Sidecar) { s.Grid = []string{"n"} }), "b/scale: scale: declares another grid than a/scale" + source},
		{"no grid", second(1, 128, false, func(s *artefact.Sidecar) { s.Grid = nil }), "b/scale: scale: declares another grid than a/scale" + source},
		{"another key", second(1, 128, false, func(s *artefact.Sidecar) { s.Key = nil }), "b/scale: scale: has another key than a/scale" + source},
		{"no configuration", second(1, 128, false, func(s *artefact.Sidecar) { s.Config = nil }),
			"b/scale: scale: either it or a/scale is one of several configurations, but not both" + source},
		{"two names", second(0, 128, true, nothing),
			`b/scale.kerngen.json: scale: configuration 0 is "BLOCK=128", the default, but 0 is "BLOCK=64", the default in a/scale` + source},
		{"two places", second(1, 64, true, nothing),
			`b/scale.kerngen.json: scale: configuration 1 is "BLOCK=64", the default, but 0 is "BLOCK=64", the default in a/scale` + source},
		{"default in part", second(0, 64, false, nothing),
			`b/scale.kerngen.json: scale: configuration 0 is "BLOCK=64", but 0 is "BLOCK=64", the default in a/scale` + source},
		{"two defaults", second(1, 128, true, nothing), "b/scale.kerngen.json: scale: configuration 1 is the default, but so is 0 in a/scale" + source},
		{"two grids of one configuration", []*artefact.Image{configured("a", 0, 64, true),
			promise(change(configured("b", 0, 64, true), func(s *artefact.Sidecar) { s.Params[3].Constant = &artefact.Constant{Int: new(int64(32))} }), 1, 16)},
			"b/scale.kerngen.json: scale: the grid names BLOCK, which is 32, but 64 in a/scale; give configurations of their own to those that differ"},
		{"one grid for all", []*artefact.Image{none(configured("a", 0, 64, true)), none(configured("b", 1, 128, false))},
			`a/scale.kerngen.json: scale: its configurations differ in BLOCK, so each may need another grid; declare its grid, such as ["cdiv(n, BLOCK)"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, buildFault(t, tt.images...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
