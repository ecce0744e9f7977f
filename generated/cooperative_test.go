package generated_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kerngen/kerngen/generated/cooperative"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestNormalize(t *testing.T) {
	s := newStream(t)
	for _, c := range []struct{ n, programs int }{{5, 1}, {100_001, 7}, {1_000_003, device(t).Info().SMCount}, {5000, 3}} {
		t.Run(fmt.Sprintf("%d on %d", c.n, c.programs), func(t *testing.T) {
			sized(t, c.n)
			const launches = 3
			x, total := integers(random(c.n), c.n, 1, 8), 0.0
			for _, v := range x {
				total += float64(v)
			}
			xs, out := upload(t, s, x), upload(t, s, poisoned[float32](c.n))
			partial, arrived := upload(t, s, poisoned[float32](c.programs)), upload(t, s, []int64{0})
			for range launches {
				launched(t, cooperative.LaunchNormalize(s, kernrt.Grid1D(c.programs), xs.ptr(), out.ptr(), partial.ptr(), arrived.ptr(), int32(c.n)))
			}
			// The sums are whole numbers below 2^24, hence exact; Triton's division
			// is good to 2 ulp.
			want := each(x, func(v float32) float64 { return float64(v) / total })
			near(t, "out", out.read(t, s), want, within(want, 0x1p-22, 0))
			sum := 0.0
			for _, v := range partial.read(t, s) {
				sum += float64(v)
			}
			equal(t, "sum of partial", []float64{sum}, []float64{total})
			equal(t, "arrived", arrived.read(t, s), []int64{int64(launches * c.programs)})
		})
	}
}

// A cooperative grid that the device cannot hold at once is refused, and nothing
// of it runs.
func TestNormalizeTooLarge(t *testing.T) {
	s := newStream(t)
	info := device(t).Info()
	programs := info.SMCount*info.MaxBlocksPerSM + 1
	x, out := upload(t, s, []float32{1}), upload(t, s, poisoned[float32](1))
	partial, arrived := upload(t, s, poisoned[float32](programs)), upload(t, s, []int64{0})
	err := cooperative.LaunchNormalize(s, kernrt.Grid1D(programs), x.ptr(), out.ptr(), partial.ptr(), arrived.ptr(), 1)
	var refusal *kernrt.DriverError
	if !errors.As(err, &refusal) || refusal.Name != "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" || !errors.Is(err, kernrt.ErrLimit) {
		t.Errorf("got %v, want CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", err)
	}
	t.Log(err)
	equal(t, "out", out.read(t, s), poisoned[float32](1))
	equal(t, "arrived", arrived.read(t, s), []int64{0})
	stillWorks(t, s)
}

// The largest grid that the error of a larger one names runs, and one more
// program does not.
func TestNormalizeOnAllOfTheDevice(t *testing.T) {
	s := newStream(t)
	k := cooperative.Kernels()[0]
	const n, most = 1_000_003, 1024 // programs that the kernel itself takes
	x, out := upload(t, s, integers(random(n), n, 1, 8)), upload(t, s, poisoned[float32](n))
	partial, arrived := upload(t, s, poisoned[float32](1<<16)), upload(t, s, []int64{0})
	args := cooperative.NormalizeArgs{XPtr: x.ptr(), OutPtr: out.ptr(), PartialPtr: partial.ptr(), ArrivedPtr: arrived.ptr(), N: n}
	o, err := kernrt.OccupancyOf(k, device(t), &args)
	launched(t, err)
	t.Logf("%+v", o)
	if o.CTAsPerSM < 1 || o.Programs != o.CTAsPerSM*device(t).Info().SMCount {
		t.Errorf("occupancy %+v", o)
	}
	launch := func(grid kernrt.Grid) error {
		return cooperative.LaunchNormalize(s, grid, args.XPtr, args.OutPtr, args.PartialPtr, args.ArrivedPtr, n)
	}
	if err := launch(kernrt.Grid1D(o.Programs + 1)); !errors.Is(err, kernrt.ErrLimit) || !strings.Contains(err.Error(), fmt.Sprintf("of which the device holds %d;", o.Programs)) {
		t.Errorf("got %v, want ErrLimit naming %d programs", err, o.Programs)
	}
	equal(t, "arrived", arrived.read(t, s), []int64{0})
	launched(t, launch(kernrt.ResidentGrid()))
	equal(t, "arrived", arrived.read(t, s), []int64{int64(o.Programs)})
	if o.Programs > most {
		return // right for so many programs only
	}
	total := 0.0
	for _, v := range x.read(t, s) {
		total += float64(v)
	}
	want := each(x.read(t, s), func(v float32) float64 { return float64(v) / total })
	near(t, "out", out.read(t, s), want, within(want, 0x1p-22, 0))
}
