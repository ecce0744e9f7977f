"""Triton's own interpreter, as a contender of the benchmark beside it.

Runs under TRITON_INTERPRET=1 with Triton and numpy, no PyTorch. Its arguments are the folder of the kernels' sources
and one of inputs, CASE.N for a case's argument N. For each line of its input, the name of a case, it launches the case
once and prints the nanoseconds that took, of the clock and of the processor; outputs are left in CASE.out.
"""

import pathlib
import sys
import time

import numpy as np


class Array:
    """A numpy array as the interpreter takes arguments: a tensor in the host's memory, which it then need not copy."""

    def __init__(self, values):
        self.values = values
        self.dtype = values.dtype

    def data_ptr(self):
        return self.values.ctypes.data

    def untyped_storage(self):
        return self

    def storage_offset(self):
        return 0

    def size(self):
        return self.values.shape

    def stride(self):
        return tuple(s // self.values.itemsize for s in self.values.strides)

    def cpu(self):
        return self

    def new_empty(self, _, device):
        return Array(np.empty(0, self.dtype))

    def set_(self, storage, offset, size, stride):
        self.values = storage.values

    def copy_(self, source):
        assert source.values.ctypes.data == self.values.ctypes.data


def cases(inputs):
    """Each case as a function that launches it and returns its output."""
    from attention import attention
    from matmul import matmul
    from norm import layer_norm
    from softmax import softmax
    from vec import add

    def case(name, kernel, dtype, inputs_n, launch):
        values = [Array(np.fromfile(inputs / f"{name}.{i}", dtype)) for i in range(inputs_n)]
        out = Array(np.zeros_like(values[0].values))

        def run():
            launch(kernel, *values, out)
            return out.values

        return name, run

    def cdiv(a, b):
        return -(-a // b)

    n = 1 << 20
    rows, cols = 256, 1024
    size, tile = 256, {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "GROUP_M": 8}
    heads, tokens, width = 2, 256, 64
    return dict([
        case("add", add, np.float32, 2, lambda k, x, y, out: k[(cdiv(n, 1024), )](x, y, out, n, BLOCK=1024)),
        case("softmax", softmax, np.float32, 1, lambda k, x, out: k[(rows, )](out, x, cols, cols, cols, BLOCK=1024)),
        case("layer_norm", layer_norm, np.float32, 3, lambda k, x, weight, bias, out: k[(rows, )](
            x, weight, bias, out, cols, cols, cols, 1e-5, BLOCK=1024)),
        case("matmul", matmul, np.float16, 2, lambda k, a, b, c: k[(cdiv(size, 128)**2, )](
            a, b, c, size, size, size, size, 1, size, 1, size, 1, **tile)),
        case("attention", attention, np.float16, 3, lambda k, q, keys, v, out: k[(cdiv(tokens, 64), heads)](
            q, keys, v, out, width**-0.5, tokens, D=width, BLOCK_M=64, BLOCK_N=64)),
    ])


def main():
    sources, inputs = sys.argv[1:]
    sys.path.insert(0, sources)
    inputs = pathlib.Path(inputs)
    runs = cases(inputs)
    for line in sys.stdin:
        name = line.strip()
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        out = runs[name]()
        wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
        out.tofile(inputs / f"{name}.out")
        print(wall, cpu, flush=True)


main()
