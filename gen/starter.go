package gen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/starter"
)

// Init writes a kerngen.yaml beside the Python file at source, which lists the
// kernels that it defines with their parameters, and returns its path. It reads
// the file's text and needs no Python. One that is there already is an error.
func Init(source string) (path string, err error) {
	pos := filepath.ToSlash(source)
	if filepath.Ext(source) != ".py" {
		return "", diag.Errorf(pos, "is not a Python file, NAME.py")
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return "", diag.File(pos, err)
	}
	content, err := starter.Write(pos, filepath.Base(source), text)
	if err != nil {
		return "", err
	}
	path = filepath.Join(filepath.Dir(source), config.FileName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return "", diag.Errorf(filepath.ToSlash(path), "is there already, and init changes no file").Fix("add the kernels to it, or move it and merge the two")
	}
	if err != nil {
		return "", diag.File(path, err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		return "", diag.File(path, err)
	}
	return path, nil
}
