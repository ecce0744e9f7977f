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


@kernel
def first(x_ptr, n): tl.store(x_ptr, n)


@autotune(configs=[tr.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@tr.jit(do_not_specialize=["step"])
def tuned(
    x_ptr,  # the input: (not a bracket
    out: "*fp32",
    n: tl.int64,
    half: tl.float16, small: tl.uint8,
    flag: "tl.int1" = True,
    step=1, big=10000000000, scale=-0.5, name="relu", nothing=None, null=3,
    EVEN: tl.constexpr = None,
    BLOCK: "tl.constexpr" = 64,
    DTYPE: tl.constexpr = tl.float16,
    SIZE: tl.constexpr = 0x40,
    LAST: tl.constexpr = -3,
):
    pass


if os.environ.get("NO_SUCH") is None:

    @tr.jit
    def within_if(a, b: tl.constexpr): \
        pass
