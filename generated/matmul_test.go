package generated_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/kerngen/kerngen/generated/matmul"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// product is a launch of a matmul: A is m x k, B is k x n; strides in elements.
type product struct {
	m, n, k                int
	am, ak, bk, bn, cm, cn int // strides
	exact                  bool
}

// rows is a product of matrices stored by rows.
func rows(m, n, k int) product {
	return product{m: m, n: n, k: k, am: k, ak: 1, bk: n, bn: 1, cm: n, cn: 1}
}

// strided has A stored by columns, and C in every second element.
func strided(m, n, k int) product {
	return product{m: m, n: n, k: k, am: 1, ak: m, bk: n, bn: 1, cm: 2 * n, cn: 2}
}

type half interface {
	kernrt.Float16 | kernrt.BFloat16
}

type matmulLaunch[T half] func(s *kernrt.Stream, a, b, c kernrt.Ptr[T], m, n, k, am, ak, bk, bn, cm, cn int32) error

// Each configuration, and that of Launch, which is the first.
func TestMatmul(t *testing.T) {
	t.Run(fp16.name, func(t *testing.T) { testMatmulConfigs(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testMatmulConfigs(t, bf16) })
}

func testMatmulConfigs[T half](t *testing.T, kind floats[T]) {
	products := []product{rows(0, 16, 16), rows(1, 16, 16), rows(128, 128, 32), rows(200, 272, 144), rows(1100, 128, 512)} // the last has more tile rows than a band
	t.Run("default", func(t *testing.T) { testMatmul(t, kind, matmul.LaunchMatmul[T], launched, products...) })
	for config, name := range matmul.MatmulConfigs {
		t.Run(name, func(t *testing.T) {
			launch := func(s *kernrt.Stream, a, b, c kernrt.Ptr[T], m, n, k, am, ak, bk, bn, cm, cn int32) error {
				return matmul.LaunchMatmulConfig(s, config, &matmul.MatmulArgs[T]{APtr: a, BPtr: b, CPtr: c, M: m, N: n, K: k,
					StrideAm: am, StrideAk: ak, StrideBk: bk, StrideBn: bn, StrideCm: cm, StrideCn: cn})
			}
			testMatmul(t, kind, launch, launched, products...)
		})
	}
}

// Columns that are contiguous in A, in B, in both and in neither have variants of
// their own.
func TestMatmulStrided(t *testing.T) {
	t.Run(fp16.name, func(t *testing.T) { testMatmulStrided(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testMatmulStrided(t, bf16) })
}

func testMatmulStrided[T half](t *testing.T, kind floats[T]) {
	testMatmul(t, kind, matmul.LaunchMatmulStrided[T], launched,
		rows(0, 5, 5), rows(1, 1, 1), rows(50, 65, 33), strided(50, 64, 33), strided(300, 200, 100),
		product{m: 50, n: 40, k: 33, am: 33, ak: 1, bk: 1, bn: 33, cm: 80, cn: 2},
		product{m: 50, n: 40, k: 33, am: 1, ak: 50, bk: 1, bn: 33, cm: 40, cn: 1})
}

func TestMatmulCta2(t *testing.T) {
	t.Run(fp16.name, func(t *testing.T) { testMatmulCta2(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testMatmulCta2(t, bf16) })
}

func testMatmulCta2[T half](t *testing.T, kind floats[T]) {
	testMatmul(t, kind, matmul.LaunchMatmulCta2[T], launchedFromSM90,
		rows(1, 16, 16), rows(128, 128, 32), rows(200, 272, 144), rows(1100, 128, 512))
}

func testMatmul[T half](t *testing.T, kind floats[T], launch matmulLaunch[T], launched func(*testing.T, error), products ...product) {
	s := newStream(t)
	for _, p := range products {
		for _, p.exact = range []bool{true, false} {
			t.Run(fmt.Sprintf("%dx%dx%d %d %v", p.m, p.n, p.k, p.cn, p.exact), func(t *testing.T) {
				sized(t, p.m*p.n)
				r := random(p.m)
				draw := func(n int) []T {
					if p.exact {
						return kind.narrowed(integers(r, n, -8, 8))
					}
					return kind.normal(r, n, 0, 1)
				}
				a, b := draw(p.m*p.k), draw(p.k*p.n)
				c := upload(t, s, poisoned[T](p.m*p.n*p.cn))
				launched(t, launch(s, upload(t, s, a).ptr(), upload(t, s, b).ptr(), c.ptr(),
					int32(p.m), int32(p.n), int32(p.k), int32(p.am), int32(p.ak), int32(p.bk), int32(p.bn), int32(p.cm), int32(p.cn)))
				checkProduct(t, kind, p, kind.widened(a), kind.widened(b), c.read(t, s))
			})
		}
	}
}

// checkProduct compares all of C's memory, what lies between its elements too.
func checkProduct[T half](t *testing.T, kind floats[T], p product, a, b []float32, c []T) {
	t.Helper()
	want, allowed := make([]float64, len(c)), make([]float64, len(c))
	for i, untouched := range poisoned[T](len(c)) {
		want[i] = float64(kind.wide(untouched))
	}
	for row := range p.m {
		for col := range p.n {
			sum, magnitudes := 0.0, 0.0
			for k := range p.k {
				term := float64(a[row*p.am+k*p.ak]) * float64(b[k*p.bk+col*p.bn])
				sum += term
				magnitudes += math.Abs(term)
			}
			at := row*p.cm + col*p.cn
			if p.exact {
				// Whole numbers below 2^24 add up without error in any order, and
				// the result is rounded once.
				want[at] = float64(kind.wide(kind.narrow(float32(sum))))
				continue
			}
			// Half a unit in the last place of T (subnormal ones too), and what
			// the sum in fp32 loses: a few units in the last place of its terms,
			// since tensor cores cut off what they shift out.
			want[at], allowed[at] = sum, kind.half*math.Abs(sum)+kind.least+0x1p-20*magnitudes
		}
	}
	near(t, "c", kind.widened(c), want, func(i int) float64 { return allowed[i] })
}
