"""Compiles Triton kernels for kerngen, which starts this file with the user's Python.

    python driver.py ROOT WORK

ROOT is the folder that sources are relative to, WORK an empty one that the
process may fill. Requests come on standard input, answers go to standard output,
one JSON object a line; the first answer says which Triton this is. What anything
else prints goes to standard error.
"""

import importlib
import importlib.metadata
import importlib.util
import collections
import hashlib
import inspect
import json
import os
import platform
import shutil
import sys
import sysconfig
import traceback
from pathlib import Path

ROOT, WORK = Path(sys.argv[1]), Path(sys.argv[2])
CUBIN, TEXTS = "cubin", ("source", "ttir", "ptx")


class Fault(Exception):
    """What the user can mend; known are the words that were possible, target says that the target is at fault."""

    def __init__(self, message, known=(), target=False):
        super().__init__(message)
        self.known, self.target = sorted(known), target


# Constants, in the form of NAME.kerngen.json.


def encode(value):
    from triton.language import constexpr, dtype
    if isinstance(value, constexpr):
        value = value.value
    for kind, key in ((bool, "bool"), (int, "int"), (str, "string")):  # a bool is an int too
        if isinstance(value, kind):
            return {"constant": {key: value}}
    if isinstance(value, float):
        finite = value == value and abs(value) != float("inf")
        return {"constant": {"float": value if finite else str(value)}}
    if value is None:
        return {"constant": {"none": True}}
    if isinstance(value, dtype):
        return {"constant": {"dtype": value.name}}
    if isinstance(value, (tuple, list)):
        return {"tuple": [{"name": n, **encode(v)} for n, v in zip(fields(value), value)]}
    return {"unsupported": f"{type(value).__name__} {value!r}"}


def fields(values):
    return getattr(values, "_fields", None) or [""] * len(values)


def decode(param):
    """The value of a constant or of a tuple of them."""
    if "tuple" in param:
        return bundle(param["tuple"], [decode(p) for p in param["tuple"]])
    constant = param["constant"]
    (key, value), = constant.items()
    if key == "none":
        return None
    if key == "float":
        return float(value)
    if key == "dtype":
        from triton.language import str_to_ty
        return str_to_ty(value, None) if len(inspect.signature(str_to_ty).parameters) > 1 else str_to_ty(value)
    return value


def bundle(members, values):
    """A tuple, or a named tuple where its members have names."""
    names = [p.get("name", "") for p in members]
    if not any(names):
        return tuple(values)
    return collections.namedtuple("Tuple", names)(*values)


# Files.


