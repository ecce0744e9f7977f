package generated_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/kerngen/kerngen/generated/attention"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestAttention(t *testing.T) {
	t.Run(fp16.name, func(t *testing.T) { testAttention(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testAttention(t, bf16) })
}

func testAttention[T half](t *testing.T, kind floats[T]) {
	s := newStream(t)
	const width, scale = attention.AttentionD, 0.125
	for _, c := range []struct{ heads, n int }{{0, 64}, {1, 64}, {2, 256}} {
		t.Run(fmt.Sprintf("%d heads of %d", c.heads, c.n), func(t *testing.T) {
			r := random(c.n)
			size := c.heads * c.n * width
			q, k, v := kind.normal(r, size, 0, 1), kind.normal(r, size, 0, 1), kind.normal(r, size, 0, 1)
			out := upload(t, s, poisoned[T](size))
			grid := kernrt.Grid2D(c.n/attention.AttentionBlockM, c.heads)
			launched(t, attention.LaunchAttention(s, grid, upload(t, s, q).ptr(), upload(t, s, k).ptr(), upload(t, s, v).ptr(), out.ptr(), scale, int32(c.n)))
			want := attentionOf(kind.widened(q), kind.widened(k), kind.widened(v), c.n, width, scale)
			// Weights are rounded to T before they are summed, so that each value
			// comes with a relative error, and values are up to 5.
			near(t, "out", kind.widened(out.read(t, s)), want, kind.rounded(want, 1e-4, 5*kind.half+1e-4))
		})
	}
}

// attentionOf takes heads of n rows.
func attentionOf(q, k, v []float32, n, width int, scale float64) []float64 {
	out := make([]float64, len(q))
	weights := make([]float64, n)
	for row := range len(q) / width {
		first := row / n * n // of the head
		total := 0.0
		for j := range weights {
			score := 0.0
			for c := range width {
				score += float64(q[row*width+c]) * float64(k[(first+j)*width+c])
			}
			weights[j] = math.Exp(score * scale)
			total += weights[j]
		}
		for j, weight := range weights {
			for c := range width {
				out[row*width+c] += weight / total * float64(v[(first+j)*width+c])
			}
		}
	}
	return out
}
