package main

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	modulePath    = "github.com/kerngen/kerngen"
	moduleVersion = "v0.99.0"
	// mostModule bounds what a user downloads, in bytes.
	mostModule = 10 << 20
)

// TestGoGetTool adds kerngen to a module of a user's as a user would, from a
// proxy that serves this checkout, and generates with it: in a module that is
// empty otherwise, and again from its vendor folder. It needs no network beyond
// what building kerngen has downloaded.
func TestGoGetTool(t *testing.T) {
	if testing.Short() {
		t.Skip("builds kerngen")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	proxy := t.TempDir()
	serveModule(t, root, proxy)
	cached := strings.TrimSpace(string(output(t, "go", "env", "GOMODCACHE")))
	dir := t.TempDir()
	env := append(os.Environ(), "GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOPACKAGE=",
		"GOMODCACHE="+t.TempDir(), "GOPROXY="+fileURL(proxy)+","+fileURL(filepath.Join(cached, "cache", "download")))
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}

	run("go", "mod", "init", "example.com/user")
	goLine := goDirective(t, dir)
	run("go", "get", "-tool", modulePath+"/cmd/kerngen@"+moduleVersion)
	if got, want := run("go", "tool", "kerngen", "version"), "kerngen "+moduleVersion+" "; !strings.HasPrefix(got, want) {
		t.Errorf("version: %s", got)
	}
	if got := goDirective(t, dir); got != goLine {
		t.Errorf("go get has changed %q to %q", goLine, got)
	}

	put("vec/doc.go", "// Package vec adds.\npackage vec\n\n//go:generate go tool kerngen generate ../aot/add.sm80\n")
	if err := os.CopyFS(filepath.Join(dir, "aot"), os.DirFS(filepath.Join(root, "gen/testdata/triton-3.6.0/aot"))); err != nil {
		t.Fatal(err)
	}
	generated := func() map[string]string {
		t.Helper()
		files := map[string]string{}
		for _, name := range []string{"add_kernel_kern.go", "add_kernel_sm80.cubin"} {
			content, err := os.ReadFile(filepath.Join(dir, "vec", name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(content)
		}
		return files
	}
	run("go", "generate", "./...")
	run("go", "vet", "./...")
	first := generated()

	run("go", "mod", "tidy")
	run("go", "mod", "vendor")
	for name := range first {
		if err := os.Remove(filepath.Join(dir, "vec", name)); err != nil {
			t.Fatal(err)
		}
	}
	env = append(env, "GOFLAGS=-mod=vendor -trimpath", "GOPROXY=off", "GOMODCACHE="+t.TempDir())
	run("go", "generate", "./...")
	run("go", "vet", "./...")
	if diff := cmp.Diff(first, generated()); diff != "" {
		t.Errorf("from the vendor folder (-before +after)\n%s", diff)
	}
	// What kerngen carries as files is there too.
	if got := run("go", "tool", "kerngen", "schema"); !strings.Contains(got, `"title": "kerngen.yaml"`) {
		t.Errorf("schema: %s", got)
	}
}

// serveModule lays out the checkout at root as a module proxy does, in a folder.
func serveModule(t *testing.T, root, proxy string) {
	t.Helper()
	at := filepath.Join(proxy, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"list":                  []byte(moduleVersion + "\n"),
		moduleVersion + ".info": fmt.Appendf(nil, `{"Version":%q,"Time":"2026-01-02T03:04:05Z"}`, moduleVersion),
		moduleVersion + ".mod":  mod,
	} {
		if err := os.WriteFile(filepath.Join(at, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(at, moduleVersion+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	archive := zip.NewWriter(f)
	size := int64(0)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (nested == nil || strings.HasPrefix(d.Name(), ".git") || d.Name() == "vendor") {
				return fs.SkipDir // another module, or none of its files
			}
			return nil
		}
		if !d.Type().IsRegular() || d.Name() == ".git" {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		size += int64(len(content))
		w, err := archive.Create(modulePath + "@" + moduleVersion + "/" + filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the module has %d bytes, %d to download", size, info.Size())
	if info.Size() > mostModule {
		t.Errorf("the module has %d bytes to download, more than %d", info.Size(), mostModule)
	}
}

func fileURL(path string) string { return "file://" + filepath.ToSlash(path) }

// goDirective is the line of go.mod that says which Go the module is for.
func goDirective(t *testing.T, dir string) string {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		if strings.HasPrefix(line, "go ") {
			return line
		}
	}
	t.Fatalf("go.mod has no go line: %s", mod)
	return ""
}

func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return out
}
