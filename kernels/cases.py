"""Launches to compare: several sizes of each committed kernel, with random inputs.

A case's arguments fit the promises of its variant and of none that the generated
code prefers to it, so that Go launches the same one.

A case's inputs come from a generator seeded with its name, so that they differ
from case to case and are the same each time.
"""

import array
import random
import struct
from typing import NamedTuple

from committed import Fault, Kernel, kernels, split

POISON = 0xA5  # what memory holds before it is written
TAIL = 64  # bytes of poison behind each buffer, which no kernel may touch

FORMATS = {"i1": "B", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
           "fp16": "e", "fp32": "f", "fp64": "d"}
SIZES = {"bf16": 2, "fp8e5": 1, "fp8e4nv": 1, **{kind: struct.calcsize(f"<{code}") for kind, code in FORMATS.items()}}


class Buffer(NamedTuple):
    """Device memory that a pointer argument points into."""
    data: bytes  # what it holds before the launch
    out: bool = False  # the kernel writes it
    offset: int = 0  # bytes from the start of the allocation

    def allocation(self):
        return bytes([POISON]) * self.offset + self.data + bytes([POISON]) * TAIL


class Tensor(NamedTuple):
    """A tensor that a descriptor argument describes."""
    buffer: Buffer
    shape: tuple
    strides: tuple  # elements
    nan: bool = False  # what lies outside reads as NaN, not zero


class Case(NamedTuple):
    kernel: Kernel
    label: str
    grid: tuple
    args: dict  # by parameter: a Buffer, a Tensor, a number or None; constants are left out
    launches: int = 1  # in a row, without waiting in between

    @property
    def name(self):
        return f"{self.kernel.variant}.{self.label}"

    def type(self, param):
        """The Triton type of a parameter: "*fp32", "i32"."""
        return split(self.kernel.args[param])[0]

    def check(self):
        """Refuses a case that does not match its kernel's parameters and promises."""
        wanted = [p for p, spec in self.kernel.args.items() if isinstance(spec, str)]
        if list(self.args) != wanted:
            raise Fault(f"{self.name}: has arguments {list(self.args)}, the kernel takes {wanted}")
        for param, value in self.args.items():
            kind, hint = split(self.kernel.args[param])
            if isinstance(value, Tensor) != kind.startswith("tensordesc"):
                raise Fault(f"{self.name}: {param}: {kind} needs a {'tensor' if kind[0] == 't' else 'buffer or number'}")
            if isinstance(value, Tensor):
                continue
            if hint == "null":
                if value is not None:
                    raise Fault(f"{self.name}: {param}: is absent")
                continue
            if isinstance(value, Buffer) != kind.startswith("*"):
                raise Fault(f"{self.name}: {param}: {kind} needs a {'buffer' if kind[0] == '*' else 'number'}")
            number = value.offset if isinstance(value, Buffer) else value
            if hint == "16" and number % 16 or hint == "1" and number != 1:
                raise Fault(f"{self.name}: {param}: {number} breaks the promise {self.kernel.args[param]!r}")


def element(kind):
    """What a pointer or a descriptor is of: "fp16" of "*fp16" and "tensordesc<fp16[64, 64]>"."""
    return kind.removeprefix("*").removeprefix("tensordesc<").partition("[")[0]


def buffers(args):
    """The buffers among a case's arguments, by parameter."""
    found = {p: a.buffer if isinstance(a, Tensor) else a for p, a in args.items()}
    return {p: b for p, b in found.items() if isinstance(b, Buffer)}


def pack(kind, values):
    """The values' bytes in memory: floats rounded to the type, but those of bf16 cut off, as Triton's launcher does."""
    if kind != "bf16":
        return struct.pack(f"<{len(values)}{FORMATS[kind]}", *values)
    return array.array("H", struct.pack(f"<{len(values)}f", *values))[1::2].tobytes()


