package generated_test

import (
	"math"
	"math/rand/v2"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// compare reports how many elements are wrong and the first of them.
func compare[T any](t *testing.T, what string, got, want []T, right func(i int) bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	wrong, first := 0, 0
	for i := range got {
		if !right(i) {
			if wrong == 0 {
				first = i
			}
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d elements are wrong, the first is [%d] = %v, want %v", what, wrong, len(got), first, got[first], want[first])
	}
}

// equal wants equal elements.
func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	compare(t, what, got, want, func(i int) bool { return got[i] == want[i] })
}

// equalBits wants the very same numbers, signs of zeros too; any NaN is like any
// other.
func equalBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	compare(t, what, got, want, func(i int) bool {
		return math.Float32bits(got[i]) == math.Float32bits(want[i]) || got[i] != got[i] && want[i] != want[i]
	})
}

// near wants numbers that differ by allowed(i) at most.
func near(t *testing.T, what string, got []float32, want []float64, allowed func(i int) float64) {
	t.Helper()
	compare(t, what, widened(got), want, func(i int) bool { return math.Abs(float64(got[i])-want[i]) <= allowed(i) })
}

// within allows an error relative to what is wanted, plus an absolute one.
func within(want []float64, relative, absolute float64) func(i int) float64 {
	return func(i int) float64 { return absolute + relative*math.Abs(want[i]) }
}

func widened(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}

// random makes the same inputs in every run.
func random(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 1)) }

func normal(r *rand.Rand, n int, mean, deviation float64) []float32 {
	return generate(n, func() float32 { return float32(mean + deviation*r.NormFloat64()) })
}

// integers are whole numbers from low to high.
func integers(r *rand.Rand, n, low, high int) []float32 {
	return generate(n, func() float32 { return float32(low + r.IntN(high-low+1)) })
}

// patterns are any bits: infinities, NaNs and subnormal numbers among them.
func patterns(r *rand.Rand, n int) []float32 {
	return generate(n, func() float32 { return math.Float32frombits(r.Uint32()) })
}

func generate[T any](n int, next func() T) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = next()
	}
	return values
}

func each[T, U any](values []T, convert func(T) U) []U {
	converted := make([]U, len(values))
	for i, v := range values {
		converted[i] = convert(v)
	}
	return converted
}

// floats are an element type that is computed with: what float32 makes of it and
// back, and how exact it is.
type floats[T kernrt.Elem] struct {
	name   string
	narrow func(float32) T
	wide   func(T) float32
	bits   func(uint32) T
	half   float64 // half a unit in the last place, relative
	least  float64 // half the least subnormal number
}

var (
	fp32 = floats[float32]{"fp32", func(v float32) float32 { return v }, func(v float32) float32 { return v }, math.Float32frombits, 0x1p-24, 0x1p-150}
	fp16 = floats[kernrt.Float16]{"fp16", kernrt.NewFloat16, kernrt.Float16.Float32, func(b uint32) kernrt.Float16 { return kernrt.Float16(b) }, 0x1p-11, 0x1p-25}
	bf16 = floats[kernrt.BFloat16]{"bf16", kernrt.NewBFloat16, kernrt.BFloat16.Float32, func(b uint32) kernrt.BFloat16 { return kernrt.BFloat16(b) }, 0x1p-8, 0x1p-134}
)

func (f floats[T]) narrowed(values []float32) []T { return each(values, f.narrow) }

func (f floats[T]) widened(values []T) []float32 { return each(values, f.wide) }

func (f floats[T]) normal(r *rand.Rand, n int, mean, deviation float64) []T {
	return f.narrowed(normal(r, n, mean, deviation))
}

// patterns are any bits: infinities, NaNs and subnormal numbers among them.
func (f floats[T]) patterns(r *rand.Rand, n int) []T {
	return generate(n, func() T { return f.bits(r.Uint32()) })
}

// rounded allows what a result computed in fp32 may be off, relative and absolute,
// and its rounding to T.
func (f floats[T]) rounded(want []float64, relative, absolute float64) func(i int) float64 {
	if f.half <= 0x1p-24 {
		return within(want, relative, absolute)
	}
	return within(want, relative+f.half, absolute+f.least)
}
