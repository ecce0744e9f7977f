"""Small kernels, one for each thing that a launch must get right.

Every release of Triton from 3.0 on parses this file; what a release lacks, it
does not compile. Only builtins are called, so that line information names no
file but this one.
"""

from typing import NamedTuple

import triton
import triton.language as tl
from triton.language.extra import cuda


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds two vectors: out = x + y, für jedes Element."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, x + y, mask=inside)


@triton.jit
def scalars(out_ptr, b, i8, i16, i32, i64, u8, u16, u32, u64, h, bf, f, d):
    """Adds up one scalar of each type."""
    ints = b.to(tl.int64) + i8.to(tl.int64) + i16.to(tl.int64) + i32.to(tl.int64) + i64
    ints += u8.to(tl.int64) + u16.to(tl.int64) + u32.to(tl.int64) + u64.to(tl.int64)
    floats = h.to(tl.float64) + bf.to(tl.float64) + f.to(tl.float64) + d
    tl.store(out_ptr, ints.to(tl.float64) + floats)


@triton.jit
def rows(x_ptr, bias_ptr, out_ptr, row_stride, col_stride, n, BLOCK: tl.constexpr, NEGATE: tl.constexpr):
    """Copies a row; col_stride is folded at one, and bias_ptr may be absent."""
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * row_stride + col * col_stride, mask=col < n)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + col, mask=col < n)
    if NEGATE:
        x = -x
    tl.store(out_ptr + tl.program_id(0) * BLOCK + col, x, mask=col < n)


@triton.jit
def dot(a_ptr, b_ptr, out_ptr, BLOCK: tl.constexpr):
    """Multiplies two tiles, through shared memory."""
    row = tl.arange(0, BLOCK)[:, None]
    col = tl.arange(0, BLOCK)[None, :]
    a = tl.load(a_ptr + row * BLOCK + col)
    b = tl.load(b_ptr + row * BLOCK + col)
    tl.store(out_ptr + row * BLOCK + col, tl.dot(a, b))


@triton.jit
def descriptor(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    """Copies a tile through descriptors made on the device."""
    x = tl.make_tensor_descriptor(x_ptr, [n_rows, n_cols], [n_cols, 1], [BLOCK, BLOCK])
    out = tl.make_tensor_descriptor(out_ptr, [n_rows, n_cols], [n_cols, 1], [BLOCK, BLOCK])
    at = tl.program_id(0) * BLOCK
    out.store([at, 0], x.load([at, 0]))


@triton.jit
def descriptor_experimental(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    """Copies a tile as descriptor does, in the words of 3.3."""
    x = tl._experimental_make_tensor_descriptor(x_ptr, [n_rows, n_cols], [n_cols, 1], [BLOCK, BLOCK])
    out = tl._experimental_make_tensor_descriptor(out_ptr, [n_rows, n_cols], [n_cols, 1], [BLOCK, BLOCK])
    at = tl.program_id(0) * BLOCK
    out.store([at, 0], x.load([at, 0]))


@triton.jit
def host(x_desc, out_desc, n, BLOCK: tl.constexpr):
    """Copies tiles through descriptors that the host made."""
    at = tl.program_id(0) * BLOCK
    if at < n:
        out_desc.store([at, 0], x_desc.load([at, 0]))


@triton.jit
def tma(x_desc, out_ptr, BLOCK: tl.constexpr):
    """Loads a tile through a host descriptor, in the words of 3.2 and 3.3."""
    x = tl._experimental_descriptor_load(x_desc, [tl.program_id(0) * BLOCK, 0], [BLOCK, BLOCK], tl.float16)
    row = tl.arange(0, BLOCK)[:, None]
    col = tl.arange(0, BLOCK)[None, :]
    tl.store(out_ptr + row * BLOCK + col, x)


class Shape(NamedTuple):
    rows: object
    cols: object


@triton.jit
def tuples(ptrs, shape, n, BLOCK: tl.constexpr):
    """Copies between the two pointers of a tuple."""
    at = tl.arange(0, BLOCK)
    inside = at < shape[0] * shape[1] + n
    tl.store(ptrs[1] + at, tl.load(ptrs[0] + at, mask=inside), mask=inside)


@triton.jit
def pdl(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Copies once the kernel before it in the stream is done."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cuda.gdc_wait()
    cuda.gdc_launch_dependents()
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit(repr=lambda specialization: "scale_by_two")
def scale(x_ptr, n, BLOCK: tl.constexpr):
    """Doubles a vector; its symbol is another than its name."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


@triton.jit
def fp8(e4_ptr, e5_ptr, out_ptr, BLOCK: tl.constexpr):
    """Adds 8-bit floats of two formats."""
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(e4_ptr + at).to(tl.float32) + tl.load(e5_ptr + at).to(tl.float32))


@triton.jit(noinline=True)
def square(x):
    return x * x


@triton.jit
def calls(out_ptr, x):
    """Calls a function that is not inlined."""
    tl.store(out_ptr, square(x))


@triton.jit
def wide(out_ptr, a00, a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19,
         a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41,
         a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63,
         a64, a65, a66, a67, a68, a69, a70, a71):
    """Stores the sum of some of its 72 scalars."""
    tl.store(out_ptr, a00 + a01 + a36 + a70 + a71)
