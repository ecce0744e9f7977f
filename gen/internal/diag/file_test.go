package diag

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestFile(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: "elsewhere", Err: fs.ErrNotExist}, "a/b: file does not exist"},
		{&fs.PathError{Op: "open", Path: "elsewhere", Err: fs.ErrPermission}, "a/b: permission denied; give this user access to it"},
		{&os.LinkError{Op: "rename", Old: "x", New: "y", Err: fs.ErrExist}, "a/b: file already exists"},
		{errors.New("odd"), "a/b: odd"},
	} {
		if got := File("a/b", c.err).Error(); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
