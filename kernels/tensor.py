"""Kernels that take tensor descriptors made by the host."""

import triton
import triton.language as tl


@triton.jit
def copy1(x, out, shift, BLOCK: tl.constexpr):
    """Copies a vector, moved: element i of out is element i + 4 * shift of x.

    A tensor map is read from multiples of 16 bytes along its innermost dimension.

    What lies outside x reads as zero, or NaN if x asks for it. The grid is
    cdiv(extent of out, BLOCK) programs.
    """
    at = tl.program_id(0) * BLOCK
    out.store([at], x.load([at + 4 * shift]))


@triton.jit
def copy2(x, out, shift_rows, shift_cols, BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr):
    """Copies a matrix, moved: element [i, j] of out is element [i + shift_rows, j + shift_cols] of x.

    What lies outside x reads as zero, or NaN if x asks for it. The grid is
    cdiv(rows of out, BLOCK_ROWS) by cdiv(columns of out, BLOCK_COLS) programs.
    """
    row = tl.program_id(0) * BLOCK_ROWS
    col = tl.program_id(1) * BLOCK_COLS
    out.store([row, col], x.load([row + shift_rows, col + shift_cols]))


@triton.jit
def copy2_fp8e4nv(x, out, shift_rows, shift_cols, BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr):
    """Copies a matrix, moved, as copy2 does, of a type that Triton has from sm_89 on only."""
    copy2(x, out, shift_rows, shift_cols, BLOCK_ROWS, BLOCK_COLS)


@triton.jit
def copy3(x, out, shift, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    """Copies a tensor of rank 3, moved by shift along each dimension and 8 * shift along the last.

    The grid has a program for each block of out: its extents divided by BLOCK_0,
    BLOCK_1 and BLOCK_2, rounded up.
    """
    a, b, c = tl.program_id(0) * BLOCK_0, tl.program_id(1) * BLOCK_1, tl.program_id(2) * BLOCK_2
    out.store([a, b, c], x.load([a + shift, b + shift, c + 8 * shift]))


@triton.jit
def copy4(x, out, shift, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr):
    """Copies a tensor of rank 4, moved by shift along each dimension and 4 * shift along the last.

    The grid is the first extent of out by its second and third, divided by BLOCK_1
    and BLOCK_2 and rounded up; the fourth is at most BLOCK_3.
    """
    a, b, c = tl.program_id(0), tl.program_id(1) * BLOCK_1, tl.program_id(2) * BLOCK_2
    out.store([a, b, c, 0], x.load([a + shift, b + shift, c + shift, 4 * shift]))


@triton.jit
def copy5(x, out, shift, BLOCK_3: tl.constexpr, BLOCK_4: tl.constexpr):
    """Copies a tensor of rank 5, moved by shift along each dimension and 8 * shift along the last.

    The grid is the first three extents of out; the fourth is at most BLOCK_3, the
    fifth at most BLOCK_4.
    """
    a, b, c = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    out.store([a, b, c, 0, 0], x.load([a + shift, b + shift, c + shift, shift, 8 * shift]))


@triton.jit
def product(a, b, c, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Multiplies two matrices: c = a @ b, of M x K and K x N, added up in fp32.

    The grid is cdiv(M, BLOCK_M) by cdiv(N, BLOCK_N) programs.
    """
    row = tl.program_id(0) * BLOCK_M
    col = tl.program_id(1) * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        total = tl.dot(a.load([row, k]), b.load([k, col]), total)
    c.store([row, col], total.to(c.dtype))
