package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
)

// testdata launches a kernel of testdata/kernels.py, whose texts say how much shared memory they need.
func testdata(t testing.TB, d *Device, file, name string, grid Dim, warps int, p ...any) error {
	t.Helper()
	path := "runtime/sim/internal/exec/testdata/" + file + ".ptx"
	shared := 0
	if _, err := fmt.Sscanf(image(t, path), "// shared memory: %d bytes", &shared); err != nil {
		t.Fatal(err)
	}
	p = append(p, uint64(0), uint64(0)) // scratch
	return kernel(t, d, path, name).Launch(context.Background(), Config{Grid: grid, Block: Dim{uint32(32 * warps), 1, 1}, Shared: shared, Params: params(p...)})
}

// element is how a test makes values of a type of 8 to 64 bits and what each is worth.
type elementType struct {
	bytes int
	value func(bits uint64) float64
	mask  uint64 // bits that a random value may have: no infinities, no NaNs
}

var elementTypes = map[string]elementType{
	"fp16":    {2, func(b uint64) float64 { return float.F16.Value(uint32(b)) }, 0xbfff},
	"bf16":    {2, func(b uint64) float64 { return float.BF16.Value(uint32(b)) }, 0x83ff | 0x3c00},
	"fp32":    {4, func(b uint64) float64 { return float64(math.Float32frombits(uint32(b))) }, 0x81ffffff | 0x3e000000},
	"fp64":    {8, math.Float64frombits, 0x803fffffffffffff | 0x3fc0000000000000},
	"i8":      {1, func(b uint64) float64 { return float64(int8(b)) }, 0xff},
	"fp8e5":   {1, func(b uint64) float64 { return float.E5M2.Value(uint32(b)) }, 0xbf},
	"fp8e4nv": {1, func(b uint64) float64 { return float.E4M3.Value(uint32(b)) }, 0xbf},
	"i32":     {4, func(b uint64) float64 { return float64(int32(b)) }, 0xff},
}

// randomElements gives n values and their bytes.
func (e elementType) random(r *rand.Rand, n int) (values []float64, memory []byte) {
	for range n {
		b := r.Uint64() & e.mask
		values = append(values, e.value(b))
		for i := range e.bytes {
			memory = append(memory, byte(b>>(8*i)))
		}
	}
	return values, memory
}

func (e elementType) values(memory []byte) []float64 {
	var v []float64
	for i := 0; i < len(memory); i += e.bytes {
		var b uint64
		for j := range e.bytes {
			b |= uint64(memory[i+j]) << (8 * j)
		}
		v = append(v, e.value(b))
	}
	return v
}

// TestDot compares the matrix product of every type with one in binary64. The tolerance is of the sum of the products' magnitudes.
func TestDot(t *testing.T) {
	const m, n, k = 32, 16, 32
	for _, c := range []struct {
		name, in, out string
		sm            int
		tolerance     float64
	}{
		{"fp16", "fp16", "fp32", 75, 0x1p-21}, {"fp16", "fp16", "fp32", 80, 0x1p-23}, {"fp16acc", "fp16", "fp16", 80, 0x1p-10},
		{"bf16", "bf16", "fp32", 80, 0x1p-23}, {"tf32", "fp32", "fp32", 80, 0x1p-9}, {"fp32", "fp32", "fp32", 80, 0x1p-19},
		{"fp64", "fp64", "fp64", 80, 0x1p-48}, {"i8", "i8", "i32", 80, 0}, {"fp8e5", "fp8e5", "fp32", 89, 0x1p-23}, {"fp8e4nv", "fp8e4nv", "fp32", 89, 0x1p-23},
	} {
		t.Run(fmt.Sprintf("%s.sm%d", c.name, c.sm), func(t *testing.T) {
			both(t, func(t *testing.T, d *Device) {
				r := rand.New(rand.NewPCG(1, 2))
				in, out := elementTypes[c.in], elementTypes[c.out]
				if c.name == "fp16acc" {
					in.mask = 0x87ff | 0x3800 // so that no sum overflows
				}
				a, aBytes := in.random(r, m*k)
				b, bBytes := in.random(r, k*n)
				pa, pb, pc := upload(t, d, aBytes), upload(t, d, bBytes), upload(t, d, make([]byte, m*n*out.bytes))
				if err := testdata(t, d, fmt.Sprintf("dot.%s.sm%d", c.name, c.sm), "dot", Dim{1, 1, 1}, 4, pa, pb, pc); err != nil {
					t.Fatal(err)
				}
				got := out.values(download[byte](t, d, pc, m*n*out.bytes))
				for i := range m {
					for j := range n {
						sum, size := 0.0, 0.0
						for l := range k {
							p := a[i*k+l] * b[l*n+j]
							sum, size = sum+p, size+math.Abs(p)
						}
						near(t, fmt.Sprintf("element %d, %d", i, j), got[i*n+j], sum, size*c.tolerance)
					}
				}
			})
		})
	}
}

