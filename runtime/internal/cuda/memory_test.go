package cuda_test

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

func TestCopies(t *testing.T) {
	_, ctx := start(t)
	st := stream(t, ctx)
	const size = 1 << 12
	host, s := ctx.AllocHost(size)
	must(t, s)
	t.Cleanup(func() { must(t, ctx.FreeHost(host)) })
	pinned := unsafe.Slice((*byte)(host), size)
	for i := range pinned {
		pinned[i] = byte(i * 7)
	}
	sent := slices.Clone(pinned)
	p, q := memory(t, ctx, size), memory(t, ctx, size)
	must(t, ctx.CopyInAsync(st, p, host, size))
	must(t, ctx.CopyAsync(st, q, p, size))
	must(t, ctx.Synchronize(st))
	clear(pinned)
	must(t, ctx.CopyOutAsync(st, host, q, size))
	must(t, ctx.Synchronize(st))
	if !bytes.Equal(pinned, sent) {
		t.Error("a copy there, across and back differs")
	}
	if fake == nil {
		return
	}
	if got := fake.Copies(); len(got) != 3 || !got[0].Pinned || !got[2].Pinned || got[2].Width != size {
		t.Errorf("copies: %+v", got)
	}
}

func TestRows(t *testing.T) {
	_, ctx := start(t)
	st := stream(t, ctx)
	const width, rows, pitch = 10, 5, 48
	packed := make([]byte, width*rows)
	for i := range packed {
		packed[i] = byte(i + 1)
	}
	p, q := memory(t, ctx, pitch*rows), memory(t, ctx, pitch*rows)
	must(t, ctx.FillAsync(st, p, 0xee, pitch*rows))
	must(t, ctx.CopyRowsIn(st, p, unsafe.Pointer(&packed[0]), cuda.Rows{Width: width, Count: rows, ToPitch: pitch, FromPitch: width}, true))
	must(t, ctx.CopyRowsAsync(st, q, p, cuda.Rows{Width: pitch, Count: rows, ToPitch: pitch, FromPitch: pitch}))
	padded := make([]byte, pitch*rows)
	must(t, ctx.CopyOut(st, unsafe.Pointer(&padded[0]), q, pitch*rows))
	for i, b := range padded {
		want := byte(0xee)
		if i%pitch < width {
			want = packed[i/pitch*width+i%pitch]
		}
		if b != want {
			t.Fatalf("byte %d is %#x, want %#x", i, b, want)
		}
	}
	back := make([]byte, width*rows)
	must(t, ctx.CopyRowsOut(st, unsafe.Pointer(&back[0]), q, cuda.Rows{Width: width, Count: rows, ToPitch: width, FromPitch: pitch}, true))
	if !bytes.Equal(back, packed) {
		t.Error("rows there and back differ")
	}
	s := ctx.CopyRowsAsync(st, q, p, cuda.Rows{Width: pitch, Count: rows, ToPitch: pitch - 1, FromPitch: pitch})
	expect(t, s, "cuMemcpy2DAsync_v2", cuda.InvalidValue)
}

func TestFills(t *testing.T) {
	_, ctx := start(t)
	st := stream(t, ctx)
	p := memory(t, ctx, 16)
	must(t, ctx.FillAsync(st, p, 0x11, 4))
	must(t, ctx.Fill16Async(st, p+4, 0x2233, 2))
	must(t, ctx.Fill32Async(st, p+8, 0x44556677, 2))
	got := make([]byte, 16)
	must(t, ctx.CopyOut(st, unsafe.Pointer(&got[0]), p, 16))
	want := []byte{0x11, 0x11, 0x11, 0x11, 0x33, 0x22, 0x33, 0x22, 0x77, 0x66, 0x55, 0x44, 0x77, 0x66, 0x55, 0x44}
	if !bytes.Equal(got, want) {
		t.Errorf("filled with % x, want % x", got, want)
	}
	expect(t, ctx.Fill32Async(st, p+2, 0, 1), "cuMemsetD32Async", cuda.InvalidValue)
}

func TestPool(t *testing.T) {
	device, ctx := start(t)
	st := stream(t, ctx)
	pool, s := ctx.NewPool(device)
	must(t, s)
	t.Cleanup(func() { must(t, ctx.DestroyPool(pool)) })
	attribute := func(a int) uint64 {
		t.Helper()
		v, s := ctx.PoolAttribute(pool, a)
		must(t, s)
		return v
	}
	const size = 1 << 20
	must(t, ctx.SetPoolAttribute(pool, cuda.PoolReleaseThreshold, 1<<40))
	if got := attribute(cuda.PoolReleaseThreshold); got != 1<<40 {
		t.Errorf("threshold %d", got)
	}
	p, s := ctx.AllocFromPool(pool, st, size)
	must(t, s)
	must(t, ctx.FillAsync(st, p, 1, size))
	if used, reserved := attribute(cuda.PoolUsed), attribute(cuda.PoolReserved); used != size || reserved < used {
		t.Errorf("%d bytes used and %d reserved", used, reserved)
	}
	must(t, ctx.FreeAsync(st, p))
	must(t, ctx.Synchronize(st))
	if used, high := attribute(cuda.PoolUsed), attribute(cuda.PoolUsedHigh); used != 0 || high != size {
		t.Errorf("%d bytes used, at most %d", used, high)
	}
	if reserved := attribute(cuda.PoolReserved); reserved < size {
		t.Errorf("%d bytes reserved below the threshold", reserved)
	}
	must(t, ctx.SetPoolAttribute(pool, cuda.PoolUsedHigh, 0))
	must(t, ctx.TrimPool(pool, 0))
	if reserved, high := attribute(cuda.PoolReserved), attribute(cuda.PoolUsedHigh); reserved != 0 || high != 0 {
		t.Errorf("%d bytes reserved after a trim, %d used at most", reserved, high)
	}
	expect(t, ctx.SetPoolAttribute(pool, cuda.PoolUsedHigh, 1), "cuMemPoolSetAttribute", cuda.InvalidValue)

	free, total, s := ctx.MemoryInfo()
	must(t, s)
	if free == 0 || free > total {
		t.Errorf("%d of %d bytes free", free, total)
	}
}
