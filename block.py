"""What the one-dimensional kernels share."""

import triton
import triton.language as tl


@triton.jit
def block_offsets(n, BLOCK: tl.constexpr):
    """The element offsets of this program's block, and which of them are below n."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    return offsets, offsets < n
