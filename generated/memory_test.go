package generated_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// pin is pinned memory that holds values, freed with the test.
func pin[T kernrt.Elem](t *testing.T, values []T) *kernrt.HostBuffer[T] {
	t.Helper()
	h, err := kernrt.AllocHost[T](device(t), len(values))
	launched(t, err)
	t.Cleanup(func() { launched(t, h.Free()) })
	copy(h.Values(), values)
	return h
}

// hold is device memory for n elements, freed with the test.
func hold[T kernrt.Elem](t *testing.T, n int) *kernrt.Buffer[T] {
	t.Helper()
	b, err := kernrt.Alloc[T](device(t), n)
	launched(t, err)
	t.Cleanup(func() { launched(t, b.Free()) })
	return b
}

// Pinned memory there, a kernel, and back, all queued before the host waits once.
func TestPinnedCopies(t *testing.T) {
	s := newStream(t)
	const n = 1<<20 + 5
	r := random(1)
	x, y := normal(r, n, 0, 1), normal(r, n, 0, 1)
	pinnedX, pinnedY, sums := pin(t, x), pin(t, y), pin(t, make([]float32, n))
	dx, dy, out := hold[float32](t, n), hold[float32](t, n), hold[float32](t, n)
	launched(t, dx.CopyFromAsync(s, pinnedX))
	launched(t, dy.CopyFromAsync(s, pinnedY))
	launched(t, vec.LaunchAdd(s, dx.Ptr(), dy.Ptr(), out.Ptr(), n))
	launched(t, dx.CopyFromDevice(s, out.All()))
	launched(t, dx.CopyToAsync(s, sums))
	launched(t, s.Synchronize())
	want := make([]float32, n)
	for i := range want {
		want[i] = x[i] + y[i]
	}
	equalBits(t, "sums", sums.Values(), want)
}

// Rows there, across and back with a pitch on each side, from pinned and from
// plain memory; what lies between them stays.
func TestRows(t *testing.T) {
	s := newStream(t)
	for _, shape := range []struct{ rows, width, pitch int }{{1, 1, 1}, {7, 5, 8}, {300, 1000, 1024}, {3, 100_001, 100_004}} {
		packed := normal(random(shape.width), shape.rows*shape.width, 0, 1)
		n := shape.rows * shape.pitch
		want := make([]float32, n)
		for i := range want {
			want[i] = -1
			if col := i % shape.pitch; col < shape.width {
				want[i] = packed[i/shape.pitch*shape.width+col]
			}
		}
		there := kernrt.Rows{Count: shape.rows, Width: shape.width, ToPitch: shape.pitch}
		back := kernrt.Rows{Count: shape.rows, Width: shape.width, FromPitch: shape.pitch}
		pinned, returned := pin(t, packed), pin(t, make([]float32, len(packed)))
		for _, async := range []bool{false, true} {
			a, b, c := hold[float32](t, n), hold[float32](t, len(packed)), hold[float32](t, n)
			for _, padded := range []*kernrt.Buffer[float32]{a, c} {
				launched(t, padded.Fill(s, -1))
			}
			if async {
				launched(t, a.All().CopyRowsFromAsync(s, pinned, there))
			} else {
				launched(t, a.All().CopyRowsFrom(s, packed, there))
			}
			launched(t, b.All().CopyRowsFromDevice(s, a.All(), back))
			launched(t, c.All().CopyRowsFromDevice(s, b.All(), there))
			padded, err := c.Download(s)
			launched(t, err)
			equalBits(t, "padded rows", padded, want)
			got := make([]float32, len(packed))
			if async {
				launched(t, c.All().CopyRowsToAsync(s, returned, back))
				launched(t, s.Synchronize())
				copy(got, returned.Values())
			} else {
				launched(t, c.All().CopyRowsTo(s, got, back))
			}
			equalBits(t, "packed rows", got, packed)
		}
	}
}

