package kernrt_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

// fake is the driver that this package's tests run on: it records what it is
// told and fails on cue. nil where there is none to be had: without cgo.
var fake *fakecuda.Driver

// childLibrary names the environment variable by which a test that runs again
// in a process of its own is told what to open in libcuda's place.
const childLibrary = "KERNRT_TEST_LIBRARY"

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if library, child := os.LookupEnv(childLibrary); child {
		os.Setenv("KERNGEN_LIBCUDA", library)
		fake, _ = fakecuda.Open(library) // the test may be of one that is none
		return m.Run()
	}
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

// inOwnProcess runs the calling test again in a process of its own, with
// another library in libcuda's place: the runtime opens one a process. It
// reports whether this is that process.
func inOwnProcess(t *testing.T, library func() string) bool {
	t.Helper()
	if _, child := os.LookupEnv(childLibrary); child {
		return true
	}
	if fake == nil {
		t.Skip("no driver")
	}
	pattern := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	child := exec.Command(os.Args[0], "-test.run="+pattern, "-test.v")
	child.Env = append(os.Environ(), childLibrary+"="+library())
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in a process of its own: %v\n%s", err, out)
	}
	return false
}

// driver resets the fake for a test, and at the test's end wants nothing alive.
func driver(t testing.TB) *fakecuda.Driver {
	t.Helper()
	if fake == nil {
		t.Skip("no driver")
	}
	fake.Reset()
	t.Cleanup(func() {
		if leaks := fake.Leaks(); len(leaks) > 0 {
			t.Errorf("still alive: %+v", leaks)
		}
		fake.Reset()
	})
	return fake
}

// open opens a device for a test, which may close it.
func open(t testing.TB, ordinal int) *kernrt.Device {
	t.Helper()
	dev, err := kernrt.Open(ordinal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

func newStream(t testing.TB, dev *kernrt.Device, options ...kernrt.StreamOption) *kernrt.Stream {
	t.Helper()
	s, err := dev.NewStream(options...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// onDevice0 is a reset fake with device 0 open and a stream on it.
func onDevice0(t testing.TB) (*fakecuda.Driver, *kernrt.Device, *kernrt.Stream) {
	t.Helper()
	d := driver(t)
	dev := open(t, 0)
	return d, dev, newStream(t, dev)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fakeLibrary(t *testing.T, defines ...string) string {
	t.Helper()
	path, err := fakecuda.Build(t.TempDir(), defines...)
	must(t, err)
	return path
}
