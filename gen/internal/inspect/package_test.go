package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only images beside the file are read, whatever it says that it embeds.
func TestPackageReadsImagesOnly(t *testing.T) {
	content, err := os.ReadFile("../../testdata/golden/add/add_kernel_kern.go")
	if err != nil {
		t.Fatal(err)
	}
	const image = "add_kernel_v1_sm80.cubin"
	for embed, want := range map[string]string{
		"../x.cubin":    "no variable embeds the image's code; generate the package again",
		"/dev/zero":     "no variable embeds the image's code; generate the package again",
		"x.txt":         "no variable embeds the image's code; generate the package again",
		"missing.cubin": "missing.cubin cannot be read: no such file or directory; generate the package again",
		"dir.cubin":     "dir.cubin cannot be read: it is not a regular file; generate the package again",
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "dir.cubin"), 0o777); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "x_kern.go")
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(content), image, embed)), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Package(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", embed, err, want)
		}
	}
}
