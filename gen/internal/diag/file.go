package diag

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a fault of the file system at path.
func File(path string, err error) *Error {
	fault := Errorf(filepath.ToSlash(path), "%v", Bare(err))
	if errors.Is(err, fs.ErrPermission) {
		fault.Fix("give this user access to it")
	}
	return fault
}

// Bare drops the operation and the path that os puts around an error, for a
// message that has the path already.
func Bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
