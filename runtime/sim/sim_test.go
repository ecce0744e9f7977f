package sim_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"
	"github.com/kerngen/kerngen/runtime/sim"
)

// addArgs are the arguments of runtime/testdata's add_kernel: out = x + y.
type addArgs struct {
	X, Y, Out kernrt.Ptr[float32]
	N         int32
}

const addBlock = 1024

func addKernel(t testing.TB) *kernrt.Kernel {
	t.Helper()
	text, err := os.ReadFile("../testdata/add.sm80.ptx")
	must(t, err)
	code := string(text)
	return &kernrt.Kernel{
		Name:   "add_kernel",
		Params: []kernrt.Param{{Name: "x", Type: "*fp32"}, {Name: "y", Type: "*fp32"}, {Name: "out", Type: "*fp32"}, {Name: "n", Type: "i32"}},
		Variants: []kernrt.Variant{{Images: []kernrt.Image{{
			Target: "sm_80", PTX: true, Code: &code, Symbol: "add_kernel", Args: []int{0, 1, 2, 3}, Hidden: 2, NumWarps: 4,
		}}}},
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, o sim.Options) (*kernrt.Device, *kernrt.Stream) {
	t.Helper()
	dev, err := sim.Open(o)
	must(t, err)
	t.Cleanup(func() { dev.Close() }) // which says again what has failed
	s, err := dev.NewStream()
	must(t, err)
	return dev, s
}

func random(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = rand.Float32()*2 - 1
	}
	return values
}

// sum is three buffers, and what the third should come to hold.
type sum struct {
	x, y, out *kernrt.Buffer[float32]
	want      []float32
}

func newSum(t testing.TB, s *kernrt.Stream, n int) sum {
	t.Helper()
	a, b := random(n), random(n)
	want := make([]float32, n)
	for i := range want {
		want[i] = a[i] + b[i]
	}
	x, err := kernrt.Upload(s, a)
	must(t, err)
	y, err := kernrt.Upload(s, b)
	must(t, err)
	out, err := kernrt.Alloc[float32](s.Device(), n)
	must(t, err)
	return sum{x, y, out, want}
}

func (v sum) args() *addArgs {
	return &addArgs{v.x.Ptr(), v.y.Ptr(), v.out.Ptr(), int32(len(v.want))}
}

func (v sum) grid() kernrt.Grid { return kernrt.Grid1D(kernrt.Cdiv(len(v.want), addBlock)) }