class Inputs:
    """Makes the buffers of one case."""

    def __init__(self, kernel, label):
        self.kernel, self.random = kernel, random.Random(f"{kernel.variant}.{label}")

    def element(self, param):
        return element(split(self.kernel.args[param])[0])

    def normal(self, param, count, mean=0.0, deviation=1.0, **more):
        values = [self.random.gauss(mean, deviation) for _ in range(count)]
        return Buffer(pack(self.element(param), values), **more)

    def integers(self, param, count, low, high):
        return Buffer(pack(self.element(param), [self.random.randint(low, high) for _ in range(count)]))

    def patterns(self, param, count, **more):
        """Any bits: infinities, NaNs and subnormal numbers among them."""
        return Buffer(self.random.randbytes(count * SIZES[self.element(param)]), **more)

    def zeros(self, param, count):
        return Buffer(bytes(count * SIZES[self.element(param)]), out=True)

    def tensor(self, param, shape, pitch=0, nan=False, out=False):
        """A tensor of any bits, or one to write; its rows are pitch elements apart, if that is given."""
        strides, step = [], 1
        for i, extent in reversed(list(enumerate(shape))):
            strides.insert(0, step)
            step = pitch if pitch and i == len(shape) - 1 else step * extent
        make = self.output if out else self.patterns
        return Tensor(make(param, step), tuple(shape), tuple(strides), nan)

    def output(self, param, count, **more):
        return Buffer(bytes([POISON]) * (count * SIZES[self.element(param)]), out=True, **more)


def cdiv(a, b):
    return (a + b - 1) // b


def promise(kernel, param):
    """What a variant promises of an argument: "16", "1", "null" or ""."""
    return split(kernel.args[param])[1]


def vec(kernel):
    offset = {p: 0 if promise(kernel, p) else 4 for p in ("x_ptr", "y_ptr", "out_ptr")}
    large = 1_000_003 if len(set(offset.values())) == 1 else 20_003
    for label, n in ("0", 0), ("1", 1), ("1000", 1000), ("1024", 1024), ("large", large), ("patterns", 50_001):
        inputs = Inputs(kernel, label)
        draw = inputs.patterns if label == "patterns" else inputs.normal
        yield Case(kernel, label, (cdiv(n, 1024), 1, 1),
                   {"x_ptr": draw("x_ptr", n, offset=offset["x_ptr"]), "y_ptr": draw("y_ptr", n, offset=offset["y_ptr"]),
                    "out_ptr": inputs.output("out_ptr", n, offset=offset["out_ptr"]), "n": n})


def softmax(kernel):
    sizes = ((1, 1, 16), (5, 1030, 1040), (64, 1024, 1024), (200, 5000, 5008)) if promise(kernel, "x_stride") else \
        ((0, 10, 10), (1, 1, 1), (4, 1000, 1003), (63, 1024, 1025), (200, 5000, 5001))
    for rows, cols, stride in sizes:
        inputs = Inputs(kernel, label := f"{rows}x{cols}")
        yield Case(kernel, label, (rows, 1, 1),
                   {"out_ptr": inputs.output("out_ptr", rows * cols),
                    "x_ptr": inputs.normal("x_ptr", rows * stride, deviation=10.0),
                    "out_stride": cols, "x_stride": stride, "n_cols": cols})


def norm(kernel):
    absent = promise(kernel, "bias_ptr") == "null"
    for rows, cols, stride in (0, 7, 7), (1, 1, 1), (1, 7, 7), (3, 1000, 1024), (64, 1024, 1030), (100, 4101, 4101):
        inputs = Inputs(kernel, label := f"{rows}x{cols}")
        yield Case(kernel, label, (rows, 1, 1),
                   {"x_ptr": inputs.normal("x_ptr", rows * stride, mean=3.0, deviation=2.0),
                    "weight_ptr": inputs.normal("weight_ptr", cols),
                    "bias_ptr": None if absent else inputs.normal("bias_ptr", cols),
                    "out_ptr": inputs.output("out_ptr", rows * cols),
                    "x_stride": stride, "out_stride": cols, "n_cols": cols, "eps": 1e-5})


