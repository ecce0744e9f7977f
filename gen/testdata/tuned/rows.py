"""Kernels that show type variables, alternatives, configurations and declared grids together."""

import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, bias_ptr, out_ptr, scale, rows, cols, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Multiplies a matrix by scale and adds a bias to each row.

    The bias has one element for each column; without it nothing is added. stride
    is the distance of rows in elements.
    """
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (row[:, None] < rows) & (col[None, :] < cols)
    at = row.to(tl.int64)[:, None] * stride + col[None, :]
    x = tl.load(x_ptr + at, mask=inside) * scale
    if bias_ptr is not None:
        x += tl.load(bias_ptr + col, mask=col < cols)[None, :]
    tl.store(out_ptr + at, x, mask=inside)


@triton.jit
def convert(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Copies n elements to another type."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n).to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def fill(out_ptr, value, n, BLOCK: tl.constexpr):
    """Sets n elements to value."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, value, mask=i < n)
