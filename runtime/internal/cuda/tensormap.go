//go:build cgo && linux

package cuda

/*
#cgo noescape kg_encode_tiled
#cgo nocallback kg_encode_tiled
#cgo noescape kg_encode_im2col
#cgo nocallback kg_encode_im2col
#include "tensormap.h"
*/
import "C"

// EncodeTiled encodes a map whose loads and stores are boxes. A driver before
// CUDA 12.0 is NotSupported.
func (c Context) EncodeTiled(t *Tensor, box *[5]uint32, m *TensorMap) Status {
	tensor := t.c()
	return Status(C.kg_encode_tiled(c.c(), &tensor, (*C.uint32_t)(&box[0]), (*C.uchar)(&m[0])))
}

// EncodeIm2col encodes a map whose loads are columns of an image's pixels. A
// driver before CUDA 12.0 is NotSupported.
func (c Context) EncodeIm2col(t *Tensor, p *Pixels, m *TensorMap) Status {
	tensor := t.c()
	return Status(C.kg_encode_im2col(c.c(), &tensor, (*C.int)(&p.Lower[0]), (*C.int)(&p.Upper[0]),
		C.uint32_t(p.Channels), C.uint32_t(p.PerColumn), (*C.uchar)(&m[0])))
}

func (t *Tensor) c() C.kg_tensor {
	tensor := C.kg_tensor{
		_type: C.int(t.Type), rank: C.uint32_t(t.Rank), address: C.CUdeviceptr(t.Address),
		interleave: C.int(t.Interleave), swizzle: C.int(t.Swizzle),
		promotion: C.int(t.Promotion), fill: C.int(t.Fill),
	}
	for i := range t.Dims {
		tensor.dims[i], tensor.steps[i] = C.uint64_t(t.Dims[i]), C.uint32_t(t.Steps[i])
	}
	for i := range t.Strides {
		tensor.strides[i] = C.uint64_t(t.Strides[i])
	}
	return tensor
}
