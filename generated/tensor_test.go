package generated_test

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/kerngen/kerngen/generated/tensor"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// placed is a tensor in device memory, its rows a pitch apart, amid poison.
type placed[T kernrt.Elem] struct {
	memory  vector[T]
	shape   []int
	strides []int
}

// place lays out a tensor of a shape in device memory and fills it, with rows that
// are at least a pitch apart.
func place[T kernrt.Elem](t *testing.T, s *kernrt.Stream, pitch int, shape []int, next func() T) (placed[T], []T) {
	t.Helper()
	p := placed[T]{shape: shape, strides: make([]int, len(shape))}
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		p.strides[i] = step
		step *= shape[i]
		if i == len(shape)-1 {
			step = max(pitch, step)
		}
	}
	values := generate(step, next)
	p.memory = upload(t, s, values)
	return p, values
}

func (p placed[T]) desc() kernrt.TensorDesc[T] {
	return kernrt.NewTensorDesc(p.memory.ptr(), p.shape...).WithStrides(p.strides...)
}

// moved is what a copy by shifts makes of x: outside reads as given. What lies
// between the rows of out stays.
func moved[T kernrt.Elem](x placed[T], values []T, out placed[T], before []T, shifts []int, outside T) []T {
	want := append([]T(nil), before...)
	index := make([]int, len(out.shape))
	for {
		from, to, inside := 0, 0, true
		for d, i := range index {
			to += i * out.strides[d]
			i += shifts[d]
			from += i * x.strides[d]
			inside = inside && i >= 0 && i < x.shape[d]
		}
		want[to] = outside
		if inside {
			want[to] = values[from]
		}
		d := len(index) - 1
		for ; d >= 0; d-- {
			if index[d]++; index[d] < out.shape[d] {
				break
			}
			index[d] = 0
		}
		if d < 0 {
			return want
		}
	}
}

// testCopy copies x to a larger tensor, moved this way and that. The rows of out
// are multiples of 16 bytes, since a map writes no less at a time.
func testCopy[T kernrt.Elem](t *testing.T, pitch int, shape, outShape []int, next func() T, isNaN func(T) bool, nan T,
	launch func(s *kernrt.Stream, x, out kernrt.TensorDesc[T], shifts []int) error) {
	t.Helper()
	s := newStream(t)
	// Along the innermost dimension a map is read from multiples of 16 bytes only.
	unit := 16 / int(unsafe.Sizeof(nan))
	for i, shift := range []int{0, 2, -1} {
		for _, withNaN := range []bool{false, true} {
			if withNaN && isNaN == nil {
				continue
			}
			shifts := make([]int, len(shape))
			for d := range shifts {
				shifts[d] = shift
			}
			shifts[len(shape)-1] = shift * unit
			x, values := place(t, s, pitch, shape, next)
			out, before := place(t, s, pitch, outShape, next)
			desc := x.desc()
			var outside T
			if withNaN {
				desc, outside = desc.WithNaN(), nan
			}
			launched(t, launch(s, desc, out.desc(), shifts))
			want := moved(x, values, out, before, shifts, outside)
			got := out.memory.read(t, s)
			compare(t, fmt.Sprintf("move %d, NaN %t", i, withNaN), got, want, func(i int) bool {
				return got[i] == want[i] || isNaN != nil && isNaN(got[i]) && isNaN(want[i])
			})
		}
	}
}

func TestCopyRank1(t *testing.T) {
	r := random(1)
	isNaN := func(v float32) bool { return v != v }
	next := func() float32 { return float32(r.NormFloat64()) }
	testCopy(t, 0, []int{1003}, []int{1112}, next, isNaN, float32(math.NaN()),
		func(s *kernrt.Stream, x, out kernrt.TensorDesc[float32], shifts []int) error {
			return tensor.LaunchCopy1(s, kernrt.Grid1D(cdiv(1112, tensor.Copy1Block)), x, out, int32(shifts[0]/4))
		})
}

func TestCopyRank2(t *testing.T) {
	r := random(2)
	isNaN16 := func(v kernrt.Float16) bool { return v&0x7fff > 0x7c00 }
	isNaNB16 := func(v kernrt.BFloat16) bool { return v&0x7fff > 0x7f80 }
	t.Run("fp16", func(t *testing.T) {
		testCopy2(t, func() kernrt.Float16 { return kernrt.Float16(r.Uint32()) }, isNaN16, 0x7e00, tensor.LaunchCopy2[kernrt.Float16])
	})
	t.Run("bf16", func(t *testing.T) {
		testCopy2(t, func() kernrt.BFloat16 { return kernrt.BFloat16(r.Uint32()) }, isNaNB16, 0x7fc0, tensor.LaunchCopy2[kernrt.BFloat16])
	})
	t.Run("fp32", func(t *testing.T) {
		testCopy2(t, func() float32 { return float32(r.NormFloat64()) }, func(v float32) bool { return v != v }, float32(math.NaN()), tensor.LaunchCopy2[float32])
	})
	t.Run("i8", func(t *testing.T) {
		testCopy2(t, func() int8 { return int8(r.Uint32()) }, nil, 0, tensor.LaunchCopy2[int8])
	})
	t.Run("fp8e5", func(t *testing.T) {
		testCopy2(t, func() kernrt.Float8E5M2 { return kernrt.Float8E5M2(r.Uint32()) }, nil, 0, tensor.LaunchCopy2[kernrt.Float8E5M2])
	})
	t.Run("fp8e4nv", func(t *testing.T) {
		if device(t).Info().ComputeCapability != [2]int{9, 0} {
			t.Skip("compiled for sm_90 only")
		}
		testCopy2(t, func() kernrt.Float8E4M3FN { return kernrt.Float8E4M3FN(r.Uint32()) }, nil, 0, tensor.LaunchCopy2Fp8e4nv)
	})
}