func (v sum) check(t testing.TB, s *kernrt.Stream) {
	t.Helper()
	got, err := v.out.Download(s)
	must(t, err)
	if diff := cmp.Diff(v.want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

func TestLaunch(t *testing.T) {
	for _, target := range []string{"", "sm_80", "sm_86", "sm_89"} {
		for _, unchecked := range []bool{false, true} {
			_, s := open(t, sim.Options{Target: target, Unchecked: unchecked})
			k := addKernel(t)
			for _, n := range []int{16, 1008, 1024, 5008} {
				v := newSum(t, s, n)
				must(t, kernrt.Launch(k, s, v.grid(), v.args()))
				v.check(t, s)
			}
		}
	}
}

func TestTargets(t *testing.T) {
	for _, target := range []string{"sm_90", "sm_8", "sm_800", "gfx90a", "80"} {
		if _, err := sim.Open(sim.Options{Target: target}); err == nil || !strings.Contains(err.Error(), target) {
			t.Errorf("%s: %v", target, err)
		}
	}
	_, s := open(t, sim.Options{Target: "sm_75"})
	v := newSum(t, s, 5)
	if err := kernrt.Launch(addKernel(t), s, v.grid(), v.args()); !errors.Is(err, kernrt.ErrNoImage) {
		t.Errorf("PTX of sm_80 on sm_75: %v", err)
	}
}

// What a program does wrong is found, and named.
func TestFaults(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, v *sum, args *addArgs)
		want   []string
	}{
		"n beyond the memory": {
			func(t *testing.T, v *sum, args *addArgs) { args.N = 4000 },
			[]string{"add_kernel", "ptx line", "program (", "thread (", "past the end"},
		},
		"a freed buffer": {
			func(t *testing.T, v *sum, args *addArgs) { must(t, v.y.Free()) },
			[]string{"add_kernel", "freed", "argument y"},
		},
		"memory never written": {
			func(t *testing.T, v *sum, args *addArgs) { args.X = v.out.Ptr() },
			[]string{"add_kernel", "never been written"},
		},
		"an address of nobody's": {
			func(t *testing.T, v *sum, args *addArgs) { args.Out = kernrt.PtrFromAddr[float32](1 << 20) },
			[]string{"add_kernel", "in no allocation"},
		},
		"a misaligned address": {
			func(t *testing.T, v *sum, args *addArgs) {
				args.Out = kernrt.PtrFromAddr[float32](args.Out.Addr() + 2)
			},
			[]string{"add_kernel", "is not a multiple of 16", "argument out"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dev, s := open(t, sim.Options{Deterministic: true})
			v := newSum(t, s, 3000)
			args := v.args()
			test.change(t, &v, args)
			must(t, kernrt.Launch(addKernel(t), s, v.grid(), args))
			err := s.Synchronize()
			var fault *sim.Fault
			if !errors.As(err, &fault) || fault.Kernel != "add_kernel" || fault.Line == 0 {
				t.Fatalf("%v, want a Fault of add_kernel", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
			var failed *kernrt.DriverError
			if !errors.As(err, &failed) || failed.Name == "" {
				t.Errorf("%v is no driver error with a name", err)
			}
			// As on a GPU nothing works from here on, and nothing hangs.
			if _, err := kernrt.Alloc[int32](dev, 1); err == nil {
				t.Error("memory is allocated on a device that has failed")
			}
			select {
			case err := <-s.Done():
				if err == nil {
					t.Error("Done tells of no error")
				}
			case <-time.After(10 * time.Second):
				t.Error("Done hangs")
			}
		})
	}
}

const endless = `.version 8.0
.target sm_80
.address_size 64
.visible .entry endless()
{
$L:
	bra.uni $L;
}
`

func TestContextStopsEndlessKernel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, s := open(t, sim.Options{Context: ctx})
	code := endless
	k := &kernrt.Kernel{Name: "endless", Variants: []kernrt.Variant{{Images: []kernrt.Image{{Target: "sm_80", PTX: true, Code: &code, Symbol: "endless", NumWarps: 1}}}}}
	must(t, kernrt.Launch(k, s, kernrt.Grid1D(3), &struct{}{}))
	if done, err := s.Query(); done || err != nil {
		t.Fatalf("done %t, %v", done, err)
	}
	cancel()
	if err := s.Synchronize(); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "endless") {
		t.Errorf("%v, want what was canceled", err)
	}
}

// What stops a kernel is a timeout to the driver, with the program's own cause.
func TestContextCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	_, s := open(t, sim.Options{Context: ctx})
	code := endless
	k := &kernrt.Kernel{Name: "endless", Variants: []kernrt.Variant{{Images: []kernrt.Image{{Target: "sm_80", PTX: true, Code: &code, Symbol: "endless", NumWarps: 1}}}}}
	must(t, kernrt.Launch(k, s, kernrt.Grid1D(3), &struct{}{}))
	cause := errors.New("the test has enough")
	cancel(cause)
	err := s.Synchronize()
	var failed *kernrt.DriverError
	if !errors.Is(err, cause) || !errors.As(err, &failed) || failed.Name != "CUDA_ERROR_LAUNCH_TIMEOUT" {
		t.Errorf("%v, want CUDA_ERROR_LAUNCH_TIMEOUT with its cause", err)
	}
}

