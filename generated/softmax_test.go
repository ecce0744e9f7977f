package generated_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/kerngen/kerngen/generated/softmax"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestSoftmax(t *testing.T) {
	t.Run(fp32.name, func(t *testing.T) { testSoftmax(t, fp32) })
	t.Run(fp16.name, func(t *testing.T) { testSoftmax(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testSoftmax(t, bf16) })
}

func testSoftmax[T float32 | kernrt.Float16 | kernrt.BFloat16](t *testing.T, kind floats[T]) {
	s := newStream(t)
	// Strides divisible by 16, which have a variant of their own, and others; no rows.
	for _, c := range []struct{ rows, cols, stride int }{{0, 10, 10}, {1, 1, 1}, {1, 16, 16}, {4, 1000, 1003}, {5, 1030, 1040}, {64, 1024, 1024}, {200, 5000, 5008}} {
		t.Run(fmt.Sprintf("%dx%d of %d", c.rows, c.cols, c.stride), func(t *testing.T) {
			sized(t, c.rows*c.cols)
			x := kind.normal(random(c.cols), c.rows*c.stride, 0, 10)
			out := upload(t, s, poisoned[T](c.rows*c.cols))
			launched(t, softmax.LaunchSoftmax(s, kernrt.Grid1D(c.rows), out.ptr(), upload(t, s, x).ptr(), int64(c.cols), int64(c.stride), int32(c.cols)))
			var want []float64
			for row := range c.rows {
				want = append(want, softmaxOf(kind.widened(x[row*c.stride:][:c.cols]))...)
			}
			nearSoftmax(t, kind, out.read(t, s), want)
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
	launched(t, softmax.LaunchSoftmax(s, kernrt.Grid1D(1), out.ptr(), upload(t, s, x).ptr(), int64(len(x)), int64(len(x)), int32(len(x))))
	nearSoftmax(t, fp32, out.read(t, s), softmaxOf(x))
}

// A row so far from the next that 32 bits do not hold the distance, which there is
// no need to allocate: of one row the stride counts for nothing.
func TestSoftmaxWideStride(t *testing.T) {
	s := newStream(t)
	x := normal(random(1), 100, 0, 1)
	out := upload(t, s, poisoned[float32](len(x)))
	launched(t, softmax.LaunchSoftmax(s, kernrt.Grid1D(1), out.ptr(), upload(t, s, x).ptr(), 1<<40, 1<<40, int32(len(x))))
	nearSoftmax(t, fp32, out.read(t, s), softmaxOf(x))
}

// The exponent, up to 90 here, and its product with log2(e) are rounded to 24
// bits, 4e-6 each; the hardware's power of two, the sum and the quotient add a few
// 1e-7. What is below 1e-37 may be flushed to zero.
func nearSoftmax[T float32 | kernrt.Float16 | kernrt.BFloat16](t *testing.T, kind floats[T], got []T, want []float64) {
	t.Helper()
	near(t, "out", kind.widened(got), want, kind.rounded(want, 2e-5, 1e-37))
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
