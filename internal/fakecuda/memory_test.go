//go:build cgo && linux

package fakecuda

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// As the driver's CUDA_MEMCPY2D.
type copy2D struct {
	from, to    end2D
	width, rows uintptr
}

type end2D struct {
	x, y                       uintptr
	kind                       uint64
	host, device, array, pitch uintptr
}

func TestRows(t *testing.T) {
	d, _ := open(t)
	var p, host uintptr
	must(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 100))
	must(t, d.Call("cuMemHostAlloc", uintptr(unsafe.Pointer(&host)), 64, 0))
	in := func(width, rows, toPitch, fromPitch uintptr) copy2D {
		return copy2D{end2D{kind: 1, host: host, pitch: fromPitch}, end2D{kind: 2, device: p, pitch: toPitch}, width, rows}
	}
	tests := []struct {
		name string
		copy copy2D
		want int
	}{
		{"all of it", in(20, 3, 40, 20), 0},
		{"one byte too many", in(21, 3, 40, 21), 1},
		{"a pitch below the width", in(20, 3, 19, 20), 1},
		{"nothing wide", in(0, 3, 40, 20), 0},
		{"no rows", in(20, 0, 40, 20), 0},
		{"a corner", copy2D{end2D{x: 1, y: 2, kind: 1, host: host, pitch: 8}, end2D{x: 3, y: 1, kind: 2, device: p, pitch: 40}, 7, 2}, 0},
		{"an array", copy2D{end2D{kind: 3, pitch: 8}, end2D{kind: 2, device: p, pitch: 50}, 7, 2}, 1},
	}
	for _, test := range tests {
		if got := d.Call("cuMemcpy2DAsync_v2", uintptr(unsafe.Pointer(&test.copy)), 0); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	got := d.Copies()
	corner := Copy{
		FromHost: true, To: p + 43, From: host + 17, Width: 7, Rows: 2, ToPitch: 40, FromPitch: 8, Pinned: true,
	}
	if len(got) != 4 || !cmp.Equal(got[3], corner) {
		t.Errorf("copies %+v, the last to be %+v", got, corner)
	}
}

func TestPinned(t *testing.T) {
	d, _ := open(t)
	var p, host uintptr
	must(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 64))
	must(t, d.Call("cuMemHostAlloc", uintptr(unsafe.Pointer(&host)), 32, 0))
	pageable := make([]byte, 64)
	must(t, d.Call("cuMemcpyHtoDAsync_v2", p, host, 32, 0))
	must(t, d.Call("cuMemcpyDtoHAsync_v2", host+16, p, 16, 0))
	must(t, d.Call("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(&pageable[0])), p, 16, 0))
	var got []bool
	for _, c := range d.Copies() {
		got = append(got, c.Pinned)
	}
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
		t.Errorf("pinned (-want +got):\n%s", diff)
	}
	var kind uint32
	must(t, d.Call("cuPointerGetAttribute", uintptr(unsafe.Pointer(&kind)), 2, host+5))
	want(t, int(kind), 1)
	if leaks := d.Leaks(); len(leaks) != 3 || leaks[2] != (Leak{"pinned", host, 32}) {
		t.Errorf("alive: %+v, want 32 bytes of pinned memory at the end", leaks)
	}
	want(t, d.Call("cuMemFreeHost", host+1), 1)
	must(t, d.Call("cuMemFreeHost", host))
	want(t, d.Call("cuMemFreeHost", host), 1)
	want(t, d.Call("cuMemHostAlloc", uintptr(unsafe.Pointer(&host)), 0, 0), 1)
}

func TestPoolAccounts(t *testing.T) {
	d, _ := open(t)
	d.SetMemory(0, 1000)
	props := struct {
		alloc, handle, locationType, location int32
		rest                                  [10]uint64
	}{alloc: 1, locationType: 1}
	var pool, p, q uintptr
	must(t, d.Call("cuMemPoolCreate", uintptr(unsafe.Pointer(&pool)), uintptr(unsafe.Pointer(&props))))
	set := func(attribute uintptr, value uint64) int {
		return d.Call("cuMemPoolSetAttribute", pool, attribute, uintptr(unsafe.Pointer(&value)))
	}
	// What the pool and the device say: reserved, its most, used, its most, free.
	check := func(want ...uint64) {
		t.Helper()
		var got []uint64
		for _, a := range []uintptr{5, 6, 7, 8} {
			var v uint64
			must(t, d.Call("cuMemPoolGetAttribute", pool, a, uintptr(unsafe.Pointer(&v))))
			got = append(got, v)
		}
		var free, total uint64
		must(t, d.Call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total))))
		if diff := cmp.Diff(want, append(got, free)); diff != "" {
			t.Errorf("accounts (-want +got):\n%s", diff)
		}
	}
	alloc := func(address *uintptr, size uintptr) int {
		return d.Call("cuMemAllocFromPoolAsync", uintptr(unsafe.Pointer(address)), size, pool, 0)
	}
	must(t, set(4, 300))
	must(t, alloc(&p, 600))
	check(600, 600, 600, 600, 400)
	want(t, alloc(&q, 401), 2)
	must(t, d.Call("cuMemFreeAsync", p, 0))
	check(600, 600, 0, 600, 400)
	want(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&q)), 401), 2) // the pool keeps what it has
	must(t, alloc(&q, 200))
	must(t, d.Call("cuStreamSynchronize", 0))
	check(300, 600, 200, 600, 700)
	must(t, set(8, 0))
	must(t, set(6, 0))
	check(300, 300, 200, 200, 700)
	want(t, set(8, 1), 1)
	want(t, set(7, 0), 1)
	must(t, d.Call("cuMemPoolTrimTo", pool, 0))
	check(200, 300, 200, 200, 800)
	must(t, d.Call("cuMemPoolDestroy", pool))
	want(t, d.Call("cuMemPoolDestroy", pool), 1)
	want(t, alloc(&p, 1), 1)
	must(t, d.Call("cuMemFreeAsync", q, 0)) // outlived its pool
	var free, total uint64
	must(t, d.Call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total))))
	want(t, int(free), 1000)
}

func TestFills(t *testing.T) {
	d, _ := open(t)
	var p uintptr
	must(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 8))
	must(t, d.Call("cuMemsetD32Async", p, 0x01020304, 2, 0))
	must(t, d.Call("cuMemsetD16Async", p+2, 0x0506, 1, 0))
	out := make([]byte, 8)
	must(t, d.Call("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(&out[0])), p, 8, 0))
	if diff := cmp.Diff([]byte{4, 3, 6, 5, 4, 3, 2, 1}, out); diff != "" {
		t.Errorf("filled (-want +got):\n%s", diff)
	}
	want(t, d.Call("cuMemsetD32Async", p, 0, 3, 0), 1)
	want(t, d.Call("cuMemsetD32Async", p+2, 0, 1, 0), 1)
	want(t, d.Call("cuMemsetD16Async", p+1, 0, 1, 0), 1)
	fills := []Fill{{To: p, Value: 0x01020304, Size: 4, Count: 2}, {To: p + 2, Value: 0x0506, Size: 2, Count: 1}}
	if diff := cmp.Diff(fills, d.Fills()); diff != "" {
		t.Errorf("fills (-want +got):\n%s", diff)
	}
}
