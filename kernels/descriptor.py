"""A kernel that makes its tensor descriptors on the device."""

import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, n_rows, n_cols, factor, BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr):
    """Multiplies every element of x, a contiguous matrix, by factor.

    Each program describes the two matrices to the GPU's copy engine, where it
    has one, in scratch memory of its own: a launch for sm_90 or later needs
    global scratch, one for an older GPU does not.
    """
    x = tl.make_tensor_descriptor(x_ptr, shape=[n_rows, n_cols], strides=[n_cols, 1],
                                  block_shape=[BLOCK_ROWS, BLOCK_COLS])
    out = tl.make_tensor_descriptor(out_ptr, shape=[n_rows, n_cols], strides=[n_cols, 1],
                                    block_shape=[BLOCK_ROWS, BLOCK_COLS])
    row = tl.program_id(0) * BLOCK_ROWS
    col = tl.program_id(1) * BLOCK_COLS
    out.store([row, col], x.load([row, col]) * factor)
