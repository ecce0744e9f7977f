"""Matrix multiplication in tiles: fp16 or bf16 in and out, sums in fp32."""

import triton
import triton.language as tl


@triton.jit
def tile_position(M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """The row and column of this program's tile.

    Programs that run at the same time should share rows of A and columns of B
    in the L2 cache, so tiles are taken down bands of GROUP_M tile rows.
    """
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    pid = tl.program_id(0)
    band = pid // (GROUP_M * tiles_n)
    within = pid % (GROUP_M * tiles_n)
    height = min(tiles_m - band * GROUP_M, GROUP_M)  # the last band may be lower
    return band * GROUP_M + within % height, within // height


@triton.jit
def multiply(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
             BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    tile_m, tile_n = tile_position(M, N, BLOCK_M, BLOCK_N, GROUP_M)
    # The hints keep B's ranges apart from A's. Triton 3.6 would merge two that
    # are equal and later, for a cluster, split them again in the order of
    # addresses: no two compilations would give the same bytes.
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.max_contiguous(tl.arange(0, BLOCK_N), BLOCK_N)
    a_ks = tl.arange(0, BLOCK_K)
    b_ks = tl.max_contiguous(tl.arange(0, BLOCK_K), BLOCK_K)
    # Rows and columns outside wrap round, so that the loop needs no mask for
    # them; what they compute is not stored.
    a_ptrs = a_ptr + (rows % M).to(tl.int64)[:, None] * stride_am + a_ks[None, :] * stride_ak
    b_ptrs = b_ptr + b_ks[:, None] * stride_bk + (cols % N).to(tl.int64)[None, :] * stride_bn
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=a_ks[None, :] < K - k, other=0.0)
        b = tl.load(b_ptrs, mask=b_ks[:, None] < K - k, other=0.0)
        sums = tl.dot(a, b, sums)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    c_ptrs = c_ptr + rows.to(tl.int64)[:, None] * stride_cm + cols.to(tl.int64)[None, :] * stride_cn
    tl.store(c_ptrs, sums.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """Multiplies A (M x K) by B (K x N) and writes the product to C (M x N).

    Strides are in elements. Columns are contiguous (their strides are 1); N, K
    and the other strides are divisible by 16. matmul_strided takes any. C must
    not overlap A or B.
    """
    multiply(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
             BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M)


@triton.jit
def matmul_strided(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """Multiplies A (M x K) by B (K x N) as matmul does, of any size and in any layout.

    Strides are in elements. Columns of A and B that are contiguous (their
    strides are 1) make it faster. C must not overlap A or B.
    """
    multiply(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
             BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M)


@triton.jit
def matmul_cta2(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """Multiplies A (M x K) by B (K x N) as matmul does, each tile by a cluster of two CTAs.

    Strides are in elements. Columns are contiguous (their strides are 1); N, K
    and the other strides are divisible by 16. C must not overlap A or B. The
    grid counts clusters, not CTAs.
    """
    multiply(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
             BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M)
