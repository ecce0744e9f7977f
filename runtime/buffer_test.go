package kernrt_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestElementsOfEveryTypeRoundTrip(t *testing.T) {
	_, dev, stream := onDevice0(t)
	roundTrip(t, dev, stream, []bool{true, false, true})
	roundTrip(t, dev, stream, []int8{-128, 0, 127})
	roundTrip(t, dev, stream, []int16{-32768, 0, 32767})
	roundTrip(t, dev, stream, []int32{math.MinInt32, 0, math.MaxInt32})
	roundTrip(t, dev, stream, []int64{math.MinInt64, 0, math.MaxInt64})
	roundTrip(t, dev, stream, []uint8{0, 1, 255})
	roundTrip(t, dev, stream, []uint16{0, 1, 65535})
	roundTrip(t, dev, stream, []uint32{0, 1, math.MaxUint32})
	roundTrip(t, dev, stream, []uint64{0, 1, math.MaxUint64})
	roundTrip(t, dev, stream, []float32{-1.5, 0, math.MaxFloat32})
	roundTrip(t, dev, stream, []float64{-1.5, 0, math.MaxFloat64})
	roundTrip(t, dev, stream, []kernrt.Float16{0, 0x3c00, 0xffff})
	roundTrip(t, dev, stream, []kernrt.BFloat16{0, 0x3f80, 0xffff})
	roundTrip(t, dev, stream, []kernrt.Float8E4M3FN{0, 1, 255})
	roundTrip(t, dev, stream, []kernrt.Float8E5M2{0, 1, 255})
	roundTrip(t, dev, stream, []kernrt.Float8E4M3FNUZ{0, 1, 255})
	roundTrip(t, dev, stream, []kernrt.Float8E5M2FNUZ{0, 1, 255})
	roundTrip(t, dev, stream, []kernrt.Float8E4M3B15{0, 1, 255})
}

func roundTrip[T interface {
	kernrt.Elem
	comparable
}](t *testing.T, dev *kernrt.Device, stream *kernrt.Stream, values []T) {
	t.Helper()
	b, err := kernrt.Alloc[T](dev, len(values))
	must(t, err)
	must(t, b.CopyFrom(stream, values))
	got := make([]T, len(values))
	must(t, b.CopyTo(stream, got))
	if !slices.Equal(got, values) {
		t.Errorf("%T: %v came back as %v", values, values, got)
	}
	// The last element alone.
	s, err := b.Slice(len(values)-1, len(values))
	must(t, err)
	must(t, s.CopyFrom(stream, values[:1]))
	must(t, b.CopyTo(stream, got))
	if got[len(got)-1] != values[0] || got[1] != values[1] || s.Ptr() != b.Ptr().Add(len(values)-1) || s.Len() != 1 || b.Len() != len(values) {
		t.Errorf("%T: after a copy into the last element %v", values, got)
	}
	must(t, b.Free())
}

func TestBoolsAreValid(t *testing.T) {
	_, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[bool](dev, 4) // the fake's fresh memory holds 0xcb
	must(t, err)
	got := make([]bool, 4)
	must(t, b.CopyTo(stream, got))
	if raw := unsafe.Slice((*uint8)(unsafe.Pointer(&got[0])), len(got)); !slices.Equal(raw, []uint8{1, 1, 1, 1}) {
		t.Errorf("bools are held as % x", raw)
	}
}

func TestAllocRefusesSizes(t *testing.T) {
	d, dev, _ := onDevice0(t)
	_, err := kernrt.Alloc[float32](dev, -1)
	wantError(t, err, kernrt.ErrArgument, "allocate -1 elements of 4 bytes: not a size")
	_, err = kernrt.Alloc[float64](dev, math.MaxInt)
	wantError(t, err, kernrt.ErrArgument, "allocate 9223372036854775807 elements of 8 bytes: not a size")
	for n, text := range map[int]string{
		1 << 40: "allocate 1024.0 GiB on " + h200 + ": cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
	} {
		_, err = kernrt.Alloc[uint8](dev, n)
		wantError(t, err, kernrt.ErrOutOfMemory, text)
	}
	d.SetMemory(0, 1000)
	_, err = kernrt.Alloc[uint8](dev, 3<<20)
	wantError(t, err, kernrt.ErrOutOfMemory, "allocate 3.0 MiB on "+h200+": cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory")
	_, err = kernrt.Alloc[uint8](dev, 1001)
	wantError(t, err, kernrt.ErrOutOfMemory, "allocate 1001 bytes on "+h200+": cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory")
	for _, none := range []*kernrt.Device{nil, {}} {
		_, err = kernrt.Alloc[uint8](none, 1)
		wantError(t, err, kernrt.ErrArgument, "allocate 1 bytes: there is no device; open one with Open")
	}
}

func TestBuffersOfNoElements(t *testing.T) {
	d, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[float32](dev, 0)
	must(t, err)
	if b.Len() != 0 || !b.Ptr().IsNull() || len(allocated(d)) != 0 {
		t.Errorf("%d elements at %v", b.Len(), b.Ptr())
	}
	must(t, b.CopyFrom(stream, nil))
	must(t, b.CopyTo(stream, []float32{}))
	s, err := b.Slice(0, 0)
	must(t, err)
	must(t, s.CopyTo(stream, nil))
	var zero kernrt.Slice[float32]
	must(t, zero.CopyFrom(stream, nil))
	must(t, b.Free())
	wantError(t, b.Free(), kernrt.ErrClosed, "the buffer is freed already")
}

