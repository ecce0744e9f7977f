package artefact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMetaArtefacts(t *testing.T) {
	none := Scratch{0, 1}
	for _, test := range []struct {
		file string
		want Meta
	}{
		{"triton-3.6.0/add.sm80/add_kernel.json", Meta{Name: "add_kernel", Backend: "cuda", Arch: 80, WarpSize: 32, TritonVersion: "3.6.0",
			NumWarps: 4, NumCTAs: 1, ClusterDims: [3]int{1, 1, 1}, GlobalScratch: none, ProfileScratch: none}},
		{"triton-3.6.0/matmul_cta2.sm90/matmul_kernel.json", Meta{Name: "matmul_kernel", Backend: "cuda", Arch: 90, WarpSize: 32, TritonVersion: "3.6.0",
			NumWarps: 8, NumCTAs: 2, ClusterDims: [3]int{2, 1, 1}, Shared: 98304, GlobalScratch: none, ProfileScratch: none}},
		{"triton-3.6.0/tma_host.sm90/tma_host_kernel.json", Meta{Name: "tma_host_kernel", Backend: "cuda", Arch: 90, WarpSize: 32, TritonVersion: "3.6.0",
			NumWarps: 4, NumCTAs: 1, ClusterDims: [3]int{1, 1, 1}, Shared: 8200, GlobalScratch: none, ProfileScratch: none,
			Descriptors: []Descriptor{
				{Swizzle: 3, ElemSize: 2, ElemType: 6, Block: []int{64, 64}},
				{Swizzle: 3, ElemSize: 2, ElemType: 6, Block: []int{64, 64}},
			}}},
		{"triton-3.6.0/tma_scratch.sm90/tma_scratch_kernel.json", Meta{Name: "tma_scratch_kernel", Backend: "cuda", Arch: 90, WarpSize: 32, TritonVersion: "3.6.0",
			NumWarps: 4, NumCTAs: 1, ClusterDims: [3]int{1, 1, 1}, Shared: 8200, GlobalScratch: Scratch{256, 128}, ProfileScratch: none}},
	} {
		got, err := parseMeta(test.file, file(t, test.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(&test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.file, diff)
		}
	}
}

// smallMeta is the least that a launch needs, with some keys set or, where the
// value is "", removed.
func smallMeta(t *testing.T, changes ...string) []byte {
	t.Helper()
	m := map[string]json.RawMessage{
		"name": json.RawMessage(`"k"`), "target": json.RawMessage(`{"backend": "cuda", "arch": 80, "warp_size": 32}`),
		"num_warps": json.RawMessage("4"), "num_ctas": json.RawMessage("1"), "shared": json.RawMessage("0"),
	}
	for i := 0; i < len(changes); i += 2 {
		if changes[i+1] == "" {
			delete(m, changes[i])
		} else {
			m[changes[i]] = json.RawMessage(changes[i+1])
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestMetaForms(t *testing.T) {
	base := Meta{Name: "k", Backend: "cuda", Arch: 80, WarpSize: 32, NumWarps: 4, NumCTAs: 1, ClusterDims: [3]int{1, 1, 1},
		GlobalScratch: Scratch{0, 1}, ProfileScratch: Scratch{0, 1}}
	with := func(change func(*Meta)) Meta {
		m := base
		change(&m)
		return m
	}
	for _, test := range []struct {
		name    string
		changes []string
		want    Meta
	}{
		{"the least", nil, base},
		{"unknown keys", []string{"clc", "true", "TRITON_X", `"on"`, "new", `{"a": [1, {}]}`}, base},
		{"nulls", []string{"global_scratch_size", "null", "global_scratch_align", "null", "tmem_size", "null", "maxnreg", "null",
			"ptx_options", "null", "tensordesc_meta", "null", "instrumentation_mode", "null", "cluster_dims", "null", "triton_version", "null"}, base},
		{"target in strings", []string{"target", `{"backend": "cuda", "arch": "90", "warp_size": "32"}`}, with(func(m *Meta) { m.Arch = 90 })},
		{"another backend", []string{"target", `{"backend": "hip", "arch": "gfx942", "warp_size": 64}`},
			with(func(m *Meta) { m.Backend, m.Arch, m.WarpSize = "hip", 0, 64 })},
		{"another backend's descriptors", []string{"target", `{"backend": "hip", "arch": "gfx1250", "warp_size": 32}`,
			"tensordesc_meta", `[{"block_size": [64, 64], "elem_bits": 16, "interval_padding_pairs": [[64, 4]]}]`},
			with(func(m *Meta) { m.Backend, m.Arch = "hip", 0 })},
		{"cluster", []string{"num_ctas", "4", "cluster_dims", "[2, 2, 1]"}, with(func(m *Meta) { m.NumCTAs, m.ClusterDims = 4, [3]int{2, 2, 1} })},
		{"implied cluster", []string{"num_ctas", "16"}, with(func(m *Meta) { m.NumCTAs, m.ClusterDims = 16, [3]int{16, 1, 1} })},
		{"all the rest", []string{"launch_pdl", "true", "launch_cooperative_grid", "true", "maxnreg", "128", "ptx_options", `"-O1"`,
			"instrumentation_mode", `"gsan"`, "tensordesc_meta",
			`[{"swizzle": 3, "elem_size": 1, "elem_type": 14, "block_size": [128, 128], "fp4_padded": true, "is_im2col": true}]`, "tmem_size", "512", "profile_scratch_size", "384",
			"profile_scratch_align", "128", "triton_version", `"3.8.0+git"`, "num_warps", "12"},
			with(func(m *Meta) {
				m.PDL, m.Cooperative, m.MaxRegisters, m.PTXOptions, m.Instrumentation = true, true, 128, "-O1", "gsan"
				m.Descriptors = []Descriptor{{3, 1, 14, []int{128, 128}, true, true}}
				m.TensorMemory, m.ProfileScratch, m.TritonVersion, m.NumWarps = 512, Scratch{384, 128}, "3.8.0+git", 12
			})},
		{"a fork's keys unused", []string{"launch_cluster", "false", "ctas_per_cga", "null"}, base},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseMeta("k.json", smallMeta(t, test.changes...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestMetaFaults(t *testing.T) {
	target := func(s string) string {
		return `{"name": "k", "num_warps": 4, "num_ctas": 1, "shared": 0, "target": ` + s + "}"
	}
	small := func(changes ...string) string { return string(smallMeta(t, changes...)) }
	for _, test := range []struct {
		name, text, want string
	}{
		{"empty", "", "k.json:1:1: not JSON: unexpected end of JSON input"},
		{"cut", `{"name": "k",`, "k.json:1:13: not JSON: unexpected end of JSON input"},
		{"no JSON", "{\n  name}", "k.json:2:3: not JSON: invalid character 'n'"},
		{"not UTF-8", "{\"a\": \"\xff\"}", "k.json: not JSON: it is not UTF-8"},
		{"array", "[1]", "k.json:1:1: not a JSON object"},
		{"null", "null", "k.json:1:1: not a JSON object"},
		{"more after it", "{}\n{}", "k.json:2:1: not JSON: invalid character '{' after top-level value"},
		{"key twice", "{\"a\": 1,\n \"a\": 2}", `k.json:2:5: key "a" is given twice`},
		{"key twice deeper", `{"a": [{"b": 1, "b": {}}]}`, `key "b" is given twice`},
		{"nesting", `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}", "more than 64 levels of nesting"},
		{"no metadata", `{"version": "1.0.0"}`, "k.json: key \"name\" is missing; the file must be the metadata that Triton's compiler writes\n" +
			"k.json: key \"num_ctas\" is missing; the file must be the metadata that Triton's compiler writes\n" +
			"k.json: key \"num_warps\" is missing; the file must be the metadata that Triton's compiler writes\n" +
			"k.json: key \"shared\" is missing; the file must be the metadata that Triton's compiler writes\n" +
			"k.json: key \"target\" is missing; the file must be the metadata that Triton's compiler writes"},
		{"no name", small("name", ""), `k.json: key "name" is missing`},
		{"null name", small("name", "null"), `k.json: key "name" is null`},
		{"empty name", small("name", `""`), `k.json: key "name": "" is empty`},
		{"odd name", small("name", `"a b"`), `k.json: key "name": "a b" is no symbol`},
		{"number for a name", small("name", "3"), `k.json: key "name": 3 is not a string`},
		{"no target", small("target", ""), `k.json: key "target" is missing`},
		{"odd target", target(`"cuda:90"`), `k.json: key "target": "cuda:90" is not an object`},
		{"no backend", target(`{"arch": 80, "warp_size": 32}`), `k.json: key "target.backend" is missing`},
		{"no architecture", target(`{"backend": "cuda", "warp_size": 32}`), `k.json: key "target.arch" is missing`},
		{"odd architecture", target(`{"backend": "cuda", "arch": "sm_80", "warp_size": 32}`), `k.json: key "target.arch": "sm_80" is not a number between 10 and 999`},
		{"absurd architecture", target(`{"backend": "cuda", "arch": 8, "warp_size": 32}`), `k.json: key "target.arch": 8 is not between 10 and 999`},
		{"no warp size", target(`{"backend": "cuda", "arch": 80}`), `k.json: key "target.warp_size" is missing`},
		{"odd warp size", target(`{"backend": "cuda", "arch": 80, "warp_size": [32]}`), `k.json: key "target.warp_size": [32] is not a whole number`},
		{"no warps", small("num_warps", "0"), `k.json: key "num_warps": 0 is not between 1 and 64`},
		{"many warps", small("num_warps", "65"), `k.json: key "num_warps": 65 is not between 1 and 64`},
		{"half a warp", small("num_warps", "4.5"), `k.json: key "num_warps": 4.5 is not a whole number`},
		{"warps in a string", small("num_warps", `"4"`), `k.json: key "num_warps": "4" is not a whole number`},
		{"more than 64 bits", small("num_warps", "99999999999999999999"), `key "num_warps": 99999999999999999999 is not a whole number`},
		{"no CTA", small("num_ctas", "0"), `k.json: key "num_ctas": 0 is not between 1 and 16`},
		{"many CTAs", small("num_ctas", "17"), `k.json: key "num_ctas": 17 is not between 1 and 16`},
		{"negative shared", small("shared", "-1"), `k.json: key "shared": -1 is not between 0 and 16777216`},
		{"absurd tensor memory", small("tmem_size", "5000"), `k.json: key "tmem_size": 5000 is not between 0 and 4096`},
		{"negative scratch", small("global_scratch_size", "-256"), `k.json: key "global_scratch_size": -256 is not between 0 and 2147483647`},
		{"scratch for nothing", small("profile_scratch_align", "0"), `k.json: key "profile_scratch_align": 0 is not between 1 and`},
		{"odd alignment", small("global_scratch_align", "96"), `k.json: key "global_scratch_align": 96 is not a power of two`},
		{"flag in a string", small("launch_pdl", `"true"`), `k.json: key "launch_pdl": "true" is neither true nor false`},
		{"odd registers", small("maxnreg", "-1"), `k.json: key "maxnreg": -1 is not between 0 and 65536`},
		{"odd descriptors", small("tensordesc_meta", "[1]"), `k.json: key "tensordesc_meta": [1] is not an array of objects`},
		{"empty descriptor", small("tensordesc_meta", "[{}]"), `k.json: key "tensordesc_meta[0].swizzle" is missing; the file must be the metadata that Triton's compiler writes`},
		{"odd swizzle", small("tensordesc_meta", `[{"swizzle": 4, "elem_size": 2, "elem_type": 6, "block_size": [1]}]`), `k.json: key "tensordesc_meta[0].swizzle": 4 is not between 0 and 3`},
		{"odd block", small("tensordesc_meta", `[{"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [1, 2, 3, 4, 5, 6]}]`), `k.json: key "tensordesc_meta[0].block_size": [1,2,3,4,5,6] is not an array of 1 to 5 whole numbers`},
		{"empty block", small("tensordesc_meta", `[{"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [0]}]`), `k.json: key "tensordesc_meta[0].block_size": [0] has an extent that is not between 1 and 1024`},
		{"null descriptor", small("tensordesc_meta", "[null]"), `k.json: key "tensordesc_meta": [null] is not an array of objects`},
		{"odd cluster", small("cluster_dims", "[1, 1]"), `k.json: key "cluster_dims": [1,1] is not an array of three whole numbers`},
		{"empty cluster", small("cluster_dims", "[1, 0, 1]"), `k.json: key "cluster_dims": [1,0,1] has a side that is not between 1 and 16`},
		{"another cluster", small("cluster_dims", "[2, 1, 1]"), `k.json: key "cluster_dims": [2,1,1] does not hold the 1 CTAs of num_ctas`},
		{"a fork's cluster", small("ctas_per_cga", "[2, 1, 1]"), `k.json: key "ctas_per_cga": clusters of this kind are not supported; compile the kernel with num_ctas instead`},
		{"long value", small("num_warps", `"`+strings.Repeat("x", 1000)+`"`), `"` + strings.Repeat("x", 79) + "… is not a whole number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := parseMeta("k.json", []byte(test.text))
			if err == nil {
				t.Fatalf("read as %+v", m)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "k.json:") {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestMetaCut(t *testing.T) {
	data := file(t, "triton-3.6.0/add.sm80/add_kernel.json")
	for n := range len(data) {
		if _, err := parseMeta("k.json", data[:n]); err == nil {
			t.Errorf("the first %d of %d bytes pass", n, len(data))
		}
	}
}

// A key given twice is found in large objects too.
func TestKeyTwiceAmongMany(t *testing.T) {
	for _, n := range []int{2, maxListed, maxListed + 1, 3 * maxListed} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d": {"k0": 1}, `, i)
		}
		for _, again := range []int{0, n / 2, n - 1} {
			err := checkJSON("k.json", fmt.Appendf(nil, `{%s"k%d": 1}`, b.String(), again))
			if want := fmt.Sprintf(`key "k%d" is given twice`, again); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d keys: %v, want %s", n, err, want)
			}
		}
		if err := checkJSON("k.json", []byte("{"+b.String()+`"other": 1}`)); err != nil {
			t.Errorf("%d keys: %v", n, err)
		}
	}
}
