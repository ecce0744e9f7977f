"""Vector addition."""

import triton
import triton.language as tl

from block import block_offsets


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds two vectors of n elements: out = x + y, rounded to nearest even.

    The output may be one of the inputs. Pointers that are multiples of 16 bytes
    make it faster.
    """
    offsets, inside = block_offsets(n, BLOCK)
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)
