package exec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
)

// both runs a test on a checking and on an unchecking device.
func both(t *testing.T, f func(t *testing.T, d *Device)) {
	for _, unchecked := range []bool{false, true} {
		t.Run(fmt.Sprintf("unchecked=%v", unchecked), func(t *testing.T) { f(t, NewDevice(Options{Unchecked: unchecked})) })
	}
}

func launched(t testing.TB, e *Entry, c Config) {
	t.Helper()
	if err := e.Launch(context.Background(), c); err != nil {
		t.Fatal(err)
	}
}

func random(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, seed))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

func TestSoftmax(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		e := kernel(t, d, "runtime/sim/internal/exec/testdata/softmax.sm80.ptx", "softmax")
		const rows, cols = 5, 1300
		x := random(rows*cols, 1)
		px, pout := upload(t, d, x), upload(t, d, make([]float32, rows*cols))
		launched(t, e, Config{Grid: Dim{rows, 1, 1}, Block: Dim{256, 1, 1}, Shared: 32, Params: params(pout, px, int32(cols), int32(cols), int32(cols), uint64(0), uint64(0))})
		got := download[float32](t, d, pout, rows*cols)
		for r := range rows {
			row := x[r*cols : (r+1)*cols]
			sum := 0.0
			for _, v := range row {
				sum += math.Exp(float64(v))
			}
			for i, v := range row {
				want := math.Exp(float64(v)) / sum
				near(t, fmt.Sprintf("row %d column %d", r, i), float64(got[r*cols+i]), want, want*1e-5)
			}
		}
	})
}

func TestLayerNorm(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		e := kernel(t, d, "runtime/sim/internal/exec/testdata/layer_norm_fp32.sm80.ptx", "layer_norm_fp32")
		const rows, cols = 4, 1000
		x, weight, bias := random(rows*cols, 2), random(cols, 3), random(cols, 4)
		px, pw, pb, pout := upload(t, d, x), upload(t, d, weight), upload(t, d, bias), upload(t, d, make([]float32, rows*cols))
		launched(t, e, Config{Grid: Dim{rows, 1, 1}, Block: Dim{256, 1, 1}, Shared: 4096, Params: params(px, pw, pb, pout, int32(cols), int32(cols), int32(cols), float32(1e-5), uint64(0), uint64(0))})
		got := download[float32](t, d, pout, rows*cols)
		for r := range rows {
			row := x[r*cols : (r+1)*cols]
			mean, squares := 0.0, 0.0
			for _, v := range row {
				mean += float64(v) / cols
			}
			for _, v := range row {
				squares += (float64(v) - mean) * (float64(v) - mean)
			}
			for i, v := range row {
				want := (float64(v)-mean)/math.Sqrt(squares/cols+1e-5)*float64(weight[i]) + float64(bias[i])
				near(t, fmt.Sprintf("row %d column %d", r, i), float64(got[r*cols+i]), want, 1e-5*(1+math.Abs(want)))
			}
		}
	})
}

func halvesOf(v []float32) []uint16 {
	h := make([]uint16, len(v))
	for i, x := range v {
		h[i] = float.ToF16(x)
	}
	return h
}

func TestMatmul(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		for _, variant := range []string{"rows", "strided"} {
			e := kernel(t, d, "runtime/sim/internal/exec/testdata/matmul."+variant+".sm80.ptx", "matmul")
			m, n, k := 200, 152, 104
			a, b := halvesOf(random(m*k, 5)), halvesOf(random(k*n, 6))
			pa, pb, pc := upload(t, d, a), upload(t, d, b), upload(t, d, make([]uint16, m*n))
			grid := Dim{uint32((m+matmulM-1)/matmulM) * uint32((n+matmulN-1)/matmulN), 1, 1}
			c := Config{Grid: grid, Block: Dim{256, 1, 1}, Shared: 49152, Params: params(pa, pb, pc, int32(m), int32(n), int32(k), int32(k), int32(n), int32(n), uint64(0), uint64(0))}
			if variant == "strided" {
				c.Params = params(pa, pb, pc, int32(m), int32(n), int32(k), int32(k), int32(1), int32(n), int32(1), int32(n), int32(1), uint64(0), uint64(0))
			}
			launched(t, e, c)
			got := download[uint16](t, d, pc, m*n)
			for i := range m {
				for j := range n {
					want := 0.0
					for l := range k {
						want += float64(float.FromF16(a[i*k+l])) * float64(float.FromF16(b[l*n+j]))
					}
					near(t, fmt.Sprintf("%s: element %d, %d", variant, i, j), float64(float.FromF16(got[i*n+j])), want, 1e-3*(1+math.Abs(want)))
				}
			}
		}
	})
}

// The tile of matmul.
const matmulM, matmulN = 128, 128

func TestHistogram(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		e := kernel(t, d, "runtime/sim/internal/exec/testdata/histogram.sm80.ptx", "histogram")
		const n, bins = 5000, 37
		x := make([]int32, n)
		want := make([]int32, bins)
		r := rand.New(rand.NewPCG(7, 7))
		for i := range x {
			x[i] = r.Int32N(bins+4) - 2
			if x[i] >= 0 && x[i] < bins {
				want[x[i]]++
			}
		}
		px, pc := upload(t, d, x), upload(t, d, make([]int32, bins))
		launched(t, e, Config{Grid: Dim{(n + 1023) / 1024, 1, 1}, Block: Dim{256, 1, 1}, Shared: 8192, Params: params(px, pc, int32(n), int32(bins), uint64(0), uint64(0))})
		for i, got := range download[int32](t, d, pc, bins) {
			if got != want[i] {
				t.Errorf("bin %d has %d, want %d", i, got, want[i])
			}
		}
	})
}

// TestCooperative runs a kernel whose programs wait for each other.
func TestCooperative(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		e := kernel(t, d, "runtime/sim/internal/exec/testdata/normalize.sm80.ptx", "normalize")
		const n, programs = 40000, 33
		x := random(n, 8)
		sum := 0.0
		for i := range x {
			x[i] = x[i]*x[i] + 1
			sum += float64(x[i])
		}
		px, pout, pp, pa := upload(t, d, x), upload(t, d, make([]float32, n)), upload(t, d, make([]float32, programs)), upload(t, d, make([]int64, 1))
		for range 2 {
			launched(t, e, Config{Grid: Dim{programs, 1, 1}, Block: Dim{256, 1, 1}, Shared: 32, Cooperative: true, Params: params(px, pout, pp, pa, int32(n), uint64(0), uint64(0))})
			for i, got := range download[float32](t, d, pout, n) {
				want := float64(x[i]) / sum
				near(t, fmt.Sprint("element ", i), float64(got), want, 1e-5*want)
			}
		}
	})
}
