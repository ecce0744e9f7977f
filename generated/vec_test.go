package generated_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// addition is a launch of add_fp32 whose result is known.
type addition struct {
	x, y, out vector[float32]
	want      []float32
}

func newAddition(t *testing.T, s *kernrt.Stream, x, y []float32, offsets [3]int) addition {
	t.Helper()
	a := addition{
		x:   uploadAt(t, s, x, offsets[0]),
		y:   uploadAt(t, s, y, offsets[1]),
		out: uploadAt(t, s, poisoned[float32](len(x)), offsets[2]),
	}
	for i := range x {
		a.want = append(a.want, x[i]+y[i])
	}
	return a
}

func (a addition) launch(s *kernrt.Stream) error {
	n := len(a.want)
	return vec.LaunchAddFp32(s, kernrt.Grid1D(cdiv(n, vec.AddFp32Block)), a.x.ptr(), a.y.ptr(), a.out.ptr(), int32(n))
}

// check wants the sums bit for bit: both sides round to nearest even.
func (a addition) check(t *testing.T, s *kernrt.Stream) {
	t.Helper()
	equalBits(t, "out", a.out.read(t, s), a.want)
}

var vectorSizes = []int{0, 1, 1000, 1024, 1025, 100_003}

func TestAddFp32(t *testing.T) {
	s := newStream(t)
	for _, n := range vectorSizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := random(n)
			a := newAddition(t, s, patterns(r, n), patterns(r, n), [3]int{})
			launched(t, a.launch(s))
			a.check(t, s)
		})
	}
}

// The variant for aligned pointers would fault, or the launch would be refused,
// if any misaligned pointer reached it.
func TestAddFp32Misaligned(t *testing.T) {
	s := newStream(t)
	for mask := 1; mask < 8; mask++ {
		offsets := [3]int{mask & 1, mask >> 1 & 1 * 3, mask >> 2 & 1}
		t.Run(fmt.Sprint(offsets), func(t *testing.T) {
			r := random(mask)
			a := newAddition(t, s, normal(r, 5000, 0, 1), normal(r, 5000, 0, 1), offsets)
			launched(t, a.launch(s))
			a.check(t, s)
		})
	}
}

func TestAddFp32InPlace(t *testing.T) {
	s := newStream(t)
	r := random(1)
	a := newAddition(t, s, normal(r, 5000, 0, 1), normal(r, 5000, 0, 1), [3]int{})
	a.out = a.x
	launched(t, a.launch(s))
	a.check(t, s)
}

func TestAddFp16(t *testing.T) {
	testAddNarrow(t, vec.AddFp16Block, kernrt.NewFloat16, kernrt.Float16.Float32, vec.LaunchAddFp16)
}

func TestAddBf16(t *testing.T) {
	testAddNarrow(t, vec.AddBf16Block, kernrt.NewBFloat16, kernrt.BFloat16.Float32, vec.LaunchAddBf16)
}

// testAddNarrow wants sums bit for bit. The reference rounds twice, to float32
// and then to T, which gives the nearest T all the same: float32's 24 bits are at
// least twice T's 11 or 8 plus two.
func testAddNarrow[T kernrt.Float16 | kernrt.BFloat16](t *testing.T, block int, narrow func(float32) T, wide func(T) float32,
	launch func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[T], kernrt.Ptr[T], kernrt.Ptr[T], int32) error) {
	s := newStream(t)
	draws := map[string]func(*rand.Rand, int) []T{
		"normal":   func(r *rand.Rand, n int) []T { return each(normal(r, n, 0, 1), narrow) },
		"patterns": func(r *rand.Rand, n int) []T { return generate(n, func() T { return T(r.Uint32()) }) },
	}
	for name, draw := range draws {
		for _, n := range vectorSizes {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				r := random(n)
				x, y := draw(r, n), draw(r, n)
				out := upload(t, s, poisoned[T](n))
				launched(t, launch(s, kernrt.Grid1D(cdiv(n, block)), upload(t, s, x).ptr(), upload(t, s, y).ptr(), out.ptr(), int32(n)))
				want := make([]T, n)
				for i := range want {
					want[i] = narrow(wide(x[i]) + wide(y[i]))
				}
				equalBits(t, "out", each(out.read(t, s), wide), each(want, wide))
			})
		}
	}
}
