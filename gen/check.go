package gen

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/generated"
)

// Check says what Write would change, and changes nothing: a unified diff of
// the Go files, and a line for each image, in the order of names. It is "" where
// dir holds just what Write would leave there.
func Check(dir string, files []File) (string, error) {
	p, err := compareFolder(dir, files)
	if err != nil {
		return "", err
	}
	changes := map[string]string{}
	for _, f := range p.write {
		pos := filepath.Join(dir, f.Name)
		old, err := os.ReadFile(pos)
		if err != nil && !os.IsNotExist(err) {
			return "", diag.File(pos, err)
		}
		changes[f.Name] = change(pos, old, f.Content, err == nil, true)
	}
	for _, name := range p.remove {
		pos := filepath.Join(dir, name)
		old, err := os.ReadFile(pos)
		if err != nil {
			return "", diag.File(pos, err)
		}
		changes[name] = change(pos, old, nil, true, false)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		b.WriteString(changes[name])
	}
	return b.String(), nil
}

// nowhere is how a diff names a file that is not there.
const nowhere = "/dev/null"

// change tells how one file differs.
func change(pos string, old, content []byte, is, willBe bool) string {
	pos = filepath.ToSlash(pos)
	if !strings.HasSuffix(pos, generated.GoSuffix) {
		switch {
		case !is:
			return fmt.Sprintf("%s is missing, %d bytes\n", pos, len(content))
		case !willBe:
			return fmt.Sprintf("%s is stale, %d bytes\n", pos, len(old))
		}
		return fmt.Sprintf("%s differs, %d bytes\n", pos, len(content))
	}
	from, to := pos, pos
	if !is {
		from = nowhere
	}
	if !willBe {
		to = nowhere
	}
	text := string(diff.Diff(from, old, to, content))
	_, text, _ = strings.Cut(text, "\n") // its first line repeats both names
	return text
}
