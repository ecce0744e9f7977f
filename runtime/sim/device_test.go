package sim_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"
	"github.com/kerngen/kerngen/runtime/sim"
)

// What a multiprocessor holds is its architecture's.
func TestOccupancy(t *testing.T) {
	for target, want := range map[string]int{"sm_80": 16, "sm_86": 12, "sm_89": 12} {
		dev, s := open(t, sim.Options{Target: target})
		got, err := kernrt.OccupancyOf(addKernel(t), dev, newSum(t, s, 1).args())
		must(t, err)
		if got.CTAsPerSM != want { // of 128 threads
			t.Errorf("%s: %d CTAs, want %d", target, got.CTAsPerSM, want)
		}
	}
}

// CTAs that wait for each other must all run at once: more of them are refused,
// as a GPU does.
func TestCooperativeTooLarge(t *testing.T) {
	_, s := open(t, sim.Options{})
	k := addKernel(t)
	k.Variants[0].Images[0].Cooperative = true
	v := newSum(t, s, 3000)
	must(t, kernrt.Launch(k, s, v.grid(), v.args()))
	v.check(t, s)
	args := v.args()
	if err := kernrt.Launch(k, s, kernrt.Grid1D(16*16+1), args); !errors.Is(err, kernrt.ErrLimit) || !strings.Contains(err.Error(), "256") {
		t.Errorf("%v, want ErrLimit with the largest grid", err)
	}
	must(t, s.Synchronize()) // which has failed at nothing
}

// Closing a device waits for what runs; nothing is lost.
func TestCloseWaits(t *testing.T) {
	dev, err := sim.Open(sim.Options{})
	must(t, err)
	s, err := dev.NewStream()
	must(t, err)
	k := addKernel(t)
	v := newSum(t, s, 200_000)
	out, err := kernrt.AllocHost[float32](dev, len(v.want))
	must(t, err)
	for range 5 {
		must(t, kernrt.Launch(k, s, v.grid(), v.args()))
	}
	must(t, v.out.CopyToAsync(s, out))
	values := out.Values()
	must(t, dev.Close())
	for i, want := range v.want {
		if values[i] != want {
			t.Fatalf("element %d is %v, want %v", i, values[i], want)
		}
	}
	if err := kernrt.Launch(k, s, v.grid(), v.args()); !errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("a launch on a closed device: %v", err)
	}
}

// A context bounds a wait, and the work goes on.
func TestSynchronizeContext(t *testing.T) {
	stop, cancelDevice := context.WithCancel(context.Background())
	defer cancelDevice()
	_, s := open(t, sim.Options{Context: stop})
	x, err := kernrt.Upload(s, []float32{0})
	must(t, err)
	must(t, kernrt.Launch(planted(t, "endless"), s, kernrt.Grid1D(1), &plantedArgs{x.Ptr(), x.Ptr(), 1}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.SynchronizeContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if done, err := s.Query(); done || err != nil {
		t.Errorf("done %t, %v", done, err)
	}
}

// A stream that is captured is not waited for, and the capture is unharmed.
func TestCapturedStream(t *testing.T) {
	_, s := open(t, sim.Options{})
	v := newSum(t, s, 100)
	_, exec := capture(t, s, func() error {
		for name, err := range map[string]error{"synchronize": s.Synchronize(), "close": s.Close(), "copy": v.out.CopyFrom(s, v.want)} {
			if !errors.Is(err, kernrt.ErrCapturing) {
				t.Errorf("%s: %v, want ErrCapturing", name, err)
			}
		}
		return kernrt.Launch(addKernel(t), s, v.grid(), v.args())
	})
	must(t, exec.Launch(s))
	v.check(t, s)
}

func capture(t *testing.T, s *kernrt.Stream, record func() error) (*graph.Graph, *graph.Exec) {
	t.Helper()
	g, err := graph.Capture(s, record)
	must(t, err)
	exec, err := g.Instantiate()
	must(t, err)
	return g, exec
}
