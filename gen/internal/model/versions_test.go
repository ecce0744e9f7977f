package model

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// versions are what Triton 3.0 to 3.9 compiled from one source.
const versions = "../../testdata/versions"

// eachVersion calls f with each folder of one kernel, the minor release and the
// folder's name.
func eachVersion(t *testing.T, f func(t *testing.T, minor int, folder string, images []*artefact.Image)) {
	t.Helper()
	for minor := range 10 {
		release := fmt.Sprintf("3.%d", minor)
		entries, err := os.ReadDir(filepath.Join(versions, release))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() == "raw" {
				continue
			}
			t.Run(release+"/"+e.Name(), func(t *testing.T) {
				f(t, minor, e.Name(), readVersion(t, release+"/"+e.Name()))
			})
		}
	}
}

func readVersion(t *testing.T, folder string) []*artefact.Image {
	t.Helper()
	images, err := artefact.Read([]string{filepath.Join(versions, folder)})
	if err != nil {
		t.Fatal(err)
	}
	return images
}

// unnamed are folders without NAME.kerngen.json, whose arguments have names
// since 3.5.
const unnamed = "no file names the arguments of these images; Triton's do since 3.5"

// refusedVersions are folders that cannot be launched, and why.
var refusedVersions = map[string]string{
	"add.consan.sm90": `is instrumented ("consan"), which can change its parameters`,
	"add.gsan.sm90":   `is instrumented ("gsan"), which can change its parameters`,
	"tma.sm90":        "parameter %arg0 of tma is a tensor map that no file tells how to encode",
}

