"""Kernels in the forms that Python allows.

@triton.jit
def in_a_string(x): pass
"""

import os, triton as tr
import triton.language as tl
from triton import (
    autotune,
    jit as kernel,  # renamed
)
from triton import heuristics

BLOCK = {"}": 1, '(': f"{os.name!r:>{10}}" + rf'\{"x"}'}


@kernel
def first(x_ptr, n): tl.store(x_ptr, n)


@autotune(configs=[tr.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@tr.jit(do_not_specialize=["n"])
def tuned(
    x_ptr,  # the input: (not a bracket
    out: "*fp32",
    n: tl.int64,
    flag: "tl.int1" = True,
    step=1, big=10000000000, scale=-0.5, name="relu", mode=tl.float32, nothing=None,
    null=3,
    EVEN: tl.constexpr = None,
    BLOCK: "tl.constexpr" = 64,
    DTYPE: tl.constexpr = tl.float16,
    ACT: tl.constexpr = "re\"lu",
    OTHER: tl.constexpr[int] = (1, 2),
    SIZE: tl.constexpr = 0x40,
    LAST: tl.constexpr = -3,
) -> "tl.void[1]":
    """Doc: not a statement
def nor_this(): pass
"""
    if EVEN:
        return
    else: return None


if os.environ.get("X"):
    @tr.jit
    def within_if(a, *, b: tl.constexpr, /): \
        pass

    class Hidden:
        @tr.jit
        def method(self, x): pass

    @tr.jit
    def helper(x):
        if x:
            y = [
1, 2]
        return x + 1


def factory():
    import triton

    @triton.jit
    def nested(x): return None
    return nested


@tr.jit
def inline(x): return x


@staticmethod
def plain(x): pass


@numba.jit
def other(x): pass


async def coroutine(): pass


@tr.jit
def no_arguments():
    pass
