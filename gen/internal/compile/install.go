package compile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/lock"
)

// stagingPrefix starts the names of what is not in its place yet.
const stagingPrefix = ".kerngen-"

const sidecarExt = ".kerngen.json"

// stage is a folder beside the artefacts in which they are made, so that a
// rename is all that puts them into their place.
type stage struct {
	artefacts string
	temp      string
}

// newStage makes the folder, and removes those of runs that were killed.
func newStage(artefacts string) (*stage, error) {
	entries, err := os.ReadDir(artefacts)
	if err != nil {
		return nil, diag.File(artefacts, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagingPrefix) {
			if err := os.RemoveAll(filepath.Join(artefacts, e.Name())); err != nil {
				return nil, diag.File(artefacts, err)
			}
		}
	}
	temp, err := os.MkdirTemp(artefacts, stagingPrefix)
	if err != nil {
		return nil, diag.File(artefacts, err)
	}
	temp, err = filepath.Abs(temp) // workers run in another folder
	return &stage{artefacts, temp}, err
}

// lockFolder keeps other runs out of the artefacts' folder until unlock is called
// or the process ends. Where the file system has no locks, each folder of
// artefacts is still whole.
func lockFolder(artefacts string) (unlock func(), err error) {
	unlock, _, err = lock.Folder(artefacts, 0)
	switch {
	case errors.Is(err, lock.ErrHeld):
		return nil, diag.Errorf(artefacts, "another kerngen is compiling into this folder").Fix("wait until it is done")
	case err != nil:
		return nil, diag.File(artefacts, err)
	}
	return unlock, nil
}

func (s *stage) close() { os.RemoveAll(s.temp) }

// folder makes an empty folder for one job.
func (s *stage) folder() (string, error) {
	dir, err := os.MkdirTemp(s.temp, "job")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		return "", diag.File(s.temp, err)
	}
	return dir, nil
}

// install puts what the driver made of a job into its place, under the file name
// that Triton gave it.
func (s *stage) install(j *job, from, name string) ([]made, error) {
	for _, ext := range []string{".json", ".ttir", ".ptx", ".cubin"} {
		if info, err := os.Stat(filepath.Join(from, name+ext)); err != nil || info.Size() == 0 {
			return nil, diag.Errorf(j.conf.Pos, "%s: Triton made no %s%s", j, name, ext)
		}
	}
	if err := os.WriteFile(filepath.Join(from, name+sidecarExt), j.sidecar, 0o644); err != nil {
		return nil, diag.File(from, err)
	}
	var fallback string
	if j.ptx != "" {
		var err error
		if fallback, err = s.folder(); err != nil {
			return nil, err
		}
		for _, ext := range []string{".json", ".ttir", ".ptx", sidecarExt} {
			if err := copyFile(filepath.Join(fallback, name+ext), filepath.Join(from, name+ext)); err != nil {
				return nil, err
			}
		}
	}
	var out []made
	for _, f := range []struct{ from, folder string }{{from, j.folder}, {fallback, j.ptx}} {
		if f.folder == "" {
			continue
		}
		m, err := s.place(j, f.from, f.folder)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		return diag.File(to, err)
	}
	return nil
}

// place renames a folder to where it belongs. What was there goes first; between
// the two there is nothing, which the next run notices.
func (s *stage) place(j *job, from, folder string) (made, error) {
	m := made{Folder: folder, Inputs: j.inputs, Sidecar: sum(j.sidecar)}
	var err error
	if m.Size, m.SHA256, err = digest(from); err != nil {
		return made{}, diag.File(from, err)
	}
	to := filepath.Join(s.artefacts, filepath.FromSlash(folder))
	if _, old, err := digest(to); err == nil && old == m.SHA256 {
		return m, nil // Triton made the same bytes
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return made{}, diag.File(to, err)
	}
	if _, err := os.Lstat(to); err == nil {
		old, err := os.MkdirTemp(s.temp, "old")
		if err == nil {
			err = os.Rename(to, filepath.Join(old, "folder"))
		}
		if err != nil {
			return made{}, diag.File(to, err)
		}
	}
	if err := os.Rename(from, to); err != nil {
		return made{}, diag.File(to, err)
	}
	return m, nil
}

// renew writes what is said of a job whose image has not changed.
func (s *stage) renew(j *job, folder string) (made, error) {
	dir := filepath.Join(s.artefacts, filepath.FromSlash(folder))
	name := longestStem(j.conf.Function)
	if err := replaceFile(filepath.Join(dir, name+sidecarExt), j.sidecar); err != nil {
		return made{}, err
	}
	m := made{Folder: folder, Inputs: j.inputs, Sidecar: sum(j.sidecar)}
	var err error
	if m.Size, m.SHA256, err = digest(dir); err != nil {
		return made{}, diag.File(dir, err)
	}
	return m, nil
}

// longestStem is where Triton cuts a function's name to make a file's.
func longestStem(function string) string {
	const most = 150
	if runes := []rune(function); len(runes) > most {
		return string(runes[:most])
	}
	return function
}
