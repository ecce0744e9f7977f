package generated_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// addition is a launch of add whose result is known.
type addition[T float32 | kernrt.Float16 | kernrt.BFloat16] struct {
	kind      floats[T]
	x, y, out vector[T]
	want      []T
}

func newAddition(t *testing.T, s *kernrt.Stream, x, y []float32, offsets [3]int) addition[float32] {
	t.Helper()
	return additionOf(t, s, fp32, x, y, offsets)
}

// additionOf places the vectors so many elements behind addresses divisible by 16.
// Its sums are rounded twice, to float32 and then to T, which gives the nearest T
// all the same: float32's 24 bits are at least twice T's 11 or 8 plus two.
func additionOf[T float32 | kernrt.Float16 | kernrt.BFloat16](t *testing.T, s *kernrt.Stream, kind floats[T], x, y []T, offsets [3]int) addition[T] {
	t.Helper()
	a := addition[T]{
		kind: kind,
		x:    uploadAt(t, s, x, offsets[0]),
		y:    uploadAt(t, s, y, offsets[1]),
		out:  uploadAt(t, s, poisoned[T](len(x)), offsets[2]),
	}
	for i := range x {
		a.want = append(a.want, kind.narrow(kind.wide(x[i])+kind.wide(y[i])))
	}
	return a
}

func (a addition[T]) launch(s *kernrt.Stream) error {
	return vec.LaunchAdd(s, a.x.ptr(), a.y.ptr(), a.out.ptr(), int32(len(a.want)))
}

// check wants the sums bit for bit: both sides round to nearest even.
func (a addition[T]) check(t *testing.T, s *kernrt.Stream) {
	t.Helper()
	equalBits(t, "out", a.kind.widened(a.out.read(t, s)), a.kind.widened(a.want))
}

func TestAdd(t *testing.T) {
	t.Run(fp32.name, func(t *testing.T) { testAdd(t, fp32) })
	t.Run(fp16.name, func(t *testing.T) { testAdd(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testAdd(t, bf16) })
}

func testAdd[T float32 | kernrt.Float16 | kernrt.BFloat16](t *testing.T, kind floats[T]) {
	s := newStream(t)
	draws := map[string]func(*rand.Rand, int) []T{
		"normal":   func(r *rand.Rand, n int) []T { return kind.normal(r, n, 0, 1) },
		"patterns": kind.patterns,
	}
	for name, draw := range draws {
		for _, n := range []int{0, 1, 1000, 1024, 1025, 100_003} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				sized(t, n)
				r := random(n)
				a := additionOf(t, s, kind, draw(r, n), draw(r, n), [3]int{})
				launched(t, a.launch(s))
				a.check(t, s)
			})
		}
	}
}

// Each combination of aligned and misaligned pointers has a variant of its own. One
// for aligned pointers would fault, or the launch would be refused, if a misaligned
// one reached it.
func TestAddMisaligned(t *testing.T) {
	t.Run(fp32.name, func(t *testing.T) { testAddMisaligned(t, fp32) })
	t.Run(fp16.name, func(t *testing.T) { testAddMisaligned(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testAddMisaligned(t, bf16) })
}

func testAddMisaligned[T float32 | kernrt.Float16 | kernrt.BFloat16](t *testing.T, kind floats[T]) {
	s := newStream(t)
	for mask := range 8 {
		for _, n := range []int{0, 1, 5000} {
			offsets := [3]int{mask & 1, mask >> 1 & 1 * 3, mask >> 2 & 1}
			t.Run(fmt.Sprint(offsets, n), func(t *testing.T) {
				r := random(mask)
				a := additionOf(t, s, kind, kind.normal(r, n, 0, 1), kind.normal(r, n, 0, 1), offsets)
				launched(t, a.launch(s))
				a.check(t, s)
			})
		}
	}
}

func TestAddInPlace(t *testing.T) {
	s := newStream(t)
	r := random(1)
	a := newAddition(t, s, normal(r, 5000, 0, 1), normal(r, 5000, 0, 1), [3]int{})
	a.out = a.x
	launched(t, a.launch(s))
	a.check(t, s)
}
