"""What PyTorch makes of the same inputs, and how near a kernel must come to it."""

import math

from cases import element, representable


def expectations(run):
    """The largest error of a run's outputs, and what is wrong with them."""
    inputs = {p: run.view(p, run.before) for p in run.buffers}
    outputs = {p: run.view(p, run.after) for p in run.buffers}
    numbers = {p: a for p, a in run.case.args.items() if p not in run.buffers}
    worst, faults = 0.0, []
    for output, got, want, relative, absolute in globals()[run.case.kernel.package](run, inputs, outputs, numbers):
        error, fault = compare(run.torch, got, want, relative, absolute)
        worst = max(worst, error)
        if fault:
            faults.append(f"{output}: {fault}")
    return worst, faults


def compare(torch, got, want, relative, absolute):
    """The largest absolute error; infinities and NaNs must be in the same places."""
    got, want = got.double().flatten(), want.double().flatten()
    if got.numel() == 0:
        return 0.0, None
    finite = want.isfinite() & got.isfinite()
    if not torch.equal(got[~finite].nan_to_num(nan=1.0), want[~finite].nan_to_num(nan=1.0)):
        return math.inf, "infinities or NaNs differ"
    error = (got[finite] - want[finite]).abs()
    beyond = error > absolute + relative * want[finite].abs()
    worst = error.max().item() if error.numel() else 0.0
    return worst, f"{int(beyond.sum())} elements too far off" if beyond.any() else None


def vec(run, x, out, _):
    yield "out_ptr", out["out_ptr"], x["x_ptr"] + x["y_ptr"], 0, 0


def rounding(run, param, relative, absolute):
    """What a result that is computed in fp32 may be off, and its rounding to the output's type."""
    half, least = {"fp32": (0, 0), "fp16": (2.0**-11, 2.0**-25), "bf16": (2.0**-8, 0)}[element(run.case.type(param))]
    return relative + half, absolute + least


def rows(tensor, count, cols, stride):
    return tensor.as_strided((count, cols), (stride, 1))


def softmax(run, x, out, n):
    count = run.case.grid[0]
    relative, absolute = rounding(run, "out_ptr", 1e-5, 1e-9)
    want = rows(x["x_ptr"], count, n["n_cols"], n["x_stride"]).double().softmax(1)
    yield "out_ptr", rows(out["out_ptr"], count, n["n_cols"], n["out_stride"]), want, relative, absolute


def norm(run, x, out, n):
    count, cols = run.case.grid[0], n["n_cols"]
    want = run.torch.nn.functional.layer_norm(rows(x["x_ptr"], count, cols, n["x_stride"]).double(), (cols, ),
                                              x["weight_ptr"].double(), x["bias_ptr"].double() if "bias_ptr" in x else None,
                                              n["eps"])
    yield ("out_ptr", rows(out["out_ptr"], count, cols, n["out_stride"]), want, *rounding(run, "out_ptr", 1e-5, 1e-5))


def matmul(run, x, out, n):
    view = lambda t, r, c, s: t.as_strided((n[r], n[c]), (n[f"stride_{s}{r.lower()}"], n[f"stride_{s}{c.lower()}"]))
    want = view(x["a_ptr"], "M", "K", "a").double() @ view(x["b_ptr"], "K", "N", "b").double()
    yield "c_ptr", view(out["c_ptr"], "M", "N", "c"), want, *rounding(run, "c_ptr", 0, 1e-4)
    # What lies between the elements of C is nobody's to write.
    before, after = x["c_ptr"].clone(), out["c_ptr"].clone()
    for c in before, after:
        view(c, "M", "N", "c").zero_()
    yield "c_ptr between its elements", after, before, 0, 0


