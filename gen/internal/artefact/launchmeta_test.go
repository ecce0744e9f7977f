package artefact

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

//go:embed testdata/launch_metadata/add.launch_metadata
var launchSample string

// launchText is a NAME.launch_metadata with keys replaced or added.
func launchText(changes ...string) string {
	text := launchSample
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			panic("nothing to change: " + changes[i])
		}
		text = strings.Replace(text, changes[i], changes[i+1], 1)
	}
	return text
}

func TestLaunchMeta(t *testing.T) {
	got, err := parseLaunchMeta("k.launch_metadata", []byte(launchText()))
	if err != nil {
		t.Fatal(err)
	}
	want := &LaunchMeta{
		Entry: "add", Args: []LaunchArg{{"x", "*kfp32", 0, 16}, {"n", "u32", 2, 0}}, NumWarps: 4, NumCTAs: 1, Shared: 16,
		Constants: map[int]Constant{1: {None: true}, 3: {Int: new(int64(1024))}, 4: {Float: new(0.5)}, 5: {Bool: new(true)}, 6: {String: new("relu")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ from, to, foreign string }{
		{`"launch_cluster": false`, `"launch_cluster": true`, "launch_cluster"},
		{`[0, 0, 0]`, `[2, 1, 1]`, "preferred_cluster_dims"},
		{`"auto_tma_recipes": []`, `"auto_tma_recipes": [{}]`, "auto_tma_recipes"},
	} {
		if got, err := parseLaunchMeta("k", []byte(launchText(tt.from, tt.to))); err != nil || got.Foreign != tt.foreign {
			t.Errorf("%s: %+v, %v", tt.to, got, err)
		}
	}
	if got, err := parseLaunchMeta("k", []byte(launchText(`"tensordesc_meta": []`, `"tensordesc_meta": [{}]`))); err != nil || !got.Descriptor {
		t.Errorf("descriptor: %+v, %v", got, err)
	}
}

func TestLaunchMetaFaults(t *testing.T) {
	for _, tt := range []struct{ from, to, want string }{
		{`"abi_version": 1`, `"abi_version": 2`, "k: abi_version 2 is unknown; this kerngen reads 1"},
		{`"entry_name": "add", `, ``, `k: key "entry_name" is missing`},
		{`"name": "n"`, `"name": "x"`, `k: key "args[1].name": "x" is given twice`},
		{`"name": "n"`, `"name": "2"`, `k: key "args[1].name": "2" is not the name of an argument`},
		{`"index": 2`, `"index": 0`, `k: key "args[1].index": 0 does not follow 0`},
		{`"index": 2`, `"index": 3`, "k: position 3 is both argument n and a constant"},
		{`"type": "u32", `, ``, `k: key "args[1].type" is missing`},
		{`"1": null`, `"(1, 0)": null`, `k: constants: "(1, 0)" is not the position of a parameter`},
		{`"1": null`, `"1": []`, "k: constants: the value of 1 is no constant"},
		{`"constants": {`, `"constants": 1, "x": {`, `k: key "constants": 1 is not an object`},
		{`"num_warps": 4`, `"num_warps": 0`, `k: key "num_warps": 0 is not between`},
	} {
		_, err := parseLaunchMeta("k", []byte(launchText(tt.from, tt.to)))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.to, err, tt.want)
		}
	}
}

// lone is a PTX file with comments after its code.
func lone(comments ...string) *PTX {
	return &PTX{Target: "sm_90a", Text: []byte(".version 8.7\n" + strings.Join(comments, "\n") + "\n")}
}

func TestPTXMeta(t *testing.T) {
	if m, found, err := ptxMeta("k.ptx", lone("// a comment", "// meta")); m != nil || found || err != nil {
		t.Errorf("no metadata: %+v, %v, %v", m, found, err)
	}
	got, found, err := ptxMeta("k.ptx", lone("// --- triton-metadata ---", "// meta:name=add", "// meta:num_warps=8", "// meta:global_scratch_size=256",
		"// meta:global_scratch_align=128", "// meta:of_a_later_version=x"))
	want := &Meta{
		InPTX: true, Name: "add", Backend: "cuda", Arch: 90, WarpSize: 32, NumWarps: 8, NumCTAs: 1, ClusterDims: [3]int{1, 1, 1},
		GlobalScratch: Scratch{256, 128}, ProfileScratch: Scratch{0, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
		t.Errorf("%v, %v (-want +got):\n%s", found, err, diff)
	}
	for _, tt := range []struct{ comment, want string }{
		{"// meta:num_warps", `k.ptx:4: "num_warps" is not KEY=VALUE`},
		{"// meta:name=b", `k.ptx:4: key "name" is given twice`},
		{"// meta:num_ctas=two", `k.ptx: key "num_ctas": two is not a whole number`},
		{"// meta:shared=-1", `k.ptx: key "shared": -1 is not between`},
	} {
		_, found, err := ptxMeta("k.ptx", lone("// meta:name=add", "// meta:num_warps=8", tt.comment))
		if !found || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.comment, err, tt.want)
		}
	}
}

func FuzzLaunchMeta(f *testing.F) {
	fuzz(f, parseLaunchMeta, func(t *testing.T, m *LaunchMeta) {
		last := -1
		for _, a := range m.Args {
			if a.Name == "" || a.Type == "" || a.Index <= last {
				t.Errorf("read as %+v", a)
			}
			last = a.Index
		}
	}, ".launch_metadata")
}

func FuzzPTXMeta(f *testing.F) {
	f.Add("// meta:name=add\n// meta:num_warps=8\n", "sm_90a")
	f.Fuzz(func(t *testing.T, text, target string) {
		if !ptxTarget.MatchString(target) {
			return // not what parsePTX lets through
		}
		m, found, err := ptxMeta("k.ptx", &PTX{Target: target, Text: []byte(text)})
		switch {
		case err != nil && (!found || !diag.IsUser(err)):
			t.Errorf("%v, %v", found, err)
		case err == nil && found && (m.Name == "" || m.NumWarps < 1 || !m.InPTX):
			t.Errorf("read as %+v", m)
		}
	})
}

// The keys that eachKey finds are those of encoding/json's tokens.
func FuzzEachKey(f *testing.F) {
	for _, seed := range []string{launchText(), `{"a\"": {"a": [{"b": "x,\\"}], "a": 1}, "é\u00e9": []}`, `[[],{}]`, `""`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) || !utf8.Valid(data) { // which checkJSON lets through
			return
		}
		var got []string
		deep := false
		err := eachKey(data, func(key []byte, offset int, again bool) error {
			if data[offset-1] != '"' {
				t.Errorf("key %q ends before offset %d, in %q", key, offset, data)
			}
			got = append(got, string(key))
			return nil
		}, func(int) error { deep = true; return nil })
		if err != nil || deep {
			return
		}
		if want := tokenKeys(data); !cmp.Equal(want, got) {
			t.Errorf("keys %q, want %q", got, want)
		}
	})
}

func tokenKeys(data []byte) []string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var keys []string
	var objects []bool
	wantKey := false
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return keys
		}
		switch d, isDelim := tok.(json.Delim); {
		case d == '{' || d == '[':
			objects = append(objects, d == '{')
		case isDelim:
			objects = objects[:len(objects)-1]
		case wantKey:
			keys = append(keys, tok.(string))
			wantKey = false
			continue
		}
		wantKey = len(objects) > 0 && objects[len(objects)-1]
	}
}
