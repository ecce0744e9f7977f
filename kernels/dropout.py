"""Dropout whose mask is a function of a seed."""

import triton
import triton.language as tl

from block import block_offsets


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    """Sets each of n elements to zero with probability p and scales the rest by 1 / (1 - p).

    p is from 0 to 1. Which elements are kept depends only on seed and on their
    position, so the backward pass can draw the same mask again. The output may
    be the input.
    """
    offsets, inside = block_offsets(n, BLOCK)
    x = tl.load(x_ptr + offsets, mask=inside).to(tl.float32)
    # The generator makes four numbers at a time: one step serves four neighbours.
    steps = tl.program_id(0) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
    r0, r1, r2, r3 = tl.rand4x(seed, steps)
    chance = tl.interleave(tl.interleave(r0, r2), tl.interleave(r1, r3))
    y = tl.where(chance >= p, x / (1.0 - p), 0.0)
    tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=inside)