def installed():
    """The folders of Python's own modules and of installed packages."""
    import triton
    paths = sysconfig.get_paths()
    folders = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {p for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages")}
    folders.add(os.path.dirname(triton.__file__))
    return tuple(os.path.realpath(f) + os.sep for f in folders)


def is_user(path):
    return path.endswith(".py") and not os.path.realpath(path).startswith(INSTALLED)


def shown(path):
    """How line information names a file: relative to ROOT, else to where Python looks for modules."""
    real = os.path.realpath(path)
    roots = [ROOT] + sorted((p for p in sys.path if p), key=len, reverse=True)
    for root in roots:
        root = os.path.realpath(root)
        if real.startswith(root + os.sep):
            return Path(real).relative_to(root).as_posix()
    return os.path.basename(real)


class Sources:
    """The user's modules: those of one source at a time, as if Python had just started."""

    def __init__(self):
        self.source, self.module, self.folder, self.files = None, None, None, None

    def load(self, source):
        if self.source != source:
            self.forget()
            self.module = self.execute(source)
            self.source, self.files = source, imported(source)
        return self.module

    def forget(self):
        self.source = None
        for name, path in user_modules().items():
            del sys.modules[name]
        if self.folder in sys.path:
            sys.path.remove(self.folder)
        importlib.invalidate_caches()

    def execute(self, source):
        path = ROOT / source
        self.folder = str(path.parent)
        sys.path.insert(0, self.folder)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        try:
            spec.loader.exec_module(module)
        except BaseException as fault:  # SystemExit too
            self.forget()
            raise Fault(f"cannot be imported: {describe(fault, str(path))}") from fault
        return module


def imported(source):
    """The source itself, then what it imports of the user's, by name."""
    first = os.path.realpath(ROOT / source)
    paths = {os.path.realpath(p) for p in user_modules().values()} - {first}
    root = os.path.realpath(ROOT)
    return [{"path": Path(os.path.relpath(p, root)).as_posix(), "name": shown(p),
             "sha256": hashlib.sha256(Path(p).read_bytes()).hexdigest()} for p in [first] + sorted(paths, key=shown)]


def user_modules():
    found = {}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name != "__main__" and path and is_user(path):
            found[name] = path
    return found


def describe(fault, within=None):
    """An exception on one line or more, with the place in the user's file that led to it."""
    text = f"{type(fault).__name__}: {fault}".rstrip(": ")
    if isinstance(fault, SyntaxError) and fault.filename:
        return f"{shown(fault.filename)}:{fault.lineno}: {type(fault).__name__}: {fault.msg}"
    places = [f for f in traceback.extract_tb(fault.__traceback__) if within and is_user(f.filename)
              and f.filename != __file__]
    return f"{shown(places[-1].filename)}:{places[-1].lineno}: {text}" if places else text


# Kernels.


class Kernel:
    """A @triton.jit function and what its decorators say."""

    def __init__(self, module, name):
        from triton.runtime.jit import JITFunction
        self.configs, self.key, self.heuristics = None, [], []
        fn = getattr(module, name, None)
        if fn is None:
            raise Fault(f"has no {quoted(name)}", kernels(module))
        while not isinstance(fn, JITFunction):
            kind = type(fn).__name__
            if kind == "Autotuner":
                self.configs, self.key = fn.configs, list(fn.keys)
            elif kind == "Heuristics":
                self.heuristics.append(fn.values)
            if not hasattr(fn, "fn"):
                raise Fault(f"has a {quoted(name)}, but it is no @triton.jit function", kernels(module))
            fn = fn.fn
        if type(fn).__name__ != "JITFunction":
            raise Fault(f"has a {quoted(name)}, but it is a {type(fn).__name__}, no @triton.jit function", kernels(module))
        if fn.__name__ != name:
            raise Fault(f"has a {quoted(name)}, but it is another name for the function {quoted(fn.__name__)}", kernels(module))
        self.fn = fn

    def facts(self):
        return {
            "doc": inspect.cleandoc(self.fn.fn.__doc__ or ""),
            "params": [param(p) for p in self.fn.params],
            "configs": None if self.configs is None else [config(c) for c in self.configs],
            "key": self.key,
            "heuristics": [name for values in self.heuristics for name in values],
        }

    def evaluate(self, constants):
        """What the heuristics make of constants, in the order in which Triton asks them."""
        known = Known(constants)
        for values in self.heuristics:
            for name, heuristic in values.items():
                if name not in known:
                    try:
                        known[name] = heuristic(known)
                    except Unknown as fault:
                        raise Fault(f"heuristic for {name} reads {fault}, which is known at run time only") from None
                    except Exception as fault:
                        raise Fault(f"heuristic for {name}: {describe(fault, True)}") from fault
        return {name: encode(value) for name, value in known.items() if name not in constants}


class Unknown(Exception):
    pass


def quoted(name):
    return json.dumps(name, ensure_ascii=False)


class Known(dict):

    def __missing__(self, name):
        raise Unknown(name)


def kernels(module):
    from triton.runtime.jit import KernelInterface
    return [n for n, v in vars(module).items() if isinstance(v, KernelInterface)]


def param(p):
    out = {"name": p.name, "constexpr": p.is_constexpr}
    if not p.is_constexpr:
        # 3.3 and 3.4 say "" of an annotation that is no type, as later ones do.
        out["annotation"] = p.annotation_type
    if p.has_default:
        out["default"] = encode(p.default)
    return out


# What a triton.Config of 3.3 has for options of warp specialisation; 0 where they are not set.
UNSET = ("num_buffers_warp_spec", "num_consumer_groups", "reg_dec_producer", "reg_inc_consumer")


def config(c):
    """What Triton would pass the kernel beside its arguments: constants, and compile options."""
    settings = {k: encode(v) for k, v in c.all_kwargs().items() if v != 0 or k not in UNSET}
    return {"settings": settings, "hook": getattr(c, "pre_hook", None) is not None}


def signature(params):
    """Types, constants and promises as Triton's compiler takes them."""
    import triton
    types, constants, promises = {}, {}, {}

    def visit(p, path):
        if "constant" in p or "tuple" in p and all_constant(p):
            constants[path] = decode(p)
        elif "folded" in p:
            constants[path] = {"one": 1, "absent": None}[p["folded"]]
        elif "tuple" in p:
            return bundle(p["tuple"], [visit(m, path + (i, )) for i, m in enumerate(p["tuple"])])
        else:
            if p["type"].startswith("tensordesc") and version(triton.__version__) < (3, 4):
                raise Fault(f"tensor descriptors need Triton 3.4 or later, not {triton.__version__}")
            if "divisible_by" in p:
                promises[path] = [["tt.divisibility", p["divisible_by"]]]
            return p["type"]
        return "constexpr"

    for i, p in enumerate(params):
        types[p["name"]] = visit(p, (i, ))
    return types, constants, promises


def all_constant(p):
    return all("constant" in m or "tuple" in m and all_constant(m) for m in p["tuple"])


def compile_kernel(kernel, request):
    """Writes Triton's files of one kernel for one target into the request's folder."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    types, constants, promises = signature(request.get("params", ()))
    options = dict(request.get("options", {}))
    if libs := options.get("extern_libs"):
        options["extern_libs"] = {name: str(ROOT / path) for name, path in libs.items()}
    source = ASTSource(kernel.fn, types, constants, promises)
    try:
        try:
            compiled = triton.compile(source, target=GPUTarget("cuda", request["arch"], 32), options=options)
        except Exception as fault:
            if "is not defined for option 'gpu-name'" in str(fault):  # ptxas's words
                raise Fault(f"Triton {triton.__version__} does not know it", target=True) from None
            raise
        name, folder = kernel.fn.__name__[:150], Path(request["folder"])
        for ext in TEXTS:
            if ext in compiled.asm:
                (folder / f"{name}.{ext}").write_text(compiled.asm[ext], encoding="utf-8", newline="")
        (folder / f"{name}.{CUBIN}").write_bytes(compiled.asm[CUBIN])
        found, = WORK.joinpath("cache").glob(f"*/{name}.json")
        metadata = json.loads(found.read_text(encoding="utf-8"))
        (folder / f"{name}.json").write_text(json.dumps(portable(metadata), indent=2) + "\n", encoding="utf-8", newline="")
    finally:
        for entry in WORK.joinpath("cache").iterdir():
            shutil.rmtree(entry)
    return name


def portable(metadata):
    """Triton's metadata without what depends on the machine."""
    metadata.pop("hash", None)  # of Triton's own binaries too, which differ by platform
    if metadata.get("extern_libs"):
        metadata["extern_libs"] = [[name, os.path.basename(path)] for name, path in metadata["extern_libs"]]
    return metadata


# Requests.


class Server:

    def __init__(self, out):
        self.out, self.sources = out, Sources()

    def hello(self):
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend
        options = make_backend(GPUTarget("cuda", 80, 32)).parse_options({})
        return {"triton": triton.__version__, "distribution": distribution(), "options": sorted(vars(options))}

    def inspect(self, request):
        module = self.sources.load(request["source"])
        answer = {"files": self.sources.files, "kernels": {}, "faults": {}}
        for name in request["kernels"]:
            try:
                answer["kernels"][name] = Kernel(module, name).facts()
            except Fault as fault:
                answer["faults"][name] = failure(fault)
        return answer

    def heuristics(self, request):
        kernel = Kernel(self.sources.load(request["source"]), request["kernel"])
        return [kernel.evaluate({p["name"]: decode(p) for p in constants}) for constants in request["constants"]]

    def compile(self, request):
        kernel = Kernel(self.sources.load(request["source"]), request["kernel"])
        return {"name": compile_kernel(kernel, request), "files": self.sources.files}

    def serve(self):
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer = {"result": getattr(self, request["op"])(request)}
            except Fault as fault:
                answer = {"error": failure(fault)}
            except Exception as fault:
                answer = {"error": {"message": chain(fault)}}
            self.send(answer)

    def send(self, answer):
        self.out.write(json.dumps(answer) + "\n")
        self.out.flush()


def failure(fault):
    return {"message": str(fault), "known": fault.known, "target": fault.target}


def chain(fault):
    """An exception of Triton's with what caused it, the innermost last."""
    texts = []
    while fault is not None and len(texts) < 5:
        texts.append(f"{type(fault).__name__}: {fault}".rstrip())
        fault = fault.__cause__ or fault.__context__
    return "\n".join(dict.fromkeys(texts))


def distribution():
    """The folder that pip keeps of Triton: that of another version has another name."""
    for name in ("triton", "pytorch-triton", "triton-windows"):
        try:
            return importlib.metadata.distribution(name)._path.name
        except (importlib.metadata.PackageNotFoundError, AttributeError):
            continue
    return ""


def isolate():
    """Lets Triton name files in line information as they are named on every machine.

    ptxas adds the time and size of a file that it finds under that name, so the
    working folder holds none.
    """
    here = WORK / "here"
    here.mkdir()
    WORK.joinpath("cache").mkdir()
    os.environ["TRITON_CACHE_DIR"] = str(WORK / "cache")
    os.chdir(here)
    from triton.compiler import code_generator, compiler
    from triton.runtime import cache, jit
    for module in (compiler, cache):
        if hasattr(module, "triton_key"):  # a hash of all of Triton's files, to tell apart what a lasting cache holds
            module.triton_key = lambda: ""
    if hasattr(code_generator, "get_jit_fn_file_line"):  # up to 3.7
        locate = code_generator.get_jit_fn_file_line
        code_generator.get_jit_fn_file_line = lambda fn: (shown(locate(fn)[0]), locate(fn)[1])
    else:
        jit.JITCallable.file_name = property(lambda fn: shown(fn.fn.__code__.co_filename), lambda fn, name: None)


def excuse_benchmarks():
    """Lets @triton.autotune of 3.3, which asks the GPU for a stopwatch, do without either."""
    from triton.runtime import driver
    try:
        driver.active.get_benchmarker()
    except RuntimeError:

        class Absent:

            def get_benchmarker(self):
                return None

        driver.set_active(Absent())


def version(text):
    return tuple(int(part) for part in text.split(".")[:2])


def main():
    global INSTALLED
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)
    sys.path.pop(0)  # this file's own folder
    server = Server(out)
    try:
        import triton
        found = getattr(triton, "__version__", "")
        if not found or version(found) < (3, 3):
            raise Fault(f"Triton {found or 'of an unknown version'} at {os.path.dirname(triton.__file__ or '')} is too old")
        INSTALLED = installed()
        isolate()
        if version(found) < (3, 4):
            excuse_benchmarks()
        server.send({"result": server.hello()})
    except Exception as fault:
        message = str(fault) if isinstance(fault, Fault) else f"cannot import triton: {describe(fault)}"
        server.send({"error": {"message": message, "python": platform.python_version()}})
        return
    server.serve()


if __name__ == "__main__":
    main()
