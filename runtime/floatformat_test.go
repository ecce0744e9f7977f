package kernrt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
	"testing"
)

// A float type under test, with its layout stated again, apart from the code.
type floatCase struct {
	name            string
	width, mantissa int
	bias            int
	infinity, nan   int // codes without sign; -1: the format has none
	top             int // code of the largest finite value that a conversion gives
	overflow        int
	fnuz            bool

	decode func(code uint32) float32
	encode func(x float32) uint32
	text   func(code uint32) string
}

func floatCases() []floatCase {
	return []floatCase{
		{"float16", 16, 10, 15, 0x7c00, 0x7e00, 0x7bff, 0x7c00, false,
			func(c uint32) float32 { return Float16(c).Float32() },
			func(x float32) uint32 { return uint32(NewFloat16(x)) },
			func(c uint32) string { return Float16(c).String() }},
		{"bfloat16", 16, 7, 127, 0x7f80, 0x7fc0, 0x7f7f, 0x7f80, false,
			func(c uint32) float32 { return BFloat16(c).Float32() },
			func(x float32) uint32 { return uint32(NewBFloat16(x)) },
			func(c uint32) string { return BFloat16(c).String() }},
		{"e4m3fn", 8, 3, 7, -1, 0x7f, 0x7e, 0x7f, false,
			func(c uint32) float32 { return Float8E4M3FN(c).Float32() },
			func(x float32) uint32 { return uint32(NewFloat8E4M3FN(x)) },
			func(c uint32) string { return Float8E4M3FN(c).String() }},
		{"e5m2", 8, 2, 15, 0x7c, 0x7e, 0x7b, 0x7c, false,
			func(c uint32) float32 { return Float8E5M2(c).Float32() },
			func(x float32) uint32 { return uint32(NewFloat8E5M2(x)) },
			func(c uint32) string { return Float8E5M2(c).String() }},
		{"e4m3fnuz", 8, 3, 8, -1, 0x80, 0x7f, 0x80, true,
			func(c uint32) float32 { return Float8E4M3FNUZ(c).Float32() },
			func(x float32) uint32 { return uint32(NewFloat8E4M3FNUZ(x)) },
			func(c uint32) string { return Float8E4M3FNUZ(c).String() }},
		{"e5m2fnuz", 8, 2, 16, -1, 0x80, 0x7f, 0x80, true,
			func(c uint32) float32 { return Float8E5M2FNUZ(c).Float32() },
			func(x float32) uint32 { return uint32(NewFloat8E5M2FNUZ(x)) },
			func(c uint32) string { return Float8E5M2FNUZ(c).String() }},
		{"e4m3b15", 8, 3, 15, -1, -1, 0x7e, 0x7e, false,
			func(c uint32) float32 { return Float8E4M3B15(c).Float32() },
			func(x float32) uint32 { return uint32(NewFloat8E4M3B15(x)) },
			func(c uint32) string { return Float8E4M3B15(c).String() }},
	}
}

func (c *floatCase) sign() uint32 { return 1 << (c.width - 1) }

// value is the textbook formula, in float64 where it is exact.
func (c *floatCase) value(magnitude int) float64 {
	exponent, fraction := magnitude>>c.mantissa, magnitude&(1<<c.mantissa-1)
	if exponent == 0 {
		return math.Ldexp(float64(fraction), 1-c.bias-c.mantissa)
	}
	return math.Ldexp(float64(fraction|1<<c.mantissa), exponent-c.bias-c.mantissa)
}

func (c *floatCase) isNaN(code int) bool {
	magnitude := code & int(c.sign()-1)
	switch {
	case c.fnuz:
		return code == c.nan
	case c.infinity >= 0:
		return magnitude > c.infinity
	}
	return magnitude == c.nan
}

