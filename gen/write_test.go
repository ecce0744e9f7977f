package gen

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/kerngen/kerngen/gen/internal/generated"
	"github.com/kerngen/kerngen/gen/internal/lock"
)

// goText is a generated file that embeds images.
func goText(images ...string) string {
	text := generated.Marker + "\n\npackage p\n"
	for _, name := range images {
		text += "\n//go:embed " + name + "\nvar x string\n"
	}
	return text
}

func fileList(content map[string]string) []File {
	var files []File
	for _, name := range slices.Sorted(maps.Keys(content)) {
		files = append(files, File{name, []byte(content[name])})
	}
	return files
}

// put writes content into dir, dated long ago.
func put(t *testing.T, dir string, content map[string]string) {
	t.Helper()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

var old = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// read returns what dir holds, and which files have been written since put.
func read(t *testing.T, dir string) (content map[string]string, written []string) {
	t.Helper()
	content = map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content[name] = string(text)
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !info.ModTime().Equal(old) {
			written = append(written, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return content, written
}

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  map[string]string
		files   map[string]string
		after   map[string]string // nil: files
		written []string
	}{
		{
			name:    "new",
			files:   map[string]string{"a_kern.go": goText("a_sm80.cubin"), "a_sm80.cubin": "A"},
			written: []string{"a_kern.go", "a_sm80.cubin"},
		},
		{
			name:   "same",
			before: map[string]string{"a_kern.go": goText("a_sm80.cubin"), "a_sm80.cubin": "A"},
			files:  map[string]string{"a_kern.go": goText("a_sm80.cubin"), "a_sm80.cubin": "A"},
		},
		{
			name:    "changed image only",
			before:  map[string]string{"a_kern.go": goText("a_sm80.cubin"), "a_sm80.cubin": "A"},
			files:   map[string]string{"a_kern.go": goText("a_sm80.cubin"), "a_sm80.cubin": "B"},
			written: []string{"a_sm80.cubin"},
		},
		{
			name:    "edited by hand, and with CRLF",
			before:  map[string]string{"a_kern.go": strings.ReplaceAll(goText("a_sm80.cubin")+"// x\n", "\n", "\r\n"), "a_sm80.cubin": "A"},
			files:   map[string]string{"a_kern.go": goText("a_sm90a.cubin"), "a_sm90a.cubin": "A"},
			written: []string{"a_kern.go", "a_sm90a.cubin"},
		},
		{
			name: "stale files go, others stay",
			before: map[string]string{
				"a_kern.go": goText("a_sm80.cubin", "a_sm80.ptx", "../up.cubin", "doc.txt", "sub/x.cubin", "gone.cubin"), "a_sm80.cubin": "A", "a_sm80.ptx": "P",
				"doc.txt": "d", "sub/x.cubin": "x", "other.cubin": "o", "hand_kern.go": "package p\n", "marked.go": goText("other.cubin"),
				"sub/a_kern.go": goText(),
			},
			files: map[string]string{"b_kern.go": goText("b_sm80.cubin"), "b_sm80.cubin": "B"},
			after: map[string]string{
				"b_kern.go": goText("b_sm80.cubin"), "b_sm80.cubin": "B",
				"doc.txt": "d", "sub/x.cubin": "x", "other.cubin": "o", "hand_kern.go": "package p\n", "marked.go": goText("other.cubin"),
				"sub/a_kern.go": goText(),
			},
			written: []string{"b_kern.go", "b_sm80.cubin"},
		},
		{
			name:    "another's file with the same bytes",
			before:  map[string]string{"a_sm80.cubin": "A"},
			files:   map[string]string{"a_kern.go": goText("a_sm80.cubin"), "a_sm80.cubin": "A"},
			written: []string{"a_kern.go"},
		},
		{
			name:   "nothing",
			before: map[string]string{"a_kern.go": goText("a_sm80.cubin"), "a_sm80.cubin": "A", "x.go": "package p\n"},
			after:  map[string]string{"x.go": "package p\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "parent", "dir")
			put(t, dir, c.before)
			if err := Write(dir, fileList(c.files)); err != nil {
				t.Fatal(err)
			}
			after, written := read(t, dir)
			want := c.after
			if want == nil {
				want = c.files
			}
			if d := cmp.Diff(want, after); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.written, written); d != "" {
				t.Errorf("written: %s", d)
			}
		})
	}
}

