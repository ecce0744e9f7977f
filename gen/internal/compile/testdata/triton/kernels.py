"""Kernels with what a configuration can say of one."""

import triton
import triton.language as tl

from shared import load_scaled


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Doubles n elements."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, load_scaled(x_ptr, offsets, offsets < n), mask=offsets < n)


@triton.jit
def add_bias(x_ptr, bias_ptr, stride, count: tl.int64, step=1, BLOCK: tl.constexpr = 64):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets * stride, mask=offsets < count * step)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + offsets)
    tl.store(x_ptr + offsets * stride, x, mask=offsets < count * step)


@triton.jit
def constants(out_ptr, I: tl.constexpr, F: tl.constexpr, B: tl.constexpr, S: tl.constexpr, N: tl.constexpr,
              D: tl.constexpr, T: tl.constexpr):
    tl.static_assert(I == -3)
    tl.static_assert(F == 0.5)
    tl.static_assert(B)
    tl.static_assert(S == "relu")
    tl.static_assert(N is None)
    rows = tl.zeros(T, D).to(tl.float32)
    tl.store(out_ptr + tl.arange(0, 16)[:, None] * 2 + tl.arange(0, 2)[None, :], rows)


@triton.jit
def pair(args, n):
    tl.store(args.out, tl.load(args.x) + args.step * n)


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128, "enable_fp_fusion": False}, num_warps=4)],
                 key=["n"])
@triton.heuristics({"EVEN": lambda args: args["BLOCK"] % 128 == 0})
@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if EVEN:
        tl.store(x_ptr + offsets, n)
    else:
        tl.store(x_ptr + offsets, n, mask=offsets < n)


@triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
@triton.jit
def unknowable(x_ptr, n, EVEN: tl.constexpr):
    tl.store(x_ptr, n)


@triton.jit
def wrong(x_ptr, n):
    tl.store(x_ptr, undefined + n)


def plain(x_ptr):
    pass