func testCopy2[T kernrt.Elem](t *testing.T, next func() T, isNaN func(T) bool, nan T, launch copy2Launch[T]) {
	t.Helper()
	testCopy(t, 96, []int{100, 50}, []int{130, 80}, next, isNaN, nan,
		func(s *kernrt.Stream, x, out kernrt.TensorDesc[T], shifts []int) error {
			return launch(s, kernrt.Grid2D(cdiv(130, 64), cdiv(80, 32)), x, out, int32(shifts[0]), int32(shifts[1]))
		})
}

func TestCopyRank3(t *testing.T) {
	r := random(3)
	next := func() kernrt.Float16 { return kernrt.Float16(r.Uint32()) }
	isNaN := func(v kernrt.Float16) bool { return v&0x7fff > 0x7c00 }
	testCopy(t, 80, []int{5, 19, 50}, []int{6, 21, 72}, next, isNaN, 0x7e00,
		func(s *kernrt.Stream, x, out kernrt.TensorDesc[kernrt.Float16], shifts []int) error {
			grid := kernrt.Grid3D(cdiv(6, tensor.Copy3Block0), cdiv(21, tensor.Copy3Block1), cdiv(72, tensor.Copy3Block2))
			return tensor.LaunchCopy3(s, grid, x, out, int32(shifts[0]))
		})
}

func TestCopyRank4(t *testing.T) {
	r := random(4)
	testCopy(t, 40, []int{3, 5, 17, 20}, []int{4, 6, 18, 32}, func() int32 { return int32(r.Uint32()) }, nil, 0,
		func(s *kernrt.Stream, x, out kernrt.TensorDesc[int32], shifts []int) error {
			grid := kernrt.Grid3D(4, cdiv(6, tensor.Copy4Block1), cdiv(18, tensor.Copy4Block2))
			return tensor.LaunchCopy4(s, grid, x, out, int32(shifts[0]))
		})
}

func TestCopyRank5(t *testing.T) {
	r := random(5)
	next := func() kernrt.BFloat16 { return kernrt.BFloat16(r.Uint32()) }
	isNaN := func(v kernrt.BFloat16) bool { return v&0x7fff > 0x7f80 }
	testCopy(t, 40, []int{2, 3, 4, 11, 24}, []int{3, 3, 5, 16, 32}, next, isNaN, 0x7fc0,
		func(s *kernrt.Stream, x, out kernrt.TensorDesc[kernrt.BFloat16], shifts []int) error {
			return tensor.LaunchCopy5(s, kernrt.Grid3D(3, 3, 5), x, out, int32(shifts[0]))
		})
}

func TestProduct(t *testing.T) {
	t.Run(fp16.name, func(t *testing.T) { testProduct(t, fp16) })
	t.Run(bf16.name, func(t *testing.T) { testProduct(t, bf16) })
}

// Small whole numbers multiply exactly, whatever the order, and are rounded once.
func testProduct[T half](t *testing.T, kind floats[T]) {
	s := newStream(t)
	for _, c := range []struct{ m, n, k int }{{128, 128, 64}, {200, 264, 136}, {513, 1032, 248}} {
		t.Run(fmt.Sprintf("%dx%dx%d", c.m, c.n, c.k), func(t *testing.T) {
			sized(t, c.m*c.n)
			r := random(c.m)
			a, b := integers(r, c.m*c.k, -3, 3), integers(r, c.k*c.n, -3, 3)
			out := upload(t, s, poisoned[T](c.m*c.n))
			matrix := func(v vector[T], rows, cols int) kernrt.TensorDesc[T] {
				return kernrt.NewTensorDesc(v.ptr(), rows, cols)
			}
			grid := kernrt.Grid2D(cdiv(c.m, tensor.ProductBlockM), cdiv(c.n, tensor.ProductBlockN))
			launched(t, tensor.LaunchProduct(s, grid, matrix(upload(t, s, kind.narrowed(a)), c.m, c.k), matrix(upload(t, s, kind.narrowed(b)), c.k, c.n),
				matrix(out, c.m, c.n), int32(c.k)))
			sums := make([]float32, c.m*c.n)
			for i := range c.m {
				for l := range c.k {
					for j := range c.n {
						sums[i*c.n+j] += a[i*c.k+l] * b[l*c.n+j]
					}
				}
			}
			equalBits(t, "c", kind.widened(out.read(t, s)), kind.widened(kind.narrowed(sums)))
		})
	}
}