func TestAttention(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		const heads, n, width = 2, 128, 64
		const scale = 0.18
		var in [3][]uint16
		var p [4]uint64
		for i := range in {
			in[i] = halvesOf(random(heads*n*width, uint64(i)))
			p[i] = upload(t, d, in[i])
		}
		p[3] = upload(t, d, make([]uint16, heads*n*width))
		if err := testdata(t, d, "attention.sm80", "attention", Dim{n / 64, heads, 1}, 4, p[0], p[1], p[2], p[3], float32(scale), int32(n)); err != nil {
			t.Fatal(err)
		}
		got := download[uint16](t, d, p[3], heads*n*width)
		at := func(i, row, col int) float64 { return float64(float.FromF16(in[i][row*width+col])) }
		for row := range heads * n {
			first := row / n * n
			weights, total := make([]float64, n), 0.0
			for j := range n {
				s := 0.0
				for c := range width {
					s += at(0, row, c) * at(1, first+j, c)
				}
				weights[j] = math.Exp2(s * scale)
				total += weights[j]
			}
			for c := range width {
				want := 0.0
				for j := range n {
					want += weights[j] / total * at(2, first+j, c)
				}
				near(t, fmt.Sprintf("row %d column %d", row, c), float64(float.FromF16(got[row*width+c])), want, 2e-3)
			}
		}
	})
}

func TestSort(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		x := random(128, 3)
		px, pout := upload(t, d, x), upload(t, d, make([]float32, len(x)))
		if err := testdata(t, d, "sort.sm80", "sort", Dim{1, 1, 1}, 2, px, pout); err != nil {
			t.Fatal(err)
		}
		slices.Sort(x)
		if got := download[float32](t, d, pout, len(x)); !slices.Equal(got, x) {
			t.Errorf("sorted values are %v", got)
		}
	})
}

func TestCumsum(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		x := make([]int32, 256)
		for i := range x {
			x[i] = int32(i*i) - 1000
		}
		px, pout := upload(t, d, x), upload(t, d, make([]int32, len(x)))
		if err := testdata(t, d, "cumsum.sm75", "cumsum", Dim{1, 1, 1}, 2, px, pout); err != nil {
			t.Fatal(err)
		}
		sum := int32(0)
		for i, got := range download[int32](t, d, pout, len(x)) {
			if sum += x[i]; got != sum {
				t.Fatalf("sum %d is %d, want %d", i, got, sum)
			}
		}
	})
}

// TestCastFP8 compares conversions, in software on sm_80, with a rounding to the nearest of all values.
func TestCastFP8(t *testing.T) {
	for name, f := range map[string]*float.Format{"fp8e5.sm80": &float.E5M2, "fp8e5.sm89": &float.E5M2, "fp8e4nv.sm89": &float.E4M3} {
		d := NewDevice(Options{})
		x := random(256, 4)
		for i := range x {
			x[i] *= float32(math.Ldexp(1, i/8-16))
		}
		px, pout := upload(t, d, x), upload(t, d, make([]byte, len(x)))
		if err := testdata(t, d, "cast.fp32."+name, "cast", Dim{1, 1, 1}, 1, px, pout); err != nil {
			t.Fatal(err)
		}
		for i, got := range download[byte](t, d, pout, len(x)) {
			best, distance := 0, math.Inf(1)
			for b := range 256 {
				v := f.Value(uint32(b))
				away := math.Abs(v - float64(x[i]))
				if math.IsInf(v, 0) || !(away < distance || away == distance && b&1 == 0) || math.Signbit(v) != math.Signbit(float64(x[i])) {
					continue
				}
				best, distance = b, away
			}
			if int(got) != best {
				t.Errorf("%s: %v gives %#x (%v), want %#x (%v)", name, x[i], got, f.Value(uint32(got)), best, f.Value(uint32(best)))
			}
		}
	}
}

