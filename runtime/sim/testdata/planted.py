"""Kernels with a fault planted in each, for the tests of the simulated device.

Run with a Triton that has no GPU to look for, it writes their PTX beside itself:

    python planted.py
"""

import pathlib
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def off_by_one(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i <= n)  # the fault: should be <
    tl.store(out_ptr + i, x, mask=i < n)


@triton.jit
def row_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x))  # a test leaves its barriers out


@triton.jit
def positive(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    tl.device_print("x is", x)
    tl.device_assert(x > 0, "x must be positive")
    tl.store(out_ptr + i, x, mask=i < n)


@triton.jit
def endless(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    while tl.load(x_ptr, volatile=True) == 0.0:  # nobody writes it
        pass
    tl.store(out_ptr, 1.0)


def write(fn, aligned, block=256, **options):
    here = pathlib.Path(__file__)
    hints = {(i, ): [["tt.divisibility", 16]] for i in range(2)} if aligned else {}
    source = ASTSource(fn, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": block}, hints)
    kernel = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4, **options})
    text = kernel.asm["ptx"]
    text = text[:text.index("\t.section\t.debug_abbrev")]  # which holds paths of this machine, as lines of .file do
    text = re.sub(r'(\.file\s+\d+ ")[^"]*/(triton/|)([^"]*")', r"\1\2\3", text)
    here.with_name(f"{fn.__name__}.ptx").write_text(f"// shared memory: {kernel.metadata.shared} bytes\n" + text)


if __name__ == "__main__":
    write(off_by_one, aligned=True)
    write(row_sum, aligned=True)
    write(positive, aligned=True, debug=True)
    write(endless, aligned=True)
