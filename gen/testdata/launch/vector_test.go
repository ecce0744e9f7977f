package launch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// run is one launch and what came of it.
type run struct {
	*testing.T
	*rand.Rand
	fixture
	stream *kernrt.Stream
	launch any
	free   []func()
	wrong  []string // what came out wrong
}

// check launches a kernel and, where the launch succeeds, compares all that came
// out with what should have.
type check func(r *run) error

// function is the Launch function, which must have the type that the check calls.
func function[F any](r *run) F {
	r.Helper()
	f, ok := r.launch.(F)
	if !ok {
		r.Fatalf("the Launch function is a %T, want %T", r.launch, f)
	}
	return f
}

const (
	poison = 0xa5 // what memory holds before a kernel writes it
	guard  = 64   // elements before and behind a vector that no kernel may touch
)

// vector is elements in device memory amid poison.
type vector[T kernrt.Elem] struct {
	buffer *kernrt.Buffer[T]
	first  int // index of the first element in buffer
	len    int
}

// upload makes a vector of values that starts offset elements behind an address
// divisible by 16.
func upload[T kernrt.Elem](r *run, values []T, offset int) vector[T] {
	r.Helper()
	v := vector[T]{first: guard + offset, len: len(values)}
	all := slices.Concat(poisoned[T](v.first), values, poisoned[T](guard))
	var err error
	if v.buffer, err = kernrt.Alloc[T](r.stream.Device(), len(all)); err != nil {
		r.Fatal(err)
	}
	r.free = append(r.free, func() {
		if err := v.buffer.Free(); err != nil {
			r.Error(err)
		}
	})
	if err := v.buffer.CopyFrom(r.stream, all); err != nil {
		r.Fatal(err)
	}
	return v
}

// output is a vector of n elements that nothing has written.
func output[T kernrt.Elem](r *run, n int) vector[T] { return upload(r, poisoned[T](n), 0) }

func (v vector[T]) ptr() kernrt.Ptr[T] { return v.buffer.Ptr().Add(v.first) }

// compare waits for the stream and notes which elements are not as wanted; what
// lies around them must be untouched.
func compare[T kernrt.Elem](r *run, what string, v vector[T], want []T) {
	r.Helper()
	got := make([]T, v.buffer.Len())
	if err := v.buffer.CopyTo(r.stream, got); err != nil {
		r.Fatal(err)
	}
	want = slices.Concat(poisoned[T](v.first), want, poisoned[T](guard))
	if len(got) != len(want) {
		r.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	wrong, first := 0, 0
	for i := range got {
		if !same(got[i], want[i]) {
			if wrong == 0 {
				first = i
			}
			wrong++
		}
	}
	if wrong > 0 {
		r.wrong = append(r.wrong, fmt.Sprintf("%s: %d of %d elements are wrong, the first is [%d] = %v, want %v",
			what, wrong, v.len, first-v.first, got[first], want[first]))
	}
}

// same compares bits, signs of zeros too; any NaN is like any other.
func same[T kernrt.Elem](got, want T) bool {
	if got != got && want != want {
		return true
	}
	switch got := any(got).(type) {
	case float32:
		return math.Float32bits(got) == math.Float32bits(any(want).(float32))
	case float64:
		return math.Float64bits(got) == math.Float64bits(any(want).(float64))
	case kernrt.Float16:
		want := any(want).(kernrt.Float16)
		return got == want || got&0x7fff > 0x7c00 && want&0x7fff > 0x7c00
	}
	return got == want
}

// poisoned is n elements that no kernel has written.
func poisoned[T kernrt.Elem](n int) []T {
	elements := make([]T, n)
	raw := bytes.Repeat([]byte{poison}, binary.Size(elements))
	if _, err := binary.Decode(raw, binary.LittleEndian, elements); err != nil {
		panic(err) // every Elem has a fixed size
	}
	return elements
}

// draw makes n values.
func draw[T any](n int, next func() T) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = next()
	}
	return values
}

// pattern is any float at all: zeros, infinities, NaNs and subnormal numbers are
// more frequent than chance would have them.
func (r *run) pattern() float32 {
	bits := r.Uint32()
	switch r.IntN(8) {
	case 0:
		bits &= 1 << 31 // zero
	case 1:
		bits |= 0xff << 23 // infinity or NaN
		bits &^= r.Uint32() & (1<<23 - 1)
	case 2:
		bits &^= 0xff << 23 // subnormal
	}
	return math.Float32frombits(bits)
}

// integer is a whole number from -most to most.
func (r *run) integer(most int) int { return r.IntN(2*most+1) - most }