func TestUnknownInstruction(t *testing.T) {
	_, s := open(t, sim.Options{})
	code := strings.Replace(endless, "bra.uni $L;", "frobnicate.b32 1;", 1)
	k := &kernrt.Kernel{Name: "endless", Variants: []kernrt.Variant{{Images: []kernrt.Image{{Target: "sm_80", PTX: true, Code: &code, Symbol: "endless", NumWarps: 1}}}}}
	err := kernrt.Launch(k, s, kernrt.Grid1D(1), &struct{}{})
	if !errors.Is(err, kernrt.ErrNoImage) || !strings.Contains(err.Error(), "frobnicate") || !strings.Contains(err.Error(), "line 7") {
		t.Errorf("%v, want ErrNoImage with the instruction and its line", err)
	}
}

func TestGraph(t *testing.T) {
	dev, s := open(t, sim.Options{})
	k := addKernel(t)
	v := newSum(t, s, 3000)
	twice, err := kernrt.Alloc[float32](dev, 3000)
	must(t, err)
	var node *graph.Node[addArgs]
	g, err := graph.Capture(s, func() (err error) {
		if err := v.out.Fill(s, 7); err != nil {
			return err
		}
		if node, err = graph.Record[addArgs](s, func() error { return kernrt.Launch(k, s, v.grid(), v.args()) }); err != nil {
			return err
		}
		return kernrt.Launch(k, s, v.grid(), &addArgs{v.out.Ptr(), v.out.Ptr(), twice.Ptr(), 3000})
	})
	must(t, err)
	exec, err := g.Instantiate()
	must(t, err)
	must(t, exec.Upload(s))
	for range 2 {
		must(t, exec.Launch(s))
	}
	v.check(t, s)
	got, err := twice.Download(s)
	must(t, err)
	if got[2999] != 2*v.want[2999] {
		t.Errorf("the second node: %v, want %v", got[2999], 2*v.want[2999])
	}

	// Updated: only the first 1024 elements are added, the others stay filled.
	must(t, node.Update(exec, kernrt.Grid1D(1), v.args()))
	must(t, exec.Launch(s))
	for i := addBlock; i < 3000; i++ {
		v.want[i] = 7
	}
	v.check(t, s)
}

func TestForkedCapture(t *testing.T) {
	dev, s := open(t, sim.Options{})
	other, err := dev.NewStream()
	must(t, err)
	k := addKernel(t)
	a, b := newSum(t, s, 2000), newSum(t, s, 2000)
	fork, err := dev.NewEvent()
	must(t, err)
	join, err := dev.NewEvent()
	must(t, err)
	record := func(joined bool) error {
		errs := []error{
			fork.Record(s), other.Wait(fork),
			kernrt.Launch(k, s, a.grid(), a.args()),
			kernrt.Launch(k, other, b.grid(), b.args()),
		}
		if joined {
			errs = append(errs, join.Record(other), s.Wait(join))
		}
		return errors.Join(errs...)
	}
	if _, err := graph.Capture(s, func() error { return record(false) }); err == nil {
		t.Fatal("a stream that was not joined is captured")
	}
	g, err := graph.Capture(s, func() error { return record(true) })
	must(t, err)
	exec, err := g.Instantiate()
	must(t, err)
	must(t, exec.Launch(s))
	a.check(t, s)
	b.check(t, s)
}

func TestEventsOrderStreams(t *testing.T) {
	dev, s := open(t, sim.Options{})
	other, err := dev.NewStream()
	must(t, err)
	k := addKernel(t)
	for range 20 {
		v := newSum(t, s, 2000)
		copied, err := kernrt.Alloc[float32](dev, 2000)
		must(t, err)
		e, err := dev.NewEvent()
		must(t, err)
		must(t, kernrt.Launch(k, s, v.grid(), v.args()))
		must(t, e.Record(s))
		must(t, other.Wait(e))
		must(t, copied.CopyFromDevice(other, v.out.All()))
		v.out = copied
		v.check(t, other)
		if reached, err := e.Query(); !reached || err != nil {
			t.Fatalf("reached %t, %v", reached, err)
		}
	}
}

