package generated_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/kerngen/kerngen/generated/norm"
	kernrt "github.com/kerngen/kerngen/runtime"
)

const normEps = 1e-5

var normCases = []struct{ rows, cols, stride int }{{1, 7, 7}, {3, 1000, 1024}, {64, 1024, 1030}, {100, 4101, 4101}}

func TestLayerNormFp32(t *testing.T) {
	s := newStream(t)
	for _, c := range normCases {
		t.Run(fmt.Sprintf("%dx%d", c.rows, c.cols), func(t *testing.T) {
			r := random(c.cols)
			x, weight, bias := normal(r, c.rows*c.stride, 3, 2), normal(r, c.cols, 0, 1), normal(r, c.cols, 0, 1)
			out := upload(t, s, poisoned[float32](c.rows*c.cols))
			launched(t, norm.LaunchLayerNormFp32(s, kernrt.Grid1D(c.rows), upload(t, s, x).ptr(), upload(t, s, weight).ptr(),
				upload(t, s, bias).ptr(), out.ptr(), int32(c.stride), int32(c.cols), int32(c.cols), normEps))
			want := layerNormOf(x, weight, bias, c.rows, c.cols, c.stride)
			// The mean of numbers about 3 is off by some 1e-6, and the bias may
			// cancel all but that; square root and quotients are good to 2 ulp.
			near(t, "out", out.read(t, s), want, within(want, 1e-5, 1e-5))
		})
	}
}

func TestLayerNormFp16(t *testing.T) {
	s := newStream(t)
	for _, c := range normCases {
		t.Run(fmt.Sprintf("%dx%d", c.rows, c.cols), func(t *testing.T) {
			r := random(c.cols)
			x, weight, bias := halves(normal(r, c.rows*c.stride, 3, 2)), halves(normal(r, c.cols, 0, 1)), halves(normal(r, c.cols, 0, 1))
			out := upload(t, s, poisoned[kernrt.Float16](c.rows*c.cols))
			launched(t, norm.LaunchLayerNormFp16(s, kernrt.Grid1D(c.rows), upload(t, s, x).ptr(), upload(t, s, weight).ptr(),
				upload(t, s, bias).ptr(), out.ptr(), int32(c.stride), int32(c.cols), int32(c.cols), normEps))
			want := layerNormOf(singles(x), singles(weight), singles(bias), c.rows, c.cols, c.stride)
			// As for fp32, and half a unit in the last of fp16's 11 bits.
			near(t, "out", singles(out.read(t, s)), want, within(want, 0x1p-11+1e-5, 1e-5))
		})
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