def matmul(kernel):
    blocks = kernel.args["BLOCK_M"], kernel.args["BLOCK_N"]
    if kernel.name == "matmul_strided":
        # By columns where the variant is for any stride of columns; C has every second element then.
        a_cols, b_cols = promise(kernel, "stride_ak") == "", promise(kernel, "stride_bn") == ""
        sizes = (0, 5, 5), (2, 3, 2), (50, 65, 33), (300, 200, 100)
        strides = lambda m, n, k: ((1, m) if a_cols else (k, 1)) + ((1, k) if b_cols else (n, 1)) + ((2 * n, 2) if a_cols else (n, 1))
    else:
        sizes = (0, 16, 16), (1, 16, 16), (128, 128, 32), (200, 272, 144), (1024, 768, 512)
        strides = lambda m, n, k: (k, 1, n, 1, n, 1)
    for m, n, k in sizes:
        inputs, step = Inputs(kernel, label := f"{m}x{n}x{k}"), strides(m, n, k)
        yield Case(kernel, label, (cdiv(m, blocks[0]) * cdiv(n, blocks[1]), 1, 1),
                   {"a_ptr": inputs.normal("a_ptr", m * k), "b_ptr": inputs.normal("b_ptr", k * n),
                    "c_ptr": inputs.output("c_ptr", m * n * step[5]), "M": m, "N": n, "K": k,
                    **dict(zip(("stride_am", "stride_ak", "stride_bk", "stride_bn", "stride_cm", "stride_cn"), step))})


def scalars(kernel):
    ranges = {"i1": (0, 1), **{f"i{w}": (-(1 << w - 1), (1 << w - 1) - 1) for w in (8, 16, 32, 64)},
              **{f"u{w}": (0, (1 << w) - 1) for w in (8, 16, 32, 64)}}
    floats = {"low": (-65504.0, -(2.0**-133), -(2.0**-149), -(2.0**-1074)),  # the least bf16, fp32 and fp64
              "high": (2.0**-24, float("inf"), 3.4028234663852886e38, 1.7976931348623157e308)}
    for label in ("low", "high", "random1", "random2", "random3"):
        inputs = Inputs(kernel, label)
        args = {"ints_ptr": inputs.output("ints_ptr", 9), "floats_ptr": inputs.output("floats_ptr", 4)}
        for kind, (low, high) in ranges.items():
            args[kind] = {"low": low, "high": high}.get(label, inputs.random.randint(low, high))
        for i, kind in enumerate(("fp16", "bf16", "fp32", "fp64")):
            args[kind] = floats[label][i] if label in floats else representable(kind, inputs.random.gauss(0.0, 100.0))
        yield Case(kernel, label, (1, 1, 1), args)


def representable(kind, value):
    """The value that the type holds in its place."""
    if kind == "bf16":
        return struct.unpack("<f", b"\0\0" + pack(kind, [value]))[0]
    return struct.unpack(f"<{FORMATS[kind]}", pack(kind, [value]))[0]


def dropout(kernel):
    for n, p, seed in (0, 0.5, 0), (1, 0.5, 0), (1000, 0.0, 1), (1000, 1.0, 2), (100_001, 0.5, 1 << 40 | 3), (1_000_003, 0.1, 2**64 - 1):
        inputs = Inputs(kernel, label := f"{n}.p{int(100 * p)}")
        yield Case(kernel, label, (cdiv(n, 1024), 1, 1),
                   {"x_ptr": inputs.normal("x_ptr", n), "out_ptr": inputs.output("out_ptr", n), "n": n, "p": p,
                    "seed": seed})


def histogram(kernel):
    sizes = {"": ((1000, 10), (100_001, 256), (1_000_003, 5000)), "16": ((0, 3), (16, 1), (4096, 100), (1_000_000, 5000)),
             "1": ((1, 1), (1, 100))}[promise(kernel, "n")]
    for n, bins in sizes:
        inputs = Inputs(kernel, label := f"{n}.{bins}")
        yield Case(kernel, label, (cdiv(n, 1024), 1, 1),
                   {"x_ptr": inputs.integers("x_ptr", n, -3, bins + 3), "counts_ptr": inputs.zeros("counts_ptr", bins),
                    "n": n, "n_bins": bins}, launches=2)


def descriptor(kernel):
    for rows, cols in (0, 16), (1, 16), (64, 32), (100, 48), (1000, 1008):
        inputs = Inputs(kernel, label := f"{rows}x{cols}")
        yield Case(kernel, label, (cdiv(rows, 64), cdiv(cols, 32), 1),
                   {"x_ptr": inputs.normal("x_ptr", rows * cols), "out_ptr": inputs.output("out_ptr", rows * cols),
                    "n_rows": rows, "n_cols": cols, "factor": -2.7})


