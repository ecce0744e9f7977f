//go:build unix

package main

import (
	"bufio"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const configuredYAML = `targets: [sm_80, sm_90]
packages:
  - name: vec
    out: vec
    kernels:
      - source: vec.py
        kernel: add_kernel
        args: {x_ptr: "*fp32:16", y_ptr: "*fp32:16", out_ptr: "*fp32:16", n_elements: "i32:16", BLOCK_SIZE: 1024}
`

// programs are the paths of kerngen and of the fake Python.
func programs(t *testing.T) (kerngen, python string) {
	t.Helper()
	for name, path := range map[string]*string{"kerngen": &kerngen, "fakepython": &python} {
		var err error
		if *path, err = exec.LookPath(name); err != nil {
			t.Fatal(err)
		}
	}
	return kerngen, python
}

// configuredModule is a module whose one kernel is in the source vec.py. What
// kerngen remembers of it goes with the test.
func configuredModule(t *testing.T, source string) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "aot"), os.DirFS("../../gen/testdata/triton-3.6.0/aot")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/m\n", "kerngen.yaml": configuredYAML, "vec.py": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTwoProcesses has a second process wait for nobody, and say why.
func TestTwoProcesses(t *testing.T) {
	kerngen, python := programs(t)
	dir := configuredModule(t, "# slow on sm_90\n")
	first := exec.Command(kerngen, "generate", "--python", python)
	first.Dir = dir
	pipe, err := first.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() && !strings.Contains(lines.Text(), "1 of 2:") {
	}
	second := exec.Command(kerngen, "generate", "--python", python)
	second.Dir = dir
	out, err := second.CombinedOutput()
	if want := "artefacts: another kerngen is compiling into this folder; wait until it is done\n"; err == nil || string(out) != want {
		t.Errorf("%v: %s\nwant %s", err, out, want)
	}
	if err := first.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	first.Wait()
	if code := first.ProcessState.ExitCode(); code != exitFault {
		t.Errorf("the first exits with %d", code)
	}
}

// TestReadOnly generates into folders that may not be written.
func TestReadOnly(t *testing.T) {
	kerngen, python := programs(t)
	// Whoever is root may write everywhere, so root's test is somebody else's: for
	// that its files must be in reach.
	var as *syscall.SysProcAttr
	if os.Getuid() == 0 {
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		bin := openFolder(t)
		for _, path := range []*string{&kerngen, &python} {
			program, err := os.ReadFile(*path)
			if err != nil {
				t.Fatal(err)
			}
			*path = filepath.Join(bin, filepath.Base(*path))
			if err := os.WriteFile(*path, program, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	temp := openFolder(t)
	for name, c := range map[string]struct{ folder, want string }{
		"nowhere to compile into": {".", "artefacts: permission denied; give this user access to it\n"},
		"artefacts":               {"artefacts", "artefacts: permission denied; give this user access to it\n"},
		"a package's artefacts":   {"artefacts/vec", "artefacts/vec/add_kernel.sm80: permission denied\n(2 of 2 images could not be compiled; this is the first); give this user access to it\n"},
		"the package":             {"vec", "vec: permission denied; give this user access to it\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := configuredModule(t, "")
			generate := func() (string, error) {
				cmd := exec.Command(kerngen, "generate", "--python", python)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "TMPDIR="+temp)
				cmd.SysProcAttr = as
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			modes(t, dir, 0o777)
			if c.folder != "." {
				if out, err := generate(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				modes(t, dir, 0o777)
			}
			for name, text := range map[string]string{"vec.py": "# another\n", "kerngen.yaml": configuredYAML + "        doc: Another.\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			locked := filepath.Join(dir, c.folder)
			if err := os.Chmod(locked, 0o555); err != nil {
				t.Fatal(err)
			}
			before := contents(t, locked)
			out, err := generate()
			var said []string
			for line := range strings.Lines(out) {
				if !strings.HasPrefix(line, "kerngen: ") {
					said = append(said, line)
				}
			}
			if got := strings.Join(said, ""); err == nil || got != c.want {
				t.Errorf("%v: %s\nwant %s", err, out, c.want)
			}
			if diff := cmp.Diff(before, contents(t, locked)); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

// openFolder is a temporary folder that everybody can write.
func openFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	modes(t, dir, 0o777)
	return dir
}

// modes gives the folders below dir the mode, and lets everybody reach dir.
func modes(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, mode)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) }) // so that it can be removed
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
