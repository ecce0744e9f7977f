#!/usr/bin/env python3
"""Launches the committed cubins with Triton's own launcher and records what comes out.

    python3 kernels/reference.py OUT             # on a machine with a GPU, PyTorch and Triton 3.6.0
    python3 kernels/reference.py --dry-run OUT   # anywhere with Triton 3.6.0: all but the launches

Writes to the folder OUT, which must be new or empty, cases.json and one .bin file for
each buffer, before and after; checks every result against PyTorch, and prints a
table. Exits with 1 if a result is wrong. README.md describes cases.json.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import cases
import committed
from cases import Buffer, Tensor

DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "i8": "int8", "i32": "int32",
          "i64": "int64", "fp8e5": "float8_e5m2", "fp8e4nv": "float8_e4m3fn"}


def committed_kernel(kernel):
    """The committed cubin and metadata as a kernel that Triton's launcher can launch."""
    from triton.compiler import CompiledKernel
    files = {f.name: str(f) for f in sorted(kernel.folder.iterdir()) if not f.name.endswith(".kerngen.json")}
    return CompiledKernel(committed.ast_source(kernel), files, "")


def check_version(found):
    """Refuses a Triton that is not the one that compiled the kernels."""
    import triton
    for kernel in found:
        if kernel.triton != triton.__version__:
            raise committed.Fault(f"{kernel.variant} was compiled with Triton {kernel.triton}, this is {triton.__version__}")


def launcher_value(kind, value):
    """A scalar in the form that Triton's launcher takes: it reads an i8 as an unsigned char."""
    return value & 0xff if kind == "i8" else value


class Run:
    """One case on the GPU: its buffers there, before and after the launches."""

    def __init__(self, case, device):
        import torch
        self.case, self.torch = case, torch
        self.buffers = cases.buffers(case.args)
        self.before = {p: torch.frombuffer(bytearray(b.allocation()), dtype=torch.uint8).to(device)
                       for p, b in self.buffers.items()}
        self.after = {p: t.clone() for p, t in self.before.items()}

    def arguments(self):
        """All of the Python function's parameters, as Triton's launcher wants them; pointers are addresses."""
        for param, spec in self.case.kernel.args.items():
            value = self.case.args.get(param, spec)
            if isinstance(value, Tensor):
                yield self.descriptor(param, value)
            elif isinstance(value, Buffer):
                yield self.after[param].data_ptr() + value.offset
            else:
                yield launcher_value(spec, value)

    def descriptor(self, param, tensor):
        """The descriptor that a Python program would make, of the very memory."""
        from triton.tools.tensor_descriptor import TensorDescriptor
        base = self.after[param][tensor.buffer.offset:][:len(tensor.buffer.data)].view(self.dtype(param))
        block = [int(n) for n in self.case.type(param).partition("[")[2].partition("]")[0].split(",")]
        return TensorDescriptor(base, list(tensor.shape), list(tensor.strides), block, "nan" if tensor.nan else "zero")

    def dtype(self, param):
        return getattr(self.torch, DTYPES[cases.element(self.case.type(param))])

    def launch(self, compiled):
        arguments = list(self.arguments())
        for _ in range(self.case.launches):
            compiled[self.case.grid](*arguments)
        self.torch.cuda.synchronize()

    def view(self, param, tensors):
        """The elements that the kernel may use of one buffer."""
        buffer = self.buffers[param]
        used = tensors[param][buffer.offset:buffer.offset + len(buffer.data)].clone()
        return used.view(self.dtype(param))

    def intruded(self):
        """The buffers that changed where no kernel may write."""
        def outside(param, t):
            buffer = self.buffers[param]
            end = buffer.offset + len(buffer.data)
            return t if not buffer.out else self.torch.cat((t[:buffer.offset], t[end:]))
        return [p for p in self.buffers if not self.torch.equal(outside(p, self.before[p]), outside(p, self.after[p]))]


