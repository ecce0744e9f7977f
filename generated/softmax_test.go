package generated_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/kerngen/kerngen/generated/softmax"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestSoftmax(t *testing.T) {
	s := newStream(t)
	for _, c := range []struct{ rows, cols, stride int }{{1, 1, 1}, {4, 1000, 1003}, {64, 1024, 1024}, {200, 5000, 5008}} {
		t.Run(fmt.Sprintf("%dx%d", c.rows, c.cols), func(t *testing.T) {
			x := normal(random(c.cols), c.rows*c.stride, 0, 10)
			out := upload(t, s, poisoned[float32](c.rows*c.cols))
			launched(t, softmax.LaunchSoftmax(s, kernrt.Grid1D(c.rows), out.ptr(), upload(t, s, x).ptr(), int32(c.cols), int32(c.stride), int32(c.cols)))
			var want []float64
			for row := range c.rows {
				want = append(want, softmaxOf(x[row*c.stride:][:c.cols])...)
			}
			// The exponent, up to 90 here, and its product with log2(e) are rounded
			// to 24 bits, 4e-6 each; the hardware's power of two, the sum and the
			// quotient add a few 1e-7. What is below 1e-37 may be flushed to zero.
			near(t, "out", out.read(t, s), want, within(want, 2e-5, 1e-37))
		})
	}
}

// Rows with infinities: a -Inf counts for nothing.
func TestSoftmaxInfinities(t *testing.T) {
	s := newStream(t)
	x := normal(random(1), 3000, 0, 1)
	for i := range 2500 {
		x[i] = float32(math.Inf(-1)) // the first two of three blocks are empty
	}
	out := upload(t, s, poisoned[float32](len(x)))
	launched(t, softmax.LaunchSoftmax(s, kernrt.Grid1D(1), out.ptr(), upload(t, s, x).ptr(), int32(len(x)), int32(len(x)), int32(len(x))))
	want := softmaxOf(x)
	near(t, "out", out.read(t, s), want, within(want, 2e-5, 1e-37))
}

func softmaxOf(x []float32) []float64 {
	top, total := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, float64(v))
	}
	for _, v := range x {
		total += math.Exp(float64(v) - top)
	}
	return each(x, func(v float32) float64 { return math.Exp(float64(v)-top) / total })
}
