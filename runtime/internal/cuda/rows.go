//go:build cgo && linux

package cuda

/*
#cgo noescape kg_copy_rows_in
#cgo nocallback kg_copy_rows_in
#cgo noescape kg_copy_rows_out
#cgo nocallback kg_copy_rows_out
#cgo noescape kg_copy_rows
#cgo nocallback kg_copy_rows
#include "copy.h"
*/
import "C"

import "unsafe"

// CopyRowsIn is CopyIn of rows; with wait false it is CopyInAsync of rows.
func (c Context) CopyRowsIn(stream Stream, to uint64, from unsafe.Pointer, rows Rows, wait bool) Status {
	return Status(C.kg_copy_rows_in(c.c(), stream.c(), C.CUdeviceptr(to), C.size_t(rows.ToPitch),
		(*C.uchar)(from), C.size_t(rows.FromPitch), C.size_t(rows.Width), C.size_t(rows.Count), flag(wait)))
}

// CopyRowsOut is CopyOut of rows; with wait false it is CopyOutAsync of rows.
func (c Context) CopyRowsOut(stream Stream, to unsafe.Pointer, from uint64, rows Rows, wait bool) Status {
	return Status(C.kg_copy_rows_out(c.c(), stream.c(), (*C.uchar)(to), C.size_t(rows.ToPitch),
		C.CUdeviceptr(from), C.size_t(rows.FromPitch), C.size_t(rows.Width), C.size_t(rows.Count), flag(wait)))
}

// CopyRowsAsync is CopyAsync of rows.
func (c Context) CopyRowsAsync(stream Stream, to, from uint64, rows Rows) Status {
	return Status(C.kg_copy_rows(c.c(), stream.c(), C.CUdeviceptr(to), C.size_t(rows.ToPitch),
		C.CUdeviceptr(from), C.size_t(rows.FromPitch), C.size_t(rows.Width), C.size_t(rows.Count)))
}
