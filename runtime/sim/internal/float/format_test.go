package float

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestF16RoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		f := FromF16(h)
		want := F16.Value(uint32(h))
		if float64(f) != want && (f == f || want == want) {
			t.Fatalf("FromF16(%#04x) = %v, Value gives %v", h, f, want)
		}
		if f != f {
			h = 0x7fff
		}
		if got := ToF16(f); got != h {
			t.Fatalf("ToF16(%v) = %#04x, want %#04x", f, got, h)
		}
		if got := F16.Round(float64(f), RN); got != uint32(h) {
			t.Fatalf("Round(%v) = %#04x, want %#04x", f, got, h)
		}
	}
}

func TestFastRoundingsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 {
		x := math.Float32frombits(r.Uint32())
		if got, want := uint32(ToF16(x)), F16.Round(float64(x), RN); got != want {
			t.Fatalf("ToF16(%v) = %#x, want %#x", x, got, want)
		}
		if got, want := uint32(ToBF16(x)), BF16.Round(float64(x), RN); got != want {
			t.Fatalf("ToBF16(%v) = %#x, want %#x", x, got, want)
		}
	}
}

// TestRoundDirections compares each direction with math/big's, for normal numbers of binary32: below them math/big rounds twice.
func TestRoundDirections(t *testing.T) {
	modes := map[Rounding]big.RoundingMode{RN: big.ToNearestEven, RZ: big.ToZero, RM: big.ToNegativeInf, RP: big.ToPositiveInf, RNA: big.ToNearestAway}
	r := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		x := math.Ldexp(1+r.Float64(), r.IntN(240)-120) * float64(1-2*r.IntN(2))
		for mode, m := range modes {
			want, _ := new(big.Float).SetPrec(24).SetMode(m).SetFloat64(x).Float32()
			if got := F32.Round(x, mode); got != math.Float32bits(want) {
				t.Fatalf("Round(%v, %v) = %#x, want %#x", x, mode, got, math.Float32bits(want))
			}
		}
	}
}

func TestFMA32(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200_000 {
		a, b, c := random(r), random(r), random(r)
		if r.IntN(2) == 0 { // a near cancellation
			c = -float32(float64(a) * float64(b))
		}
		exact := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		exact.Add(exact, big.NewFloat(float64(c)))
		want, _ := exact.Float32()
		if got := FMA32(a, b, c); got != want {
			t.Fatalf("FMA32(%v, %v, %v) = %v, want %v", a, b, c, got, want)
		}
	}
}

func random(r *rand.Rand) float32 {
	return float32(math.Ldexp(r.Float64()*2-1, r.IntN(120)-60))
}

func TestSaturation(t *testing.T) {
	for _, c := range []struct {
		f    *Format
		x    float64
		want uint32
	}{
		{&E4M3, 448, 0x7e}, {&E4M3, 464, 0x7e}, {&E4M3, 1e9, 0x7e}, {&E4M3, -1e9, 0xfe}, {&E4M3, math.Inf(-1), 0xfe}, {&E4M3, math.NaN(), 0x7f},
		{&E5M2, 57344, 0x7b}, {&E5M2, 1e9, 0x7b}, {&E5M2, math.Inf(1), 0x7b}, {&E4M3, 0x1p-9, 1}, {&E4M3, 0x1p-10, 0}, {&F16, 1e9, 0x7bff},
	} {
		if got := c.f.RoundFinite(c.x, RN); got != c.want {
			t.Errorf("RoundFinite(%v) = %#x, want %#x", c.x, got, c.want)
		}
	}
}
