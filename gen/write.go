package gen

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/emit"
)

// Write makes dir hold files and no others of kerngen's. It creates dir where
// there is none, leaves what is already right untouched, and removes what an
// earlier run wrote and this one does not: Go files that carry kerngen's mark
// and the images that they embed. A file of anybody else is never touched; one
// that stands where a file must go is an error. All new content is on disk
// before the first file is replaced, so a full disk or a refused permission
// leaves the folder as it was.
//
// Two concurrent Writes to one folder may mix their files.
func Write(dir string, files []File) error {
	p, err := compareFolder(dir, files)
	if err != nil {
		return err
	}
	return p.apply(dir)
}

// plan is what has to change in a folder.
type plan struct {
	write  []File
	remove []string
}

// compareFolder compares files with what dir holds and changes nothing.
func compareFolder(dir string, files []File) (plan, error) {
	own, err := ownFiles(dir)
	if err != nil {
		return plan{}, err
	}
	var p plan
	var faults diag.List
	for _, f := range files {
		pos := filepath.Join(dir, f.Name)
		if f.Name != filepath.Base(f.Name) || !filepath.IsLocal(f.Name) {
			faults.Add(diag.Errorf(pos, "%q is not the name of a file within the folder", f.Name))
			continue
		}
		stands, err := compare(pos, f.Content)
		switch {
		case err != nil:
			faults.Add(err)
		case stands == absent, stands == different && own[f.Name]:
			p.write = append(p.write, f)
		case stands == different:
			faults.Add(diag.Errorf(pos, "this file was not written by kerngen and is in the way").
				Fix("move it, or give the kernel another name with --name"))
		}
		delete(own, f.Name)
	}
	// Images first: without its Go file no later run would know one as kerngen's.
	stale := slices.Sorted(maps.Keys(own))
	for _, isGo := range []bool{false, true} {
		for _, name := range stale {
			if strings.HasSuffix(name, goSuffix) == isGo {
				p.remove = append(p.remove, name)
			}
		}
	}
	return p, faults.Err()
}

type standing int

const (
	absent standing = iota
	same
	different
)

// compare says how the file at pos stands to content.
func compare(pos string, content []byte) (standing, error) {
	info, err := os.Lstat(pos)
	if errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return 0, fileError(pos, err)
	}
	if !info.Mode().IsRegular() {
		return 0, diag.Errorf(pos, "not a regular file, and in the way").Fix("move it")
	}
	if info.Size() != int64(len(content)) {
		return different, nil
	}
	old, err := os.ReadFile(pos)
	if err != nil {
		return 0, fileError(pos, err)
	}
	if !bytes.Equal(old, content) {
		return different, nil
	}
	return same, nil
}

// ownFiles are the files in dir that an earlier run wrote, as far as they are
// still there.
func ownFiles(dir string) (map[string]bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileError(dir, err)
	}
	regular, embedded, own := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		name := e.Name()
		regular[name] = true
		if !strings.HasSuffix(name, goSuffix) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fileError(filepath.Join(dir, name), err)
		}
		if isOwn(name, content) {
			own[name] = true
			for _, m := range embedLine.FindAllSubmatch(content, -1) {
				embedded[string(m[1])] = true
			}
		}
	}
	for name := range embedded {
		if regular[name] {
			own[name] = true
		}
	}
	return own, nil
}

const goSuffix = "_kern.go"

// embedLine is how a generated file embeds an image, which lies beside it.
var embedLine = regexp.MustCompile(`(?m)^//go:embed ([A-Za-z0-9_]+\.(?:cubin|ptx))\r?$`)

// isOwn reports whether kerngen wrote the Go file: by its name and first line,
// so that an edited one still counts.
func isOwn(name string, content []byte) bool {
	line, _, _ := bytes.Cut(content, []byte("\n"))
	return strings.HasSuffix(name, goSuffix) && string(bytes.TrimSuffix(line, []byte("\r"))) == emit.Marker
}

// apply brings p about: new content goes to a folder beside its place first.
func (p plan) apply(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fileError(dir, err)
	}
	if len(p.write) > 0 {
		staged, err := os.MkdirTemp(dir, ".kerngen-")
		if err != nil {
			return fileError(dir, err)
		}
		defer os.RemoveAll(staged)
		for _, f := range p.write {
			if err := os.WriteFile(filepath.Join(staged, f.Name), f.Content, 0o666); err != nil {
				return fileError(filepath.Join(dir, f.Name), err)
			}
		}
		for _, f := range p.write {
			if err := os.Rename(filepath.Join(staged, f.Name), filepath.Join(dir, f.Name)); err != nil {
				return fileError(filepath.Join(dir, f.Name), err)
			}
		}
	}
	for _, name := range p.remove {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return fileError(filepath.Join(dir, name), err)
		}
	}
	return nil
}

// fileError is a fault of the file system, told without the system's own mention
// of a path.
func fileError(pos string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	var linkError *os.LinkError
	if errors.As(err, &linkError) {
		err = linkError.Err
	}
	return diag.Errorf(pos, "%v", err)
}
