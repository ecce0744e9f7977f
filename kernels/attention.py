"""Attention of each query over all keys, without a matrix of scores in memory."""

import triton
import triton.language as tl


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, scale, n, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Writes softmax(Q K^T * scale) V of each head to out.

    Q, K, V and out are heads x n x D, one row behind the other; n must be a
    multiple of BLOCK_M and of BLOCK_N. Keys are taken BLOCK_N at a time: each
    row keeps the largest score so far and the sum of exponentials relative to
    it. The grid is two-dimensional, n / BLOCK_M programs for each head: each
    computes BLOCK_M rows of out.
    """
    head = tl.program_id(1).to(tl.int64) * n * D
    rows, cols = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + head + rows[:, None] * D + cols[None, :])
    scale *= 1.4426950408889634  # log2(e): exponentials are powers of two

    top = tl.full((BLOCK_M, ), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M, ), tl.float32)
    out = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, n, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + head + keys[None, :] * D + cols[:, None])
        v = tl.load(v_ptr + head + keys[:, None] * D + cols[None, :])
        scores = tl.dot(q, k) * scale
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights, shrink = tl.exp2(scores - new_top[:, None]), tl.exp2(top - new_top)
        total = total * shrink + tl.sum(weights, 1)
        out = tl.dot(weights.to(v.dtype), v, out * shrink[:, None])
        top = new_top
    tl.store(out_ptr + head + rows[:, None] * D + cols[None, :], (out / total[:, None]).to(out_ptr.dtype.element_ty))
