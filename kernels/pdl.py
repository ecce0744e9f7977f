"""A kernel for programmatic dependent launch: it may start before its predecessor ends."""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from block import block_offsets


@triton.jit
def axpy(x_ptr, y_ptr, n, a, BLOCK: tl.constexpr):
    """Adds a times x to y, both of n elements.

    A launch may start while the kernel before it in the stream is still
    running. It waits for that kernel's end before it touches memory, then lets
    the next kernel start in the same way; so a chain of launches is right, and
    only its start-up overlaps.
    """
    offsets, inside = block_offsets(n, BLOCK)
    gdc_wait()
    gdc_launch_dependents()
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(y_ptr + offsets, y + a * x, mask=inside)
