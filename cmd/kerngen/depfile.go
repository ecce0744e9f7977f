package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kerngen/kerngen/gen"
)

// depfile is the file of --depfile, opened before anything is written, so that a
// bad path leaves all as it was. A nil one was not asked for.
type depfile struct {
	file *os.File
	made bool // there was none before
}

func openDepfile(name string, inputs []string) (*depfile, error) {
	if name == "" {
		return nil, nil
	}
	for _, path := range append([]string{name}, inputs...) {
		if strings.ContainsAny(path, "\n\r") {
			return nil, &gen.Error{Fault: fmt.Sprintf("--depfile %q: %q has a line break, which no rule can spell", name, path), Remedy: "rename it, or leave the option out"}
		}
	}
	_, err := os.Lstat(name)
	made := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, depfileFault(name, err)
	}
	return &depfile{f, made}, nil
}

// write replaces what the file holds and closes it.
func (d *depfile) write(result gen.Result) error {
	if d == nil {
		return nil
	}
	name := d.file.Name()
	content := gen.Depfile(filepath.ToSlash(depfileTarget(name)), result.Inputs)
	err := d.file.Truncate(0)
	if err == nil {
		_, err = d.file.Write(content)
	}
	if err = errors.Join(err, d.file.Close()); err != nil {
		return depfileFault(name, err)
	}
	return nil
}

// drop closes the file and leaves it as it was; after write it does nothing.
func (d *depfile) drop() {
	if d != nil && d.file.Close() == nil && d.made {
		os.Remove(d.file.Name())
	}
}

func depfileFault(name string, err error) error {
	var perr *fs.PathError
	if errors.As(err, &perr) {
		err = perr.Err
	}
	return &gen.Error{Fault: fmt.Sprintf("--depfile %q cannot be written: %v", name, err), Remedy: "name a file in a folder that is there"}
}

// depfileTarget is the file that a depfile speaks of: a stamp that the build
// touches when generate is done, since generate leaves what is right alone.
func depfileTarget(depfile string) string {
	target, ok := strings.CutSuffix(depfile, ".d")
	if !ok || filepath.Base(depfile) == ".d" {
		return ""
	}
	return target
}
