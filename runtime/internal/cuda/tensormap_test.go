package cuda_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/internal/fakecuda"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

var (
	tensor = cuda.Tensor{
		Type: cuda.TensorFloat16, Rank: 3, Address: 0x7f0000000000,
		Dims: [5]uint64{64, 1 << 32, 3}, Strides: [4]uint64{128, 1 << 39}, Steps: [5]uint32{1, 2, 8},
		Swizzle: cuda.Swizzle128, Promotion: cuda.Promote128, Fill: cuda.FillNaN,
	}
	box    = [5]uint32{64, 256, 1}
	pixels = cuda.Pixels{Lower: [3]int32{-32768}, Upper: [3]int32{5}, Channels: 64, PerColumn: 1024}
)

func TestTensorMap(t *testing.T) {
	_, ctx := start(t)
	var maps [2]struct {
		_ byte // an address that the driver itself would refuse
		m cuda.TensorMap
	}
	must(t, ctx.EncodeTiled(&tensor, &box, &maps[0].m))
	must(t, ctx.EncodeIm2col(&tensor, &pixels, &maps[1].m))
	wrong := tensor
	wrong.Address += 8
	expect(t, ctx.EncodeTiled(&wrong, &box, &maps[0].m), "cuTensorMapEncodeTiled", cuda.InvalidValue)
	expect(t, ctx.EncodeIm2col(&wrong, &pixels, &maps[0].m), "cuTensorMapEncodeIm2col", cuda.InvalidValue)
	if fake == nil {
		return
	}
	tiled := fakecuda.TensorMap{
		Type: 6, Address: 0x7f0000000000, Dims: []uint64{64, 1 << 32, 3}, Strides: []uint64{128, 1 << 39},
		Box: []uint32{64, 256, 1}, Steps: []uint32{1, 2, 8}, Swizzle: 3, Promotion: 2, Fill: 1,
	}
	im2col := tiled
	im2col.Im2col, im2col.Box = true, nil
	im2col.Lower, im2col.Upper, im2col.Channels, im2col.Pixels = []int{-32768}, []int{5}, 64, 1024
	want := []fakecuda.TensorMap{tiled, im2col}
	if diff := cmp.Diff(want, fake.TensorMaps()); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
	for i := range maps {
		if got, ok := fakecuda.DecodeTensorMap(maps[i].m[:]); !ok || !cmp.Equal(want[i], got) {
			t.Errorf("map %d holds %+v", i, got)
		}
	}
}

func TestTensorMapOnOldDriver(t *testing.T) {
	if !inOwnProcess(t, "FAKE_VERSION=11080") {
		return
	}
	_, ctx := start(t)
	var m cuda.TensorMap
	expect(t, ctx.EncodeTiled(&tensor, &box, &m), "cuTensorMapEncodeTiled", cuda.NotSupported)
	expect(t, ctx.EncodeIm2col(&tensor, &pixels, &m), "cuTensorMapEncodeIm2col", cuda.NotSupported)
}
