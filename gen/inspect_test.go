package gen

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// bank is a parameter in a cubin's constant bank.
type bank struct{ Offset, Size int }

// readBank reads the parameters of the one kernel in a cubin: this test's own
// reading, which shares nothing with the product's.
func readBank(t *testing.T, file string) []bank {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[elf.EI_VERSION], data[20] = byte(elf.EV_CURRENT), byte(elf.EV_CURRENT) // some toolchains write another
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	ordinal := map[bank]int{}
	var params []bank
	for _, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".nv.info.") {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for len(data) >= 4 {
			format, attribute, n := data[0], data[1], int(binary.LittleEndian.Uint16(data[2:]))
			data = data[4:]
			if format != 4 { // the value is in the header itself
				continue
			}
			record := data[:n]
			data = data[n:]
			if attribute != 0x17 {
				continue
			}
			p := bank{int(binary.LittleEndian.Uint16(record[6:])), int(binary.LittleEndian.Uint32(record[8:]) >> 18)}
			ordinal[p] = int(binary.LittleEndian.Uint16(record[4:]))
			params = append(params, p)
		}
	}
	slices.SortFunc(params, func(a, b bank) int { return cmp.Compare(ordinal[a], ordinal[b]) })
	return params
}

// inspected is what this test reads of inspect's JSON.
type inspected struct {
	Schema  int
	Kernels []struct {
		Name, Symbol, Triton, Target, Path string
		Params                             []struct {
			Index     int
			Name      string
			Type      string
			Size      int
			ABI       []bank `json:"abi"`
			Divisible int    `json:"divisible_by"`
		}
		Hidden   []string
		NumWarps int `json:"num_warps"`
		NumCTAs  int `json:"num_ctas"`
		Cluster  [3]int
		Shared   int
		Images   []struct {
			Kind, Target, SHA256 string
			Bytes                int
		}
	}
}

func inspectJSON(t *testing.T, paths ...string) inspected {
	t.Helper()
	report, err := Inspect(paths)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := report.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var got inspected
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// Every artefact that the repository has reads, and inspect says of it what its
// cubin and its JSON say.
func TestInspectAgreesWithCubins(t *testing.T) {
	var want []string
	for _, root := range []string{"testdata", ownArtefacts} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if stem, ok := strings.CutSuffix(path, ".cubin"); ok && err == nil {
				if _, missing := os.Stat(stem + ".json"); missing == nil {
					want = append(want, filepath.ToSlash(stem))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(want) < 100 {
		t.Fatalf("only %d artefacts", len(want))
	}
	var paths, got []string
	for _, stem := range want {
		paths = append(paths, stem+".json")
	}
	for _, k := range inspectJSON(t, paths...).Kernels {
		got = append(got, k.Path)
		var params []bank
		for i, p := range k.Params {
			size := 0
			for _, slot := range p.ABI {
				size += slot.Size
			}
			if p.Index != i || p.Size != size {
				t.Errorf("%s: parameter %d: %+v", k.Path, i, p)
			}
			params = append(params, p.ABI...)
		}
		cubin := readBank(t, k.Path+".cubin")
		if n := len(cubin) - len(k.Hidden); n < 0 || !slices.Equal(params, cubin[:n]) {
			t.Errorf("%s: parameters %v and hidden %v, the cubin has %v", k.Path, params, k.Hidden, cubin)
		}
		for i, name := range k.Hidden {
			if want := []string{"global_scratch", "profile_scratch", "unknown"}[i]; name != want || cubin[len(cubin)-len(k.Hidden)+i].Size != 8 {
				t.Errorf("%s: hidden %q, want %q of 8 bytes", k.Path, name, want)
			}
		}
		var meta struct {
			Name     string
			Triton   string `json:"triton_version"`
			NumWarps int    `json:"num_warps"`
			NumCTAs  int    `json:"num_ctas"`
			Shared   int
			Target   struct{ Arch json.Number }
		}
		readJSON(t, k.Path+".json", &meta)
		if k.Symbol != meta.Name || k.Triton != meta.Triton || k.NumWarps != meta.NumWarps || k.NumCTAs != meta.NumCTAs || k.Shared != meta.Shared ||
			k.Target != "sm_"+meta.Target.Arch.String() || k.Cluster[0]*k.Cluster[1]*k.Cluster[2] != meta.NumCTAs {
			t.Errorf("%s: %+v, the JSON says %+v", k.Path, k, meta)
		}
		for _, im := range k.Images {
			code, err := os.ReadFile(k.Path + "." + im.Kind)
			if err != nil || im.Bytes != len(code) || im.SHA256 != fmt.Sprintf("%x", sha256.Sum256(code)) {
				t.Errorf("%s.%s: %+v (%v)", k.Path, im.Kind, im, err)
			}
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("artefacts (-want +got):\n%s", diff)
	}
}

func readJSON(t *testing.T, name string, to any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What a generated package says of its images is what the artefacts say.
func TestInspectPackage(t *testing.T) {
	for _, name := range append(slices.Sorted(maps.Keys(goldens)), "tuned") {
		fromArtefacts, fromPackage := inspectJSON(t, configOf(t, name).Paths...), inspectJSON(t, filepath.Join(golden, name))
		type facts struct {
			Target, SHA256 string
			Params         []bank
			Types          []string
			Hidden         int
			NumWarps       int
			Shared         int
			Cluster        [3]int
		}
		read := func(r inspected) map[string]facts {
			all := map[string]facts{}
			for _, k := range r.Kernels {
				f := facts{k.Images[0].Target, k.Images[0].SHA256, nil, nil, len(k.Hidden), k.NumWarps, k.Shared, k.Cluster}
				for _, p := range k.Params {
					f.Params = append(f.Params, p.ABI...)
					f.Types = append(f.Types, fmt.Sprint(p.Name, " ", strings.Replace(p.Type, "*k", "*", 1), " ", p.Divisible)) // the runtime has no use for const
				}
				all[f.SHA256] = f
			}
			return all
		}
		if diff := gocmp.Diff(read(fromArtefacts), read(fromPackage)); diff != "" {
			t.Errorf("%s (-artefacts +package):\n%s", name, diff)
		}
	}
}
