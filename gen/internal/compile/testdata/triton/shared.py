"""What the kernels beside this file share."""

import triton
import triton.language as tl

SCALE = tl.constexpr(2)


@triton.jit
def load_scaled(ptr, offsets, mask):
    return tl.load(ptr + offsets, mask=mask) * SCALE
