package generated_test

import (
	"fmt"
	"testing"

	"github.com/kerngen/kerngen/generated/pdl"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// axpyChain is launches of axpy whose result is known: whole numbers and a half,
// so that nothing is rounded, whether or not product and sum are fused.
type axpyChain struct {
	x, y   []float32
	xs, ys vector[float32]
}

func newAxpyChain(t *testing.T, s *kernrt.Stream, n int) axpyChain {
	t.Helper()
	r := random(n)
	x, y := integers(r, n, -8, 8), integers(r, n, -1000, 1000)
	return axpyChain{x, y, upload(t, s, x), upload(t, s, y)}
}

func (c axpyChain) launch(s *kernrt.Stream, launches int) error {
	n := len(c.x)
	for range launches {
		if err := pdl.LaunchAxpy(s, c.xs.ptr(), c.ys.ptr(), int32(n), 0.5); err != nil {
			return err
		}
	}
	return nil
}

// check wants what so many launches make.
func (c axpyChain) check(t *testing.T, s *kernrt.Stream, launches int) {
	t.Helper()
	want := make([]float32, len(c.x))
	for i := range want {
		want[i] = c.y[i] + float32(launches)*0.5*c.x[i]
	}
	equal(t, "y", c.ys.read(t, s), want)
}

// Each launch of the chain reads what the one before wrote, though it may start
// before that one ends.
func TestAxpyChain(t *testing.T) {
	s := newStream(t)
	for _, n := range []int{0, 1, 1000, 1_000_003} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := newAxpyChain(t, s, n)
			if n == 0 { // which needs no image
				launched(t, c.launch(s, 300))
			} else {
				launchedFromSM90(t, c.launch(s, 300))
			}
			c.check(t, s, 300)
		})
	}
}
