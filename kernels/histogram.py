"""A histogram counted with atomic additions."""

import triton
import triton.language as tl

from block import block_offsets


@triton.jit
def histogram(x_ptr, counts_ptr, n, n_bins, BLOCK: tl.constexpr):
    """Adds to counts[v] the number of times that v occurs among the n elements of x.

    Values below 0 or not below n_bins are ignored. Counts are added to, so the
    caller sets them to zero first, or lets several launches add up.
    """
    offsets, inside = block_offsets(n, BLOCK)
    x = tl.load(x_ptr + offsets, mask=inside, other=-1)
    tl.atomic_add(counts_ptr + x, 1, mask=(x >= 0) & (x < n_bins), sem="relaxed")
