"""Turns Triton kernels of installed packages into cases for the simulated device.

    python trace.py OUT [PATTERN]

Calls every entry of table.py whose name contains PATTERN, with nothing launched:
where a package launches a kernel, the kernel is compiled for sm_80 and the launch
becomes the folder OUT/NAME, with the PTX, the contents of the memory that it is
given, and case.json. A kernel becomes a case once, however often it is launched.
It needs Triton 3.6, PyTorch and the packages, but no GPU. The same table and
packages give the same bytes.
"""

import contextlib
import importlib.metadata
import json
import os
import re
import sys
import traceback
import types
import warnings
from pathlib import Path

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

TARGET = GPUTarget("cuda", 80, 32)
SHARED = 163 << 10  # bytes that a CTA may have on sm_80
POISON = 0xA5  # every byte of memory that nobody has written

ELEMENTS = {
    torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.float64: "fp64", torch.bool: "i1",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8",
    torch.uint32: "u32", torch.uint64: "u64", torch.float8_e4m3fn: "fp8e4nv", torch.float8_e5m2: "fp8e5",
}


# A device that is not there: what packages ask before they launch.


class Driver:
    """Triton's view of an sm_80 that only compiles."""

    class utils:
        @staticmethod
        def get_device_properties(device):
            return {"max_shared_mem": SHARED, "multiprocessor_count": 108, "warpSize": 32, "max_num_regs": 65536}

    def get_current_target(self):
        return TARGET

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0

    def set_current_device(self, device):
        pass

    def get_active_torch_device(self):
        return torch.device("cpu")


PROPERTIES = types.SimpleNamespace(name="sm_80", multi_processor_count=108, major=8, minor=0, warp_size=32, regs_per_multiprocessor=65536,
                                   max_threads_per_multi_processor=2048, shared_memory_per_multiprocessor=164 << 10, total_memory=40 << 30, L2_cache_size=40 << 20)


def pretend():
    """Puts the device in place; tensors stay in the machine's memory."""
    triton.runtime.driver.set_active(Driver())
    cuda = torch.cuda
    cuda.current_device = lambda: 0
    cuda.device_count = lambda: 1
    cuda.get_device_capability = lambda *a: (8, 0)
    cuda.get_device_properties = lambda *a: PROPERTIES
    cuda.get_device_name = lambda *a: PROPERTIES.name
    cuda.synchronize = lambda *a: None
    cuda.device = lambda *a: contextlib.nullcontext()
    torch.Tensor.is_cuda = property(lambda self: True)
    torch.Tensor.cuda = lambda self, *a, **k: self
    for owner, names in (torch, ["empty", "empty_like", "empty_strided"]), (torch.Tensor, ["new_empty", "new_empty_strided"]):
        for name in names:
            setattr(owner, name, poisoned(getattr(owner, name)))
    Autotuner.run = first_config
    JITFunction.run = record


def poisoned(make):
    def made(*args, **kwargs):
        t = make(*args, **kwargs)
        if t.device.type == "cpu":
            memory(t).fill_(POISON)
        return t

    return made


def memory(t):
    """All bytes of a tensor's storage, views share it."""
    with torch.no_grad():
        storage = t.untyped_storage()
        return torch.tensor([], dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,))


def first_config(self, *args, **kwargs):
    """Stands for measuring: the first configuration that the device could have."""
    self.nargs = dict(zip(self.arg_names, args))
    fault = None
    for config in self.prune_configs(kwargs):
        try:
            if config.pre_hook:
                config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
            return self.fn.run(*args, **{**kwargs, **config.all_kwargs()})
        except TooLarge as e:
            fault = e
    raise fault


class TooLarge(Exception):
    pass


# Recording.

launch = JITFunction.run
cases = {}  # name -> what the table of results says
entry = None  # of table.py, whose launches these are


def record(self, *args, grid, warmup, **kwargs):
    compiled = launch(self, *args, grid=grid, warmup=True, **kwargs)
    if compiled.metadata.shared > SHARED:
        raise TooLarge(f"{self.__name__}: {compiled.metadata.shared} bytes of shared memory")
    binder = self.device_caches[0][4]
    bound, _, _ = binder(*args, **{"debug": False, "instrumentation_mode": "", **kwargs})
    if callable(grid):
        grid = grid(bound)
    tensors = [t for t in map(tensor, bound.values()) if t is not None]
    name = re.sub(r"\W+", "_", f"{entry.package}.{module(self).split('.')[-1]}.{self.fn.__name__}")
    if name not in cases and all(grid):
        cases[name] = write(name, self, compiled, bound, [int(n) for n in grid] + [1] * (3 - len(grid)))
    settle(tensors)
    return compiled


