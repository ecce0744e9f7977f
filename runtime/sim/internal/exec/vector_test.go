package exec

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"testing"
)

// image reads a PTX text of the repository, by its path from the root.
func image(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func kernel(t testing.TB, d *Device, path, name string) *Entry {
	t.Helper()
	m, err := d.Load(image(t, path))
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// bytesOf is the memory of values, little-endian.
func bytesOf[T any](v []T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

// upload makes device memory that holds values.
func upload[T any](t testing.TB, d *Device, v []T) uint64 {
	t.Helper()
	b := bytesOf(v)
	addr, err := d.Memory.Alloc(uint64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Memory.Write(addr, b); err != nil {
		t.Fatal(err)
	}
	return addr
}

func download[T any](t testing.TB, d *Device, addr uint64, n int) []T {
	t.Helper()
	v := make([]T, n)
	b := make([]byte, binary.Size(v))
	if err := d.Memory.Read(b, addr); err != nil {
		t.Fatal(err)
	}
	if _, err := binary.Decode(b, binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
	return v
}

// params packs launch parameters.
func params(v ...any) [][]byte {
	var p [][]byte
	for _, x := range v {
		b, err := binary.Append(nil, binary.LittleEndian, x)
		if err != nil {
			panic(err)
		}
		p = append(p, b)
	}
	return p
}

func TestVectorAdd(t *testing.T) {
	for _, unchecked := range []bool{true, false} {
		d := NewDevice(Options{Unchecked: unchecked})
		e := kernel(t, d, "runtime/testdata/add.sm80.ptx", "add_kernel")
		const n = 1024*100 - 16
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], y[i] = float32(i)*0.37, float32(math.Sin(float64(i)))
		}
		px, py, pz := upload(t, d, x), upload(t, d, y), upload(t, d, make([]float32, n))
		err := e.Launch(context.Background(), Config{Grid: Dim{100, 1, 1}, Block: Dim{128, 1, 1}, Params: params(px, py, pz, uint32(n), uint64(0), uint64(0))})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range download[float32](t, d, pz, n) {
			if want := x[i] + y[i]; got != want {
				t.Fatalf("element %d is %v, want %v", i, got, want)
			}
		}
	}
}
