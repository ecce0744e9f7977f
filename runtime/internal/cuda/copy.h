#ifndef KERNGEN_COPY_H
#define KERNGEN_COPY_H

#include "driver.h"

// Copies and fills, in the order of a stream.

// These wait until host memory may be reused.
kg_status kg_copy_in(CUcontext ctx, CUstream stream, CUdeviceptr to, const unsigned char *from, size_t bytes);
kg_status kg_copy_out(CUcontext ctx, CUstream stream, unsigned char *to, CUdeviceptr from, size_t bytes);

// These do not.
kg_status kg_copy_in_async(CUcontext ctx, CUstream stream, CUdeviceptr to, const unsigned char *from, size_t bytes);
kg_status kg_copy_out_async(CUcontext ctx, CUstream stream, unsigned char *to, CUdeviceptr from, size_t bytes);
kg_status kg_copy_async(CUcontext ctx, CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes);

// So many rows of width bytes, each a pitch of bytes after the one before; with
// wait they, too, wait.
kg_status kg_copy_rows_in(CUcontext ctx, CUstream stream, CUdeviceptr to, size_t to_pitch,
	const unsigned char *from, size_t from_pitch, size_t width, size_t rows, int wait);
kg_status kg_copy_rows_out(CUcontext ctx, CUstream stream, unsigned char *to, size_t to_pitch,
	CUdeviceptr from, size_t from_pitch, size_t width, size_t rows, int wait);
kg_status kg_copy_rows(CUcontext ctx, CUstream stream, CUdeviceptr to, size_t to_pitch,
	CUdeviceptr from, size_t from_pitch, size_t width, size_t rows);

kg_status kg_fill_async(CUcontext ctx, CUstream stream, CUdeviceptr address, unsigned char value, size_t bytes);
kg_status kg_fill16_async(CUcontext ctx, CUstream stream, CUdeviceptr address, uint16_t value, size_t count);
kg_status kg_fill32_async(CUcontext ctx, CUstream stream, CUdeviceptr address, uint32_t value, size_t count);

#endif
