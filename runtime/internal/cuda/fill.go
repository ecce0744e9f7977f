//go:build cgo && linux

package cuda

// #include "copy.h"
import "C"

// FillAsync queues a fill with one byte value.
func (c Context) FillAsync(stream Stream, address uint64, value byte, bytes uint64) Status {
	return Status(C.kg_fill_async(c.c(), stream.c(), C.CUdeviceptr(address), C.uchar(value), C.size_t(bytes)))
}

// Fill16Async queues a fill with count equal values of 16 bits; address is a
// multiple of 2.
func (c Context) Fill16Async(stream Stream, address uint64, value uint16, count uint64) Status {
	return Status(C.kg_fill16_async(c.c(), stream.c(), C.CUdeviceptr(address), C.uint16_t(value), C.size_t(count)))
}

// Fill32Async queues a fill with count equal values of 32 bits; address is a
// multiple of 4.
func (c Context) Fill32Async(stream Stream, address uint64, value uint32, count uint64) Status {
	return Status(C.kg_fill32_async(c.c(), stream.c(), C.CUdeviceptr(address), C.uint32_t(value), C.size_t(count)))
}
