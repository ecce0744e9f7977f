//go:build cgo

package main

import (
	"fmt"
	"math"
	"slices"
)

// interval is a median with the 95 % interval of it.
type interval struct{ low, median, high float64 }

// medianOf returns the median of samples with its distribution-free 95 %
// interval: the order statistics between which the median lies with that
// probability, by the binomial distribution's normal approximation (good from
// 30 samples on).
func medianOf(samples []float64) interval {
	s := slices.Sorted(slices.Values(samples))
	n := float64(len(s))
	half := 1.96 * math.Sqrt(n) / 2
	at := func(rank float64) float64 { return s[int(min(max(rank, 0), n-1))] }
	return interval{
		low:    at(math.Floor(n/2 - half)),
		median: (s[(len(s)-1)/2] + s[len(s)/2]) / 2,
		high:   at(math.Ceil(n/2 + half)),
	}
}

func (i interval) String() string {
	return fmt.Sprintf("%.1f (%.1f to %.1f)", i.median, i.low, i.high)
}
