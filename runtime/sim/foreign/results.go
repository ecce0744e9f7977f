package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// results are what a device made of all cases: results.json of an archive, in
// which NAME/INDEX.bin are the buffers that a launch has changed.
type results struct {
	Device string
	Cases  map[string]*result
}

const summary = "results.json"

func (all *results) write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	zipped := gzip.NewWriter(f)
	archive := tar.NewWriter(zipped)
	err = all.add(archive)
	return errors.Join(err, archive.Close(), zipped.Close(), f.Close())
}

func (all *results) add(archive *tar.Writer) error {
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := addFile(archive, summary, text); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all.Cases)) {
		changed := all.Cases[name].changed
		for _, i := range slices.Sorted(maps.Keys(changed)) {
			if err := addFile(archive, fmt.Sprintf("%s/%d.bin", name, i), changed[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func addFile(archive *tar.Writer, name string, content []byte) error {
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}

func readResults(file string) (*results, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	all := &results{}
	archive := tar.NewReader(zipped)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := all.take(header.Name, content); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, header.Name, err)
		}
	}
	if all.Cases == nil {
		return nil, fmt.Errorf("%s: has no %s", file, summary)
	}
	return all, nil
}

// take takes one file of the archive, of which the summary is the first.
func (all *results) take(name string, content []byte) error {
	if name == summary {
		return json.Unmarshal(content, all)
	}
	r := all.Cases[path.Dir(name)]
	i, err := strconv.Atoi(strings.TrimSuffix(path.Base(name), ".bin"))
	if r == nil || err != nil {
		return errors.New("belongs to no case")
	}
	if r.changed == nil {
		r.changed = map[int][]byte{}
	}
	r.changed[i] = content
	return nil
}
