package generated_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/kerngen/kerngen/generated/dropout"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestDropout(t *testing.T) {
	t.Run(fp32.name, func(t *testing.T) { testDropout(t, fp32) })
	t.Run(fp16.name, func(t *testing.T) { testDropout(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testDropout(t, bf16) })
}

func testDropout[T float32 | kernrt.Float16 | kernrt.BFloat16](t *testing.T, kind floats[T]) {
	s := newStream(t)
	for _, c := range []struct {
		n    int
		p    float32
		seed uint64
	}{{0, 0.5, 0}, {1, 0.5, 0}, {1000, 0, 1}, {1000, 1, 2}, {5000, 0.25, 1<<63 | 5}, {100_001, 0.5, 1<<40 | 3}, {300_003, 0.1, 1<<64 - 1}} {
		t.Run(fmt.Sprintf("%d of p %v", c.n, c.p), func(t *testing.T) {
			sized(t, c.n)
			x := kind.normal(random(c.n), c.n, 0, 1)
			out := upload(t, s, poisoned[T](c.n))
			launched(t, dropout.LaunchDropout(s, upload(t, s, x).ptr(), out.ptr(), int32(c.n), c.p, c.seed))
			want, kept := make([]float64, c.n), 0
			for i := range want {
				if uniform(c.seed, uint32(i)) >= c.p {
					want[i] = float64(kind.wide(x[i])) / float64(1-c.p)
					kept++
				}
			}
			t.Logf("%d of %d elements are kept", kept, c.n)
			// The mask is exact; Triton's division is good to 2 ulp.
			near(t, "out", kind.widened(out.read(t, s)), want, kind.rounded(want, 0x1p-22, 0))
		})
	}
}

// uniform is the number from 0 to 1 that decides over element i: one of the four
// words that a step of the Philox 4x32-10 generator makes, read as a signed
// number, its magnitude scaled.
func uniform(seed uint64, i uint32) float32 {
	c := [4]uint32{i / 4}
	key := [2]uint32{uint32(seed), uint32(seed >> 32)}
	for range 10 {
		high0, low0 := bits.Mul32(0xd2511f53, c[0])
		high1, low1 := bits.Mul32(0xcd9e8d57, c[2])
		c = [4]uint32{high1 ^ c[1] ^ key[0], low1, high0 ^ c[3] ^ key[1], low0}
		key[0] += 0x9e3779b9
		key[1] += 0xbb67ae85
	}
	word := int32(c[i%4])
	if word < 0 {
		word = ^word
	}
	return float32(word) * 4.6566127342e-10 // just below 2^-31, so that 1 is never reached
}
