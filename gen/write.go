package gen

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/generated"
	"github.com/kerngen/kerngen/gen/internal/lock"
	"github.com/kerngen/kerngen/internal/packed"
)

// Write makes dir hold files and no others of kerngen's. It creates dir where
// there is none, leaves what is already right untouched, and removes what an
// earlier run wrote and this one does not: Go files that carry kerngen's mark
// and the images that they embed. A file of anybody else is never touched; one
// that stands where a file must go is an error. All new content is on disk
// before the first file is replaced, so a full disk or a refused permission
// leaves the folder as it was.
//
// Concurrent Writes to one folder, of other processes too, come one after the
// other; one that waits longer than lockWait gives up. On file systems that know
// no locks they may mix their files.
func Write(dir string, files []File) error {
	p, fault := compareFolder(dir, files)
	if fault == nil && p.empty() {
		return nil
	}
	if fault == nil {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return diag.File(dir, err)
		}
	}
	release, held, err := lock.Folder(dir, lockWait)
	switch {
	case errors.Is(err, lock.ErrHeld):
		return diag.Errorf(dir, "another kerngen has been writing this folder for %v", lockWait).Fix("run again once it is done")
	case fault != nil && err != nil:
		return fault
	case err != nil:
		return diag.File(dir, err)
	}
	defer release()
	if p, err = compareFolder(dir, files); err != nil { // whatever another run was at, it is done now
		return err
	}
	return p.apply(dir, held)
}

// lockWait is far longer than writing a package takes; tests set less.
var lockWait = 10 * time.Second

// plan is what has to change in a folder.
type plan struct {
	write  []File
	remove []string
	staged []string // folders of runs that were killed, or that are still at it
}

func (p plan) empty() bool { return len(p.write)+len(p.remove)+len(p.staged) == 0 }

// compareFolder compares files with what dir holds and changes nothing.
func compareFolder(dir string, files []File) (plan, error) {
	there, err := readFolder(dir)
	if err != nil {
		return plan{}, err
	}
	stands := make([]standing, len(files))
	found := make([]diag.List, len(files))
	inParallel(len(files), func(i int) error { // the faults are in found
		var err error
		stands[i], err = there.compare(files[i])
		found[i].Add(err)
		return nil
	})
	p := plan{staged: there.staged}
	var faults diag.List
	stale := maps.Clone(there.own)
	for i, f := range files {
		faults.Add(found[i].Err())
		switch {
		case stands[i] == absent, stands[i] == different && there.own[f.Name]:
			p.write = append(p.write, f)
		case stands[i] == different:
			faults.Add(diag.Errorf(filepath.Join(dir, f.Name), "this file was not written by kerngen and is in the way").
				Fix("move it, or give the kernel another name with --name"))
		}
		delete(stale, f.Name)
	}
	// Images first: without its Go file no later run would know one as kerngen's.
	names := slices.Sorted(maps.Keys(stale))
	for _, isGo := range []bool{false, true} {
		for _, name := range names {
			if strings.HasSuffix(name, generated.GoSuffix) == isGo {
				p.remove = append(p.remove, name)
			}
		}
	}
	return p, faults.Err()
}

type standing int

const (
	unknown standing = iota
	absent
	same
	different
)

// folder is what a package's folder holds.
type folder struct {
	dir     string
	regular map[string]bool   // of each entry, whether it is a regular file
	own     map[string]bool   // what an earlier run wrote, as far as it is still there
	source  map[string][]byte // of the Go files among them
	staged  []string          // folders that newly made files are put into first
}

