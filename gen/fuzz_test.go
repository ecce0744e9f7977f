package gen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fuzzExtensions are those of the files that make an image.
var fuzzExtensions = [7]string{".json", ".ttir", ".source", ".ptx", ".cubin", ".kerngen.json", ".launch_metadata"}

// FuzzGenerate takes whole images through the generator, their files changed:
// what comes out is written, and no more to do then; or it is refused.
func FuzzGenerate(f *testing.F) {
	addSeed := func(dir string) {
		found, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
		if err != nil || len(found) != 1 {
			f.Fatalf("%s: %v, %v", dir, found, err)
		}
		stem := strings.TrimSuffix(found[0], ".ptx")
		var data [7][]byte
		for i, ext := range fuzzExtensions {
			if data[i], err = os.ReadFile(stem + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
				f.Fatal(err)
			}
		}
		f.Add("", "", data[0], data[1], data[2], data[3], data[4], data[5], data[6])
	}
	for _, name := range []string{"add.sm80", "add.sm90", "scalars.sm90", "tuple.sm90", "opt_none.sm90", "matmul_cta2.sm90"} {
		addSeed(filepath.Join(aot, name))
	}
	for _, name := range []string{"vec/add.fp32.x_ptr-T-16.y_ptr-T-16.out_ptr-T-16.sm90", "cooperative/normalize.sm100"} {
		addSeed(filepath.Join(ownArtefacts, name))
	}
	ptx, err := os.ReadFile(filepath.Join(aot, "add.sm80/add_kernel.ptx"))
	if err != nil {
		f.Fatal(err)
	}
	none := []byte{}
	f.Add("add_kernel", "x_ptr: *fp32:16, y_ptr: *fp32:16, out_ptr: *fp32:16, n_elements: i32", none, none, none,
		slices.Concat(ptx, []byte("// meta:name=add_kernel\n// meta:num_warps=4\n")), none, none, none)

	f.Fuzz(func(t *testing.T, kernel, signature string, json, ttir, source, ptx, cubin, sidecar, launch []byte) {
		dir := t.TempDir()
		for i, content := range [][]byte{json, ttir, source, ptx, cubin, sidecar, launch} {
			if len(content) > 0 {
				writeFile(t, filepath.Join(dir, "in", "k"+fuzzExtensions[i]), string(content))
			}
		}
		c := Config{Package: "p", Dir: filepath.Join(dir, "out"), Paths: []string{filepath.Join(dir, "in")}}
		if signature != "" {
			c.Signatures = map[string]string{kernel: signature}
		}
		result, err := Generate(c)
		if err != nil {
			if !IsUserError(err) || len(result.Files) > 0 {
				t.Fatalf("%d files, %v", len(result.Files), err)
			}
			return
		}
		again, err := Generate(c)
		if diff := cmp.Diff(result, again); diff != "" || err != nil {
			t.Fatalf("another time: %v\n%s", err, diff)
		}
		if err := Write(c.Dir, result.Files); err != nil {
			t.Fatal(err)
		}
		if diff, err := Check(c.Dir, result.Files); diff != "" || err != nil {
			t.Fatalf("something left to do: %v\n%s", err, diff)
		}
		if _, err := Inspect([]string{c.Dir}); err != nil {
			t.Fatalf("inspect: %v", err)
		}
	})
}
