"""Vector addition, one kernel for each element type."""

import triton
import triton.language as tl

from block import block_offsets


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets, inside = block_offsets(n, BLOCK)
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


@triton.jit
def add_fp32(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds two vectors of n elements: out = x + y.

    The output may be one of the inputs. The grid is one-dimensional,
    cdiv(n, BLOCK) programs: each adds one block.
    """
    add(x_ptr, y_ptr, out_ptr, n, BLOCK)


@triton.jit
def add_fp16(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds two vectors of n elements: out = x + y, rounded to nearest even.

    The output may be one of the inputs. The grid is one-dimensional,
    cdiv(n, BLOCK) programs: each adds one block.
    """
    add(x_ptr, y_ptr, out_ptr, n, BLOCK)


@triton.jit
def add_bf16(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds two vectors of n elements: out = x + y, rounded to nearest even.

    The output may be one of the inputs. The grid is one-dimensional,
    cdiv(n, BLOCK) programs: each adds one block.
    """
    add(x_ptr, y_ptr, out_ptr, n, BLOCK)
