"""Softmax along the rows of a matrix."""

import triton
import triton.language as tl


@triton.jit
def softmax(out_ptr, x_ptr, out_stride, x_stride, n_cols, BLOCK: tl.constexpr):
    """Writes the softmax of each row of x, a matrix with n_cols columns, to out.

    All is computed in fp32 and rounded once. The strides are the distances
    between rows, in elements; the columns of a row are contiguous. A row may
    have any length: it is read twice, BLOCK columns at a time. The grid is
    one-dimensional, one program for each row.
    """
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    out_ptr += row * out_stride
    cols = tl.arange(0, BLOCK)

    # Each lane keeps the maximum of what it has seen and the sum of
    # exponentials relative to it; a lane that has seen nothing must not
    # subtract one infinity from another.
    top = tl.full((BLOCK, ), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK, ), tl.float32)
    for start in range(0, n_cols, BLOCK):
        inside = start + cols < n_cols
        x = tl.load(x_ptr + start + cols, mask=inside, other=float("-inf")).to(tl.float32)
        new_top = tl.maximum(top, x)
        scale = tl.where(top == new_top, 1.0, tl.exp(top - new_top))
        total = total * scale + tl.where(x == float("-inf"), 0.0, tl.exp(x - new_top))
        top = new_top
    row_top = tl.max(top, axis=0)
    row_total = tl.sum(tl.where(total == 0.0, 0.0, total * tl.exp(top - row_top)), axis=0)

    for start in range(0, n_cols, BLOCK):
        inside = start + cols < n_cols
        x = tl.load(x_ptr + start + cols, mask=inside, other=float("-inf")).to(tl.float32)
        y = tl.exp(x - row_top) / row_total
        tl.store(out_ptr + start + cols, y.to(out_ptr.dtype.element_ty), mask=inside)
