package generated_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kerngen/kerngen/generated/cooperative"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestNormalize(t *testing.T) {
	s := newStream(t)
	for _, c := range []struct{ n, programs int }{{5, 1}, {100_001, 7}, {1_000_003, device(t).Info().SMCount}} {
		t.Run(fmt.Sprintf("%d on %d", c.n, c.programs), func(t *testing.T) {
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
	if !errors.As(err, &refusal) || refusal.Name != "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" {
		t.Errorf("got %v, want CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", err)
	}
	equal(t, "out", out.read(t, s), poisoned[float32](1))
	equal(t, "arrived", arrived.read(t, s), []int64{0})
	stillWorks(t, s)
}
