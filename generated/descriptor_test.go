package generated_test

import (
	"fmt"
	"testing"

	"github.com/kerngen/kerngen/generated/descriptor"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// scaling is a launch of scale whose result is known.
type scaling struct {
	rows, cols int
	factor     float32
	x, out     vector[float32]
	want       []float32
}

func newScaling(t *testing.T, s *kernrt.Stream, rows, cols int, factor float32) scaling {
	t.Helper()
	x := normal(random(rows), rows*cols, 0, 1)
	return scaling{
		rows: rows, cols: cols, factor: factor,
		x:    upload(t, s, x),
		out:  upload(t, s, poisoned[float32](len(x))),
		want: each(x, func(v float32) float32 { return v * factor }),
	}
}

func (c scaling) launch(s *kernrt.Stream) error {
	return descriptor.LaunchScale(s, c.x.ptr(), c.out.ptr(), int32(c.rows), int32(c.cols), c.factor)
}

// check wants the products bit for bit.
func (c scaling) check(t *testing.T, s *kernrt.Stream) {
	t.Helper()
	equalBits(t, fmt.Sprintf("%dx%d", c.rows, c.cols), c.out.read(t, s), c.want)
}

func TestScale(t *testing.T) {
	s := newStream(t)
	for _, c := range []struct{ rows, cols int }{{0, 16}, {1, 16}, {64, 32}, {100, 48}, {1000, 1008}} {
		t.Run(fmt.Sprintf("%dx%d", c.rows, c.cols), func(t *testing.T) {
			sized(t, c.rows*c.cols)
			scale := newScaling(t, s, c.rows, c.cols, -2.7)
			launched(t, scale.launch(s))
			scale.check(t, s)
		})
	}
}
