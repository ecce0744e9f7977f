package kernrt_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestUploadAndDownload(t *testing.T) {
	d, dev, stream := onDevice0(t)
	b, err := kernrt.Upload(stream, []int32{1, 2, 3})
	must(t, err)
	got, err := b.Download(stream)
	must(t, err)
	if diff := cmp.Diff([]int32{1, 2, 3}, got); diff != "" {
		t.Error(diff)
	}
	tail, err := b.Slice(1, 3)
	must(t, err)
	if got, err = tail.Download(stream); err != nil || !slices.Equal(got, []int32{2, 3}) {
		t.Errorf("the tail is %v, %v", got, err)
	}
	if b.Device() != dev {
		t.Errorf("the buffer is on %v", b.Device())
	}
	d.FailNext("cuMemcpyHtoDAsync_v2", 700, 0)
	_, err = kernrt.Upload(stream, []int32{1})
	wantCall(t, err, "cuMemcpyHtoDAsync_v2")
	wantAllocated(t, d, 12)
}

func TestPinnedCopies(t *testing.T) {
	d, dev, stream := onDevice0(t)
	h, err := kernrt.AllocHost[int16](dev, 6)
	must(t, err)
	if diff := cmp.Diff(make([]int16, 6), h.Values()); diff != "" {
		t.Error(diff)
	}
	copy(h.Values(), []int16{1, 2, 3, 4, 5, 6})
	b, err := kernrt.Alloc[int16](dev, 6)
	must(t, err)
	c, err := kernrt.Alloc[int16](dev, 6)
	must(t, err)
	must(t, b.CopyFromAsync(stream, h))
	must(t, c.CopyFromDevice(stream, b.All()))
	middle, err := h.Slice(2, 4)
	must(t, err)
	first, err := c.Slice(0, 2)
	must(t, err)
	must(t, first.CopyToAsync(stream, middle))
	must(t, stream.Synchronize())
	if diff := cmp.Diff([]int16{1, 2, 1, 2, 5, 6}, h.Values()); diff != "" {
		t.Error(diff)
	}
	copies := d.Copies()
	if len(copies) != 3 || !copies[0].Pinned || !copies[2].Pinned {
		t.Errorf("copies %+v", copies)
	}
	if n := d.Count("cuStreamSynchronize"); n != 1 {
		t.Errorf("%d waits, want the one asked for", n)
	}
	wantError(t, middle.Free(), kernrt.ErrArgument, "free: this is a part of a host buffer; free the whole")
	wantError(t, b.CopyFromAsync(stream, middle), kernrt.ErrArgument, "copy to the device: 2 elements here, 6 there; take a Slice of equal length")
	_, err = h.Slice(3, 7)
	wantError(t, err, kernrt.ErrArgument, "slice [3:7] of 6 elements is out of range")
	must(t, h.Free())
	wantError(t, h.Free(), kernrt.ErrClosed, "the host buffer is freed already")
	wantError(t, b.CopyFromAsync(stream, h), kernrt.ErrClosed, "copy to the device: the host buffer is freed")
	wantError(t, first.CopyToAsync(stream, middle), kernrt.ErrClosed, "copy from the device: the host buffer is freed")
	if h.Values() != nil || middle.Values() != nil {
		t.Error("a freed host buffer still has values")
	}
	last, err := kernrt.AllocHost[int8](dev, 1)
	must(t, err)
	must(t, dev.Close())
	if last.Values() != nil {
		t.Error("a closed device's host buffer still has values")
	}
	wantError(t, last.Free(), kernrt.ErrClosed, "free: "+h200+" is closed, and with it its host buffers are freed")
}

