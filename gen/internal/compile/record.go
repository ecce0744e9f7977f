package compile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// recordName is the record's, in the folder for artefacts. It belongs in version
// control like them, and says nothing of the machine.
const recordName = "kerngen.record.json"

// recordFormat is that of the record; another one counts as none.
const recordFormat = 1

// record says what the artefacts were made of.
type record struct {
	Format  int       `json:"format"`
	Sources []*source `json:"sources"` // by path
	Jobs    []made    `json:"jobs"`    // by folder
}

// made is one folder of artefacts.
type made struct {
	Folder  string `json:"folder"`
	Inputs  string `json:"inputs"`  // see job.hash
	Sidecar string `json:"sidecar"` // hash of NAME.kerngen.json
	Size    int64  `json:"size"`    // of all files, bytes
	SHA256  string `json:"sha256"`  // of all names and contents
}

// readRecord reads the record of the folder, an empty one where there is none or
// it cannot be understood: then everything is compiled anew.
func readRecord(folder string) (*record, error) {
	empty := &record{Format: recordFormat}
	data, err := os.ReadFile(filepath.Join(folder, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return nil, diag.File(filepath.Join(folder, recordName), err)
	}
	var r record
	if json.Unmarshal(data, &r) != nil || r.Format != recordFormat {
		return empty, nil
	}
	for _, s := range r.Sources {
		if s == nil {
			return empty, nil
		}
	}
	return &r, nil
}

// write replaces the record where it has changed.
func (r *record) write(folder string) error {
	slices.SortFunc(r.Sources, func(a, b *source) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(r.Jobs, func(a, b made) int { return strings.Compare(a.Folder, b.Folder) })
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return err
	}
	path := filepath.Join(folder, recordName)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b.Bytes()) {
		return nil
	}
	return replaceFile(path, b.Bytes())
}

func (r *record) source(path string) *source {
	for _, s := range r.Sources {
		if s.Path == path {
			return s
		}
	}
	return nil
}

// keep puts s in the place of what is known of its source.
func (r *record) keep(s *source) {
	r.Sources = slices.DeleteFunc(r.Sources, func(o *source) bool { return o.Path == s.Path })
	r.Sources = append(r.Sources, s)
}

// folders is r.Jobs by folder.
func (r *record) folders() map[string]made {
	m := make(map[string]made, len(r.Jobs))
	for _, j := range r.Jobs {
		m[j.Folder] = j
	}
	return m
}

// size adds up the files in dir; -1 where it is no folder of files only.
func size(dir string) int64 {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return -1
	}
	total := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		total += info.Size()
	}
	return total
}

// digest hashes the names and contents of the files in dir.
func digest(dir string) (total int64, hash string, err error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return 0, "", err
	}
	var list []string
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, "", err
		}
		total += int64(len(data))
		list = append(list, sum(data), e.Name())
	}
	return total, sum([]byte(strings.Join(list, "\n"))), nil
}

// replaceFile writes a file so that no reader sees half of it.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), stagingPrefix)
	if err != nil {
		return diag.File(path, err)
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(content); err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return diag.File(path, err)
	}
	return nil
}
