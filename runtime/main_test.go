package kernrt_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

// fake is the driver that this package's tests run on: it records what it is
// told and fails on cue. nil where there is none to be had: without cgo.
var fake *fakecuda.Driver

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kernrt")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	path, err := fakecuda.Build(dir)
	if err == nil {
		os.Setenv("KERNGEN_LIBCUDA", path)
		fake, err = fakecuda.Open(path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests of the driver are skipped:", err)
	}
	return m.Run()
}