func TestFloatDecodesEveryCode(t *testing.T) {
	for _, c := range floatCases() {
		t.Run(c.name, func(t *testing.T) {
			for code := range 1 << c.width {
				magnitude, negative := code&int(c.sign()-1), code >= int(c.sign())
				got := c.decode(uint32(code))
				if c.isNaN(code) {
					if got == got {
						t.Fatalf("code %#x is %g, want NaN", code, got)
					}
					continue
				}
				want := c.value(magnitude)
				if magnitude == c.infinity {
					want = math.Inf(1)
				}
				if negative {
					want = -want
				}
				if float64(got) != want || math.Signbit(float64(got)) != negative {
					t.Fatalf("code %#x is %g, want %g", code, got, want)
				}
				parsed, err := strconv.ParseFloat(c.text(uint32(code)), 32)
				if err != nil || parsed != want {
					t.Fatalf("code %#x prints as %q, want the text of %g", code, c.text(uint32(code)), want)
				}
			}
		})
	}
}

func TestFloatRoundTripsEveryCode(t *testing.T) {
	for _, c := range floatCases() {
		t.Run(c.name, func(t *testing.T) {
			for code := range 1 << c.width {
				want := uint32(code)
				switch magnitude := want & (c.sign() - 1); {
				case c.isNaN(code):
					want = want&c.sign() | uint32(c.nan)
				case int(magnitude) > c.top && int(magnitude) != c.infinity:
					want = want&c.sign() | uint32(c.overflow) // e4m3b15's 1.875
				}
				if got := c.encode(c.decode(uint32(code))); got != want {
					t.Fatalf("code %#x comes back as %#x, want %#x", code, got, want)
				}
			}
		})
	}
}

// Conversion is monotonic, so it is right everywhere when it is right on both
// sides of, and at, the middle of every two neighbours.
func TestFloatRoundsAtEveryBoundary(t *testing.T) {
	for _, c := range floatCases() {
		t.Run(c.name, func(t *testing.T) {
			check := func(x float32, want uint32) {
				t.Helper()
				if got := c.encode(x); got != want {
					t.Fatalf("%g (%#x) becomes %#x, want %#x", x, math.Float32bits(x), got, want)
				}
				if !c.fnuz || want != 0 && want != uint32(c.nan) {
					want |= c.sign()
				}
				if got := c.encode(-x); got != want {
					t.Fatalf("%g becomes %#x, want %#x", -x, got, want)
				}
			}
			inf := float32(math.Inf(1))
			for low := range c.top + 1 {
				middle := float32((c.value(low) + c.value(low+1)) / 2)
				high := uint32(low + 1)
				if low == c.top {
					high = uint32(c.overflow)
				}
				even := uint32(low)
				if low%2 == 1 {
					even = high
				}
				check(float32(c.value(low)), uint32(low))
				check(math.Nextafter32(middle, 0), uint32(low))
				check(middle, even)
				check(math.Nextafter32(middle, inf), high)
			}
			check(math.SmallestNonzeroFloat32, 0)
			check(math.MaxFloat32, uint32(c.overflow))
			check(inf, uint32(c.overflow))
		})
	}
}

func TestFloatRoundsRandomNumbersToTheNearest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range floatCases() {
		t.Run(c.name, func(t *testing.T) {
			values := make([]float64, c.top+2) // one past the top decides overflow
			for code := range values {
				values[code] = c.value(code)
			}
			for range 100_000 {
				x := math.Float32frombits(random.Uint32() & 0x7fffffff)
				if random.IntN(2) == 0 { // also dense within the format's range
					x = float32(values[c.top] * random.Float64())
				}
				if x != x {
					continue
				}
				want := sort.SearchFloat64s(values, float64(x)) // the first not below x
				if want > 0 && want < len(values) {
					down, up := float64(x)-values[want-1], values[want]-float64(x)
					if down < up || down == up && want%2 == 1 {
						want--
					}
				}
				if want > c.top {
					want = c.overflow
				}
				if got := c.encode(x); got != uint32(want) {
					t.Fatalf("%g (%#x) becomes %#x, want %#x", x, math.Float32bits(x), got, want)
				}
			}
		})
	}
}