def moved(kernel, label, blocks, shape, out_shape, shift, pitch, nan):
    """A launch of copy1 to copy5, of which blocks are the extents that the grid divides."""
    inputs = Inputs(kernel, label)
    grid = [cdiv(n, block) for n, block in zip(out_shape, blocks)] + [1, 1]
    shifts = dict(zip([p for p in kernel.args if p.startswith("shift")], shift))
    return Case(kernel, label, tuple(grid[:3]),
                {"x": inputs.tensor("x", shape, pitch, nan), "out": inputs.tensor("out", out_shape, pitch, out=True),
                 **shifts})


def tensor(kernel):
    if kernel.name == "product":
        for m, n, k in (128, 128, 64), (200, 264, 136), (1024, 768, 512):
            inputs = Inputs(kernel, label := f"{m}x{n}x{k}")
            tensors = {"a": (m, k), "b": (k, n), "c": (m, n)}
            values = {p: inputs.normal(p, r * c) if p != "c" else inputs.output(p, r * c)
                      for p, (r, c) in tensors.items()}
            yield Case(kernel, label, (cdiv(m, 128), cdiv(n, 128), 1),
                       {**{p: Tensor(values[p], shape, (shape[1], 1)) for p, shape in tensors.items()}, "K": k})
        return
    # Blocks that the grid divides; extents of x and of out, which is larger and shows what lies outside; shifts;
    # elements from row to row.
    blocks, shape, out_shape, pitch = {
        "copy1": ((128, ), (1003, ), (1112, ), 0),
        "copy2": ((64, 32), (100, 50), (130, 80), 96),
        "copy3": ((2, 8, 64), (5, 19, 50), (6, 21, 72), 80),
        "copy4": ((1, 2, 8), (3, 5, 17, 20), (4, 6, 18, 32), 40),
        "copy5": ((1, 1, 1), (2, 3, 4, 11, 24), (3, 3, 5, 16, 32), 40),
    }[kernel.name.partition("_")[0]]
    rank = len(shape)
    unit = 16 // SIZES[element(kernel.args["x"])]  # a map is read from multiples of 16 bytes along the last dimension
    for label, nan, shift, smaller in (("whole", False, (0, 0), True), ("zeros", False, (2, -2 * unit), False), ("nan", True, (-1, unit), False)):
        if nan and element(kernel.args["x"]) not in ("fp16", "bf16", "fp32"):
            continue
        # Nor does it write less than 16 bytes at a time.
        to = (*shape[:-1], cdiv(shape[-1], unit) * unit) if smaller else out_shape
        yield moved(kernel, label, blocks, shape, to, shift if rank == 2 else shift[:1], pitch, nan)


def pdl(kernel):
    for n in 0, 1, 1000, 1_000_003:
        inputs = Inputs(kernel, str(n))
        yield Case(kernel, str(n), (cdiv(n, 1024), 1, 1),
                   {"x_ptr": inputs.normal("x_ptr", n), "y_ptr": inputs.normal("y_ptr", n, out=True), "n": n, "a": 0.3},
                   launches=5)


def attention(kernel):
    for heads, n in (1, 64), (2, 256), (3, 640):
        inputs = Inputs(kernel, label := f"{heads}x{n}")
        size = heads * n * kernel.args["D"]
        yield Case(kernel, label, (n // kernel.args["BLOCK_M"], heads, 1),
                   {**{p: inputs.normal(p, size) for p in ("q_ptr", "k_ptr", "v_ptr")},
                    "out_ptr": inputs.output("out_ptr", size), "scale": 0.125, "n": n})


def cooperative(kernel):
    for n, programs in (5, 1), (100_001, 7), (1_000_003, 64):
        inputs = Inputs(kernel, str(n))
        yield Case(kernel, str(n), (programs, 1, 1),
                   {"x_ptr": inputs.normal("x_ptr", n, mean=2.0), "out_ptr": inputs.output("out_ptr", n),
                    "partial_ptr": inputs.output("partial_ptr", programs),
                    "arrived_ptr": inputs.zeros("arrived_ptr", 1), "n": n}, launches=3)


MAKERS = {f.__name__: f
          for f in (vec, softmax, norm, matmul, scalars, dropout, histogram, descriptor, tensor, pdl, cooperative, attention)}


def cases(sm):
    """All cases for a target, each checked against what is committed; every kernel has some."""
    for kernel in kernels(sm):
        if kernel.package not in MAKERS:
            raise Fault(f"{kernel.package}: no cases; add a maker to cases.py")
        for case in MAKERS[kernel.package](kernel):
            case.check()
            yield case