// TestSine runs code of libdevice, its slow path for large arguments included.
func TestSine(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		x := random(128, 5)
		for i := range x {
			x[i] *= float32(math.Ldexp(1, i/2-8))
		}
		px, pout := upload(t, d, x), upload(t, d, make([]float32, len(x)))
		if err := testdata(t, d, "sine.sm80", "sine", Dim{1, 1, 1}, 1, px, pout); err != nil {
			t.Fatal(err)
		}
		for i, got := range download[float32](t, d, pout, len(x)) {
			near(t, fmt.Sprintf("sine of %v", x[i]), float64(got), math.Sin(float64(x[i])), 0x1p-22)
		}
	})
}

// TestCollatz runs loops and a call of a function with branches.
func TestCollatz(t *testing.T) {
	both(t, func(t *testing.T, d *Device) {
		x := make([]int32, 100)
		for i := range x {
			x[i] = int32(i)
		}
		px := upload(t, d, x)
		if err := testdata(t, d, "collatz.sm80", "collatz", Dim{100, 1, 1}, 1, px); err != nil {
			t.Fatal(err)
		}
		for i, got := range download[int32](t, d, px, len(x)) {
			want := int32(0)
			for n := i; n > 1; want++ {
				if n%2 == 0 {
					n /= 2
				} else {
					n = 3*n + 1
				}
			}
			if got != want {
				t.Errorf("%d takes %d steps, want %d", i, got, want)
			}
		}
	})
}

// TestAccumulate adds atomically, in types whose sums are exact here.
func TestAccumulate(t *testing.T) {
	for _, name := range []string{"i32", "fp16", "bf16", "fp32"} {
		e := elementTypes[name]
		r := rand.New(rand.NewPCG(6, 6))
		bits := map[string][]uint64{"i32": {1, 2, 3, 0xffffffff}, "fp16": {0x3c00, 0x4000, 0x0000, 0xbc00}, "bf16": {0x3f80, 0x4000, 0x0000, 0xbf80}, "fp32": {0x3f800000, 0x40000000, 0, 0xbf800000}}[name]
		var memory []byte
		var want [4]float64
		for i := range 64 {
			b := bits[r.IntN(4)]
			want[i%4] += e.value(b)
			for j := range e.bytes {
				memory = append(memory, byte(b>>(8*j)))
			}
		}
		d := NewDevice(Options{})
		px, pout := upload(t, d, memory), upload(t, d, make([]byte, 4*e.bytes))
		if err := testdata(t, d, "accumulate."+name+".sm80", "accumulate", Dim{1, 1, 1}, 2, px, pout); err != nil {
			t.Fatal(err)
		}
		for i, got := range e.values(download[byte](t, d, pout, 4*e.bytes)) {
			if got != want[i] {
				t.Errorf("%s: sum %d is %v, want %v", name, i, got, want[i])
			}
		}
	}
}

// TestDevicePrintAndAssert runs Triton's own prints and assertions.
func TestDevicePrintAndAssert(t *testing.T) {
	var out bytes.Buffer
	d := NewDevice(Options{Output: &out})
	x := make([]int32, 64)
	for i := range x {
		x[i] = int32(i + 1)
	}
	px := upload(t, d, x)
	if err := testdata(t, d, "positive.sm80", "positive", Dim{1, 1, 1}, 2, px, int32(64)); err != nil {
		t.Fatal(err)
	}
	for i := range x {
		if want := fmt.Sprintf("pid (0, 0, 0) idx (%2d) x: %d\n", i, i+1); !strings.Contains(out.String(), want) {
			t.Fatalf("%q is not in %q", want, out.String())
		}
	}
	x[40] = -3
	if err := d.Memory.Write(px, bytesOf(x)); err != nil {
		t.Fatal(err)
	}
	err := testdata(t, d, "positive.sm80", "positive", Dim{1, 1, 1}, 2, px, int32(64))
	var f *Fault
	if !errors.As(err, &f) || f.Thread.X != 40 || !strings.Contains(err.Error(), "assertion failed: x must be positive") {
		t.Errorf("a failed assertion gives %v", err)
	}
}
