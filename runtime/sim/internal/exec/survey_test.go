package exec

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unsupported are texts of the repository that do not load, by path, with what is missing. A text that begins to load must leave the list.
var unsupported = map[string]string{}

// TestSurvey loads every PTX text of the repository for an architecture that is simulated.
func TestSurvey(t *testing.T) {
	root := "../../../.."
	target := regexp.MustCompile(`(?m)^\.target sm_(75|80|86|89)\b`)
	texts := 0
	for _, dir := range []string{"kernels/artefacts", "gen/testdata"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".ptx") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !target.Match(text) {
				return err
			}
			texts++
			name, _ := filepath.Rel(root, path)
			name = filepath.ToSlash(name)
			_, err = NewDevice(Options{}).Load(string(text))
			switch missing := unsupported[name]; {
			case err == nil && missing != "":
				t.Errorf("%s loads; take it from the list", name)
			case err != nil && (missing == "" || !strings.Contains(err.Error(), missing)):
				t.Errorf("%s: %v", name, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts < 100 {
		t.Errorf("only %d texts found", texts)
	}
}
