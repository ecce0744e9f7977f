// Package fakecuda is a CUDA driver for tests: a C shared object that takes the
// place of libcuda, checks each call as a driver does, records it, and fails on
// cue. Device memory is host memory; copies and fills work; a launch is checked
// and recorded, and nothing runs.
//
// A test builds it, points KERNGEN_LIBCUDA at it before the runtime's first use,
// and opens the same file for itself:
//
//	path, err := fakecuda.Build(dir)
//	os.Setenv("KERNGEN_LIBCUDA", path)
//	driver, err := fakecuda.Open(path)
//
// Its answers were compared with those of a real driver (CUDA 13.0 on an H200).
// On purpose it is stricter in one thing: the real one takes many calls for a
// stream, a module or memory while no context or another one is current, and the
// fake refuses them, with 201 and 400, so that a forgotten context is found. Work
// is done as it is queued, and a launch of a graph does its nodes in the order of
// their capture; memory that a graph allocates is there from the capture on. The
// legacy default stream does not wait for other streams, and so breaks no capture.
// A tensor map holds its arguments, not what the hardware reads. Of PTX it reads what a launch needs; it
// does not find mistakes in the code.
//
// A process has one fake for each file it opens; the state is the file's, not
// the Driver's.
package fakecuda

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// In a folder of its own, so that cgo does not compile it into the package.
//
//go:embed src/*.c src/*.h
var source embed.FS

// Build compiles the fake with $CC, or gcc, into dir and returns the shared
// object's path. FAKE_VERSION=12030 among the defines plays a driver of CUDA
// 12.3, without the functions that came later.
func Build(dir string, defines ...string) (path string, err error) {
	work, err := os.MkdirTemp(dir, "fakecuda")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(work, source); err != nil {
		return "", err
	}
	path = filepath.Join(work, "libfakecuda.so")
	// Hidden and bound to itself: a real libcuda in the process must not mix in.
	args := []string{
		"-std=c11", "-O2", "-shared", "-fPIC", "-pthread",
		"-fvisibility=hidden", "-Wl,-Bsymbolic", "-o", path,
	}
	for _, d := range defines {
		args = append(args, "-D"+d)
	}
	sources, err := fs.Glob(source, "src/*.c")
	if err != nil {
		return "", err
	}
	for _, s := range sources {
		args = append(args, filepath.Join(work, filepath.FromSlash(s)))
	}
	compiler := strings.Fields(os.Getenv("CC")) // as for the go command, arguments may follow
	if len(compiler) == 0 {
		compiler = []string{"gcc"}
	}
	out, err := exec.Command(compiler[0], append(compiler[1:], args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the fake driver with %s: %w\n%s", compiler[0], err, out)
	}
	return path, nil
}
