package gen

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStamp has one thing change after the other.
func TestStamp(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // where other systems have it below
	artefacts, dir := t.TempDir(), t.TempDir()
	put(t, artefacts, map[string]string{"a.json": "{}", "a.ptx": "ptx"})
	put(t, dir, map[string]string{"a_kern.go": "package p", "hand.go": "package p", "a_sm80.cubin": "code"})
	c := Config{Package: "p", Dir: dir, Paths: []string{artefacts}}
	valid := func() bool { return TakeStamp(c).Valid() }
	keep := func() {
		t.Helper()
		TakeStamp(c).Keep()
		if !valid() {
			t.Fatal("not valid after it was kept")
		}
	}
	if valid() {
		t.Error("valid, though never kept")
	}
	keep()
	touch := func(path string) {
		t.Helper()
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name   string
		change func()
	}{
		{"an artefact is touched", func() { touch(filepath.Join(artefacts, "a.ptx")) }},
		{"an artefact grows", func() { put(t, artefacts, map[string]string{"a.json": "{ }"}) }},
		{"an artefact comes", func() { put(t, artefacts, map[string]string{"b.json": "{}"}) }},
		{"an artefact goes", func() { os.Remove(filepath.Join(artefacts, "b.json")) }},
		{"a generated file is touched", func() { touch(filepath.Join(dir, "a_kern.go")) }},
		{"an image goes", func() { os.Remove(filepath.Join(dir, "a_sm80.cubin")) }},
		{"a file of the user's comes", func() { put(t, dir, map[string]string{"more.go": "package p"}) }},
		{"another name", func() { c.Names = map[string]string{"add": "Add"} }},
		{"another package", func() { c.Package = "q" }},
		{"another path", func() { c.Paths = append(c.Paths, t.TempDir()) }},
		{"what was kept is of other format", func() { os.WriteFile(TakeStamp(c).file, []byte("x"), 0o666) }},
	} {
		step.change()
		if valid() {
			t.Errorf("%s: valid all the same", step.name)
		}
		keep()
	}
	put(t, dir, map[string]string{"sub/sub.go": "package sub"})
	if !valid() {
		t.Error("a folder within the package's counts")
	}

	// What changes while the package is generated is not taken for generated from.
	s := TakeStamp(c)
	put(t, artefacts, map[string]string{"a.ptx": "another"})
	s.Keep()
	if valid() {
		t.Error("valid for an artefact that came later")
	}
	// Folders within a folder are not looked into, nor are files.
	put(t, artefacts, map[string]string{"sub/a.json": "{}"})
	TakeStamp(c).Keep()
	if valid() {
		t.Error("valid for what was not looked into")
	}
	c.Paths = []string{filepath.Join(artefacts, "a.json")}
	TakeStamp(c).Keep()
	if valid() {
		t.Error("valid for a file")
	}
}
