package generated_test

import (
	"errors"
	"testing"

	"github.com/kerngen/kerngen/generated/histogram"
	"github.com/kerngen/kerngen/generated/matmul"
	"github.com/kerngen/kerngen/generated/softmax"
	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// What a launch refuses leaves memory alone and the device in order.
func TestRefusals(t *testing.T) {
	s := newStream(t)
	in, out := upload(t, s, make([]float32, 4096)), upload(t, s, poisoned[float32](4096))
	ints := kernrt.PtrFromAddr[int32](in.ptr().Addr())
	half := kernrt.PtrFromAddr[kernrt.Float16](in.ptr().Addr())
	var null kernrt.Ptr[float32]
	one := kernrt.Grid1D(1)
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"null input", vec.LaunchAddFp32(s, one, null, in.ptr(), out.ptr(), 10), kernrt.ErrArgument},
		{"null output", vec.LaunchAddFp32(s, one, in.ptr(), in.ptr(), null, 10), kernrt.ErrArgument},
		{"null of a single variant", softmax.LaunchSoftmax(s, one, out.ptr(), null, 10, 10, 10), kernrt.ErrArgument},
		{"misaligned output", softmax.LaunchSoftmax(s, one, out.ptr().Add(1), in.ptr(), 10, 10, 10), kernrt.ErrArgument},
		{"misaligned input", histogram.LaunchHistogram(s, one, ints.Add(3), ints, 0, 1), kernrt.ErrArgument},
		{"grid beyond y", vec.LaunchAddFp32(s, kernrt.Grid2D(1, 1<<16), in.ptr(), in.ptr(), out.ptr(), 10), kernrt.ErrLimit},
		{"grid beyond z", vec.LaunchAddFp32(s, kernrt.Grid3D(1, 1, 1<<16), in.ptr(), in.ptr(), out.ptr(), 10), kernrt.ErrLimit},
		{"grid beyond x", vec.LaunchAddFp32(s, kernrt.Grid1D(1<<31), in.ptr(), in.ptr(), out.ptr(), 10), kernrt.ErrLimit},
		{"negative grid", vec.LaunchAddFp32(s, kernrt.Grid1D(-1), in.ptr(), in.ptr(), out.ptr(), 10), kernrt.ErrArgument},
		{"no grid", vec.LaunchAddFp32(s, kernrt.Grid{}, in.ptr(), in.ptr(), out.ptr(), 10), kernrt.ErrArgument},
		{"no stream", vec.LaunchAddFp32(nil, one, in.ptr(), in.ptr(), out.ptr(), 10), kernrt.ErrArgument},
		{"empty grid", vec.LaunchAddFp32(s, kernrt.Grid1D(0), null, null, null, 10), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !errors.Is(c.err, c.want) {
				t.Errorf("got %v, want %v", c.err, c.want)
			}
			t.Log(c.err)
		})
	}
	t.Run("grid of clusters", func(t *testing.T) {
		err := matmul.LaunchMatmulCta2(s, kernrt.Grid1D(1<<30), half, half, half, 16, 16, 16, 16, 1, 16, 1, 16, 1)
		if device(t).Info().ComputeCapability[0] < 9 {
			launchedFromSM90(t, err)
		}
		if !errors.Is(err, kernrt.ErrLimit) { // two CTAs each are more than 2^31 - 1
			t.Errorf("got %v, want %v", err, kernrt.ErrLimit)
		}
	})
	equal(t, "out", out.read(t, s), poisoned[float32](4096))
	stillWorks(t, s)
}

// A closed stream refuses to launch; others of the device go on.
func TestClosedStream(t *testing.T) {
	s := newStream(t)
	closed, err := device(t).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	a := newAddition(t, s, []float32{1}, []float32{2}, [3]int{})
	if err := a.launch(closed); !errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	stillWorks(t, s)
}

// stillWorks launches a kernel and checks it.
func stillWorks(t *testing.T, s *kernrt.Stream) {
	t.Helper()
	r := random(1)
	a := newAddition(t, s, normal(r, 3000, 0, 1), normal(r, 3000, 0, 1), [3]int{})
	launched(t, a.launch(s))
	a.check(t, s)
}
