package generated_test

import (
	"fmt"
	"testing"

	"github.com/kerngen/kerngen/generated/histogram"
)

func TestHistogram(t *testing.T) {
	t.Run("i32", testHistogram[int32])
	t.Run("i64", testHistogram[int64])
}

func testHistogram[T int32 | int64](t *testing.T) {
	s := newStream(t)
	// One element, and multiples of 16, have variants of their own.
	for _, c := range []struct{ n, bins int }{{0, 3}, {1, 1}, {16, 1}, {1000, 10}, {4096, 100}, {100_001, 256}, {1_000_003, 5000}} {
		t.Run(fmt.Sprintf("%d in %d", c.n, c.bins), func(t *testing.T) {
			sized(t, c.n)
			const launches = 3
			r := random(c.n)
			x := generate(c.n, func() T { return T(r.IntN(c.bins+6) - 3) }) // some are out of range
			start := generate(c.bins, func() int32 { return int32(r.IntN(1000)) })
			counts, xs := upload(t, s, start), upload(t, s, x)
			for range launches {
				launched(t, histogram.LaunchHistogram(s, xs.ptr(), counts.ptr(), int32(c.n), int32(c.bins)))
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
