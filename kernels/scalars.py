"""A kernel that takes a scalar of every type."""

import triton
import triton.language as tl


@triton.jit
def scalars(ints_ptr, floats_ptr, i1, i8, i16, i32, i64, u8, u16, u32, u64, fp16, bf16, fp32, fp64):
    """Writes every argument to memory, widened without loss.

    The nine integers go to ints, the boolean first, in the order of the
    parameters: signs are extended, and u64 keeps its bits. The four floats go
    to floats.
    """
    tl.store(ints_ptr + 0, i1.to(tl.int64))
    tl.store(ints_ptr + 1, i8.to(tl.int64))
    tl.store(ints_ptr + 2, i16.to(tl.int64))
    tl.store(ints_ptr + 3, i32.to(tl.int64))
    tl.store(ints_ptr + 4, i64)
    tl.store(ints_ptr + 5, u8.to(tl.int64))
    tl.store(ints_ptr + 6, u16.to(tl.int64))
    tl.store(ints_ptr + 7, u32.to(tl.int64))
    tl.store(ints_ptr + 8, u64.to(tl.int64, bitcast=True))
    tl.store(floats_ptr + 0, fp16.to(tl.float64))
    tl.store(floats_ptr + 1, bf16.to(tl.float64))
    tl.store(floats_ptr + 2, fp32.to(tl.float64))
    tl.store(floats_ptr + 3, fp64)
