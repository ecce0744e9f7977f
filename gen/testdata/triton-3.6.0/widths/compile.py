# Compiles add_kernel of ../aot/kernels.py with 32 and 64 bits for n_elements:
# PYTHONPATH=/src python compile.py OUT, with kernels.py in /src.
import os
import shutil
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from kernels import add_kernel

out = sys.argv[1]
for name, n, hints in [("n_i32", "i32", 0), ("n_i64", "i64", 0), ("n_i32_aligned", "i32", 1)]:
    sig = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n_elements": n, "BLOCK_SIZE": "constexpr"}
    attrs = {(i,): [["tt.divisibility", 16]] for i in ([0, 1, 2, 3] if hints else [0, 1, 2])}
    k = triton.compile(ASTSource(add_kernel, sig, {"BLOCK_SIZE": 1024}, attrs), target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    d = os.path.join(out, name); os.makedirs(d, exist_ok=True)
    for ext in ["source", "ttir", "ptx"]:
        open(f"{d}/add_kernel.{ext}", "w").write(k.asm[ext])
    open(f"{d}/add_kernel.cubin", "wb").write(k.asm["cubin"])
    meta = [p for f, p in k.metadata_group.items() if f == "add_kernel.json"][0]
    shutil.copy(meta, f"{d}/add_kernel.json")
