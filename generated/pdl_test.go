package generated_test

import (
	"fmt"
	"testing"

	"github.com/kerngen/kerngen/generated/pdl"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// Each launch of the chain reads what the one before wrote, though it may start
// before that one ends.
func TestAxpyChain(t *testing.T) {
	s := newStream(t)
	for _, n := range []int{1, 1000, 1_000_003} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			const launches = 300
			r := random(n)
			// Whole numbers and a half: no rounding, whether or not the product and
			// the sum are fused.
			x, y := integers(r, n, -8, 8), integers(r, n, -1000, 1000)
			xs, ys := upload(t, s, x), upload(t, s, y)
			for range launches {
				launchedFromSM90(t, pdl.LaunchAxpy(s, kernrt.Grid1D(cdiv(n, pdl.AxpyBlock)), xs.ptr(), ys.ptr(), int32(n), 0.5))
			}
			want := make([]float32, n)
			for i := range want {
				want[i] = y[i] + launches*0.5*x[i]
			}
			equal(t, "y", ys.read(t, s), want)
		})
	}
}