func TestFills(t *testing.T) {
	s := newStream(t)
	filled(t, s, int8(-7))
	filled(t, s, true)
	filled(t, s, kernrt.NewFloat16(1.5))
	filled(t, s, int32(math.MinInt32))
	filled(t, s, float32(3.25))
	filled(t, s, int64(-1))
	filled(t, s, float64(0))
}

func filled[T interface {
	kernrt.Elem
	comparable
}](t *testing.T, s *kernrt.Stream, value T) {
	t.Helper()
	const n = 100_003
	b, err := kernrt.Upload(s, poisoned[T](n))
	launched(t, err)
	defer func() { launched(t, b.Free()) }()
	middle, err := b.Slice(1, n-1)
	launched(t, err)
	launched(t, middle.Fill(s, value))
	got, err := b.Download(s)
	launched(t, err)
	ends := poisoned[T](1)
	if got[0] != ends[0] || got[n-1] != ends[0] {
		t.Errorf("filling with %v wrote beside the slice", value)
	}
	if i := slices.IndexFunc(got[1:n-1], func(v T) bool { return v != value }); i >= 0 {
		t.Errorf("element %d is %v, want %v", i, got[i+1], value)
	}
}

// Memory that is allocated, used and freed in a stream's order, again and again:
// the results are right, and the pool needs no more than one round's.
func TestPool(t *testing.T) {
	dev := device(t)
	onGPU(t, "its pools keep nothing, whatever their threshold")
	if !dev.Info().MemoryPools {
		t.Skip("no memory pools")
	}
	s := newStream(t)
	pool, err := dev.NewPool(math.MaxUint64)
	launched(t, err)
	const n, rounds = 1 << 20, 50
	before := dev.MemoryStats()
	x := normal(random(2), n, 0, 1)
	pinned, sums := pin(t, x), hold[float32](t, n)
	launched(t, sums.Fill(s, 0))
	want := make([]float32, n)
	for range rounds {
		a, err := kernrt.AllocAsync[float32](pool, s, n)
		launched(t, err)
		launched(t, a.CopyFromAsync(s, pinned))
		launched(t, vec.LaunchAdd(s, a.Ptr(), sums.Ptr(), sums.Ptr(), n))
		launched(t, a.FreeAsync(s))
		for i := range want {
			want[i] += x[i]
		}
	}
	got, err := sums.Download(s)
	launched(t, err)
	equalBits(t, "sums", got, want)

	stats, err := pool.Stats()
	launched(t, err)
	if stats.InUse != 0 || stats.Peak < 4*n || stats.Peak > 4*4*n || stats.Reserved < stats.Peak {
		t.Errorf("%+v after %d rounds of %d bytes, with a threshold that keeps all", stats, rounds, 4*n)
	}
	launched(t, pool.Trim(0))
	if stats, err = pool.Stats(); err != nil || stats.Reserved != 0 {
		t.Errorf("%+v after Trim, %v", stats, err)
	}
	outlives, err := kernrt.AllocAsync[float32](pool, s, n)
	launched(t, err)
	launched(t, pool.Close())
	launched(t, outlives.Fill(s, 1))
	launched(t, outlives.FreeAsync(s))
	launched(t, s.Synchronize())
	if after := dev.MemoryStats(); after.InUse != before.InUse+4*n || after.Peak < after.InUse+4*n {
		t.Errorf("device %+v, before %+v", after, before)
	}
	pooled, err := dev.NewPool(0)
	launched(t, err)
	freed, err := kernrt.AllocAsync[float32](pooled, s, n)
	launched(t, err)
	launched(t, s.Synchronize())
	launched(t, freed.Free()) // and not in the stream's order
	launched(t, pooled.Close())
	if free, err := dev.FreeMemory(); err != nil || free == 0 || free > dev.Info().TotalMemory {
		t.Errorf("%d bytes free, %v", free, err)
	}
}
