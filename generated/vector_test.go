package generated_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

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

// upload makes a vector of values, at an address divisible by 16.
func upload[T kernrt.Elem](t *testing.T, s *kernrt.Stream, values []T) vector[T] {
	t.Helper()
	return uploadAt(t, s, values, 0)
}

// uploadAt makes a vector of values that starts offset elements behind an
// address divisible by 16.
func uploadAt[T kernrt.Elem](t *testing.T, s *kernrt.Stream, values []T, offset int) vector[T] {
	t.Helper()
	v := vector[T]{first: guard + offset, len: len(values)}
	all := slices.Concat(poisoned[T](v.first), values, poisoned[T](guard))
	var err error
	if v.buffer, err = kernrt.Alloc[T](s.Device(), len(all)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.buffer.Free(); err != nil {
			t.Error(err)
		}
	})
	if err := v.buffer.CopyFrom(s, all); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v vector[T]) ptr() kernrt.Ptr[T] { return v.buffer.Ptr().Add(v.first) }

// read waits for the stream and returns the elements; what lies around them must
// be as it was.
func (v vector[T]) read(t *testing.T, s *kernrt.Stream) []T {
	t.Helper()
	all := make([]T, v.buffer.Len())
	if err := v.buffer.CopyTo(s, all); err != nil {
		t.Fatal(err)
	}
	before, behind := all[:v.first], all[v.first+v.len:]
	if !slices.Equal(before, poisoned[T](len(before))) {
		t.Error("the kernel wrote before its output")
	}
	if !slices.Equal(behind, poisoned[T](len(behind))) {
		t.Error("the kernel wrote behind its output")
	}
	return all[v.first : v.first+v.len]
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
