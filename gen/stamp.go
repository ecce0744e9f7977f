package gen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Stamp remembers, on this machine, that a package was up to date, so that a run
// with nothing to do need not read all artefacts to find that out. It goes by
// the names, sizes and times of the files, and by the program that wrote them. A
// file in the user's cache folder keeps it; without one nothing is remembered.
type Stamp struct {
	config  Config
	file    string // "" where nothing can be remembered
	sources string // what Generate reads
}

// TakeStamp notes the state of what Generate reads for c. It comes before
// Generate, so that what changes meanwhile is not missed.
func TakeStamp(c Config) Stamp {
	s := Stamp{config: c}
	var ok bool
	if s.sources, ok = sources(c); !ok {
		return s
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return s
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return s
	}
	s.file = filepath.Join(cache, "kerngen", "stamps", sum(dir, c.Package))
	return s
}

// Valid reports whether nothing has changed since the stamp was kept: neither
// what Generate reads, nor what Write left, nor the program.
func (s Stamp) Valid() bool {
	if s.file == "" {
		return false
	}
	kept, err := os.ReadFile(s.file)
	if err != nil {
		return false
	}
	folder, ok := s.written()
	return ok && string(kept) == sum(s.sources, folder)
}

// Keep remembers that the package is now what Generate made. That it cannot, or
// that an artefact has changed since the stamp was taken, is no fault: the next
// run has more to read.
func (s Stamp) Keep() {
	if s.file == "" {
		return
	}
	now, ok := sources(s.config)
	folder, written := s.written()
	if !ok || !written || now != s.sources || os.MkdirAll(filepath.Dir(s.file), 0o777) != nil {
		return
	}
	os.WriteFile(s.file, []byte(sum(s.sources, folder)), 0o666) // a torn one is not valid
}

// sources is the state of all that Generate makes a package of, besides the
// files in the package's own folder.
func sources(c Config) (state string, ok bool) {
	program, err := os.Executable()
	if err != nil {
		return "", false
	}
	info, err := os.Stat(program)
	if err != nil {
		return "", false
	}
	config, err := json.Marshal(c)
	if err != nil {
		return "", false
	}
	folders := make([]string, len(c.Paths))
	err = inParallel(len(c.Paths), func(i int) (err error) {
		folders[i], err = listing(c.Paths[i], false)
		return err
	})
	if err != nil {
		return "", false
	}
	return sum(program, describe(info), string(config), build.Default.GOOS, build.Default.GOARCH, fmt.Sprint(build.Default.CgoEnabled), strings.Join(folders, "\n")), true
}

// written is the state of the package's folder: the files that Write leaves, and
// those whose names Generate has to avoid.
func (s Stamp) written() (state string, ok bool) {
	state, err := listing(s.config.Dir, true)
	return state, err == nil
}

// listing describes the files in dir, one a line. It is an error where there is
// anything else, folders excepted if they may be there.
func listing(dir string, folders bool) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		if folders && e.IsDir() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return "", err
		}
		if !info.Mode().IsRegular() {
			return "", fmt.Errorf("%s is not a regular file", filepath.Join(dir, e.Name()))
		}
		b.WriteString(describe(info))
	}
	return b.String(), nil
}

func describe(info fs.FileInfo) string {
	return fmt.Sprintf("%s %d %d\n", info.Name(), info.Size(), info.ModTime().UnixNano())
}

// sum hashes texts, none of which holds a zero byte.
func sum(texts ...string) string {
	s := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(s[:])
}
