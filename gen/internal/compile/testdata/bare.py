"""What a user would write instead: python bare.py ROOT REQUESTS

Compiles a list of kernels with triton.compile, one after the other, in a new
process. REQUESTS is a file of JSON lines as kerngen's driver takes them.
"""

import importlib
import json
import os
import sys
import tempfile

sys.path[0] = sys.argv[1]
with tempfile.TemporaryDirectory() as cache:
    os.environ["TRITON_CACHE_DIR"] = cache
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    for line in open(sys.argv[2]):
        request = json.loads(line)
        kernel = getattr(importlib.import_module(request["source"][:-3]), request["kernel"])
        types, constants, promises = {}, {}, {}
        for i, p in enumerate(request["params"]):
            types[p["name"]] = p.get("type", "constexpr")
            if "constant" in p:
                constants[(i, )], = p["constant"].values()
            if "divisible_by" in p:
                promises[(i, )] = [["tt.divisibility", p["divisible_by"]]]
        source = ASTSource(kernel, types, constants, promises)
        triton.compile(source, target=GPUTarget("cuda", request["arch"], 32), options=request.get("options", {}))