func TestVersions(t *testing.T) {
	const add = "x_ptr *fp32:16, y_ptr *fp32:16, out_ptr *fp32:16, n i32"
	const tiles = "x_ptr *fp16:16, out_ptr *fp16:16, n_rows i32:16, n_cols i32:16"
	params := map[string]string{
		"add": add, "descriptor": tiles, "descriptor_experimental": tiles,
		"scalars": "out_ptr *fp64:16, b i1, i8 i8, i16 i16, i32 i32, i64 i64, u8 u8, u16 u16, u32 u32, u64 u64, h fp16, bf bf16, f fp32, d fp64",
		"rows":    "x_ptr *kfp32:16, bias_ptr *fp32:null, out_ptr *fp32:16, row_stride i64:16, col_stride i32:1, n u32",
		"dot":     "a_ptr *fp16:16, b_ptr *fp16:16, out_ptr *fp32:16",
		"tuples":  "ptrs.0 *fp32:16, ptrs.1 *fp32, shape.rows i32, shape.cols i64, n i32",
		"pdl":     "x_ptr *fp32:16, out_ptr *fp32:16, n i32",
		"scale":   "x_ptr *fp32, n i32",
		"fp8":     "e4_ptr *fp8e4nv:16, e5_ptr *fp8e5:16, out_ptr *fp32:16",
		"calls":   "out_ptr *fp32, x fp32",
		"wide":    "out_ptr *i32",
		"host":    "x_desc tensordesc<fp16[32, 32]>, out_desc tensordesc<fp16[32, 32]>, n i32",
	}
	for i := range 72 {
		params["wide"] += fmt.Sprintf(", a%02d i32", i)
	}
	eachVersion(t, func(t *testing.T, minor int, folder string, images []*artefact.Image) {
		refusal := refusedVersions[folder]
		undescribed := strings.Contains(folder, ".raw.") || strings.HasPrefix(folder, "host.")
		if undescribed && minor < 5 {
			refusal = unnamed
		}
		if refusal != "" {
			if got := buildFault(t, images...); !strings.Contains(got, refusal) {
				t.Errorf("%s\nwant %s", got, refusal)
			}
			return
		}
		kernels, warnings := build(t, images...)
		k := kernels[0]
		got := k.Variants[0].Images[0]

		name, target, _ := strings.Cut(folder, ".sm")
		name, kind, _ := strings.Cut(name, ".")
		want := Image{
			Kind: Cubin, Symbol: name, Hidden: hiddenIn(minor), NumWarps: 4, Cluster: [3]int{1, 1, 1},
			Shared: got.Shared, Args: got.Args, Code: got.Code, Origin: got.Origin,
		}
		fmt.Sscan(target, &want.Target.SM)
		if want.Target.SM >= 90 {
			want.Target.Suffix = "a"
		}
		wantParams, wantWarnings := params[name], 0
		switch name + "." + kind {
		case "add.cluster":
			want.Cluster = [3]int{2, 1, 1}
		case "dot.cluster":
			want.Cluster = [3]int{4, 1, 1}
			if minor < 6 {
				want.Cluster = [3]int{1, 4, 1}
			}
		case "add.cooperative":
			want.Cooperative = true
		case "add.pdl":
			wantWarnings = 1 // it does not wait
		case "pdl.":
			want.PDL = true
		case "descriptor.", "descriptor_experimental.":
			want.GlobalScratch = Scratch{256, 128}
		case "scale.":
			want.Symbol = "scale_by_two"
		case "scalars.":
			want.NumWarps = 1
		case "host.":
			want.Descriptors = hostDescriptors(minor, want.Target.SM)
		case "tuples.raw":
			if minor < 8 { // the fields' names are lost
				wantParams = strings.NewReplacer("rows", "0", "cols", "1").Replace(wantParams)
			}
		}
		if len(kernels) != 1 || k.Name != name || signature(k) != wantParams {
			t.Errorf("%d kernels, %s(%s)\nwant %s(%s)", len(kernels), k.Name, signature(k), name, wantParams)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if passed := strings.Count(wantParams, ", ") + 1 - strings.Count(wantParams, "[32, 32]") - strings.Count(wantParams, ":1,") - strings.Count(wantParams, ":null"); len(got.Args) != passed {
			t.Errorf("%d arguments are passed, want %d", len(got.Args), passed)
		}
		if (got.Shared > 0) != (name == "dot" || strings.HasPrefix(name, "descriptor") || folder == "host.sm90") {
			t.Errorf("%d bytes of shared memory", got.Shared)
		}
		if len(warnings) != wantWarnings {
			t.Errorf("warnings: %q", warnings)
		}
	})
}

// hostDescriptors are those of the kernel host.
func hostDescriptors(minor, sm int) []Descriptor {
	d := Descriptor{Box: []int{32, 32}, DataType: 6, Swizzle: 2}
	if sm < 90 {
		d = Descriptor{Flags: 1}
		switch {
		case minor < 5:
			d.Flags = 0
		case minor >= 7:
			d.Flags = 2
		}
	}
	return []Descriptor{d, d}
}

// hiddenIn is how many scratch pointers Triton 3.minor appends.
func hiddenIn(minor int) int {
	switch {
	case minor < 3:
		return 0
	case minor < 5:
		return 1
	}
	return 2
}

// signature is a kernel's parameters with the guards of its only variant.
func signature(k Kernel) string {
	guards := map[int]string{}
	for _, g := range k.Variants[0].Guards {
		guards[g.Param] = map[GuardKind]string{DivisibleBy16: ":16", EqualTo1: ":1", Null: ":null"}[g.Is]
	}
	var s []string
	for i, p := range k.Params {
		s = append(s, p.Name+" "+p.Type.String()+guards[i])
	}
	return strings.Join(s, ", ")
}

// Parameters that no table knows are noticed without a word about them in the
// metadata.
func TestVersionsInstrumentedUnseen(t *testing.T) {
	images := readVersion(t, "3.8/add.gsan.sm90")
	images[0].Meta.Instrumentation = ""
	const want = "takes 7 parameters, but add.ttir has 4 arguments, after which come 0 to 2 scratch pointers"
	if got := buildFault(t, images...); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A descriptor is noticed in whatever file is left to tell of it.
func TestVersionsDescriptorParts(t *testing.T) {
	for minor := 5; minor < 10; minor++ {
		images := readVersion(t, fmt.Sprintf("3.%d/host.sm80", minor))
		images[0].Source = nil
		want := "argument x_desc is a part of a host tensor descriptor, which only host.source tells"
		if minor < 8 {
			want = "a tuple or a host tensor descriptor, which only host.source tells"
		}
		if got := buildFault(t, images...); !strings.Contains(got, want) {
			t.Errorf("3.%d: %s\nwant %s", minor, got, want)
		}
	}
}

// The files of two releases, mixed in one folder.
func TestVersionsMixed(t *testing.T) {
	swap := map[string]func(to, from *artefact.Image){
		"ptx":   func(to, from *artefact.Image) { to.PTX = from.PTX },
		"cubin": func(to, from *artefact.Image) { to.Cubin = from.Cubin },
		"json":  func(to, from *artefact.Image) { to.Meta = from.Meta },
	}
	var images []*artefact.Image
	for minor := range 10 {
		images = append(images, readVersion(t, fmt.Sprintf("3.%d/add.sm90", minor))...)
	}
	for i, a := range images {
		for j, b := range images {
			for file, change := range swap {
				mixed := *a
				change(&mixed, b)
				_, _, err := Build([]*artefact.Image{&mixed}, Options{})
				// The number of scratch pointers tells; metadata states its release since 3.3.
				differ := hiddenIn(i) != hiddenIn(j)
				if file == "json" {
					differ = i != j && j >= 3
				}
				if differ && err == nil {
					t.Errorf("3.%d with the %s of 3.%d is accepted", i, file, j)
				}
			}
		}
	}
}

// Triton's own folders: arguments have names since 3.5, a dump has no metadata.
func TestVersionsRaw(t *testing.T) {
	read := func(folder string) ([]*artefact.Image, error) {
		return artefact.Read([]string{filepath.Join(versions, folder)})
	}
	old, err := read("3.2/raw/cache")
	if err != nil {
		t.Fatal(err)
	}
	if got := buildFault(t, old...); strings.Count(got, "no file names the arguments") != 2 || strings.Count(got, "\n  ") != len(old) || len(old) != 3 {
		t.Errorf("%d images of 3.2: %s", len(old), got)
	}
	images, err := read("3.9/raw/cache")
	if err != nil {
		t.Fatal(err)
	}
	kernels, _ := build(t, images...)
	var got []string
	for _, k := range kernels {
		got = append(got, fmt.Sprintf("%s: %s: %d", k.Name, signature(k), len(k.Variants)))
	}
	want := []string{
		"add: x_ptr *fp32:16, y_ptr *fp32:16, out_ptr *fp32:16, n i32:16: 2",
		"scale_by_two: x_ptr *fp16, n i32: 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, folder := range []string{"3.2/raw/dump", "3.9/raw/dump"} {
		if _, err := read(folder); err == nil || !strings.Contains(err.Error(), "add.json is missing beside it") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
