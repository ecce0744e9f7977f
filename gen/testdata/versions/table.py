"""What compile.py compiles, with which releases of Triton, for which targets."""

from typing import NamedTuple

import kernels

FIRST, LAST = (3, 0), (3, 99)


class Kernel(NamedTuple):
    """One kernel.

    args holds every parameter in the source's order: "TYPE", "TYPE:16"
    (promised to be divisible by 16), "TYPE:1" (folded at one), "TYPE:none"
    (absent), a tuple of such, or a constant.
    """
    name: str
    args: dict
    folder: str = ""
    targets: tuple = (80, 90)
    since: tuple = FIRST
    until: tuple = LAST
    options: dict = {}
    described: bool = True  # with NAME.kerngen.json
    lines: bool = False  # with line information
    source: bool = False  # with NAME.source, where the release writes it


ADD = {"x_ptr": "*fp32:16", "y_ptr": "*fp32:16", "out_ptr": "*fp32:16", "n": "i32", "BLOCK": 256}
SCALARS = {"out_ptr": "*fp64:16", "b": "i1", **{k: k for k in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")},
           "h": "fp16", "bf": "bf16", "f": "fp32", "d": "fp64"}
TILES = {"x_ptr": "*fp16:16", "out_ptr": "*fp16:16", "n_rows": "i32:16", "n_cols": "i32:16", "BLOCK": 32}

KERNELS = (
    Kernel("add", ADD, lines=True),
    Kernel("add", ADD, "add.blackwell", targets=(100, ), since=(3, 3)),
    Kernel("add", ADD, "add.blackwell", targets=(120, ), since=(3, 8)),
    Kernel("add", ADD, "add.raw", described=False, targets=(80, ), source=True),
    Kernel("add", ADD, "add.cluster", targets=(90, ), options={"num_ctas": 2}),
    Kernel("add", ADD, "add.cooperative", targets=(90, ), since=(3, 3), options={"launch_cooperative_grid": True}),
    Kernel("scalars", SCALARS, options={"num_warps": 1}, targets=(80, )),
    Kernel("rows", {"x_ptr": "*kfp32:16", "bias_ptr": "*fp32:none", "out_ptr": "*fp32:16", "row_stride": "i64:16",
                    "col_stride": "i32:1", "n": "u32", "BLOCK": 128, "NEGATE": True}, targets=(80, )),
    Kernel("dot", {"a_ptr": "*fp16:16", "b_ptr": "*fp16:16", "out_ptr": "*fp32:16", "BLOCK": 64}, targets=(90, )),
    # Before 3.6 the cluster of a matrix product lies along y.
    Kernel("dot", {"a_ptr": "*fp16:16", "b_ptr": "*fp16:16", "out_ptr": "*fp32:16", "BLOCK": 64}, "dot.cluster",
           targets=(90, ), options={"num_ctas": 4}),
    Kernel("descriptor_experimental", TILES, targets=(90, ), since=(3, 3), until=(3, 3)),
    Kernel("descriptor", TILES, targets=(90, ), since=(3, 4)),
    Kernel("host", {"x_desc": "tensordesc<fp16[32, 32]>", "out_desc": "tensordesc<fp16[32, 32]>", "n": "i32",
                    "BLOCK": 32}, since=(3, 4), described=False, source=True),
    Kernel("tma", {"x_desc": "nvTmaDesc", "out_ptr": "*fp16:16", "BLOCK": 32}, targets=(90, ), since=(3, 2),
           until=(3, 3), described=False),
    Kernel("tuples", {"ptrs": ("*fp32:16", "*fp32"), "shape": kernels.Shape("i32", "i64"), "n": "i32", "BLOCK": 64},
           targets=(80, ), since=(3, 3)),
    Kernel("tuples", {"ptrs": ("*fp32:16", "*fp32"), "shape": kernels.Shape("i32", "i64"), "n": "i32", "BLOCK": 64},
           "tuples.raw", targets=(80, ), since=(3, 5), described=False, source=True),
    Kernel("pdl", {"x_ptr": "*fp32:16", "out_ptr": "*fp32:16", "n": "i32", "BLOCK": 128}, targets=(90, ),
           since=(3, 5), options={"launch_pdl": True}),
    # gdc_wait of 3.4 cannot be called: its builder comes under another name.
    Kernel("add", ADD, "add.pdl", targets=(90, ), since=(3, 4), until=(3, 4), options={"launch_pdl": True}),
    Kernel("scale", {"x_ptr": "*fp32", "n": "i32", "BLOCK": 128}, targets=(80, )),
    Kernel("fp8", {"e4_ptr": "*fp8e4nv:16", "e5_ptr": "*fp8e5:16", "out_ptr": "*fp32:16", "BLOCK": 128}, targets=(90, )),
    Kernel("calls", {"out_ptr": "*fp32", "x": "fp32"}, targets=(80, )),
    Kernel("wide", {"out_ptr": "*i32", **{f"a{i:02}": "i32" for i in range(72)}}, targets=(80, )),
    Kernel("add", ADD, "add.consan", targets=(90, ), since=(3, 6), until=(3, 7), described=False,
           options={"instrumentation_mode": "consan"}),
    # 3.9 compiles it on a machine with a GPU only.
    Kernel("add", ADD, "add.gsan", targets=(90, ), since=(3, 8), until=(3, 8), described=False,
           options={"instrumentation_mode": "gsan"}),
)