func readFolder(dir string) (folder, error) {
	f := folder{dir: dir, regular: map[string]bool{}, own: map[string]bool{}, source: map[string][]byte{}}
	entries, err := readDir(dir)
	if err != nil {
		return f, err
	}
	var sources []string
	for _, e := range entries {
		name := e.Name()
		f.regular[name] = e.Type().IsRegular()
		if f.regular[name] && strings.HasSuffix(name, generated.GoSuffix) {
			sources = append(sources, name)
		}
		if e.IsDir() && stagingName.MatchString(name) {
			f.staged = append(f.staged, name)
		}
	}
	contents := make([][]byte, len(sources))
	err = inParallel(len(sources), func(i int) (err error) {
		pos := filepath.Join(dir, sources[i])
		if contents[i], err = os.ReadFile(pos); err != nil {
			return diag.File(pos, err)
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	for i, name := range sources {
		if !generated.IsOwn(name, contents[i]) {
			continue
		}
		f.own[name] = true
		f.source[name] = contents[i]
		for _, image := range generated.Embedded(contents[i]) {
			f.own[image] = f.own[image] || f.regular[image]
		}
	}
	maps.DeleteFunc(f.own, func(_ string, own bool) bool { return !own })
	return f, nil
}

// readDir lists what the package's folder holds, nothing where there is none.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err == nil {
		return entries, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(dir); err == nil {
			return nil, diag.Errorf(dir, "a symbolic link to nothing").Fix("make the folder that it leads to, or make another folder the package's")
		}
		return nil, nil
	}
	if info, err2 := os.Stat(dir); err2 == nil && !info.IsDir() {
		return nil, diag.Errorf(dir, "not a folder").Fix("move it, or make another folder the package's")
	}
	return nil, diag.File(dir, err).Fix("mend that, or make another folder the package's")
}

// compare says how the file of want's name stands to it.
func (f folder) compare(want File) (standing, error) {
	pos := filepath.Join(f.dir, want.Name)
	if want.Name != filepath.Base(want.Name) || !filepath.IsLocal(want.Name) {
		return unknown, diag.Errorf(pos, "%q is not the name of a file within the folder", want.Name)
	}
	regular, there := f.regular[want.Name]
	if !there { // but perhaps in other case, on a file system that does not tell
		info, err := os.Lstat(pos)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return absent, nil
		case err != nil:
			return unknown, diag.File(pos, err)
		}
		regular = info.Mode().IsRegular()
	}
	if !regular {
		return unknown, diag.Errorf(pos, "not a regular file, and in the way").Fix("move it")
	}
	content, known := f.source[want.Name]
	if !known {
		var err error
		if content, err = os.ReadFile(pos); err != nil {
			return unknown, diag.File(pos, err)
		}
	}
	if !bytes.Equal(content, want.Content) && !samePacked(want.Name, content, want.Content) {
		return different, nil
	}
	return same, nil
}

// samePacked reports whether two files of packed text hold the same: kerngens
// built with different Go releases pack differently.
func samePacked(name string, a, b []byte) bool {
	if !strings.HasSuffix(name, packed.Extension) {
		return false
	}
	textA, errA := packed.Unpack(string(a))
	textB, errB := packed.Unpack(string(b))
	return errA == nil && errB == nil && textA == textB
}

// startsWithMarker reports whether the file at pos begins as a generated one.
func startsWithMarker(pos string) bool {
	f, err := os.Open(pos)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(generated.Marker)+2)
	n, _ := io.ReadFull(f, head) // a shorter file is none
	return generated.IsOwn(filepath.Base(pos), head[:n])
}

// stagingPrefix starts the name of a folder of files that are not in their place
// yet; os.MkdirTemp adds a number.
const stagingPrefix = ".kerngen-"

var stagingName = regexp.MustCompile(`^\.kerngen-[0-9]+$`)

// apply brings p about: new content goes to a folder beside its place first.
// Such folders of other runs are only removed by one that has dir to itself.
func (p plan) apply(dir string, alone bool) error {
	if alone {
		for _, name := range p.staged {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return diag.File(filepath.Join(dir, name), err)
			}
		}
	}
	if len(p.write) > 0 {
		staged, err := os.MkdirTemp(dir, stagingPrefix)
		if err != nil {
			return diag.File(dir, err)
		}
		defer os.RemoveAll(staged)
		for _, f := range p.write {
			if err := os.WriteFile(filepath.Join(staged, f.Name), f.Content, 0o666); err != nil {
				return diag.File(filepath.Join(dir, f.Name), err)
			}
		}
		for _, f := range p.write {
			if err := os.Rename(filepath.Join(staged, f.Name), filepath.Join(dir, f.Name)); err != nil {
				return diag.File(filepath.Join(dir, f.Name), err)
			}
		}
	}
	for _, name := range p.remove {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return diag.File(filepath.Join(dir, name), err)
		}
	}
	return nil
}