def scalars(run, x, out, n):
    ints = [n[k] for k in ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")]
    ints = [i - (1 << 64) if i >= 1 << 63 else i for i in ints]  # u64 keeps its bits
    # Not through double, which does not hold every int64.
    exact = out["ints_ptr"] == run.torch.tensor(ints, dtype=run.torch.int64, device=out["ints_ptr"].device)
    yield "ints_ptr", exact, run.torch.ones_like(exact), 0, 0
    floats = [n[k] for k in ("fp16", "bf16", "fp32", "fp64")]
    yield ("floats_ptr", out["floats_ptr"],
           run.torch.tensor(floats, dtype=run.torch.float64, device=out["floats_ptr"].device), 0, 0)


def dropout(run, x, out, n):
    x, got, p = x["x_ptr"].double(), out["out_ptr"], representable("fp32", n["p"])
    if n["n"] == 0:
        return
    kept = got != 0
    want = run.torch.where(kept, x / (1.0 - p), run.torch.zeros_like(x)) if p < 1 else run.torch.zeros_like(x)
    yield "out_ptr", got, want, *rounding(run, "out_ptr", 1e-6, 0)
    # The share of those kept is within five standard deviations of 1 - p.
    near = (kept.double().mean() - (1 - p)).abs() <= 5 * math.sqrt(p * (1 - p) / n["n"]) + 1e-9
    yield "share of elements kept", near, run.torch.ones_like(near), 0, 0


def histogram(run, x, out, n):
    values = x["x_ptr"]
    values = values[(values >= 0) & (values < n["n_bins"])]
    want = run.torch.bincount(values, minlength=n["n_bins"]) * run.case.launches
    yield "counts_ptr", out["counts_ptr"], want, 0, 0


def descriptor(run, x, out, n):
    yield "out_ptr", out["out_ptr"], x["x_ptr"] * representable("fp32", n["factor"]), 0, 0


def tensor(run, x, out, n):
    args = run.case.args
    if run.case.kernel.name == "product":
        a, b = (rows(x[p], *args[p].shape, args[p].strides[0]).double() for p in "ab")
        yield "c", rows(out["c"], *args["c"].shape, args["c"].strides[0]), a @ b, *rounding(run, "c", 0, 1e-4)
        return
    # Element by element: where out's index plus the shift lies in x, that; elsewhere zero or NaN.
    torch, device = run.torch, out["out"].device
    source, to = args["x"], args["out"]
    shifts = list(n.values())
    if len(to.shape) != 2:  # one for all dimensions; the last in units of 16 bytes
        shifts = shifts * (len(to.shape) - 1) + [shifts[0] * 16 // x["x"].element_size()]
    inside, at = torch.ones(to.shape, dtype=torch.bool, device=device), torch.zeros(to.shape, dtype=torch.int64, device=device)
    for dim, (extent, shift) in enumerate(zip(to.shape, shifts)):
        index = torch.arange(extent, device=device) + shift
        index = index.view([-1 if d == dim else 1 for d in range(len(to.shape))])
        inside = inside & (index >= 0) & (index < source.shape[dim])
        at = at + index.clamp(0, source.shape[dim] - 1) * source.strides[dim]
    outside = math.nan if source.nan else 0.0
    want = torch.where(inside, x["x"].double()[at], torch.full((), outside, dtype=torch.float64, device=device))
    got = out["out"].double().as_strided(to.shape, to.strides)
    yield "out", got, want, 0, 0
    # What lies between the rows is nobody's to write.
    before, after = (t["out"].view(torch.uint8).clone() for t in (x, out))
    size = before.numel() // x["out"].numel()
    for t in before, after:
        t.as_strided((*to.shape, size), (*(size * s for s in to.strides), 1)).zero_()
    yield "out between its rows", after, before, 0, 0


def pdl(run, x, out, n):
    want = x["y_ptr"].double() + run.case.launches * representable("fp32", n["a"]) * x["x_ptr"].double()
    yield "y_ptr", out["y_ptr"], want, 1e-5, 1e-5


def cooperative(run, x, out, n):
    want = x["x_ptr"].double() / x["x_ptr"].double().sum()
    yield "out_ptr", out["out_ptr"], want, 1e-5, 0
    yield "partial_ptr", out["partial_ptr"].double().sum().reshape(1), x["x_ptr"].double().sum().reshape(1), 1e-5, 0
    arrived = out["arrived_ptr"]
    yield "arrived_ptr", arrived, run.torch.full_like(arrived, run.case.grid[0] * run.case.launches), 0, 0


def attention(run, x, out, n):
    heads = [x[p].double().view(run.case.grid[1], n["n"], -1) for p in ("q_ptr", "k_ptr", "v_ptr")]
    want = run.torch.nn.functional.scaled_dot_product_attention(*heads, scale=n["scale"])
    # Weights are rounded to the type before they are summed: an average of values keeps their relative error.
    relative, absolute = rounding(run, "out_ptr", 1e-5, 1e-5)
    yield "out_ptr", out["out_ptr"], want, relative, absolute + relative * x["v_ptr"].double().abs().max().item()
