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

type matmulLaunch func(s *kernrt.Stream, grid kernrt.Grid, a, b, c kernrt.Ptr[kernrt.Float16], m, n, k, am, ak, bk, bn, cm, cn int32) error

func TestMatmul(t *testing.T) {
	testMatmul(t, matmul.LaunchMatmul, matmul.MatmulBlockM, matmul.MatmulBlockN, launched,
		rows(1, 16, 16), rows(128, 128, 32), rows(200, 272, 144), rows(1100, 128, 512), // more tile rows than a band has
		strided(1, 1, 1), strided(50, 64, 33), strided(300, 200, 100))
}

func TestMatmulCta2(t *testing.T) {
	testMatmul(t, matmul.LaunchMatmulCta2, matmul.MatmulCta2BlockM, matmul.MatmulCta2BlockN, launchedFromSM90,
		rows(1, 16, 16), rows(128, 128, 32), rows(200, 272, 144), rows(1100, 128, 512))
}

func testMatmul(t *testing.T, launch matmulLaunch, blockM, blockN int, launched func(*testing.T, error), products ...product) {
	s := newStream(t)
	for _, p := range products {
		for _, p.exact = range []bool{true, false} {
			t.Run(fmt.Sprintf("%dx%dx%d %d %v", p.m, p.n, p.k, p.cn, p.exact), func(t *testing.T) {
				r := random(p.m)
				draw := func(n int) []kernrt.Float16 {
					if p.exact {
						return halves(integers(r, n, -8, 8))
					}
					return halves(normal(r, n, 0, 1))
				}
				a, b := draw(p.m*p.k), draw(p.k*p.n)
				c := upload(t, s, poisoned[kernrt.Float16](p.m*p.n*p.cn))
				launched(t, launch(s, kernrt.Grid1D(cdiv(p.m, blockM)*cdiv(p.n, blockN)), upload(t, s, a).ptr(), upload(t, s, b).ptr(), c.ptr(),
					int32(p.m), int32(p.n), int32(p.k), int32(p.am), int32(p.ak), int32(p.bk), int32(p.bn), int32(p.cm), int32(p.cn)))
				p.check(t, singles(a), singles(b), c.read(t, s))
			})
		}
	}
}

// check compares all of C's memory, what lies between its elements too.
func (p product) check(t *testing.T, a, b []float32, c []kernrt.Float16) {
	t.Helper()
	want, allowed := make([]float64, len(c)), make([]float64, len(c))
	for i, untouched := range poisoned[kernrt.Float16](len(c)) {
		want[i] = float64(untouched.Float32())
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
				want[at] = float64(kernrt.NewFloat16(float32(sum)).Float32())
				continue
			}
			// Half a unit in the last place of fp16 (subnormal ones too), and what
			// the sum in fp32 loses: a few units in the last place of its terms,
			// since tensor cores cut off what they shift out.
			want[at], allowed[at] = sum, 0x1p-11*math.Abs(sum)+0x1p-25+0x1p-20*magnitudes
		}
	}
	near(t, "c", singles(c), want, func(i int) float64 { return allowed[i] })
}
