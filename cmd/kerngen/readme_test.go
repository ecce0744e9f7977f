package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README's own module, made from nothing but its text, generates, satisfies
// vet and runs. Its script compiles the kernel, where Triton is installed.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) (string, error) {
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "KERNGEN_LIBCUDA="+filepath.Join(dir, "none.so"))
		out, err := c.CombinedOutput()
		return string(out), err
	}
	must := func(name string, args ...string) {
		t.Helper()
		if out, err := run(name, args...); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}

	write("go.mod", "module example.com/app\n\ngo 1.26.0\n\nrequire github.com/kerngen/kerngen v0.0.0\n\n"+
		"replace github.com/kerngen/kerngen => "+root+"\n")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", string(sums))
	var commands []string
	files := 0
	for _, b := range blocks(string(text)) {
		switch {
		case b.file != "":
			write(b.file, b.text)
			files++
		case strings.HasPrefix(b.text, "go get -tool "):
			commands = strings.Split(strings.TrimSpace(b.text), "\n")
		}
	}
	if files != 4 || len(commands) != 2 {
		t.Fatalf("the README has %d files and the commands %q", files, commands)
	}

	if _, err := run("python3", "-c", `import triton; assert triton.__version__ == "3.6.0"`); err == nil {
		must("python3", "kernels/compile.py")
	} else {
		t.Skip("Triton 3.6.0 is not installed")
	}
	for _, c := range commands {
		args := strings.Fields(c)
		must(args[0], args[1:]...)
	}
	// Every error that it names.
	errs := regexp.MustCompile(`kernrt\.Err\w+`).FindAllString(string(text), -1)
	write("errors.go", fmt.Sprintf("package main\n\nimport kernrt \"github.com/kerngen/kerngen/runtime\"\n\nvar _ = []error{%s}\n", strings.Join(errs, ", ")))
	must("go", "vet", "./...")
	if out, err := run("go", "run", "."); err == nil || !strings.Contains(out, "no CUDA driver") {
		t.Errorf("without a driver, main.go: %v\n%s", err, out)
	}
}

// block is a fenced block of code; file is the name that its first line gives.
type block struct{ file, text string }

var (
	fence    = regexp.MustCompile("(?ms)^```\\w+\n(.*?)^```$")
	fileName = regexp.MustCompile(`^(?://|#) (\S+\.\w+)\n`)
)

func blocks(markdown string) []block {
	var all []block
	for _, m := range fence.FindAllStringSubmatch(markdown, -1) {
		b := block{text: m[1]}
		if name := fileName.FindStringSubmatch(b.text); name != nil {
			b.file = name[1]
		}
		all = append(all, b)
	}
	return all
}