func TestFloatNaN(t *testing.T) {
	for _, c := range floatCases() {
		t.Run(c.name, func(t *testing.T) {
			for _, bits := range []uint32{0x7fc00000, 0x7f800001, 0x7fffffff} {
				want := uint32(c.nan)
				if c.nan < 0 {
					want = uint32(c.top)
				}
				if got := c.encode(math.Float32frombits(bits)); got != want {
					t.Errorf("%#x becomes %#x, want %#x", bits, got, want)
				}
				if got := c.encode(math.Float32frombits(bits | 1<<31)); got != want|c.sign() {
					t.Errorf("%#x becomes %#x, want %#x", bits|1<<31, got, want|c.sign())
				}
			}
		})
	}
}

func TestFloatKnownValues(t *testing.T) {
	tests := []struct {
		got, want fmt.Stringer
		text      string
	}{
		{NewFloat16(1), Float16(0x3c00), "1"},
		{NewFloat16(-2), Float16(0xc000), "-2"},
		{NewFloat16(0.1), Float16(0x2e66), "0.099975586"},
		{NewFloat16(65504), Float16(0x7bff), "65504"},
		{NewFloat16(65519.996), Float16(0x7bff), "65504"},
		{NewFloat16(65520), Float16(0x7c00), "+Inf"},
		{NewFloat16(6e-8), Float16(0x0001), "5.9604645e-08"},
		{NewBFloat16(1), BFloat16(0x3f80), "1"},
		{NewBFloat16(3.1415927), BFloat16(0x4049), "3.140625"},
		{NewBFloat16(3.4e38), BFloat16(0x7f80), "+Inf"},
		{NewBFloat16(1.00390625), BFloat16(0x3f80), "1"}, // a tie, to even
		{NewBFloat16(1.01171875), BFloat16(0x3f82), "1.015625"},
		{NewFloat8E4M3FN(1), Float8E4M3FN(0x38), "1"},
		{NewFloat8E4M3FN(464), Float8E4M3FN(0x7e), "448"},
		{NewFloat8E4M3FN(-465), Float8E4M3FN(0xff), "NaN"},
		{NewFloat8E4M3FN(0.001953125), Float8E4M3FN(0x01), "0.001953125"},
		{NewFloat8E5M2(1), Float8E5M2(0x3c), "1"},
		{NewFloat8E5M2(-61440), Float8E5M2(0xfc), "-Inf"},
		{NewFloat8E4M3FNUZ(1), Float8E4M3FNUZ(0x40), "1"},
		{NewFloat8E4M3FNUZ(240), Float8E4M3FNUZ(0x7f), "240"},
		{NewFloat8E4M3FNUZ(248), Float8E4M3FNUZ(0x80), "NaN"},
		{NewFloat8E4M3FNUZ(-1e-9), Float8E4M3FNUZ(0x00), "0"},
		{NewFloat8E5M2FNUZ(1), Float8E5M2FNUZ(0x40), "1"},
		{NewFloat8E5M2FNUZ(57344), Float8E5M2FNUZ(0x7f), "57344"},
		{NewFloat8E4M3B15(1), Float8E4M3B15(0x78), "1"},
		{NewFloat8E4M3B15(-100), Float8E4M3B15(0xfe), "-1.75"},
		{Float8E4M3B15(0x7f), Float8E4M3B15(0x7f), "1.875"},
	}
	for i, test := range tests {
		if test.got != test.want || test.got.String() != test.text {
			t.Errorf("%d: got %#x %s, want %#x %s", i, test.got, test.got, test.want, test.text)
		}
	}
}

func BenchmarkNewFloat16(b *testing.B) {
	x := float32(0)
	for b.Loop() {
		NewFloat16(x)
		x += 0.1
	}
}

func BenchmarkFloat16Float32(b *testing.B) {
	x := Float16(0)
	for b.Loop() {
		x.Float32()
		x++
	}
}
