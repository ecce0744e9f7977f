package artefact

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// versions are what Triton 3.0 to 3.9 compiled from one source.
const versions = "../../testdata/versions"

// recorded is what cuobjdump says of a cubin.
type recorded struct {
	Symbol    string   `json:"symbol"`
	Params    [][2]int `json:"params"` // offset and size, by ordinal
	ReqNTID   [3]int   `json:"reqntid"`
	MaxNTID   [3]int   `json:"maxntid"`
	Cluster   [3]int   `json:"cluster"`
	Registers int      `json:"registers"`
	Shared    int      `json:"shared"` // static, bytes
}

// TestVersionsCubins compares every cubin with what NVIDIA's own tool reads there.
func TestVersionsCubins(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(versions, "recorded.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]recorded
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	read := 0
	walkVersions(t, func(path string, data []byte) {
		if filepath.Ext(path) != ".cubin" {
			return
		}
		read++
		c, err := parseCubin(path, data)
		if err != nil {
			t.Error(err)
			return
		}
		got := recorded{c.Symbol, nil, c.ReqNTID, c.MaxNTID, c.Cluster, c.Registers, c.StaticShared}
		for _, p := range c.Params {
			got.Params = append(got.Params, [2]int{p.Offset, p.Size})
		}
		if diff := cmp.Diff(want[path], got); diff != "" {
			t.Errorf("%s: -recorded +read\n%s", path, diff)
		}
		if dir := strings.Split(filepath.Dir(path), ".sm"); len(dir) == 2 && dir[1] != strconv.Itoa(c.Arch) {
			t.Errorf("%s: architecture %d", path, c.Arch)
		}
	})
	if read != len(want) || read == 0 {
		t.Errorf("%d cubins, but %d recorded", read, len(want))
	}
}

// TestVersionsPTX compares the size of a CTA and of a cluster with the cubin's,
// whatever directive a release writes.
func TestVersionsPTX(t *testing.T) {
	walkVersions(t, func(path string, data []byte) {
		if filepath.Ext(path) != ".ptx" {
			return
		}
		p, err := parsePTX(path, data)
		if err != nil {
			t.Error(err)
			return
		}
		cubin := strings.TrimSuffix(path, ".ptx") + ".cubin"
		c, err := parseCubin(cubin, file(t, "../"+filepath.Join(versions, cubin)))
		if err != nil {
			t.Error(err)
			return
		}
		if p.ReqNTID != c.ReqNTID || p.MaxNTID != c.MaxNTID || p.Cluster != c.Cluster || len(p.Params) != len(c.Params) {
			t.Errorf("%s: CTAs of %v or up to %v, clusters of %v, %d parameters; in the cubin %v, %v, %v, %d", path,
				p.ReqNTID, p.MaxNTID, p.Cluster, len(p.Params), c.ReqNTID, c.MaxNTID, c.Cluster, len(c.Params))
		}
	})
}

// walkVersions calls f with each file below versions and its path there.
func walkVersions(t *testing.T, f func(path string, data []byte)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(versions), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(versions, path))
		if err == nil {
			f(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
