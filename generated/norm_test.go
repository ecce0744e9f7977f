package generated_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/kerngen/kerngen/generated/norm"
	kernrt "github.com/kerngen/kerngen/runtime"
)

const normEps = 1e-5

func TestLayerNorm(t *testing.T) {
	t.Run(fp32.name, func(t *testing.T) { testLayerNorm(t, fp32) })
	t.Run(fp16.name, func(t *testing.T) { testLayerNorm(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testLayerNorm(t, bf16) })
}

func testLayerNorm[T float32 | kernrt.Float16 | kernrt.BFloat16](t *testing.T, kind floats[T]) {
	s := newStream(t)
	for _, c := range []struct{ rows, cols, stride int }{{0, 7, 7}, {1, 1, 1}, {1, 7, 7}, {3, 1000, 1024}, {64, 1024, 1030}, {100, 4101, 4101}} {
		for _, biased := range []bool{true, false} {
			t.Run(fmt.Sprintf("%dx%d biased=%t", c.rows, c.cols, biased), func(t *testing.T) {
				sized(t, c.rows*c.cols)
				r := random(c.cols)
				x, weight := kind.normal(r, c.rows*c.stride, 3, 2), kind.normal(r, c.cols, 0, 1)
				bias, biasPtr := make([]T, c.cols), kernrt.Ptr[T]{}
				if biased {
					bias = kind.normal(r, c.cols, 0, 1)
					biasPtr = upload(t, s, bias).ptr()
				}
				out := upload(t, s, poisoned[T](c.rows*c.cols))
				launched(t, norm.LaunchLayerNorm(s, kernrt.Grid1D(c.rows), upload(t, s, x).ptr(), upload(t, s, weight).ptr(), biasPtr, out.ptr(),
					int32(c.stride), int32(c.cols), int32(c.cols), normEps))
				want := layerNormOf(kind.widened(x), kind.widened(weight), kind.widened(bias), c.rows, c.cols, c.stride)
				// The mean of numbers about 3 is off by some 1e-6, and the bias may
				// cancel all but that; square root and quotients are good to 2 ulp.
				near(t, "out", kind.widened(out.read(t, s)), want, kind.rounded(want, 1e-5, 1e-5))
			})
		}
	}
}

func layerNormOf(x, weight, bias []float32, rows, cols, stride int) []float64 {
	var out []float64
	for row := range rows {
		x := widened(x[row*stride:][:cols])
		mean, variance := 0.0, 0.0
		for _, v := range x {
			mean += v / float64(cols)
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(cols)
		}
		for i, v := range x {
			out = append(out, (v-mean)/math.Sqrt(variance+normEps)*float64(weight[i])+float64(bias[i]))
		}
	}
	return out
}
