package graph_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

// fake is the driver that the tests run on, nil where there is none to be had.
var fake *fakecuda.Driver

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "graph")
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

// start is a reset fake with device 0 open and a stream on it; at the test's end
// nothing may be alive.
func start(t testing.TB) (*fakecuda.Driver, *kernrt.Device, *kernrt.Stream) {
	t.Helper()
	if fake == nil {
		t.Skip("no driver")
	}
	fake.Reset()
	dev, err := kernrt.Open(0)
	must(t, err)
	t.Cleanup(func() {
		fake.Reset()
		dev.Close()
		if leaks := fake.Leaks(); len(leaks) > 0 {
			t.Errorf("still alive: %+v", leaks)
		}
	})
	return fake, dev, newStream(t, dev)
}

func newStream(t testing.TB, dev *kernrt.Device) *kernrt.Stream {
	t.Helper()
	s, err := dev.NewStream()
	must(t, err)
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

type addArgs struct {
	X, Y, Out kernrt.Ptr[float32]
	N         int32
}

// memory is an address for launches, of which the fake runs none.
const memory = 0x7f0000000000

func argsOf(n int32) *addArgs {
	p := kernrt.PtrFromAddr[float32](memory)
	return &addArgs{p, p, p, n}
}

// add is an addition of variants with the guards given; each has one image with
// each change made to it.
func add(t testing.TB, variants [][]kernrt.Guard, changes ...func(variant int, m *kernrt.Image)) *kernrt.Kernel {
	t.Helper()
	b, err := os.ReadFile("../testdata/add.sm90.cubin")
	must(t, err)
	code := string(b)
	k := &kernrt.Kernel{Name: "add_kernel", Params: []kernrt.Param{
		{Name: "x_ptr", Type: "*fp32"}, {Name: "y_ptr", Type: "*fp32"}, {Name: "out_ptr", Type: "*fp32"}, {Name: "n", Type: "i32"},
	}}
	for v, guards := range variants {
		m := kernrt.Image{Target: "sm_90a", Code: &code, Symbol: "add_kernel", Args: []int{0, 1, 2, 3}, Hidden: 2, NumWarps: 4}
		for _, change := range changes {
			change(v, &m)
		}
		k.Variants = append(k.Variants, kernrt.Variant{Guards: guards, Images: []kernrt.Image{m}})
	}
	return k
}

func plain(t testing.TB) *kernrt.Kernel { return add(t, [][]kernrt.Guard{nil}) }

func withScratch(t testing.TB, bytes, align int) *kernrt.Kernel {
	return add(t, [][]kernrt.Guard{nil}, func(_ int, m *kernrt.Image) {
		m.GlobalScratch = kernrt.Scratch{Size: bytes, Align: align}
	})
}

func launch(k *kernrt.Kernel, s *kernrt.Stream, grid int, n int32) error {
	return kernrt.Launch(k, s, kernrt.Grid1D(grid), argsOf(n))
}

// after lets what is queued on a stream from here on follow what is queued on
// another so far.
func after(t testing.TB, later, earlier *kernrt.Stream) {
	t.Helper()
	event, err := later.Device().NewEvent()
	must(t, err)
	must(t, event.Record(earlier))
	must(t, later.Wait(event))
}

// idle wants a stream that takes work again.
func idle(t *testing.T, s *kernrt.Stream) {
	t.Helper()
	must(t, launch(plain(t), s, 1, 16))
	must(t, s.Synchronize())
}

// spoil does what no capture bears, past the runtime's own checks.
func spoil(s *kernrt.Stream) {
	var inside kernrt.Inside
	if ctx, handle, err := inside.Acquire(s); err == nil {
		ctx.Synchronize(handle)
		inside.Release(s)
	}
}
