package cuda_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kerngen/kerngen/internal/fakecuda"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// fake is the driver that the tests run on, unless the environment names another
// one; then it is nil, and what only the fake can tell is not looked at.
var fake *fakecuda.Driver

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if library, set := os.LookupEnv(cuda.LibraryVariable); set {
		fake, _ = fakecuda.Open(library)
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "cuda")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	path, err := fakecuda.Build(dir)
	if err == nil {
		os.Setenv(cuda.LibraryVariable, path)
		fake, err = fakecuda.Open(path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the fake driver:", err)
	}
	return m.Run()
}

// start returns device 0 and its context; at the test's end nothing made in it
// is to be alive.
func start(t *testing.T) (cuda.Device, cuda.Context) {
	t.Helper()
	if fake != nil {
		fake.Reset()
	}
	if err := cuda.Open(); err != nil {
		t.Skip(err)
	}
	device, s := cuda.DeviceAt(0)
	must(t, s)
	ctx, s := device.Retain()
	must(t, s)
	t.Cleanup(func() {
		if fake != nil {
			fake.Reset()
			for _, leak := range fake.Leaks() {
				if leak.Kind != "context" {
					t.Errorf("still alive: %+v", leak)
				}
			}
		}
		must(t, ctx.Release(device))
	})
	return device, ctx
}

func must(t *testing.T, s cuda.Status) {
	t.Helper()
	if s != cuda.OK {
		name, text := cuda.Describe(s)
		t.Fatalf("%s: %s: %s", s.Call(), name, text)
	}
}

// expect wants a call to fail with a result.
func expect(t *testing.T, s cuda.Status, call string, result int) {
	t.Helper()
	if s == cuda.OK || s.Call() != call || s.Result() != result {
		t.Fatalf("got %q with result %d, want %q with %d", s.Call(), s.Result(), call, result)
	}
}

func stream(t *testing.T, ctx cuda.Context) cuda.Stream {
	t.Helper()
	st, s := ctx.NewStream(0)
	must(t, s)
	t.Cleanup(func() { must(t, ctx.Destroy(st)) })
	return st
}

func event(t *testing.T, ctx cuda.Context, flags uint32) cuda.Event {
	t.Helper()
	e, s := ctx.NewEvent(flags)
	must(t, s)
	t.Cleanup(func() { must(t, ctx.DestroyEvent(e)) })
	return e
}

func memory(t *testing.T, ctx cuda.Context, bytes uint64) uint64 {
	t.Helper()
	p, s := ctx.Alloc(bytes)
	must(t, s)
	t.Cleanup(func() { must(t, ctx.Free(p)) })
	return p
}

// add is x + y -> out of n float32: a kernel of four arguments, 128 threads to a
// CTA, 1024 elements each, and two scratch pointers.
func add(t *testing.T, ctx cuda.Context) (cuda.Function, cuda.Plan) {
	t.Helper()
	image, err := os.ReadFile(filepath.Join("..", "..", "testdata", "add.sm90.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	m, log, s := ctx.LoadModule(string(image))
	if s.Result() == cuda.NoBinary {
		t.Skip("the device is not an sm_90:", log)
	}
	must(t, s)
	t.Cleanup(func() { must(t, ctx.Unload(m)) })
	f, s := ctx.FunctionOf(m, "add_kernel")
	must(t, s)
	plan := cuda.NewPlan(cuda.PlanSpec{
		Context: ctx, Function: f, Threads: 128, Cluster: [3]int{1, 1, 1}, Hidden: 2,
		Offsets: []uintptr{0, 8, 16, 24},
	})
	t.Cleanup(plan.Free)
	return f, plan
}

type addArgs struct {
	x, y, out uint64
	n         int32
}

// inOwnProcess runs the calling test again on a fake of its own. It reports
// whether this is that process.
func inOwnProcess(t *testing.T, defines ...string) bool {
	t.Helper()
	const child = "KERNGEN_TEST_CHILD"
	if os.Getenv(child) != "" {
		return true
	}
	if fake == nil {
		t.Skip("no fake driver")
	}
	path, err := fakecuda.Build(t.TempDir(), defines...)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), child+"=1", cuda.LibraryVariable+"="+path)
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in a process of its own: %v\n%s", err, out)
	}
	return false
}
