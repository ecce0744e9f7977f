#!/usr/bin/env python3
"""Compiles the kernels of this folder into artefacts/.

    python3 -m venv .venv && .venv/bin/pip install -r kernels/requirements.txt
    .venv/bin/python kernels/compile.py            # write artefacts/ afresh
    .venv/bin/python kernels/compile.py --check    # compare with it, write nothing

It needs neither a GPU nor PyTorch. The same sources give the same bytes in any
folder: line information names files relative to the repository, and what
Triton's metadata says of the machine is removed (see README.md).
"""

import argparse
import concurrent.futures
import filecmp
import hashlib
import importlib
import importlib.metadata
import inspect
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from table import KERNELS

HERE = Path(__file__).resolve().parent
ARTEFACTS = HERE / "artefacts"
TRITON_VERSION = "3.6.0"


class Fault(Exception):
    """What a user can mend."""


def split(spec):
    """A type and its hint: ("*fp32", 16), ("i32", 1) or ("i32", 0)."""
    kind, _, hint = spec.partition(":")
    if hint not in ("", "1", "16"):
        raise Fault(f"unknown hint in {spec!r}; known: :1, :16")
    return kind, int(hint or 0)


def function(kernel):
    """The kernel's JITFunction, its table entry checked against it."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    fn = getattr(importlib.import_module(kernel.source), kernel.name, None)
    if fn is None:
        raise Fault(f"{kernel.source}.py has no kernel {kernel.name!r}")
    if list(kernel.args) != fn.arg_names:
        raise Fault(f"{kernel.name}: the table has parameters {list(kernel.args)}, the source {fn.arg_names}")
    for param in fn.params:
        if param.is_constexpr == isinstance(kernel.args[param.name], str):
            raise Fault(f"{kernel.name}: {param.name}: a tl.constexpr needs a value, any other parameter a type")
    return fn


def ast_source(kernel):
    """The kernel's source and signature, as Triton's compiler and launcher take them."""
    from triton.compiler import ASTSource
    signature, constants, attributes = {}, {}, {}
    for i, (name, spec) in enumerate(kernel.args.items()):
        kind, hint = split(spec) if isinstance(spec, str) else ("constexpr", 0)
        if kind == "constexpr" or hint == 1:
            signature[name] = "constexpr"
            constants[name] = 1 if hint == 1 else spec
            continue
        signature[name] = kind
        if hint:
            attributes[(i, )] = [["tt.divisibility", hint]]
    return ASTSource(function(kernel), signature, constants, attributes)


def isolate(folder):
    """Lets this process compile as any other would, anywhere; folder is an empty one.

    Line information names files as kernels/vec.py and triton/language/standard.py.
    ptxas adds the time and size of a file that it finds under that name, so the
    working directory must not hold any.
    """
    os.environ["TRITON_CACHE_DIR"] = folder  # empty, so that everything is compiled
    os.chdir(folder)
    import triton
    from triton.compiler import code_generator
    locate, roots = code_generator.get_jit_fn_file_line, {HERE: "kernels", Path(triton.__file__).parent: "triton"}

    def relative(fn):
        path, line = locate(fn)
        for root, name in roots.items():
            if Path(path).is_relative_to(root):
                return f"{name}/{Path(path).relative_to(root).as_posix()}", line
        raise Fault(f"{path}: a kernel may use functions of this folder and of Triton only")

    code_generator.get_jit_fn_file_line = relative


def sources(module):
    """The kernel's own file, then those of ours that it imports, in the order of their names."""
    from triton.runtime.jit import JITFunction
    found, queue = [], [module]
    while queue:
        name = queue.pop(0)
        found.append(name)
        used = {v.__module__ for v in vars(sys.modules[name]).values() if isinstance(v, JITFunction)}
        queue += sorted(m for m in used if (HERE / f"{m}.py").exists() and m not in found + queue)
    files = [HERE / f"{name}.py" for name in found[:1] + sorted(found[1:])]
    return [{"path": f"kernels/{f.name}", "sha256": hashlib.sha256(f.read_bytes()).hexdigest()} for f in files]


