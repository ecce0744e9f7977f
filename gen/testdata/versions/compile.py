#!/usr/bin/env python3
"""Compiles the kernels of this folder with the Triton that runs it, into the folder named after its release.

    pip install triton==3.9.0   # any release from 3.0 on
    python compile.py

It needs neither a GPU nor PyTorch. One release gives the same bytes in any
folder. README.md says what the folders hold.
"""

import hashlib
import inspect
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

for name in set(os.environ) - {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"}:
    del os.environ[name]  # many would change what Triton writes

import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import JITFunction

import kernels
from table import ADD, KERNELS, Kernel

HERE = Path(__file__).resolve().parent
RELEASE = tuple(int(n) for n in triton.__version__.split(".")[:2])
OUT = HERE / "{}.{}".format(*RELEASE)
CACHE = "/home/user/.triton/cache"  # where the raw folders say that they were


def relocate():
    """Makes line information name the source as a relative path."""
    for fn in vars(kernels).values():
        if isinstance(fn, JITFunction):
            fn.fn.__code__ = fn.fn.__code__.replace(co_filename="kernels.py")
            if hasattr(fn, "file_name"):
                fn.file_name = "kernels.py"


def split(spec):
    """A type and its hint: ("*fp32", "16"), ("i32", "1"), ("*fp32", "none") or ("i32", "")."""
    kind, _, hint = spec.partition(":")
    return kind, hint


def map_types(spec, leaf):
    """leaf of a type, or of each in a tuple, in the same structure."""
    if not isinstance(spec, tuple):
        return leaf(spec)
    members = [map_types(s, leaf) for s in spec]
    return type(spec)(*members) if hasattr(spec, "_fields") else tuple(members)


def promises(spec, path):
    """The paths of what is promised to be divisible by 16."""
    if isinstance(spec, tuple):
        return [p for i, s in enumerate(spec) for p in promises(s, path + (i, ))]
    return [path] if isinstance(spec, str) and split(spec)[1] == "16" else []


def ast_source(kernel):
    """The kernel's source in the words of this release."""
    from triton.compiler import ASTSource
    fn = getattr(kernels, kernel.name)
    names = list(kernel.args)
    assert names == fn.arg_names, (names, fn.arg_names)
    constants, passed = {}, {}
    for i, (name, spec) in enumerate(kernel.args.items()):
        if not isinstance(spec, (str, tuple)):
            constants[name] = spec
        elif isinstance(spec, str) and split(spec)[1] == "1":
            constants[name] = 1
        elif isinstance(spec, str) and split(spec)[1] == "none":
            constants[name] = None
        else:
            passed[name] = map_types(spec, lambda s: split(s)[0])
    divisible = [p for i, spec in enumerate(kernel.args.values()) for p in promises(spec, (i, ))]
    ones = [i for i, spec in enumerate(kernel.args.values()) if isinstance(spec, str) and split(spec)[1] == "1"]

    if RELEASE >= (3, 3):
        signature = {name: passed.get(name, "constexpr") for name in names}
        return ASTSource(fn, signature, constants, {p: [["tt.divisibility", 16]] for p in divisible})
    hints = [p[0] for p in divisible]
    if RELEASE == (3, 2):
        from triton.backends.compiler import AttrsDescriptor
        attrs = AttrsDescriptor.from_hints({**{i: 16 for i in hints}, **{i: 1 for i in ones}})
        return ASTSource(fn, passed, constants, attrs)
    from triton.compiler.compiler import AttrsDescriptor
    index = names.index
    return ASTSource(fn, {index(k): v for k, v in passed.items()}, {index(k): v for k, v in constants.items()},
                     AttrsDescriptor(divisible_by_16=set(hints), equal_to_1=set(ones)))


def constant(value):
    return {{bool: "bool", int: "int"}[type(value)]: value}


def describe(name, spec):
    """One parameter of NAME.kerngen.json."""
    param = {"name": name} if name else {}
    if isinstance(spec, tuple):
        fields = getattr(spec, "_fields", [""] * len(spec))
        return {**param, "tuple": [describe(f, s) for f, s in zip(fields, spec)]}
    if not isinstance(spec, str):
        return {**param, "constant": constant(spec)}
    kind, hint = split(spec)
    more = {"16": {"divisible_by": 16}, "1": {"folded": "one"}, "none": {"folded": "absent", "nullable": True}, "": {}}
    return {**param, "type": kind, **more[hint]}


def sidecar(kernel):
    source = {"path": "kernels.py", "sha256": hashlib.sha256((HERE / "kernels.py").read_bytes()).hexdigest()}
    return {"schema": 1, "kernel": kernel.name, "doc": inspect.cleandoc(getattr(kernels, kernel.name).__doc__),
            "triton": triton.__version__, "source": [source],
            "params": [describe(name, spec) for name, spec in kernel.args.items()]}


def metadata(text):
    """Triton's metadata without the paths of the machine."""
    meta = json.loads(text)
    meta["extern_libs"] = [[name, os.path.basename(path)] for name, path in meta["extern_libs"]]
    return json.dumps(meta)


def build(kernel, sm, cache):
    """Compiles a kernel; Triton leaves its files in the empty folder cache."""
    os.environ["TRITON_CACHE_DIR"] = str(cache)
    os.environ["TRITON_DISABLE_LINE_INFO"] = "0" if kernel.lines else "1"
    mode = kernel.options.get("instrumentation_mode")
    if mode:
        triton.knobs.compilation.instrumentation_mode = mode  # some passes go by the option, some by this
    try:
        triton.compile(ast_source(kernel), target=GPUTarget("cuda", sm, 32), options=dict(kernel.options))
    finally:
        if mode:
            triton.knobs.compilation.instrumentation_mode = ""


KEPT = (".json", ".source", ".ttir", ".ptx", ".cubin")


def copy(found, folder):
    """Copies Triton's files that kerngen reads."""
    folder.mkdir(parents=True, exist_ok=True)
    for f in found:
        if f.name.endswith(".json") and not f.name.startswith("__grp__"):
            (folder / f.name).write_text(metadata(f.read_text()))
        else:
            shutil.copyfile(f, folder / f.name)


def compile_kernel(kernel, sm, work):
    cache = work / "cache"
    build(kernel, sm, cache)
    folder = OUT / "{}.sm{}".format(kernel.folder or kernel.name, sm)
    kept = [f for f in cache.rglob("*") if f.suffix in KEPT and not f.name.startswith("__grp__")]
    copy([f for f in kept if kernel.source or f.suffix != ".source"], folder)
    if kernel.described:
        (folder / f"{kernel.name}.kerngen.json").write_text(json.dumps(sidecar(kernel), ensure_ascii=False) + "\n")
    shutil.rmtree(cache)


RAW = (
    Kernel("add", {**ADD, "n": "i32:16"}),
    Kernel("add", ADD, lines=True),
    Kernel("scale", {"x_ptr": "*fp16", "n": "i32", "BLOCK": 128}),
)


def raw(work):
    """Triton's own folders, as they lie on disk: the cache, the cache of binaries only and a dump."""
    for name, setting in ("cache", None), ("binary-only", "TRITON_STORE_BINARY_ONLY"), ("dump", "TRITON_KERNEL_DUMP"):
        if name == "binary-only" and RELEASE < (3, 3):
            continue
        cache, dump = work / "cache", work / "dump"
        os.environ["TRITON_DUMP_DIR"] = str(dump)
        if RELEASE < (3, 4):
            from triton.runtime import cache as module
            module.default_dump_dir = lambda: str(dump)
        if setting:
            os.environ[setting] = "1"
        for kernel in RAW if name == "cache" else RAW[:1]:
            build(kernel, 90, cache)
        if setting:
            del os.environ[setting]
        root = dump if name == "dump" else cache
        for f in sorted(root.rglob("*")):
            if f.suffix not in KEPT + (".sass", ):
                continue
            to = OUT / "raw" / name / f.relative_to(root)
            copy([f], to.parent)
            if f.name.startswith("__grp__"):
                to.write_text(f.read_text().replace(str(cache), CACHE))
        shutil.rmtree(cache)
        shutil.rmtree(dump, ignore_errors=True)


def main():
    os.chdir(tempfile.mkdtemp())  # ptxas would record the time of a source that it finds
    relocate()
    shutil.rmtree(OUT, ignore_errors=True)
    work = Path.cwd()
    failed = 0
    for kernel in KERNELS:
        if not kernel.since <= RELEASE <= kernel.until:
            continue
        for sm in kernel.targets:
            try:
                compile_kernel(kernel, sm, work)
            except Exception as fault:
                failed += 1
                shutil.rmtree(work / "cache", ignore_errors=True)
                print(f"{triton.__version__}: {kernel.folder or kernel.name} for sm_{sm}: {type(fault).__name__}: {str(fault)[:300]}", file=sys.stderr)
    if RELEASE in {(3, 2), (3, 9)}:
        raw(work)
    shutil.rmtree(work)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