// A fault leaves everything as it was, temporary files included.
func TestWriteFaults(t *testing.T) {
	long := strings.Repeat("x", 300) + "_kern.go"
	for _, c := range []struct {
		name   string
		before map[string]string
		link   string
		dir    string
		files  map[string]string
		want   string
	}{
		{
			name: "another's Go file", before: map[string]string{"a_kern.go": "package p\n"}, files: map[string]string{"a_kern.go": goText()},
			want: "a_kern.go: this file was not written by kerngen and is in the way; move it, or give the kernel another name with --name",
		},
		{
			name: "another's image", before: map[string]string{"a_sm80.cubin": "mine"}, files: map[string]string{"a_kern.go": goText("a_sm80.cubin"), "a_sm80.cubin": "A"},
			want: "a_sm80.cubin: this file was not written by kerngen and is in the way; move it, or give the kernel another name with --name",
		},
		{
			name: "all faults", before: map[string]string{"a_kern.go": "package p\n", "b_kern.go": "package p\n"}, files: map[string]string{"a_kern.go": goText(), "b_kern.go": goText()},
			want: "b_kern.go: this file was not written by kerngen",
		},
		{
			name: "folder in the way", before: map[string]string{"a_kern.go/x": ""}, files: map[string]string{"a_kern.go": goText()},
			want: "a_kern.go: not a regular file, and in the way; move it",
		},
		{
			name: "link in the way", before: map[string]string{"real_kern.go": goText()}, link: "a_kern.go", files: map[string]string{"a_kern.go": goText("x.cubin")},
			want: "a_kern.go: not a regular file, and in the way; move it",
		},
		{
			name: "file for a folder", before: map[string]string{"out": "x"}, dir: "out", files: map[string]string{"a_kern.go": goText()},
			want: "out: not a folder; move it, or make another folder the package's",
		},
		{
			name: "file for a parent", before: map[string]string{"out": "x"}, dir: "out/p", files: map[string]string{"a_kern.go": goText()},
			want: "out/p: not a directory; mend that, or make another folder the package's",
		},
		{
			name: "outside the folder", files: map[string]string{"../a_kern.go": goText()},
			want: `"../a_kern.go" is not the name of a file within the folder`,
		},
		{
			name: "the last file cannot be written", before: map[string]string{"a_kern.go": goText("a_sm80.cubin"), "a_sm80.cubin": "A"},
			files: map[string]string{"a_kern.go": goText("b.cubin"), "b.cubin": "B", long: goText()},
			want:  "file name too long",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, c.before)
			if c.link != "" {
				if err := os.Symlink("real_kern.go", filepath.Join(root, c.link)); err != nil {
					t.Skip(err)
				}
			}
			before, _ := read(t, root)
			err := Write(filepath.Join(root, c.dir), fileList(c.files))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if err != nil && !IsUserError(err) {
				t.Errorf("not a user's error: %v", err)
			}
			after, _ := read(t, root)
			if d := cmp.Diff(before, after); d != "" {
				t.Error(d)
			}
		})
	}
}

// A folder that a link without an end stands for.
func TestWriteThroughDanglingLink(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.Symlink("nowhere", dir); err != nil {
		t.Skip(err)
	}
	const want = "out: a symbolic link to nothing; make the folder that it leads to, or make another folder the package's"
	for _, err := range []error{
		Write(dir, fileList(map[string]string{"a_kern.go": goText()})),
		func() error { _, err := declared(dir, "p"); return err }(),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// What a run that was killed left behind goes, and nothing that only looks like
// it.
func TestWriteRemovesStaging(t *testing.T) {
	dir := t.TempDir()
	release, held, err := lock.Folder(dir, 0)
	if err != nil || !held {
		t.Skip("no locks here", err)
	}
	release()
	files := map[string]string{"a_kern.go": goText()}
	others := map[string]string{".kerngen-1x/a": "", ".kerngen-": "", ".kerngen-2": "a file", "kerngen-3/a": ""}
	put(t, dir, files)
	put(t, dir, others)
	put(t, dir, map[string]string{".kerngen-123/a_kern.go": "half", ".kerngen-4/sub/b": ""})
	if err := Write(dir, fileList(files)); err != nil {
		t.Fatal(err)
	}
	maps.Copy(others, files)
	after, written := read(t, dir)
	if d := cmp.Diff(others, after); d != "" || written != nil {
		t.Errorf("written %v\n%s", written, d)
	}
}

// Writes of different packages into one folder leave one of them, whole.
func TestWriteConcurrently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var packages []map[string]string
	for _, name := range []string{"a", "b", "c", "d"} {
		files := map[string]string{"shared_kern.go": goText("shared_sm80.cubin") + "// " + name, "shared_sm80.cubin": name}
		for i := range 20 {
			files[fmt.Sprintf("%s%d_kern.go", name, i)] = goText()
		}
		packages = append(packages, files)
	}
	for range 5 {
		var group errgroup.Group
		for _, files := range packages {
			group.Go(func() error { return Write(dir, fileList(files)) })
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		after, _ := read(t, dir)
		if !slices.ContainsFunc(packages, func(p map[string]string) bool { return cmp.Equal(p, after) }) {
			t.Fatalf("mixed: %v", slices.Sorted(maps.Keys(after)))
		}
	}
}

// A run that cannot have the folder says so, and changes nothing.
func TestWriteHeld(t *testing.T) {
	defer func(wait time.Duration) { lockWait = wait }(lockWait)
	lockWait = time.Millisecond
	dir := t.TempDir()
	release, held, err := lock.Folder(dir, 0)
	if err != nil || !held {
		t.Skip("no locks here", err)
	}
	defer release()
	err = Write(dir, fileList(map[string]string{"a_kern.go": goText()}))
	if want := "another kerngen has been writing this folder for 1ms; run again once it is done"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if after, _ := read(t, dir); len(after) > 0 {
		t.Errorf("left %v", after)
	}
}

func TestWriteKeepsToUmask(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"plain": ""})
	if err := Write(dir, fileList(map[string]string{"a_kern.go": goText()})); err != nil {
		t.Fatal(err)
	}
	plain, err1 := os.Stat(filepath.Join(dir, "plain"))
	ours, err2 := os.Stat(filepath.Join(dir, "a_kern.go"))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if plain.Mode() != ours.Mode() {
		t.Errorf("mode %v, want %v", ours.Mode(), plain.Mode())
	}
}