def module(fn):
    """Where a kernel is, without what tells code that is generated in one process from that of another."""
    return re.sub(r"_gen_module_[0-9a-f]+", "generated", re.sub(r"_pid_\d+", "", fn.fn.__module__))


def tensor(value):
    """The tensor that an argument is or wraps."""
    if hasattr(value, "data_ptr") and hasattr(value, "unwrap"):
        value = value.unwrap()
    return value if isinstance(value, torch.Tensor) else None


def settle(tensors):
    """What a kernel would have written is some positive numbers from here on, for the next kernel to read."""
    for t in tensors:
        bytes = memory(t)
        if bool((bytes == POISON).all()) and len(bytes):
            flat = torch.tensor([], dtype=t.dtype).set_(t.untyped_storage(), 0, (len(bytes) // t.element_size(),), (1,))
            with torch.no_grad():
                if t.dtype.is_floating_point:
                    flat.copy_(torch.rand(flat.shape, generator=random) * 0.75 + 0.25)
                else:
                    bytes.zero_()


def write(name, fn, compiled, bound, grid):
    folder = OUT / name
    folder.mkdir(parents=True)
    buffers, indices, params = [], {}, []
    src, meta = compiled.src, compiled.metadata
    for param, kind in src.signature.items():
        value = bound[param]
        kind = re.sub(r"\bu1$", "i1", kind)  # as TTIR has it
        if kind == "constexpr":
            continue
        if (t := tensor(value)) is not None and kind.startswith("*"):
            start = t.untyped_storage().data_ptr()
            if start not in indices:
                indices[start] = len(buffers)
                buffers.append(write_buffer(folder / f"{len(buffers)}.bin", t))
            params.append({"name": param, "type": kind, "buffer": indices[start], "offset": value.data_ptr() - start})
        elif isinstance(value, (bool, int, float)) and kind[0] != "*":
            params.append({"name": param, "type": kind, "value": repr(value).lower() if isinstance(value, bool) else repr(value)})
        else:
            raise NotImplementedError(f"{fn.__name__}: argument {param}: {kind} given as {type(value).__name__}")
    ptx = compiled.asm["ptx"]
    entry_params = ptx.split(".visible .entry")[1].split(")")[0].count(".param ")
    (folder / "kernel.ptx").write_text(ptx)
    case = {
        "package": entry.package, "version": importlib.metadata.version(entry.package), "module": module(fn), "kernel": fn.__name__,
        "constants": {".".join(map(str, k)) if isinstance(k, tuple) else str(k): str(v) for k, v in sorted(named(src).items())},
        "symbol": meta.name, "grid": grid, "num_warps": meta.num_warps, "shared": meta.shared,
        "hidden": entry_params - len(params), "cooperative": bool(meta.launch_cooperative_grid),
        "global_scratch": [meta.global_scratch_size, meta.global_scratch_align],
        "profile_scratch": [meta.profile_scratch_size, meta.profile_scratch_align],
        "params": params, "buffers": buffers, "fault": entry.faults.get(fn.__name__, ""),
    }
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
    return case


def named(src):
    names = list(src.signature)
    return {".".join([names[k[0]], *map(str, k[1:])]) if isinstance(k, tuple) else str(k): v for k, v in src.constants.items()}


def write_buffer(path, t):
    """A file of the storage's bytes; none where nobody has written them, or where all are zero."""
    bytes = memory(t)
    about = {"type": ELEMENTS[t.dtype], "bytes": len(bytes)}
    if bool((bytes == POISON).all()):
        return {**about, "contents": "undefined"}
    if not bool(bytes.any()):
        return {**about, "contents": "zero"}
    path.write_bytes(bytes.numpy().tobytes())
    return {**about, "contents": path.name}


def main(pattern=""):
    global entry, random
    warnings.simplefilter("ignore")
    pretend()
    import table
    faults = 0
    for entry in table.ENTRIES:
        if pattern not in f"{entry.package} {entry.name}":
            continue
        torch.manual_seed(1)
        random = torch.Generator().manual_seed(2)
        before = set(cases)
        try:
            entry.call()
        except Exception as fault:
            faults += 1
            place = traceback.extract_tb(fault.__traceback__)[-1]
            text = str(fault).strip().split("\n")
            print(f"{entry.package} {entry.name}: {type(fault).__name__} at {place.filename}:{place.lineno}: {text[0][:300]}", file=sys.stderr)
            if os.environ.get("TRACE"):
                traceback.print_exc()
        for name in cases.keys() - before:
            print(name, cases[name]["grid"])
    print(f"{len(cases)} kernels, {faults} entries failed")
    return faults


if __name__ == "__main__":
    sys.modules["trace"] = sys.modules["__main__"]
    OUT = Path(sys.argv[1])
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main(*sys.argv[2:]) != 0)
