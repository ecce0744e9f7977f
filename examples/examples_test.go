// Package examples tests the programs below it.
package examples

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

//go:generate go -C tutorial generate ./...

// programs are the examples, and what each finds wrong where its kernels do not
// run.
var programs = map[string]string{
	"vecadd":   "vecadd: element ",
	"matmul":   "matmul: row ",
	"streams":  "streams: element ",
	"graph":    "graph: element ",
	"pipeline": "pipeline: element ",
	"dynamic":  "dynamic: element ",
}

// Each example must succeed on this machine, whether it has a GPU or not, and
// on the simulated device where there is no driver; and it must find that a driver that runs nothing
// leaves wrong results.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fake, noFake := fakecuda.Build(t.TempDir())

	built, err := os.ReadDir(bin)
	if err != nil {
		t.Fatal(err)
	}
	if len(built) != len(programs) {
		t.Errorf("%d programs are built, %d tested", len(built), len(programs))
	}
	for name, fault := range programs {
		t.Run(name, func(t *testing.T) {
			if out, err := run(filepath.Join(bin, name), os.Getenv("KERNGEN_LIBCUDA")); err != nil {
				t.Errorf("on this machine: %v\n%s", err, out)
			}
			out, err := run(filepath.Join(bin, name), filepath.Join(bin, "none.so"))
			if err != nil || !strings.HasPrefix(out, "There is no GPU here: no CUDA driver: ") || !strings.Contains(out, "\nsimulated device (device 0, sm_80) ") {
				t.Errorf("without a driver: %v\n%s", err, out)
			}
			if strings.Contains(out, "without cgo") {
				return
			}
			if noFake != nil {
				t.Skip(noFake)
			}
			out, err = run(filepath.Join(bin, name), fake)
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.HasPrefix(out, fault) || !strings.Contains(out, ", want ") {
				t.Errorf("where kernels do not run: %v\n%s", err, out)
			}
		})
	}
}

// run runs a program on a driver, by default the machine's.
func run(program, libcuda string) (output string, err error) {
	c := exec.Command(program)
	c.Env = append(os.Environ(), "KERNGEN_LIBCUDA="+libcuda)
	out, err := c.CombinedOutput()
	return string(out), err
}
