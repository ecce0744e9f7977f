//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A real process that is interrupted while it compiles ends its compilers, keeps
// what is whole, leaves nothing half-written and touches no package.
func TestInterrupt(t *testing.T) {
	kerngen, python := programs(t)
	for _, c := range []struct {
		signal syscall.Signal
		group  bool // as a terminal sends it, to the compilers too
	}{{syscall.SIGINT, true}, {syscall.SIGINT, false}, {syscall.SIGTERM, false}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			dir := configuredModule(t, "# slow on sm_90\n")
			temp := t.TempDir()
			cmd := exec.Command(kerngen, "generate", "--python", python)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "TMPDIR="+temp)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			pipe, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timeout := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
			defer timeout.Stop()
			var said bytes.Buffer
			lines := bufio.NewScanner(pipe)
			for lines.Scan() {
				said.WriteString(lines.Text() + "\n")
				if strings.Contains(lines.Text(), "1 of 2:") { // the other sleeps
					pid := cmd.Process.Pid
					if c.group {
						pid = -pid
					}
					if err := syscall.Kill(pid, c.signal); err != nil {
						t.Fatal(err)
					}
				}
			}
			err = cmd.Wait()
			if cmd.ProcessState.ExitCode() != exitFault || !strings.HasSuffix(said.String(), "kerngen: interrupted; what was compiled by then is kept\n") {
				t.Errorf("%v\n%s", err, &said)
			}
			var files []string
			err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if rel, _ := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "aot") {
					files = append(files, filepath.ToSlash(rel))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			want := `. artefacts artefacts/kerngen.record.json artefacts/vec artefacts/vec/add_kernel.sm80 ` +
				`artefacts/vec/add_kernel.sm80/add_kernel.cubin artefacts/vec/add_kernel.sm80/add_kernel.json ` +
				`artefacts/vec/add_kernel.sm80/add_kernel.kerngen.json artefacts/vec/add_kernel.sm80/add_kernel.ptx ` +
				`artefacts/vec/add_kernel.sm80/add_kernel.source artefacts/vec/add_kernel.sm80/add_kernel.ttir go.mod kerngen.yaml vec.py`
			if got := strings.Join(files, " "); got != want {
				t.Errorf("left: %s", got)
			}
			if left, _ := os.ReadDir(temp); len(left) > 0 {
				t.Errorf("left in the folder for temporary files: %v", left)
			}
			// The rest is compiled by the next run.
			for name, text := range map[string]string{"kerngen.yaml": strings.Replace(configuredYAML, "vec.py", "quick.py", 1), "quick.py": ""} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			again := exec.Command(kerngen, "generate", "--python", python)
			again.Dir = dir
			if out, err := again.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
