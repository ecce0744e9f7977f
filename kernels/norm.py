"""Layer normalisation."""

import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, x_stride, out_stride, n_cols, eps, BLOCK: tl.constexpr):
    """Normalises each row of x to mean 0 and variance 1, times weight plus bias.

    All is computed in fp32 and rounded once. Weight and bias have n_cols
    elements, as each row has; without a bias none is added. eps is added to the
    variance. The strides are the distances between rows, in elements; the
    columns of a row are contiguous. A row may have any length. The grid is
    one-dimensional, one program for each row.
    """
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    out_ptr += row * out_stride
    cols = tl.arange(0, BLOCK)

    total = tl.zeros((BLOCK, ), tl.float32)
    for start in range(0, n_cols, BLOCK):
        total += tl.load(x_ptr + start + cols, mask=start + cols < n_cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n_cols

    # The squares are summed about the mean: the shorter E[x^2] - E[x]^2 loses
    # all digits where the mean is large.
    squares = tl.zeros((BLOCK, ), tl.float32)
    for start in range(0, n_cols, BLOCK):
        inside = start + cols < n_cols
        x = tl.load(x_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        deviation = tl.where(inside, x - mean, 0.0)
        squares += deviation * deviation
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / n_cols + eps)

    for start in range(0, n_cols, BLOCK):
        inside = start + cols < n_cols
        x = tl.load(x_ptr + start + cols, mask=inside).to(tl.float32)
        weight = tl.load(weight_ptr + start + cols, mask=inside).to(tl.float32)
        y = (x - mean) * scale * weight
        if bias_ptr is not None:
            y += tl.load(bias_ptr + start + cols, mask=inside).to(tl.float32)
        tl.store(out_ptr + start + cols, y.to(out_ptr.dtype.element_ty), mask=inside)