def write(folder, case, run):
    """Writes the case's files and returns its entry of cases.json; run is None where nothing was launched."""
    args, expected = [], []
    for param, value in case.args.items():
        arg = {"name": param, "type": case.type(param)}
        if value is None:
            arg.update(kind="null")
            args.append(arg)
            continue
        if isinstance(value, Tensor):
            arg.update(shape=value.shape, strides=value.strides, nan=value.nan)
            value = value.buffer
        if isinstance(value, Buffer):
            content = value.allocation()
            arg.update(kind="buffer", bytes=len(content), offset=value.offset, out=value.out)
            if content == bytes([cases.POISON]) * len(content):
                arg["fill"] = cases.POISON
            else:
                arg["file"] = f"{case.name}.{param}.in.bin"
                (folder / arg["file"]).write_bytes(content)
            if value.out and run:
                file = f"{case.name}.{param}.out.bin"
                (folder / file).write_bytes(run.after[param].cpu().numpy().tobytes())
                expected.append({"arg": param, "file": file})
        else:
            arg.update(kind="scalar", bits=hex(int.from_bytes(cases.pack(case.type(param), [value]), "little")))
        args.append(arg)
    return {"name": case.name, "package": case.kernel.package, "kernel": case.kernel.name,
            "variant": case.kernel.variant, "config": case.kernel.config, "types": case.kernel.types, "grid": case.grid, "launches": case.launches, "args": args,
            "expected": expected}


def dry_run(folder, sm):
    """Everything but the launches: tables, artefacts, inputs, and the launcher's source."""
    from triton.backends.nvidia.driver import make_launcher
    made, entries = {}, []
    check_version(committed.kernels(sm))
    for case in cases.cases(sm):
        if case.kernel.folder not in made:
            kernel = committed_kernel(case.kernel)
            make_launcher(kernel.src.constants, kernel.src.signature, kernel.metadata.tensordesc_meta)
            made[case.kernel.folder] = kernel
        entries.append(write(folder, case, None))
    print(f"{len(entries)} cases of {len(made)} cubins for sm_{sm} are ready; nothing was launched")
    return {"sm": sm, "cases": entries}, True


def real_run(folder):
    """Launches every case and compares it with PyTorch."""
    try:
        import torch
    except ImportError:
        raise committed.Fault("needs PyTorch; --dry-run does not") from None
    import triton
    from expect import expectations
    if not torch.cuda.is_available():
        raise committed.Fault("PyTorch finds no GPU; --dry-run needs none")
    major, minor = torch.cuda.get_device_capability()
    sm, name = 10 * major + minor, torch.cuda.get_device_name()
    check_version(committed.kernels(sm))
    # Scratch comes from PyTorch's allocator, which keeps it until what the
    # stream holds is done, and is poisoned: Triton does not promise zeros.
    triton.set_allocator(lambda size, alignment, stream: torch.full((size, ), cases.POISON, dtype=torch.uint8,
                                                                    device="cuda"))
    compiled, entries, rows, right = {}, [], [], True
    for case in cases.cases(sm):
        key = case.kernel.folder
        if key not in compiled:
            compiled[key] = committed_kernel(case.kernel)
        run = Run(case, "cuda")
        run.launch(compiled[key])
        verdicts = [f"{p}: written where it must not be" for p in run.intruded()]
        error, faults = expectations(run)
        verdicts += faults
        right = right and not verdicts
        rows.append((case.name, f"{error:.2e}", "; ".join(verdicts) or "ok"))
        entries.append(write(folder, case, run))
    print(f"{name}, sm_{sm}, Triton {triton.__version__}, PyTorch {torch.__version__}\n")
    print("| case | max error against PyTorch | result |\n| --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    return {"device": name, "sm": sm, "cases": entries}, right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="launch nothing; needs no GPU and no PyTorch")
    parser.add_argument("--sm", type=int, default=90, help="the architecture of a dry run (default: 90)")
    parser.add_argument("out", type=Path, help="the folder to write")
    args = parser.parse_args()
    import triton
    out = args.out.resolve()
    if out.exists() and any(out.iterdir()):
        raise committed.Fault(f"{out} is not empty; name a new folder")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache  # for the launchers
        found, right = dry_run(out, args.sm) if args.dry_run else real_run(out)
    content = {"schema": 1, "triton": triton.__version__, **found}
    (out / "cases.json").write_text(json.dumps(content, indent=1) + "\n")
    return 0 if right else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except committed.Fault as fault:
        sys.exit(f"reference.py: {fault}")
