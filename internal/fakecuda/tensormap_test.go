//go:build cgo && linux

package fakecuda

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// encoding is the arguments of an encode, as a driver takes them.
type encoding struct {
	kind, rank, address       uintptr
	dims                      [6]uint64
	strides                   [5]uint64
	box, steps                [6]uint32
	layout, swizzle, l2, fill uintptr
	offset                    uintptr // of the map from an aligned address
	storage                   [192]byte
}

func (e *encoding) encode(d *Driver) int {
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(e)
	m := (uintptr(unsafe.Pointer(&e.storage[0]))+63)&^63 + e.offset
	dims, strides := uintptr(unsafe.Pointer(&e.dims[0])), uintptr(unsafe.Pointer(&e.strides[0]))
	steps := uintptr(unsafe.Pointer(&e.steps[0]))
	return d.Call("cuTensorMapEncodeTiled", m, e.kind, e.rank, e.address, dims, strides,
		uintptr(unsafe.Pointer(&e.box[0])), steps, e.layout, e.swizzle, e.l2, e.fill)
}

func plain() *encoding {
	return &encoding{
		kind: 6, rank: 2, address: 0x1000, dims: [6]uint64{64, 64, 4, 4, 4, 4}, strides: [5]uint64{128, 1 << 13, 1 << 15, 1 << 17, 1 << 19},
		box: [6]uint32{64, 64, 1, 1, 1, 1}, steps: [6]uint32{1, 1, 1, 1, 1, 1}, swizzle: 3, l2: 2,
	}
}

// Where a case speaks of an H200, a driver of CUDA 13.0 there gave the same answer.
func TestTensorMapIsChecked(t *testing.T) {
	tests := []struct {
		name   string
		major  int
		change func(e *encoding)
		want   int
	}{
		{"plain", 9, func(*encoding) {}, 0},
		{"a device without", 8, func(*encoding) {}, 801},
		{"no dimensions", 9, func(e *encoding) { e.rank = 0 }, 1},
		{"five dimensions", 9, func(e *encoding) { e.rank = 5 }, 0},
		{"six dimensions", 9, func(e *encoding) { e.rank = 6 }, 1},
		{"map misaligned", 9, func(e *encoding) { e.offset = 32 }, 1},
		{"address misaligned", 9, func(e *encoding) { e.address = 0x1008 }, 1},
		{"address null", 9, func(e *encoding) { e.address = 0 }, 0},
		{"stride misaligned", 9, func(e *encoding) { e.strides[0] = 120 }, 1},
		{"stride below the row", 9, func(e *encoding) { e.strides[0] = 64 }, 0},
		{"stride of nothing", 9, func(e *encoding) { e.strides[0] = 0 }, 0},
		{"stride too long", 9, func(e *encoding) { e.strides[0] = 1 << 40 }, 1},
		{"stride that is not there", 9, func(e *encoding) { e.strides[1] = 1 }, 0},
		{"size of nothing", 9, func(e *encoding) { e.dims[0] = 0 }, 1},
		{"largest size", 9, func(e *encoding) { e.dims[0] = 1 << 32 }, 0},
		{"size too large", 9, func(e *encoding) { e.dims[1] = 1<<32 + 1 }, 1},
		{"box of nothing", 9, func(e *encoding) { e.box[0] = 0 }, 1},
		{"box too large", 9, func(e *encoding) { e.box[1] = 257 }, 1},
		{"row of 8 bytes", 9, func(e *encoding) { e.box[0], e.swizzle = 4, 0 }, 1},
		{"row of 256 bytes, swizzled", 9, func(e *encoding) { e.box[0] = 128 }, 1},
		{"row of 256 bytes", 9, func(e *encoding) { e.box[0], e.swizzle = 128, 0 }, 0},
		{"row of 128 bytes, swizzle of 64", 9, func(e *encoding) { e.swizzle = 2 }, 1},
		{"row of 32 bytes, swizzle of 32", 9, func(e *encoding) { e.box[0], e.swizzle = 16, 1 }, 0},
		{"step of nothing", 9, func(e *encoding) { e.steps[0] = 0 }, 1},
		{"step too long", 9, func(e *encoding) { e.steps[1] = 9 }, 1},
		{"unknown swizzle", 9, func(e *encoding) { e.swizzle = 7 }, 1},
		{"unknown promotion", 9, func(e *encoding) { e.l2 = 4 }, 1},
		{"unknown layout", 9, func(e *encoding) { e.layout = 3 }, 1},
		{"interleaved in two dimensions", 9, func(e *encoding) { e.layout, e.swizzle = 1, 0 }, 1},
		{"interleaved by 32 bytes", 9, func(e *encoding) { e.layout, e.swizzle, e.rank = 2, 1, 3 }, 0},
		{"interleaved by 32 bytes, address of 16", 9, func(e *encoding) { e.layout, e.swizzle, e.rank, e.address = 2, 1, 3, 0x1010 }, 1},
		{"interleaved by 32 bytes, another swizzle", 9, func(e *encoding) { e.layout, e.rank = 2, 3 }, 1},
		{"NaN outside", 9, func(e *encoding) { e.fill = 1 }, 0},
		{"NaN outside integers", 9, func(e *encoding) { e.kind, e.fill = 1, 1 }, 1},
		{"unknown type", 10, func(e *encoding) { e.kind = 16 }, 1},
		{"packed on an H200", 9, func(e *encoding) { e.kind, e.swizzle = 13, 0 }, 1},
		{"packed by 4 bits", 10, func(e *encoding) { e.kind, e.swizzle = 13, 0 }, 0},
		{"packed by 4 bits, odd", 10, func(e *encoding) { e.kind, e.swizzle, e.dims[0] = 13, 0, 63 }, 1},
		{"padded", 10, func(e *encoding) { e.kind, e.dims[0], e.box[0] = 14, 128, 128 }, 0},
		{"padded, 64 in a row", 10, func(e *encoding) { e.kind, e.dims[0] = 14, 128 }, 1},
		{"padded, size 64", 10, func(e *encoding) { e.kind, e.box[0] = 15, 128 }, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, _ := open(t)
			d.SetAttribute(0, 75, test.major)
			e := plain()
			test.change(e)
			want(t, e.encode(d), test.want)
			if n := len(d.TensorMaps()); (n == 1) != (test.want == 0) {
				t.Errorf("%d maps recorded", n)
			}
		})
	}
}

func TestTensorMapTellsItsArguments(t *testing.T) {
	d, _ := open(t)
	e := plain()
	e.rank, e.layout, e.swizzle, e.l2, e.fill = 5, 1, 2, 3, 1
	e.box, e.steps = [6]uint32{256, 1, 2, 3, 4}, [6]uint32{1, 2, 3, 4, 8}
	e.dims[4] = 1 << 32
	must(t, e.encode(d))
	tiled := TensorMap{
		Type: 6, Address: 0x1000, Dims: []uint64{64, 64, 4, 4, 1 << 32}, Strides: []uint64{128, 1 << 13, 1 << 15, 1 << 17},
		Box: []uint32{256, 1, 2, 3, 4}, Steps: []uint32{1, 2, 3, 4, 8}, Interleave: 1, Swizzle: 2, Promotion: 3, Fill: 1,
	}
	if diff := cmp.Diff([]TensorMap{tiled}, d.TensorMaps()); diff != "" {
		t.Errorf("maps (-want +got):\n%s", diff)
	}
	for _, rubbish := range [][]byte{nil, make([]byte, 128), []byte("KGTM")} {
		if _, ok := DecodeTensorMap(rubbish); ok {
			t.Errorf("% x taken for a map", rubbish)
		}
	}
}