func TestSliceBounds(t *testing.T) {
	_, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[float32](dev, 10)
	must(t, err)
	middle, err := b.Slice(2, 8)
	must(t, err)
	tests := []struct {
		low, high int
		err       string
	}{
		{0, 6, ""}, {3, 3, ""}, {6, 6, ""},
		{-1, 3, "slice [-1:3] of 6 elements is out of range"},
		{4, 3, "slice [4:3] of 6 elements is out of range"},
		{0, 7, "slice [0:7] of 6 elements is out of range"},
		{math.MinInt, math.MaxInt, "slice [-9223372036854775808:9223372036854775807] of 6 elements is out of range"},
	}
	for _, test := range tests {
		s, err := middle.Slice(test.low, test.high)
		if test.err != "" {
			wantError(t, err, kernrt.ErrArgument, test.err)
			continue
		}
		must(t, err)
		if s.Ptr() != b.Ptr().Add(2+test.low) || s.Len() != test.high-test.low {
			t.Errorf("[%d:%d] is %d elements at %v", test.low, test.high, s.Len(), s.Ptr())
		}
	}
	wantError(t, middle.CopyFrom(stream, make([]float32, 7)), kernrt.ErrArgument,
		"copy to the device: 7 elements here, 6 there; take a Slice of equal length")
	wantError(t, b.CopyTo(stream, make([]float32, 9)), kernrt.ErrArgument,
		"copy from the device: 9 elements here, 10 there; take a Slice of equal length")
}

func TestCopiesAreOfOneDevice(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(2)
	first, second := open(t, 0), open(t, 1)
	b, err := kernrt.Alloc[float32](first, 2)
	must(t, err)
	stream := newStream(t, second)
	err = b.CopyFrom(stream, make([]float32, 2))
	wantError(t, err, kernrt.ErrOtherDevice, "copy to the device: the memory is on "+h200+", the stream on Fake H200 (device 1, sm_90)")
}

func TestCopiesFail(t *testing.T) {
	d, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[float32](dev, 2)
	must(t, err)
	host := make([]float32, 2)
	for call, do := range map[string]func() error{
		"cuMemcpyHtoDAsync_v2": func() error { return b.CopyFrom(stream, host) },
		"cuMemcpyDtoHAsync_v2": func() error { return b.CopyTo(stream, host) },
	} {
		d.FailNext(call, 700, 0)
		wantCall(t, do(), call)
		d.FailNext("cuStreamSynchronize", 700, 0)
		wantCall(t, do(), "cuStreamSynchronize")
		must(t, do())
	}
}

func TestFreedBuffers(t *testing.T) {
	d, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[float32](dev, 2)
	must(t, err)
	late, err := kernrt.Alloc[float32](dev, 2)
	must(t, err)
	broken, err := kernrt.Alloc[float32](dev, 2)
	must(t, err)
	must(t, b.Free())
	wantAllocated(t, d, 8, 8)
	wantError(t, b.Free(), kernrt.ErrClosed, "the buffer is freed already")
	wantError(t, b.CopyFrom(stream, make([]float32, 2)), kernrt.ErrClosed, "copy to the device: the buffer is freed")
	wantError(t, b.CopyTo(stream, make([]float32, 2)), kernrt.ErrClosed, "copy from the device: the buffer is freed")
	d.FailNext("cuMemFree_v2", 700, 0)
	wantCall(t, broken.Free(), "cuMemFree_v2")
	must(t, dev.Close())
	wantAllocated(t, d)
	if err := late.Free(); !errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("freed after the device was closed: %v", err)
	}
}

func TestPointers(t *testing.T) {
	p := kernrt.PtrFromAddr[kernrt.Float16](0x1000)
	if got := p.Add(3).Add(-1); got.Addr() != 0x1004 || got.String() != "0x1004" || got.IsNull() {
		t.Errorf("0x1000 and two halves are %v", got)
	}
	if !(kernrt.Ptr[int8]{}).IsNull() {
		t.Error("the zero Ptr is not null")
	}
}

func TestFreeThatFailsMayBeTriedAgain(t *testing.T) {
	d, dev, _ := onDevice0(t)
	b, err := kernrt.Alloc[float32](dev, 4)
	must(t, err)
	d.FailNext("cuMemFree_v2", 900, 0)
	var failed *kernrt.DriverError
	if err := b.Free(); !errors.As(err, &failed) || failed.Code != 900 {
		t.Errorf("Free: %v, want the driver's error", err)
	}
	wantAllocated(t, d, 16)
	must(t, b.Free())
	wantAllocated(t, d)
	if err := b.Free(); !errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("Free after Free: %v", err)
	}

	// One that is never tried again is the device's to free.
	b, err = kernrt.Alloc[float32](dev, 4)
	must(t, err)
	d.FailNext("cuMemFree_v2", 900, 0)
	if err := b.Free(); err == nil {
		t.Error("Free succeeded")
	}
	must(t, dev.Close())
	wantAllocated(t, d)
}
