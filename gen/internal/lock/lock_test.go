//go:build unix

package lock

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"
)

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Folder(filepath.Join(dir, "none"), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	release, held, err := Folder(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !held {
		t.Skip("no locks here")
	}
	if _, _, err := Folder(dir, 0); !errors.Is(err, ErrHeld) {
		t.Errorf("held already: %v", err)
	}
	go release()
	again, held, err := Folder(dir, time.Minute)
	if err != nil || !held {
		t.Fatalf("after it was given up: %v, %v", held, err)
	}
	again()
}
