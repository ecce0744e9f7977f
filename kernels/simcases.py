#!/usr/bin/env python3
"""Writes the launches of cases.py for the simulated device.

    python3 kernels/simcases.py OUT

OUT, which must be new or empty, gets a folder for each launch, as
runtime/sim/foreign wants it: what is compiled for sm_80, of every kernel and
variant, with the inputs that cases.py draws. Left out are launches of an empty
grid, and those that a simulated device takes long for. Needs Python alone.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import cases
import committed
from cases import POISON, Buffer, Tensor

LARGEST = 65_000  # elements of a buffer


def parts(param, kind, value):
    """The parameters that an argument is for sm_80, where a descriptor is taken apart."""
    if not isinstance(value, Tensor):
        return [(param, kind, value)]
    rank = range(len(value.shape))
    shape = lambda kind: [(f"{param}.shape.{i}", kind, value.shape[i]) for i in rank]
    strides = [(f"{param}.stride.{i}", "i64", value.strides[i]) for i in rank]
    return [(param, "*" + cases.element(kind), value.buffer), *shape("i64"), *strides,
            (f"{param}.padding", "i1", int(value.nan)), *shape("i32"), *strides]


def parameters(case):
    """The parameters of a case's code, without those that are folded."""
    for param, value in case.args.items():
        if cases.promise(case.kernel, param) not in ("1", "null"):
            yield from parts(param, case.type(param), value)


def write_buffer(path, element, buffer):
    """Nothing follows the buffer, so that the simulated device sees whatever leaves it."""
    content = bytes([POISON]) * buffer.offset + buffer.data
    about = {"type": element, "bytes": len(content)}
    if content == bytes([POISON]) * len(content):
        return {**about, "contents": "undefined"}
    if not any(content):
        return {**about, "contents": "zero"}
    path.write_bytes(content)
    return {**about, "contents": path.name}


def write(folder, case):
    folder.mkdir()
    params, buffers = [], []
    for name, kind, value in parameters(case):
        if isinstance(value, Buffer):
            params.append({"name": name, "type": kind, "buffer": len(buffers), "offset": value.offset})
            buffers.append(write_buffer(folder / f"{len(buffers)}.bin", cases.element(kind), value))
        else:
            params.append({"name": name, "type": kind, "value": repr(value)})
    kernel = case.kernel
    ptx = (kernel.folder / f"{kernel.name}.ptx").read_text()
    (folder / "kernel.ptx").write_text(ptx)
    meta = json.loads((kernel.folder / f"{kernel.name}.json").read_text())
    taken = re.search(r"\.entry [^(]*\(([^)]*)\)", ptx)[1].count(".param ")
    entry = {
        "package": kernel.package, "version": "", "module": kernel.module, "kernel": case.name,
        "constants": {p: str(v) for p, v in kernel.args.items() if not isinstance(v, str)},
        "symbol": meta["name"], "grid": case.grid, "num_warps": meta["num_warps"], "shared": meta["shared"],
        "hidden": taken - len(params), "cooperative": meta["launch_cooperative_grid"],
        "global_scratch": [meta["global_scratch_size"], meta["global_scratch_align"]],
        "profile_scratch": [meta["profile_scratch_size"], meta["profile_scratch_align"]],
        "params": params, "buffers": buffers,
    }
    (folder / "case.json").write_text(json.dumps(entry, indent=1) + "\n")


def suits(case):
    """Whether the case launches something, and no more than can be simulated soon."""
    elements = (len(b.data) // cases.SIZES[cases.element(case.type(p))] for p, b in cases.buffers(case.args).items())
    return all(case.grid) and max(elements) <= LARGEST


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder to write")
    out = parser.parse_args().out
    if out.exists() and any(out.iterdir()):
        raise committed.Fault(f"{out} is not empty; name a new folder")
    out.mkdir(parents=True, exist_ok=True)
    written, kernels = 0, set()
    for case in filter(suits, cases.cases(80)):
        write(out / f"{case.kernel.package}.{case.name}", case)
        written += 1
        kernels.add(case.kernel.folder)
    if missing := [k.variant for k in committed.kernels(80) if k.folder not in kernels]:
        raise committed.Fault(f"no launch of {', '.join(missing)} has at most {LARGEST} elements; add one to cases.py")
    print(f"{written} launches of {len(kernels)} variants")


if __name__ == "__main__":
    try:
        main()
    except committed.Fault as fault:
        sys.exit(f"simcases.py: {fault}")