func TestPoolAndPinned(t *testing.T) {
	dev, s := open(t, sim.Options{})
	pool, err := dev.NewPool(0)
	must(t, err)
	b, err := kernrt.AllocAsync[int64](pool, s, 1000)
	must(t, err)
	host, err := kernrt.AllocHost[int64](dev, 1000)
	must(t, err)
	values := host.Values()
	for i := range values {
		values[i] = int64(i) * 1e10
	}
	must(t, b.CopyFromAsync(s, host))
	must(t, s.Synchronize())
	got, err := b.Download(s)
	must(t, err)
	if got[999] != 999e10 {
		t.Errorf("%d", got[999])
	}
	stats, err := pool.Stats()
	must(t, err)
	if stats.InUse != 8000 || stats.Peak != 8000 {
		t.Errorf("%+v", stats)
	}
	must(t, b.FreeAsync(s))
	must(t, s.Synchronize())
	if stats, err = pool.Stats(); err != nil || stats.InUse != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestOutOfMemory(t *testing.T) {
	dev, _ := open(t, sim.Options{Memory: 1 << 20})
	if _, err := kernrt.Alloc[byte](dev, 2<<20); !errors.Is(err, kernrt.ErrOutOfMemory) {
		t.Errorf("%v, want ErrOutOfMemory", err)
	}
	b, err := kernrt.Alloc[byte](dev, 1<<20)
	must(t, err)
	must(t, b.Free())
}

// TestHostMemory asks for more than any machine has, of the device and pinned.
func TestHostMemory(t *testing.T) {
	if _, err := sim.Open(sim.Options{Memory: 1<<40 + 1}); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a device of more than 1 TiB: %v", err)
	}
	dev, _ := open(t, sim.Options{})
	if _, err := kernrt.AllocHost[int8](dev, 1<<47); !errors.Is(err, kernrt.ErrOutOfMemory) {
		t.Errorf("pinned memory: %v", err)
	}
}

// TestLargeFill fills more than is made ready at a time.
func TestLargeFill(t *testing.T) {
	_, s := open(t, sim.Options{})
	b, err := kernrt.Alloc[int32](s.Device(), 1<<19+7)
	must(t, err)
	must(t, b.Fill(s, 9))
	got, err := b.Download(s)
	must(t, err)
	if i := slices.IndexFunc(got, func(v int32) bool { return v != 9 }); i >= 0 {
		t.Errorf("element %d is %d", i, got[i])
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("KERNGEN_DEVICE", "sim:sm_86")
	dev, err := kernrt.Open(0)
	must(t, err)
	if got := dev.Info().ComputeCapability; got != [2]int{8, 6} {
		t.Errorf("compute capability %v", got)
	}
	must(t, dev.Close())
	for _, value := range []string{"sim:sm_90", "gpu", "simulated"} {
		t.Setenv("KERNGEN_DEVICE", value)
		if _, err := kernrt.Open(0); !errors.Is(err, kernrt.ErrNoDevice) || !strings.Contains(err.Error(), value) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// Nothing runs on once a device is closed.
func TestNoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		dev, err := sim.Open(sim.Options{Output: &bytes.Buffer{}})
		must(t, err)
		s, err := dev.NewStream()
		must(t, err)
		v := newSum(t, s, 5000)
		must(t, kernrt.Launch(addKernel(t), s, v.grid(), v.args()))
		must(t, dev.Close())
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// Who has waited for the last of a stream's work finds the stream done.
func TestReachedIsDone(t *testing.T) {
	dev, s := open(t, sim.Options{})
	e, err := dev.NewEvent()
	must(t, err)
	b, err := kernrt.Alloc[int32](dev, 100)
	must(t, err)
	for i := range 2000 {
		must(t, b.Fill(s, int32(i)))
		must(t, e.Record(s))
		if i%2 == 0 {
			must(t, e.Synchronize())
		} else {
			must(t, <-s.Done())
		}
		if done, err := s.Query(); !done || err != nil {
			t.Fatalf("round %d: done %t, %v", i, done, err)
		}
	}
}
