package artefact

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const samples = "testdata/triton-3.6.0"

// tree makes a folder with files, each a copy of one of testdata ("" is an empty
// file), and moves into it.
func tree(t *testing.T, copies map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, from := range copies {
		var data []byte
		if from != "" {
			data = file(t, from)
		}
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// add is the files of a kernel called k in a folder.
func add(folder string, exts ...string) map[string]string {
	copies := make(map[string]string)
	for _, ext := range exts {
		copies[path.Join(folder, "k"+ext)] = "triton-3.6.0/add.sm80/add_kernel" + ext
	}
	return copies
}

func merge(trees ...map[string]string) map[string]string {
	all := make(map[string]string)
	for _, t := range trees {
		for name, from := range t {
			all[name] = from
		}
	}
	return all
}

func pathsOf(images []*Image) []string {
	var paths []string
	for _, image := range images {
		paths = append(paths, image.Path)
	}
	return paths
}

func TestReadFolder(t *testing.T) {
	images, err := Read([]string{samples})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		samples + "/add.sm100/add_kernel", samples + "/add.sm120/add_kernel", samples + "/add.sm75/add_kernel",
		samples + "/add.sm80/add_kernel", samples + "/add.sm90/add_kernel",
		samples + "/cache/LUYITZES53RAK4UAXZGXBAP75YVDZVVIKLJV2EKHR6IOAWWZ3BXQ/add_kernel",
		samples + "/cache/TGUQVYFLJLZS2KVLLWUR5SVFMMEDL62ONHFVTP2SD2UHK63WJQLQ/triton_poi_fused__to_copy_clamp_mul_0",
		samples + "/matmul_cta2.sm90/matmul_kernel", samples + "/opt_none.sm90/opt_kernel", samples + "/scalars.sm90/scalars_kernel",
		samples + "/tma_host.sm80/tma_host_kernel", samples + "/tma_host.sm90/tma_host_kernel",
		samples + "/tma_scratch.sm90/tma_scratch_kernel", samples + "/tuple.sm90/tuple_kernel",
	}
	if diff := cmp.Diff(want, pathsOf(images)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, image := range images {
		if image.Meta == nil || image.PTX == nil || image.Cubin == nil || image.Sidecar != nil {
			t.Errorf("%s: files are missing: %+v", image.Path, image)
			continue
		}
		name := image.Meta.Name
		if image.PTX.Entry != name || image.Cubin.Symbol != name || image.TTIR != nil && image.TTIR.Name != name || image.Source != nil && image.Source.Name != name {
			t.Errorf("%s: the names of %+v differ", image.Path, image)
		}
	}
	again, err := Read([]string{"./" + samples + "/"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(images, again); diff != "" {
		t.Errorf("a second reading differs:\n%s", diff)
	}
}

func TestReadPaths(t *testing.T) {
	all := []string{".json", ".ttir", ".source", ".ptx", ".cubin"}
	tree(t, merge(add("a", all...), add("b/c", all...), add("b", ".json", ".cubin"), map[string]string{
		"b/k.kerngen.json":   "sidecar/matmul.kerngen.json",
		"b/__grp__k.json":    "",
		"b/__grp__k.ptx":     "",
		"b/k.ttgir":          "",
		"b/k.llir":           "",
		"b/k.sass":           "",
		"b/kernels.py":       "",
		"b/package.json":     "",
		"b/main.source":      "",
		"b/x/test.ttir":      "",
		"b/x/other.json":     "",
		"b/x/other.source":   "",
		"b/x/.json":          "",
		"d.json/k.json":      "triton-3.6.0/add.sm80/add_kernel.json",
		"d.json/k.ptx":       "triton-3.6.0/add.sm80/add_kernel.ptx",
		"d.json/.cubin/k":    "",
		"e/k.kerngen.json":   "sidecar/matmul.kerngen.json",
		"e/k.json":           "triton-3.6.0/add.sm80/add_kernel.json",
		"f/only/ttir/k.json": "triton-3.6.0/add.sm80/add_kernel.json",
		"f/only/ttir/k.ttir": "triton-3.6.0/add.sm80/add_kernel.ttir",
	}))
	abs, err := filepath.Abs("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		want []string
	}{
		{"everything", []string{"."}, []string{"a/k", "b/c/k", "b/k", "d.json/k", "e/k", "f/only/ttir/k"}},
		{"one file", []string{"a/k.json"}, []string{"a/k"}},
		{"our own file", []string{"b/k.kerngen.json"}, []string{"b/k"}},
		{"all files of one kernel", []string{"a/k.ttir", "a/k.cubin", "a/k.ptx", "a/k.source", "./a//k.json"}, []string{"a/k"}},
		{"the order of arguments", []string{"b", "a"}, []string{"b/c/k", "b/k", "a/k"}},
		{"a file before its folder", []string{"b/k.cubin", "b"}, []string{"b/k", "b/c/k"}},
		{"twice by two paths", []string{abs, "a"}, []string{filepath.ToSlash(abs) + "/k"}},
		{"parent", []string{"b/c/.."}, []string{"b/c/k", "b/k"}},
		{"folder with the name of a file", []string{"d.json"}, []string{"d.json/k"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			images, err := Read(test.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, pathsOf(images)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}

	images, err := Read([]string{"a", "b/k.json", "f"})
	if err != nil {
		t.Fatal(err)
	}
	if a := images[0]; a.TTIR == nil || a.Source == nil || a.PTX == nil || a.Cubin == nil || a.Sidecar != nil {
		t.Errorf("of all files was read %+v", a)
	}
	if b := images[1]; b.TTIR != nil || b.Source != nil || b.PTX != nil || b.Cubin == nil || b.Sidecar == nil {
		t.Errorf("of JSON, cubin and sidecar was read %+v", b)
	}
	if f := images[2]; f.TTIR == nil || f.PTX != nil || f.Cubin != nil {
		t.Errorf("of JSON and TTIR was read %+v", f)
	}
}

func TestReadFaults(t *testing.T) {
	tree(t, merge(add("lone", ".cubin"), add("lone2", ".ptx", ".ttir"), add("good", ".json", ".ptx"), map[string]string{
		"lone3/k.kerngen.json":  "sidecar/matmul.kerngen.json",
		"empty/readme.md":       "",
		"other/package.json":    "",
		"other/__grp__k.json":   "",
		"broken/a/k.json":       "",
		"broken/a/k.ptx":        "",
		"broken/b/k.json":       "",
		"broken/b/k.cubin":      "",
		"broken/b/k.ttir":       "",
		"dir/k.json":            "triton-3.6.0/add.sm80/add_kernel.json",
		"dir/k.cubin/x":         "",
		"dir/k.ptx":             "triton-3.6.0/add.sm80/add_kernel.ptx",
		"dirs/k.json":           "triton-3.6.0/add.sm80/add_kernel.json",
		"dirs/k.ptx":            "triton-3.6.0/add.sm80/add_kernel.ptx",
		"dirs/k.ttir/sub":       "",
		"dirs/m.json/sub":       "",
		"dirs/m.cubin":          "triton-3.6.0/add.sm80/add_kernel.cubin",
		"amd/k.hsaco":           "",
		"large/k.json":          "",
		"large/k.cubin":         "",
		"dangling/k.json":       "triton-3.6.0/add.sm80/add_kernel.json",
		"dangling/k.source/sub": "",
	}))
	if err := os.Truncate("large/k.json", maxJSON+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate("large/k.cubin", maxCubin+1); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"empty path", []string{""}, "an empty path; name a folder, or a file of a kernel"},
		{"no such path", []string{"nowhere"}, "nowhere: does not exist; name a folder with NAME.json and NAME.cubin or NAME.ptx in it, or one of these files"},
		{"no such file", []string{"good/x.json"}, "good/x.json: does not exist"},
		{"no kernel", []string{"empty"}, "empty: no kernel in this folder or below it; looked for NAME.json with NAME.cubin, NAME.ptx or NAME.ttir beside it"},
		{"no kernel beside others", []string{"good", "other"}, "other: no kernel in this folder or below it"},
		{"another file", []string{"empty/readme.md"}, "empty/readme.md: not a file that makes a kernel; a kernel's files are NAME.json, NAME.cubin, NAME.ptx, NAME.ttir, NAME.source and NAME.kerngen.json"},
		{"list of a cache", []string{"other/__grp__k.json"}, "other/__grp__k.json: not a file that makes a kernel"},
		{"another JSON", []string{"other/package.json"}, "other/package.json:1:1: not JSON: unexpected end of JSON input"},
		{"cubin alone", []string{"lone"}, "lone/k.cubin: k.json is missing beside it; name Triton's cache folder where this is one of its dumps, which lack it, or copy it from there; a launch needs its metadata"},
		{"PTX alone", []string{"lone2"}, "lone2/k.ptx: k.json is missing beside it"},
		{"PTX alone, by its TTIR", []string{"lone2/k.ttir"}, "lone2/k.ttir: k.json is missing beside it"},
		{"our own file alone", []string{"lone3"}, "lone3/k.kerngen.json: k.json is missing beside it"},
		{"all faults", []string{"broken", "lone", "nowhere"}, "broken/a/k.json:1:1: not JSON: unexpected end of JSON input\n" +
			"broken/a/k.ptx:1:1: not PTX: it begins with the end of the file, not with .version\n" +
			"broken/b/k.cubin: not an ELF file; compile the kernel again\n" +
			"broken/b/k.json:1:1: not JSON: unexpected end of JSON input\n" +
			"broken/b/k.ttir: no public function (tt.func public @NAME); the file must be the TTIR that Triton's compiler writes\n" +
			"lone/k.cubin: k.json is missing beside it; name Triton's cache folder where this is one of its dumps, which lack it, or copy it from there; a launch needs its metadata\n" +
			"nowhere: does not exist"},
		{"folder for a file", []string{"dir/k.json"}, "dir/k.cubin: cannot be read: it is not a regular file"},
		{"folders for files, found by searching", []string{"dirs"}, "dirs/k.ttir: cannot be read: it is not a regular file; put the file that Triton's compiler wrote in its place\n" +
			"dirs/m.json: cannot be read: it is not a regular file; put"},
		{"AMD's alone", []string{"amd"}, "amd/k.hsaco: k.json is missing beside it"},
		{"too large", []string{"large"}, "large/k.cubin: cannot be read: it is larger than 256 MiB; put the file that Triton's compiler wrote in its place\nlarge/k.json: cannot be read: it is larger than 16 MiB; put"},
	} {
		t.Run(test.name, func(t *testing.T) {
			images, err := Read(test.args)
			if err == nil {
				t.Fatalf("read %v", pathsOf(images))
			}
			if !strings.HasPrefix(err.Error(), test.want) || images != nil {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestReadLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	tree(t, merge(add("real/deep", ".json", ".cubin"), add("z", ".json", ".ptx"), map[string]string{"linked/x": ""}))
	for _, link := range [][2]string{
		{"..", "real/deep/up"},                       // a loop
		{"real/deep", "a"},                           // reached before and by its real path
		{"../z/k.json", "linked/k.json"},             // a file
		{"../z/k.ptx", "linked/k.ptx"},               // a file
		{"../../elsewhere", "real/deep/nothing"},     // to nothing, none of ours
		{filepath.Join("..", "..", "z"), "real/d/z"}, // to a folder outside
	} {
		if err := os.MkdirAll(filepath.Dir(link[1]), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"."}, []string{"linked/k", "real/deep/k", "z/k"}},
		{[]string{"real"}, []string{"real/d/z/k", "real/deep/k"}},
		{[]string{"a"}, []string{"a/k", "a/up/d/z/k"}},
		{[]string{"a/k.json", "real"}, []string{"a/k", "real/d/z/k"}},
	} {
		images, err := Read(test.args)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(test.want, pathsOf(images)); diff != "" {
			t.Errorf("%v: -want +got\n%s", test.args, diff)
		}
	}

	if err := os.Symlink("gone", "z/k.cubin"); err != nil {
		t.Fatal(err)
	}
	if _, err := Read([]string{"z"}); err == nil || err.Error() != "z/k.cubin: cannot be read: it is a symbolic link to nothing; put the file that Triton's compiler wrote in its place" {
		t.Errorf("a link to nothing: %v", err)
	}
}

// BenchmarkRead reads a folder of 1,000 kernels.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	const kernels = 1000
	for _, ext := range []string{".json", ".ttir", ".source", ".ptx", ".cubin"} {
		data := file(b, "triton-3.6.0/scalars.sm90/scalars_kernel"+ext)
		for i := range kernels {
			name := filepath.Join(dir, string(rune('a'+i%26)), strings.Repeat("k", 1+i/26)+ext)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(name, data, 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		images, err := Read([]string{dir})
		if err != nil || len(images) != kernels {
			b.Fatalf("%d images, %v", len(images), err)
		}
	}
}
