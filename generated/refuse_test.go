package generated_test

import (
	"errors"
	"testing"

	"github.com/kerngen/kerngen/generated/descriptor"
	"github.com/kerngen/kerngen/generated/histogram"
	"github.com/kerngen/kerngen/generated/matmul"
	"github.com/kerngen/kerngen/generated/norm"
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
	softmaxed := func(grid kernrt.Grid) error {
		return softmax.LaunchSoftmax(s, grid, out.ptr(), in.ptr(), 10, 10, 10)
	}
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"null input", vec.LaunchAdd(s, null, in.ptr(), out.ptr(), 10), kernrt.ErrArgument},
		{"null output", vec.LaunchAdd(s, in.ptr(), in.ptr(), null, 10), kernrt.ErrArgument},
		{"null of an aligned pointer", softmax.LaunchSoftmax(s, one, out.ptr(), null, 10, 10, 10), kernrt.ErrArgument},
		{"null beside one that may be absent", norm.LaunchLayerNorm(s, one, in.ptr(), null, null, out.ptr(), 10, 10, 10, 1), kernrt.ErrArgument},
		{"misaligned output", softmax.LaunchSoftmax(s, one, out.ptr().Add(1), in.ptr(), 10, 10, 10), kernrt.ErrArgument},
		{"misaligned input", histogram.LaunchHistogram(s, ints.Add(3), ints, 1, 1), kernrt.ErrArgument},
		{"misaligned bias", norm.LaunchLayerNorm(s, one, in.ptr(), in.ptr(), in.ptr().Add(1), out.ptr(), 10, 10, 10, 1), kernrt.ErrArgument},
		{"a stride that is not 1", matmul.LaunchMatmul(s, half, half, half, 16, 16, 16, 16, 2, 16, 1, 16, 1), kernrt.ErrArgument},
		{"a size not divisible by 16", matmul.LaunchMatmul(s, half, half, half, 16, 17, 16, 16, 1, 16, 1, 16, 1), kernrt.ErrArgument},
		{"negative size", vec.LaunchAdd(s, in.ptr(), in.ptr(), out.ptr(), -5000), kernrt.ErrArgument},
		{"no configuration", matmul.LaunchMatmulConfig(s, len(matmul.MatmulConfigs), &matmul.MatmulArgs[kernrt.Float16]{}), kernrt.ErrArgument},
		{"declared grid too large", descriptor.LaunchScale(s, in.ptr(), out.ptr(), 64, 1<<30, 1), kernrt.ErrLimit},
		{"grid beyond y", softmaxed(kernrt.Grid2D(1, 1<<16)), kernrt.ErrLimit},
		{"grid beyond z", softmaxed(kernrt.Grid3D(1, 1, 1<<16)), kernrt.ErrLimit},
		{"grid beyond x", softmaxed(kernrt.Grid1D(1 << 31)), kernrt.ErrLimit},
		{"negative grid", softmaxed(kernrt.Grid1D(-1)), kernrt.ErrArgument},
		{"no grid", softmaxed(kernrt.Grid{}), kernrt.ErrArgument},
		{"no stream", vec.LaunchAdd(nil, in.ptr(), in.ptr(), out.ptr(), 10), kernrt.ErrArgument},
		{"nothing to add", vec.LaunchAdd(s, null, null, null, 0), nil},
		{"empty grid", softmax.LaunchSoftmax(s, kernrt.Grid1D(0), null, null, 10, 10, 10), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !errors.Is(c.err, c.want) {
				t.Errorf("got %v, want %v", c.err, c.want)
			}
			t.Log(c.err)
		})
	}
	t.Run("grid of clusters", func(t *testing.T) {
		err := matmul.LaunchMatmulCta2(s, half, half, half, 1<<30, 1<<14, 16, 16, 1, 16, 1, 16, 1)
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
