"""The kernels of this folder's PTX texts.

Run with a Triton that has no GPU to look for, it writes the texts beside itself:

    TRITON_DISABLE_LINE_INFO=1 python kernels.py
"""

import pathlib

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def dot(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr, PRECISION: tl.constexpr):
    rows, cols, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] * N + cols[None, :])
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], tl.dot(a, b, out_dtype=ACC, input_precision=PRECISION))


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, scale, n, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    head = tl.program_id(1) * n * D
    rows, cols = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + head + rows[:, None] * D + cols[None, :])
    top = tl.full((BLOCK_M, ), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M, ), tl.float32)
    out = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, n, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + head + keys[None, :] * D + cols[:, None])
        v = tl.load(v_ptr + head + keys[:, None] * D + cols[None, :])
        scores = tl.dot(q, k) * scale
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights, shrink = tl.exp2(scores - new_top[:, None]), tl.exp2(top - new_top)
        total = total * shrink + tl.sum(weights, 1)
        out = out * shrink[:, None] + tl.dot(weights.to(tl.float16), v)
        top = new_top
    tl.store(out_ptr + head + rows[:, None] * D + cols[None, :], (out / total[:, None]).to(tl.float16))


@triton.jit
def sort(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i)))


@triton.jit
def cumsum(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.cumsum(tl.load(x_ptr + i), 0))


@triton.jit
def cast(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty))


@triton.jit
def sine(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.sin(tl.load(x_ptr + i)))


@triton.jit(noinline=True)
def next_collatz(n):
    if n % 2 == 0:
        return n // 2
    return 3 * n + 1


@triton.jit
def collatz(x_ptr):
    x_ptr += tl.program_id(0)
    n = tl.load(x_ptr)
    steps = 0
    while n > 1:
        n = next_collatz(n)
        steps += 1
    tl.store(x_ptr, steps)


@triton.jit
def accumulate(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(out_ptr + i % 4, tl.load(x_ptr + i))


@triton.jit
def positive(x_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.device_print("x:", x)
    tl.device_assert(x > 0, "x must be positive")


def write(name, fn, sm, types, constants, warps=4, **options):
    signature = {a: types.get(a, "constexpr") for a in fn.arg_names}
    aligned = {(i, ): [["tt.divisibility", 16]] for i, a in enumerate(fn.arg_names) if signature[a].startswith("*")}
    source = ASTSource(fn=fn, signature=signature, constexprs=constants, attrs=aligned)
    kernel = triton.compile(source, target=GPUTarget("cuda", sm, 32), options={"num_warps": warps, **options})
    path = pathlib.Path(__file__).with_name(f"{name}.sm{sm}.ptx")
    path.write_text(f"// shared memory: {kernel.metadata.shared} bytes\n" + kernel.asm["ptx"])


if __name__ == "__main__":
    for sm, name, element, acc, result, precision in [
        (75, "fp16", "fp16", tl.float32, "fp32", "ieee"), (80, "fp16", "fp16", tl.float32, "fp32", "ieee"),
        (80, "fp16acc", "fp16", tl.float16, "fp16", "ieee"), (80, "bf16", "bf16", tl.float32, "fp32", "ieee"),
        (80, "tf32", "fp32", tl.float32, "fp32", "tf32"), (80, "fp32", "fp32", tl.float32, "fp32", "ieee"),
        (80, "fp64", "fp64", tl.float64, "fp64", "ieee"), (80, "i8", "i8", tl.int32, "i32", "ieee"),
        (89, "fp8e5", "fp8e5", tl.float32, "fp32", "ieee"), (89, "fp8e4nv", "fp8e4nv", tl.float32, "fp32", "ieee"),
    ]:
        write(f"dot.{name}", dot, sm, {"a_ptr": "*" + element, "b_ptr": "*" + element, "c_ptr": "*" + result},
              {"M": 32, "N": 16, "K": 32, "ACC": acc, "PRECISION": precision})
    write("attention", attention, 80, {"q_ptr": "*fp16", "k_ptr": "*fp16", "v_ptr": "*fp16", "out_ptr": "*fp16", "scale": "fp32", "n": "i32"},
          {"D": 64, "BLOCK_M": 64, "BLOCK_N": 64})
    write("sort", sort, 80, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"N": 128}, warps=2)
    write("cumsum", cumsum, 75, {"x_ptr": "*i32", "out_ptr": "*i32"}, {"N": 256}, warps=2)
    for sm in 80, 89:
        write("cast.fp32.fp8e5", cast, sm, {"x_ptr": "*fp32", "out_ptr": "*fp8e5"}, {"N": 256}, warps=1)
    write("cast.fp32.fp8e4nv", cast, 89, {"x_ptr": "*fp32", "out_ptr": "*fp8e4nv"}, {"N": 256}, warps=1)
    write("sine", sine, 80, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"N": 128}, warps=1)
    write("collatz", collatz, 80, {"x_ptr": "*i32"}, {}, warps=1)
    for element in "i32", "fp16", "bf16", "fp32":
        write(f"accumulate.{element}", accumulate, 80, {"x_ptr": "*" + element, "out_ptr": "*" + element}, {"N": 64}, warps=2)
    write("positive", positive, 80, {"x_ptr": "*i32", "n": "i32"}, {"N": 64}, warps=2, debug=True)