def constant(value):
    for kind, key in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string")):  # a bool is an int too
        if isinstance(value, kind):
            return {key: value}
    raise Fault(f"a constant of type {type(value).__name__} is not supported: {value!r}")


def sidecar(kernel, fn):
    """NAME.kerngen.json: what Triton's own files lose of the source."""
    params = []
    for name, spec in kernel.args.items():
        param = {"name": name}
        if not isinstance(spec, str):
            param["constant"] = constant(spec)
        else:
            param["type"], hint = split(spec)
            param.update({16: {"divisible_by": 16}, 1: {"folded": "one"}, 0: {}}[hint])
        params.append(param)
    return {"schema": 1, "kernel": kernel.name, "doc": inspect.cleandoc(fn.__doc__ or ""), "triton": TRITON_VERSION,
            "source": sources(kernel.source), "params": params}


def metadata(text):
    """Triton's metadata without what depends on the machine."""
    meta = json.loads(text)
    del meta["hash"]  # of Triton's own binaries too, which differ by platform
    meta["extern_libs"] = [[name, os.path.basename(path)] for name, path in meta["extern_libs"]]
    return meta


def compile_kernel(kernel, sm, root):
    """Writes the artefacts of one kernel for one target below root."""
    import triton
    from triton.backends.compiler import GPUTarget
    source = ast_source(kernel)
    compiled = triton.compile(source, target=GPUTarget("cuda", sm, 32), options=kernel.options)
    folder = root / kernel.folder(sm)
    folder.mkdir(parents=True)
    for ext in ("source", "ttir", "ptx"):
        (folder / f"{kernel.name}.{ext}").write_text(compiled.asm[ext])
    (folder / f"{kernel.name}.cubin").write_bytes(compiled.asm["cubin"])
    meta = metadata(Path(compiled.metadata_group[f"{kernel.name}.json"]).read_text())
    for ext, content in ("json", meta), ("kerngen.json", sidecar(kernel, source.fn)):
        (folder / f"{kernel.name}.{ext}").write_text(json.dumps(content, indent=2) + "\n")


def check_version():
    try:
        version = importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        version = "none"
    if version != TRITON_VERSION:
        raise Fault(f"needs Triton {TRITON_VERSION}, found {version}; pip install -r {HERE / 'requirements.txt'}")


def hide_settings():
    """Hides every environment variable that could change what Triton writes."""
    for name in set(os.environ) - {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"}:
        del os.environ[name]


def compile_all(root, jobs):
    """Compiles the whole table into root; one fault does not hide the next."""
    work = [(kernel, sm) for kernel in KERNELS for sm in kernel.targets]
    faults = []
    with tempfile.TemporaryDirectory() as cache, \
            concurrent.futures.ProcessPoolExecutor(jobs, initializer=isolate, initargs=(cache, )) as pool:
        futures = {pool.submit(compile_kernel, kernel, sm, root): kernel.folder(sm) for kernel, sm in work}
        for future in concurrent.futures.as_completed(futures):
            if fault := future.exception():
                faults.append(f"{futures[future]}: {fault}")
    if faults:
        raise Fault("\n".join(sorted(faults)))
    return len(work)


def differences(want, have):
    """The files that are not the same in both folders, relative."""
    names = {f.relative_to(r) for r in (want, have) for f in r.rglob("*") if f.is_file()}
    same = lambda n: (want / n).is_file() and (have / n).is_file() and filecmp.cmp(want / n, have / n, shallow=False)
    return sorted(str(n) for n in names if not same(n))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with artefacts/, write nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes to use (default: one a core)")
    args = parser.parse_args()
    check_version()
    hide_settings()
    with tempfile.TemporaryDirectory() as fresh:
        count = compile_all(Path(fresh), args.jobs)
        changed = differences(Path(fresh), ARTEFACTS)
        if args.check and changed:
            raise Fault("differ from the sources; run compile.py:\n" + "\n".join(changed))
        if changed:
            shutil.rmtree(ARTEFACTS, ignore_errors=True)
            shutil.copytree(fresh, ARTEFACTS)
    print(f"{count} artefacts, {len(changed)} files changed")


if __name__ == "__main__":
    try:
        main()
    except Fault as fault:
        sys.exit(f"compile.py: {fault}")
