package generated_test

import (
	"fmt"
	"testing"

	"github.com/kerngen/kerngen/generated/histogram"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestHistogram(t *testing.T) {
	s := newStream(t)
	for _, c := range []struct{ n, bins int }{{1, 1}, {1000, 10}, {100_001, 256}, {1_000_003, 5000}} {
		t.Run(fmt.Sprintf("%d in %d", c.n, c.bins), func(t *testing.T) {
			const launches = 3
			r := random(c.n)
			x := generate(c.n, func() int32 { return int32(r.IntN(c.bins+6) - 3) }) // some are out of range
			start := generate(c.bins, func() int32 { return int32(r.IntN(1000)) })
			counts, xs := upload(t, s, start), upload(t, s, x)
			for range launches {
				launched(t, histogram.LaunchHistogram(s, kernrt.Grid1D(cdiv(c.n, histogram.HistogramBlock)), xs.ptr(), counts.ptr(), int32(c.n), int32(c.bins)))
			}
			want := append([]int32(nil), start...)
			for _, v := range x {
				if v >= 0 && int(v) < c.bins {
					want[v] += launches
				}
			}
			equal(t, "counts", counts.read(t, s), want)
		})
	}
}
