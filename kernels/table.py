"""The kernels that compile.py compiles."""

from pathlib import Path
from typing import NamedTuple

ALL = (80, 86, 89, 90, 100, 120)
HOPPER_UP = (90, 100, 120)
BOTH_FORMS = (80, 90)  # of descriptors: taken apart, and as tensor maps


class Kernel(NamedTuple):
    """One kernel, or one variant of it, to compile for each target.

    args holds every parameter in the source's order: for a tl.constexpr its
    value, for any other "TYPE", "TYPE:16" (promised to be divisible by 16) or
    "TYPE:1" (folded into the code: the value is 1, and is not passed).
    """
    source: str  # the Python file without .py, and the Go package
    name: str
    args: dict
    variant: str = ""
    options: dict = {}
    targets: tuple = ALL

    def folder(self, sm):
        return Path(self.source) / ".".join(filter(None, (self.name, self.variant, f"sm{sm}")))


def pointers(element, *names, hint=":16"):
    return {name: f"*{element}{hint}" for name in names}


def add(element, hint=":16"):
    return {**pointers(element, "x_ptr", "y_ptr", "out_ptr", hint=hint), "n": "i32", "BLOCK": 1024}


def norm(element):
    return {**pointers(element, "x_ptr", "weight_ptr", "bias_ptr", "out_ptr"),
            "x_stride": "i32", "out_stride": "i32", "n_cols": "i32", "eps": "fp32", "BLOCK": 1024}


def matmul(inner, outer):
    return {**pointers("fp16", "a_ptr", "b_ptr", "c_ptr"), "M": "i32", "N": outer, "K": outer,
            "stride_am": outer, "stride_ak": inner, "stride_bk": outer, "stride_bn": inner,
            "stride_cm": outer, "stride_cn": inner, "BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "GROUP_M": 8}


def tensors(element, *block):
    kind = f"tensordesc<{element}[{', '.join(map(str, block))}]>"
    return {"x": kind, "out": kind}


SCALARS = ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64")

WARPS8 = {"num_warps": 8}
TILED = {"num_warps": 8, "num_stages": 4}

KERNELS = (
    Kernel("vec", "add_fp32", add("fp32"), variant="aligned", options=WARPS8),
    Kernel("vec", "add_fp32", add("fp32", hint=""), variant="unaligned", options=WARPS8),
    Kernel("vec", "add_fp16", add("fp16")),
    Kernel("vec", "add_bf16", add("bf16")),
    Kernel("softmax", "softmax", {**pointers("fp32", "out_ptr", "x_ptr"), "out_stride": "i32", "x_stride": "i32",
                                  "n_cols": "i32", "BLOCK": 1024}, options=WARPS8),
    Kernel("norm", "layer_norm_fp32", norm("fp32"), options=WARPS8),
    Kernel("norm", "layer_norm_fp16", norm("fp16"), options=WARPS8),
    Kernel("matmul", "matmul", matmul("i32:1", "i32:16"), variant="rows", options=TILED),
    Kernel("matmul", "matmul", matmul("i32", "i32"), variant="strided", options=TILED),
    Kernel("matmul", "matmul_cta2", matmul("i32:1", "i32:16"), options={**TILED, "num_ctas": 2},
           targets=HOPPER_UP),
    Kernel("scalars", "scalars", {"ints_ptr": "*i64:16", "floats_ptr": "*fp64:16", **{t: t for t in SCALARS}}),
    Kernel("dropout", "dropout", {**pointers("fp32", "x_ptr", "out_ptr"), "n": "i32", "p": "fp32", "seed": "u64",
                                  "BLOCK": 1024}, options=WARPS8),
    Kernel("histogram", "histogram", {**pointers("i32", "x_ptr", "counts_ptr"), "n": "i32", "n_bins": "i32",
                                      "BLOCK": 1024}, options=WARPS8),
    Kernel("descriptor", "scale", {**pointers("fp32", "x_ptr", "out_ptr"), "n_rows": "i32", "n_cols": "i32:16",
                                   "factor": "fp32", "BLOCK_ROWS": 64, "BLOCK_COLS": 32}),
    Kernel("tensor", "copy1", {**tensors("fp32", 128), "shift": "i32", "BLOCK": 128}, targets=BOTH_FORMS),
    *(Kernel("tensor", "copy2", {**tensors(element, 64, 32), "shift_rows": "i32", "shift_cols": "i32", "BLOCK_ROWS": 64,
                                 "BLOCK_COLS": 32}, variant=element, targets=targets)
      for element, targets in (("fp16", BOTH_FORMS), ("bf16", BOTH_FORMS), ("fp32", BOTH_FORMS), ("i8", BOTH_FORMS),
                               ("fp8e5", BOTH_FORMS), ("fp8e4nv", (90, )))),
    Kernel("tensor", "copy3", {**tensors("fp16", 2, 8, 64), "shift": "i32", "BLOCK_0": 2, "BLOCK_1": 8, "BLOCK_2": 64},
           targets=BOTH_FORMS),
    Kernel("tensor", "copy4", {**tensors("i32", 1, 2, 8, 32), "shift": "i32", "BLOCK_1": 2, "BLOCK_2": 8,
                               "BLOCK_3": 32}, targets=BOTH_FORMS),
    Kernel("tensor", "copy5", {**tensors("bf16", 1, 1, 1, 16, 32), "shift": "i32", "BLOCK_3": 16, "BLOCK_4": 32},
           targets=BOTH_FORMS),
    Kernel("tensor", "product", {"a": "tensordesc<fp16[128, 64]>", "b": "tensordesc<fp16[64, 128]>",
                                 "c": "tensordesc<fp16[128, 128]>", "K": "i32", "BLOCK_M": 128, "BLOCK_N": 128,
                                 "BLOCK_K": 64}, options={"num_warps": 8, "num_stages": 3}),
    Kernel("pdl", "axpy", {**pointers("fp32", "x_ptr", "y_ptr"), "n": "i32", "a": "fp32", "BLOCK": 1024},
           options={**WARPS8, "launch_pdl": True}, targets=HOPPER_UP),
    Kernel("cooperative", "normalize", {**pointers("fp32", "x_ptr", "out_ptr", "partial_ptr"),
                                        **pointers("i64", "arrived_ptr"), "n": "i32", "BLOCK": 1024,
                                        "MAX_PROGRAMS": 1024}, options={**WARPS8, "launch_cooperative_grid": True}),
)