func TestRowsOfEveryDirection(t *testing.T) {
	_, dev, stream := onDevice0(t)
	packed := []int16{1, 2, 3, 4, 5, 6}
	b, err := kernrt.Alloc[int16](dev, 7)
	must(t, err)
	c, err := kernrt.Alloc[int16](dev, 8)
	must(t, err)
	for _, all := range []*kernrt.Buffer[int16]{b, c} {
		must(t, all.Fill(stream, -1))
	}
	// Three rows of two, padded to three in b and packed in c. The last row need not be padded.
	must(t, c.All().CopyRowsFrom(stream, packed, kernrt.Rows{Count: 3, Width: 2}))
	padded, err := kernrt.Alloc[int16](dev, 8)
	must(t, err)
	must(t, padded.Fill(stream, -1))
	must(t, padded.All().CopyRowsFromDevice(stream, c.All(), kernrt.Rows{Count: 3, Width: 2, ToPitch: 3}))
	got, err := padded.Download(stream)
	must(t, err)
	if diff := cmp.Diff([]int16{1, 2, -1, 3, 4, -1, 5, 6}, got); diff != "" {
		t.Error(diff)
	}
	back := []int16{9, 9, 9, 9, 9}
	must(t, padded.All().CopyRowsTo(stream, back, kernrt.Rows{Count: 2, Width: 2, ToPitch: 3, FromPitch: 6}))
	if diff := cmp.Diff([]int16{1, 2, 9, 5, 6}, back); diff != "" {
		t.Error(diff)
	}
	h, err := kernrt.AllocHost[int16](dev, 8)
	must(t, err)
	must(t, padded.All().CopyRowsToAsync(stream, h, kernrt.Rows{Count: 3, Width: 2, FromPitch: 3}))
	must(t, b.All().CopyRowsFromAsync(stream, h, kernrt.Rows{Count: 2, Width: 3}))
	must(t, stream.Synchronize())
	if diff := cmp.Diff([]int16{1, 2, 3, 4, 5, 6, 0, 0}, h.Values()); diff != "" {
		t.Error(diff)
	}
	if got, err = b.Download(stream); err != nil || !slices.Equal(got, []int16{1, 2, 3, 4, 5, 6, -1}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, empty := range []kernrt.Rows{{}, {Count: 5}, {Width: 9}} {
		must(t, b.All().CopyRowsFrom(stream, nil, empty))
	}
	const toDevice = "copy to the device: "
	for _, test := range []struct {
		rows kernrt.Rows
		kind error
		text string
	}{
		{kernrt.Rows{Count: -1, Width: 2}, kernrt.ErrArgument, toDevice + "-1 rows of 2 elements"},
		{kernrt.Rows{Count: 1, Width: -2}, kernrt.ErrArgument, toDevice + "1 rows of -2 elements"},
		{kernrt.Rows{Count: 2, Width: 2, ToPitch: 1}, kernrt.ErrArgument, toDevice + "rows of 2 elements do not fit a pitch of 1 where they are copied to"},
		{kernrt.Rows{Count: 2, Width: 2, FromPitch: -4}, kernrt.ErrArgument, toDevice + "rows of 2 elements do not fit a pitch of -4 where they are copied from"},
		{kernrt.Rows{Count: 4, Width: 2}, kernrt.ErrArgument, toDevice + "4 rows of 2 elements with a pitch of 2 do not fit the 6 elements where they are copied from"},
		{kernrt.Rows{Count: 3, Width: 2, ToPitch: 6}, kernrt.ErrArgument, toDevice + "3 rows of 2 elements with a pitch of 6 do not fit the 8 elements where they are copied to"},
		{kernrt.Rows{Count: math.MaxInt, Width: 2, FromPitch: math.MaxInt}, kernrt.ErrArgument,
			toDevice + "9223372036854775807 rows of 2 elements with a pitch of 9223372036854775807 do not fit the 6 elements where they are copied from"},
		{kernrt.Rows{Count: 1, Width: 2, FromPitch: 1 << 30}, kernrt.ErrLimit, toDevice + "a pitch of 1073741824 elements is beyond 2147483647 bytes where rows are copied from"},
	} {
		wantError(t, c.All().CopyRowsFrom(stream, packed, test.rows), test.kind, test.text)
	}
}

func TestFills(t *testing.T) {
	_, dev, stream := onDevice0(t)
	filled(t, dev, stream, true)
	filled(t, dev, stream, int8(-7))
	filled(t, dev, stream, kernrt.Float8E5M2(0x3c))
	filled(t, dev, stream, kernrt.NewFloat16(1.5))
	filled(t, dev, stream, kernrt.NewBFloat16(-1.5))
	filled(t, dev, stream, int32(math.MinInt32))
	filled(t, dev, stream, float32(3.25))
	filled(t, dev, stream, float64(0))
	filled(t, dev, stream, int64(-1))
	filled(t, dev, stream, uint64(0x1234567812345678))
	eights, err := kernrt.Alloc[float64](dev, 3)
	must(t, err)
	wantError(t, eights.Fill(stream, 1.5), kernrt.ErrArgument, "fill: the halves of 1.5 differ, and the device fills with 4 bytes at most; copy the values")
}

func filled[T interface {
	kernrt.Elem
	comparable
}](t *testing.T, dev *kernrt.Device, stream *kernrt.Stream, value T) {
	t.Helper()
	b, err := kernrt.Upload(stream, make([]T, 5))
	must(t, err)
	middle, err := b.Slice(1, 4)
	must(t, err)
	must(t, middle.Fill(stream, value))
	got, err := b.Download(stream)
	must(t, err)
	var zero T
	if want := []T{zero, value, value, value, zero}; !slices.Equal(got, want) {
		t.Errorf("filled %v, want %v", got, want)
	}
}

func TestCopiesThatOverlap(t *testing.T) {
	_, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[int8](dev, 10)
	must(t, err)
	part := func(low, high int) kernrt.Slice[int8] {
		s, err := b.Slice(low, high)
		must(t, err)
		return s
	}
	must(t, part(0, 5).CopyFromDevice(stream, part(5, 10)))
	must(t, part(5, 10).CopyFromDevice(stream, part(0, 5)))
	for _, shift := range []int{0, 1, 4} {
		for _, back := range []bool{false, true} {
			to, from := part(0, 5), part(shift, shift+5)
			if back {
				to, from = from, to
			}
			if err := to.CopyFromDevice(stream, from); !errors.Is(err, kernrt.ErrArgument) {
				t.Errorf("shifted by %d: %v", shift, err)
			}
		}
	}
}

func TestPoolKeepsMemory(t *testing.T) {
	d, dev, stream := onDevice0(t)
	p, err := dev.NewPool(1000)
	must(t, err)
	stats := func(want kernrt.PoolStats) {
		t.Helper()
		got, err := p.Stats()
		must(t, err)
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	a, err := kernrt.AllocAsync[int8](p, stream, 600)
	must(t, err)
	b, err := kernrt.AllocAsync[int64](p, stream, 100)
	must(t, err)
	stats(kernrt.PoolStats{InUse: 1400, Peak: 1400, Reserved: 1400, ReservedPeak: 1400})
	if got := dev.MemoryStats(); got != (kernrt.MemoryStats{InUse: 1400, Peak: 1400}) {
		t.Errorf("%+v", got)
	}
	must(t, b.FreeAsync(stream))
	must(t, stream.Synchronize())
	stats(kernrt.PoolStats{InUse: 600, Peak: 1400, Reserved: 1000, ReservedPeak: 1400})
	must(t, a.Free())
	stats(kernrt.PoolStats{Peak: 1400, Reserved: 1000, ReservedPeak: 1400})
	must(t, p.Trim(0))
	stats(kernrt.PoolStats{Peak: 1400, ReservedPeak: 1400})
	none, err := kernrt.AllocAsync[int64](p, stream, 0)
	must(t, err)
	must(t, none.FreeAsync(stream))

	outlives, err := kernrt.AllocAsync[int8](p, stream, 100)
	must(t, err)
	must(t, p.Close())
	wantError(t, p.Close(), kernrt.ErrClosed, "close: the pool is closed already")
	_, err = kernrt.AllocAsync[int8](p, stream, 1)
	wantError(t, err, kernrt.ErrClosed, "allocate 1 bytes: the pool is closed")
	wantError(t, p.Trim(0), kernrt.ErrClosed, "trim: the pool is closed")
	_, err = p.Stats()
	wantError(t, err, kernrt.ErrClosed, "pool statistics: the pool is closed")
	must(t, outlives.Fill(stream, 1))
	must(t, outlives.FreeAsync(stream))
	wantError(t, outlives.FreeAsync(stream), kernrt.ErrClosed, "the buffer is freed already")
	wantAllocated(t, d)

	plain, err := kernrt.Alloc[int8](dev, 1)
	must(t, err)
	wantError(t, plain.FreeAsync(stream), kernrt.ErrArgument, "free: the buffer is not from a pool; use Free")
}

func TestDeviceWithoutPools(t *testing.T) {
	d := driver(t)
	d.SetAttribute(0, 115, 0)
	_, err := open(t, 0).NewPool(0)
	wantError(t, err, kernrt.ErrLimit, "new pool: "+h200+" has no memory pools; use Alloc")
}

func TestPoolsOfAnotherDevice(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(2)
	first, second := open(t, 0), open(t, 1)
	p, err := first.NewPool(0)
	must(t, err)
	ours, theirs := newStream(t, first), newStream(t, second)
	_, err = kernrt.AllocAsync[int8](p, theirs, 1)
	wantError(t, err, kernrt.ErrOtherDevice, "allocate 1 bytes: the pool is on "+h200+", the stream on Fake H200 (device 1, sm_90)")
	b, err := kernrt.AllocAsync[int8](p, ours, 1)
	must(t, err)
	wantError(t, b.FreeAsync(theirs), kernrt.ErrOtherDevice, "free: the memory is on "+h200+", the stream on Fake H200 (device 1, sm_90)")
	c, err := kernrt.Alloc[int8](second, 1)
	must(t, err)
	wantError(t, c.CopyFromDevice(theirs, b.All()), kernrt.ErrOtherDevice,
		"copy on the device: the memory is on Fake H200 (device 1, sm_90), that copied from on "+h200)
	h, err := kernrt.AllocHost[int8](first, 1)
	must(t, err)
	must(t, c.CopyFromAsync(theirs, h)) // pinned memory is every device's
}

func TestMemoryStats(t *testing.T) {
	_, dev, stream := onDevice0(t)
	a, err := kernrt.Alloc[int8](dev, 100)
	must(t, err)
	b, err := kernrt.Alloc[int64](dev, 100)
	must(t, err)
	h, err := kernrt.AllocHost[int32](dev, 10)
	must(t, err)
	must(t, a.Free())
	must(t, h.Free())
	if got, want := dev.MemoryStats(), (kernrt.MemoryStats{InUse: 800, Peak: 900, PinnedPeak: 40}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	before, err := dev.FreeMemory()
	must(t, err)
	must(t, b.Free())
	after, err := dev.FreeMemory()
	must(t, err)
	if after-before != 800 {
		t.Errorf("%d bytes free, then %d", before, after)
	}
	must(t, stream.Close())
	must(t, dev.Close())
	if got, want := dev.MemoryStats(), (kernrt.MemoryStats{Peak: 900, PinnedPeak: 40}); got != want {
		t.Errorf("after Close %+v, want %+v", got, want)
	}
	_, err = dev.FreeMemory()
	wantError(t, err, kernrt.ErrClosed, "free memory: "+h200+" is closed")
}

// Whatever was made from a buffer knows that it is freed.
func TestUseAfterFree(t *testing.T) {
	_, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[float32](dev, 4)
	must(t, err)
	other, err := kernrt.Alloc[float32](dev, 4)
	must(t, err)
	h, err := kernrt.AllocHost[float32](dev, 4)
	must(t, err)
	s := b.All()
	must(t, b.Free())
	if !b.Ptr().IsNull() || !s.Ptr().IsNull() {
		t.Errorf("pointers %v and %v to freed memory", b.Ptr(), s.Ptr())
	}
	err = kernrt.Launch(add(t), stream, kernrt.Grid1D(1), &addArgs{other.Ptr(), b.Ptr(), other.Ptr(), 16})
	wantError(t, err, kernrt.ErrArgument, onH200+"(1, 1, 1): y_ptr is null; pass device memory")
	values := make([]float32, 4)
	for name, do := range map[string]func() error{
		"copy to the device: the buffer is freed":             func() error { return s.CopyFrom(stream, values) },
		"copy from the device: the buffer is freed":           func() error { return s.CopyTo(stream, values) },
		"copy to the device: the buffer is freed (async)":     func() error { return s.CopyFromAsync(stream, h) },
		"copy from the device: the buffer is freed (async)":   func() error { return s.CopyToAsync(stream, h) },
		"copy on the device: the buffer is freed":             func() error { return s.CopyFromDevice(stream, other.All()) },
		"copy on the device: the buffer copied from is freed": func() error { return other.CopyFromDevice(stream, s) },
		"fill: the buffer is freed":                           func() error { return s.Fill(stream, 1) },
		"copy to the device: the buffer is freed (rows)":      func() error { return s.CopyRowsFrom(stream, values, rows) },
		"copy on the device: the buffer copied from is freed (rows)": func() error {
			return other.All().CopyRowsFromDevice(stream, s, rows)
		},
	} {
		text, _, _ := strings.Cut(name, " (")
		wantError(t, do(), kernrt.ErrClosed, text)
	}
}

// Nothing that was never made is used, and nothing panics.
func TestWhatWasNeverMade(t *testing.T) {
	_, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[int8](dev, 1)
	must(t, err)
	p, err := dev.NewPool(0)
	must(t, err)
	for _, none := range []*kernrt.Buffer[int8]{nil, {}} {
		if none.Len() != 0 || !none.Ptr().IsNull() || none.Device() != nil || none.All().Len() != 0 {
			t.Error("a buffer that was never made has something")
		}
		_, sliced := none.Slice(0, 0)
		_, downloaded := none.Download(stream)
		for _, err := range []error{sliced, downloaded, none.CopyFrom(stream, nil), none.CopyTo(stream, nil), none.CopyFromAsync(stream, nil),
			none.CopyToAsync(stream, nil), none.CopyFromDevice(stream, b.All()), none.Fill(stream, 0), none.Free(), none.FreeAsync(stream)} {
			if !errors.Is(err, kernrt.ErrArgument) {
				t.Errorf("error %v is not %q", err, kernrt.ErrArgument)
			}
		}
	}
	for _, none := range []*kernrt.HostBuffer[int8]{nil, {}} {
		if none.Len() != 0 || none.Values() != nil {
			t.Error("a host buffer that was never made has something")
		}
		_, sliced := none.Slice(0, 0)
		for _, err := range []error{sliced, none.Free(), b.CopyFromAsync(stream, none), b.CopyToAsync(stream, none),
			b.All().CopyRowsFromAsync(stream, none, rows), b.All().CopyRowsToAsync(stream, none, rows)} {
			if !errors.Is(err, kernrt.ErrArgument) {
				t.Errorf("error %v is not %q", err, kernrt.ErrArgument)
			}
		}
	}
	for _, none := range []*kernrt.Pool{nil, {}} {
		_, allocated := kernrt.AllocAsync[int8](none, stream, 1)
		_, counted := none.Stats()
		for _, err := range []error{allocated, counted, none.Trim(0), none.Close()} {
			if !errors.Is(err, kernrt.ErrArgument) {
				t.Errorf("error %v is not %q", err, kernrt.ErrArgument)
			}
		}
	}
	for _, none := range []*kernrt.Stream{nil, {}} {
		_, uploaded := kernrt.Upload(none, []int8{1})
		_, allocated := kernrt.AllocAsync[int8](p, none, 1)
		_, downloaded := b.Download(none)
		_, queried := none.Query()
		_, priority := none.Priority()
		for _, err := range []error{uploaded, allocated, downloaded, queried, priority, b.Fill(none, 0), b.CopyFromDevice(none, kernrt.Slice[int8]{})} {
			if !errors.Is(err, kernrt.ErrArgument) {
				t.Errorf("error %v is not %q", err, kernrt.ErrArgument)
			}
		}
	}
	for _, none := range []*kernrt.Device{nil, {}} {
		_, pool := none.NewPool(0)
		_, host := kernrt.AllocHost[int8](none, 1)
		_, free := none.FreeMemory()
		for _, err := range []error{pool, host, free} {
			if !errors.Is(err, kernrt.ErrArgument) {
				t.Errorf("error %v is not %q", err, kernrt.ErrArgument)
			}
		}
		if none.MemoryStats() != (kernrt.MemoryStats{}) {
			t.Error("a device that was never opened has memory")
		}
	}
	_, err = dev.NewStream(kernrt.WithZeroedScratch(), nil)
	wantError(t, err, kernrt.ErrArgument, "new stream: option 2 of 2 is nil")
	_, err = dev.StreamFromHandle(0, nil)
	wantError(t, err, kernrt.ErrArgument, "stream 0x0: option 1 of 1 is nil")
	var k *kernrt.Kernel
	wantError(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16)), kernrt.ErrArgument, "launch nil on "+h200+", grid (1, 1, 1): there is no kernel: none was compiled for these element types")
	wantError(t, kernrt.Launch(k, nil, kernrt.Grid1D(1), addArgsOf(16)), kernrt.ErrArgument, "launch nil, grid (1, 1, 1): there is no kernel: none was compiled for these element types")
}
