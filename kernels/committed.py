"""The kernels of artefacts/, as their .kerngen.json files describe them."""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ARTEFACTS = HERE / "artefacts"


class Fault(Exception):
    """What a user can mend."""


class Kernel(NamedTuple):
    """One compiled variant of a kernel, for one target.

    args holds every parameter in the source's order: for a tl.constexpr its value,
    for any other "TYPE", "TYPE:16" (promised to be divisible by 16), "TYPE:1" (the
    value is 1, and is not passed) or "TYPE:null" (the pointer is absent).
    """
    package: str  # of Go
    name: str
    variant: str  # the artefacts' folder without the target
    module: str
    args: dict
    types: dict  # what type variables stand for
    config: str  # "": the only one
    triton: str
    folder: Path


def kernels(sm):
    """All that is committed for a target, in the order of names."""
    found = [read(folder, sm) for folder in sorted(ARTEFACTS.glob(f"*/*.sm{sm}"))]
    if not found:
        raise Fault(f"artefacts has nothing for sm_{sm}; add it to the targets of kerngen.yaml")
    return found


def read(folder, sm):
    path, = folder.glob("*.kerngen.json")
    said = json.loads(path.read_text())
    return Kernel(folder.parent.name, said["kernel"], folder.name.removesuffix(f".sm{sm}"), Path(said["source"][0]["path"]).stem,
                  {p["name"]: spec(p) for p in said["params"]}, {t["name"]: t["type"] for t in said.get("types", ())},
                  said.get("config", {}).get("name", ""), said["triton"], folder)


def spec(param):
    if "constant" in param:
        value, = param["constant"].values()
        return value
    hint = {"one": ":1", "absent": ":null"}.get(param.get("folded"), "")
    if "divisible_by" in param:
        hint = f":{param['divisible_by']}"
    return param["type"] + hint


def split(spec):
    """A type and its hint: ("*fp32", "16"), ("i32", "1"), ("*fp32", "null") or ("i32", "")."""
    kind, hint = re.fullmatch(r"([^:]*):?(|1|16|null)", spec).groups()
    return kind, hint


def ast_source(kernel):
    """The kernel's source and signature, as Triton's compiler and launcher take them."""
    from triton.compiler import ASTSource
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    signature, constants, attributes = {}, {}, {}
    for i, (name, spec) in enumerate(kernel.args.items()):
        kind, hint = split(spec) if isinstance(spec, str) else ("constexpr", "")
        if kind == "constexpr" or hint in ("1", "null"):
            signature[name] = "constexpr"
            constants[name] = {"1": 1, "null": None}.get(hint, spec)
            continue
        signature[name] = kind
        if hint:
            attributes[(i, )] = [["tt.divisibility", int(hint)]]
    return ASTSource(getattr(importlib.import_module(kernel.module), kernel.name), signature, constants, attributes)
