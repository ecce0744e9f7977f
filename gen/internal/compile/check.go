package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Check returns the packages whose artefacts are up to date, and an error that
// lists everything that is not. Where Run trusts their sizes it reads the
// artefacts, so that one that was edited or merged is found. It starts no Python
// and changes nothing.
func Check(c *config.Config) ([]Package, error) {
	p, err := read(filepath.Join(c.Dir, c.Artefacts), c, Auto, "")
	if err != nil {
		return nil, err
	}
	p.verify()
	if p.complete() {
		for _, folder := range p.unwanted() {
			p.why = append(p.why, diag.Errorf(p.artefact(folder), "no kernel of %s makes this any more", c.Path))
		}
	}
	var current []Package
	for i, open := range p.open {
		if !open {
			current = append(current, p.resultOf(i))
		}
	}
	return current, p.staleFault("run kerngen generate")
}

// verify compares the content of the artefacts with the record.
func (p *plan) verify() {
	recorded := p.record.folders()
	for i, of := range p.packages {
		for _, j := range of {
			if slices.Contains(p.stale, j) {
				continue // told already
			}
			for _, folder := range j.folders() {
				if _, hash, err := digest(filepath.Join(p.folder, filepath.FromSlash(folder))); err == nil && hash == recorded[folder].SHA256 {
					continue
				}
				p.open[i] = true
				p.why = append(p.why, diag.Errorf(p.artefact(folder), "its files are not those that were compiled").
					Fix("restore them, or run kerngen generate --compile=always"))
			}
		}
	}
}

// artefact is the path of a folder of artefacts, or of a file there, for messages.
func (p *plan) artefact(name string) string {
	return filepath.ToSlash(filepath.Join(p.folder, filepath.FromSlash(name)))
}

// staleFault lists why something is not up to date; nil where everything is.
// remedy is for those that have none of their own.
func (p *plan) staleFault(remedy string) error {
	var faults diag.List
	for _, err := range p.why {
		var fault *diag.Error
		if errors.As(err, &fault) && fault.Remedy == "" {
			fault.Fix("%s", remedy)
		}
		faults.Add(err)
	}
	return faults.Err()
}

// Recompile compiles everything anew, elsewhere, and says in what the artefacts
// differ from that, a line for each file: "" where they are what the sources
// give. It changes nothing.
func Recompile(ctx context.Context, c *config.Config, o Options) (string, error) {
	temp, err := os.MkdirTemp("", "kerngen-")
	if err != nil {
		return "", diag.File(os.TempDir(), err)
	}
	defer os.RemoveAll(temp)
	folder := filepath.Join(c.Dir, c.Artefacts)
	if err := sameTriton(ctx, folder, c, o); err != nil {
		return "", err
	}
	o.Mode = Always
	p, err := compileInto(ctx, temp, c, o)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, j := range p.jobs {
		for _, made := range j.folders() {
			if err := differences(&b, filepath.Join(folder, filepath.FromSlash(made)), filepath.Join(temp, filepath.FromSlash(made))); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

// sameTriton refuses an interpreter whose Triton did not make the artefacts:
// every byte could differ.
func sameTriton(ctx context.Context, folder string, c *config.Config, o Options) error {
	r, err := readRecord(folder)
	if err != nil || len(r.Sources) == 0 {
		return err
	}
	python, err := interpreter(o.Python)
	if err != nil {
		return err
	}
	pool, err := newPool(python, c.Dir, 1)
	if err != nil {
		return err
	}
	defer pool.close()
	said, err := pool.first(ctx, 1)
	if err != nil {
		return reason(ctx, err)
	}
	for _, s := range r.Sources {
		if s.Triton != said.Triton {
			return diag.Errorf(filepath.ToSlash(filepath.Join(folder, recordName)), "the artefacts of %s were made by Triton %s, but Python %s has %s", s.Path, s.Triton, python, said.Triton).
				Fix("name an interpreter that has Triton %s with --python", s.Triton)
		}
	}
	return nil
}

// differences writes a line for each file in which the folder is not as want is.
func differences(b *strings.Builder, folder, want string) error {
	names := map[string]bool{}
	for _, dir := range []string{folder, want} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return diag.File(dir, err)
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		pos := filepath.ToSlash(filepath.Join(folder, name))
		is, isErr := os.ReadFile(filepath.Join(folder, name))
		wanted, wantErr := os.ReadFile(filepath.Join(want, name))
		switch {
		case errors.Is(isErr, os.ErrNotExist):
			fmt.Fprintf(b, "%s is missing, %d bytes\n", pos, len(wanted))
		case isErr != nil:
			return diag.File(pos, isErr)
		case errors.Is(wantErr, os.ErrNotExist):
			fmt.Fprintf(b, "%s is not made by the sources, %d bytes\n", pos, len(is))
		case wantErr != nil:
			return diag.File(pos, wantErr)
		case !bytes.Equal(is, wanted):
			fmt.Fprintf(b, "%s is not what the sources give, %d bytes\n", pos, len(wanted))
		}
	}
	return nil
}
