#!/usr/bin/env python3
"""Records in recorded.json what NVIDIA's cuobjdump says of every cubin below this folder.

    pip install triton==3.9.0   # its cuobjdump reads the cubins of all releases
    python record.py
"""

import json
import re
import subprocess
from pathlib import Path

import triton

HERE = Path(__file__).resolve().parent
CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"


def cuobjdump(option, cubin):
    return subprocess.run([CUOBJDUMP, option, cubin], check=True, capture_output=True, text=True).stdout


def sections(dump):
    """The .nv.info sections of a dump: name -> [(attribute, value), …]."""
    found = {}
    for block in re.split(r"\n(?=\.)", dump):
        name, _, body = block.partition("\n")
        if name.startswith(".nv.info"):
            found[name] = re.findall(r"Attribute:\s+EIATTR_(\w+)\s+Format:\s+\w+(?:\s+Value:\s+(.*))?", body)
    return found


def numbers(text):
    return [int(n, 16) for n in re.findall(r"0x([0-9a-f]+)", text)]


def record(cubin):
    usage = cuobjdump("-res-usage", cubin)
    symbol = re.search(r"Function (\S+):", usage)[1]
    registers, shared = re.search(r"REG:(\d+).*SHARED:(\d+)", usage).groups()
    info = sections(cuobjdump("-elf", cubin))[".nv.info." + symbol]
    params = sorted(numbers(v)[1:4] for k, v in info if k in ("KPARAM_INFO", "KPARAM_INFO_V2"))  # ordinal, offset, size
    triple = lambda key: next((numbers(v) for k, v in info if k == key), [0, 0, 0])
    return {"symbol": symbol, "params": [p[1:] for p in params], "reqntid": triple("REQNTID"),
            "maxntid": triple("MAX_THREADS"), "cluster": triple("CTA_PER_CLUSTER"), "registers": int(registers),
            "shared": int(shared)}


def main():
    cubins = sorted(HERE.rglob("*.cubin"))
    rows = ["{}: {}".format(json.dumps(c.relative_to(HERE).as_posix()), json.dumps(record(c))) for c in cubins]
    (HERE / "recorded.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
