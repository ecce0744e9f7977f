"""Which kernels become cases: calls of public packages, with small inputs. trace.py makes them.

An entry calls a package as its users do. What is asked for is the launches within:
the kernels themselves, their constants and their grids are the package's choice.
"""

import dataclasses
import functools
import os
import typing
from unittest import mock

import torch


@dataclasses.dataclass
class Entry:
    package: str
    name: str
    call: typing.Callable
    faults: dict = dataclasses.field(default_factory=dict)  # of the kernels themselves: what the simulated device says, by kernel


ENTRIES = []


def entry(package):
    def add(call):
        ENTRIES.append(Entry(package, call.__name__, call))
        return call

    return add


def randn(*shape, dtype=torch.float32, grad=False):
    return torch.randn(shape).to(dtype).requires_grad_(grad)


def half(*shape, grad=False):
    return randn(*shape, dtype=torch.float16, grad=grad)


def bfloat(*shape, grad=False):
    return randn(*shape, dtype=torch.bfloat16, grad=grad)


def backward(*outputs):
    """Runs the gradient of all outputs that have one."""
    outputs = [o for o in outputs if isinstance(o, torch.Tensor) and o.requires_grad]
    torch.autograd.backward(outputs, [torch.randn(o.shape).to(o.dtype) for o in outputs])


# liger-kernel

LIGER = "liger-kernel"


@entry(LIGER)
def rms_norm():
    from liger_kernel.ops import LigerRMSNormFunction
    backward(LigerRMSNormFunction.apply(half(12, 200, grad=True), half(200, grad=True), 1e-6, 0.0, "llama", False, True))


@entry(LIGER)
def block_rms_norm():
    from liger_kernel.ops import LigerRMSNormFunction
    backward(LigerRMSNormFunction.apply(randn(40, 100, grad=True), randn(100, grad=True), 1e-6, 1.0, "gemma", False, False))


@entry(LIGER)
def layer_norm():
    from liger_kernel.ops import LigerLayerNormFunction
    backward(LigerLayerNormFunction.apply(bfloat(9, 300, grad=True), bfloat(300, grad=True), bfloat(300, grad=True), 1e-5))


@entry(LIGER)
def group_norm():
    from liger_kernel.ops import LigerGroupNormFunction
    backward(LigerGroupNormFunction.apply(randn(3, 12, 50, grad=True), randn(12, grad=True), randn(12, grad=True), 12, 4, 1e-5))


@entry(LIGER)
def cross_entropy():
    from liger_kernel.ops import LigerCrossEntropyFunction
    target = torch.randint(0, 500, (20,))
    target[3] = -100
    out = LigerCrossEntropyFunction.apply(randn(20, 500, grad=True), target, None, -100, 1e-4, 0.1, "mean", 30.0)
    backward(out[0] * 2)


@entry(LIGER)
def swiglu():
    from liger_kernel.ops import LigerSiLUMulFunction
    backward(LigerSiLUMulFunction.apply(half(7, 260, grad=True), half(7, 260, grad=True)))


@entry(LIGER)
def swiglu_tiled():
    from liger_kernel.ops import swiglu as m
    m._should_tile = lambda n: True
    a, b = half(3, 9000), half(3, 9000)
    m.swiglu_forward(a, b)
    m.swiglu_backward(a, b, half(3, 9000))


@entry(LIGER)
def swiglu_gate_up():
    from liger_kernel.ops.swiglu import swiglu_fused_gate_up_forward, swiglu_fused_gate_up_backward
    y = half(6, 256)
    swiglu_fused_gate_up_forward(y)
    swiglu_fused_gate_up_backward(y, half(6, 128))


@entry(LIGER)
def geglu():
    from liger_kernel.ops import LigerGELUMulFunction
    backward(LigerGELUMulFunction.apply(bfloat(7, 260, grad=True), bfloat(7, 260, grad=True)))


@entry(LIGER)
def rope():
    from liger_kernel.ops import LigerRopeFunction
    q, k = LigerRopeFunction.apply(half(2, 4, 10, 32, grad=True), half(2, 2, 10, 32, grad=True), half(1, 10, 32), half(1, 10, 32))


@entry(LIGER)
def mrope():
    from liger_kernel.ops import LigerQwen2VLMRopeFunction
    LigerQwen2VLMRopeFunction.apply(randn(2, 4, 10, 32), randn(2, 2, 10, 32), randn(3, 2, 10, 32), randn(3, 2, 10, 32), [4, 6, 6])


@entry(LIGER)
def llama4_rope():
    from liger_kernel.ops import LigerLlama4RopeFunction
    LigerLlama4RopeFunction.apply(randn(2, 10, 4, 32), randn(2, 10, 2, 32), torch.polar(torch.ones(10, 16), torch.randn(10, 16)))


@entry(LIGER)
def jsd():
    from liger_kernel.ops import LigerJSDFunction
    LigerJSDFunction.apply(randn(10, 400, grad=True).log_softmax(-1), randn(10, 400).log_softmax(-1), None, 0.3)


@entry(LIGER)
def kl_div():
    from liger_kernel.ops import LigerKLDivLossFunction
    backward(LigerKLDivLossFunction.apply(randn(10, 400, grad=True), randn(10, 400).softmax(-1), "none"))


@entry(LIGER)
def tvd():
    from liger_kernel.ops import LigerTVDLossFunction
    LigerTVDLossFunction.apply(randn(10, 400, grad=True).softmax(-1), randn(10, 400).softmax(-1))


@entry(LIGER)
def dyt():
    from liger_kernel.ops import LigerDyTFunction
    LigerDyTFunction.apply(randn(8, 300), randn(1), randn(300), randn(300))


@entry(LIGER)
def poly_norm():
    from liger_kernel.ops import LigerPolyNormFunction
    backward(LigerPolyNormFunction.apply(randn(8, 300, grad=True), randn(3, grad=True), randn(grad=True), 1e-6, False))


@entry(LIGER)
def softmax():
    from liger_kernel.ops import LigerSoftmaxFunction
    backward(LigerSoftmaxFunction.apply(half(9, 500, grad=True)))


@entry(LIGER)
def sparsemax():
    from liger_kernel.ops import LigerSparsemaxFunction
    backward(LigerSparsemaxFunction.apply(randn(9, 200, grad=True), -1))


@entry(LIGER)
def relu_squared():
    from liger_kernel.ops.relu_squared import relu_squared_forward, relu_squared_backward
    relu_squared_forward(bfloat(5, 300))
    relu_squared_backward(bfloat(5, 300), bfloat(5, 300))


@entry(LIGER)
def fused_add_rms_norm():
    from liger_kernel.ops import LigerFusedAddRMSNormFunction
    backward(*LigerFusedAddRMSNormFunction.apply(half(9, 300, grad=True), half(9, 300, grad=True), half(300, grad=True), 1e-6))


@entry(LIGER)
def modulated_rms_norm():
    from liger_kernel.ops.modulated_rms_norm import LigerModulatedRMSNormFunction as f
    backward(f.apply(randn(2, 6, 100, grad=True), randn(100, grad=True), randn(2, 1, 100, grad=True), randn(2, 1, 100, grad=True), 1e-6))


@entry(LIGER)
def multi_token_attention():
    from liger_kernel.ops import multi_token_attention as m
    for f in m._mask_inf_forward, m._mask_inf_backward:
        f(randn(1, 2, 40, 40))


@entry(LIGER)
def neighborhood_attention():
    from liger_kernel.ops import LigerFusedNeighborhoodAttentionFunction
    with mock.patch.object(torch, "zeros", torch.ones):  # the mask, which a kernel fills before others read it
        backward(LigerFusedNeighborhoodAttentionFunction.apply(*(half(1, 2, 40, 32, grad=True) for _ in range(3)), 7, 1, None))


@entry(LIGER)
def attn_res():
    from liger_kernel.ops import LigerAttnResFunction
    backward(LigerAttnResFunction.apply(randn(4, 2, 5, 64, grad=True), randn(64, grad=True), randn(64, grad=True), 1e-6))


@entry(LIGER)
def grpo_loss():
    from liger_kernel.ops.grpo_loss import GrpoLossFunction
    ids, ones = torch.randint(0, 300, (2, 6)), torch.ones(2, 6, dtype=torch.int32)
    logp = -torch.rand(2, 6) * 5
    loss = GrpoLossFunction.apply(randn(2, 7, 300, grad=True), logp, logp - 0.1, ids, randn(2), ones, 0.9, 0.04, 0.2, 0.2, False)
    backward(*loss)


@entry(LIGER)
def element_mul():
    from liger_kernel.ops.utils import element_mul_kernel
    element_mul_kernel[(5,)](randn(5, 300), 300, torch.tensor(1.5), 300, BLOCK_SIZE=512)


# flash-linear-attention: chunks and steps of linear attention, forward and backward

FLA = "fla-core"
B, T, H, D = 1, 128, 2, 32  # batch, tokens, heads, width of a head


def qkv(count=3, make=half):
    return [make(B, T, H, D, grad=True) for _ in range(count)]


def unit(*shape, grad=True):
    return torch.nn.functional.normalize(torch.randn(*shape), dim=-1).half().requires_grad_(grad)


def decay(*shape, grad=True):
    """Logarithms of numbers below 1."""
    return torch.nn.functional.logsigmoid(torch.randn(*shape) + 3).requires_grad_(grad)


def share(*shape, dtype=torch.float16, grad=True):
    """Numbers between 0 and 1."""
    return torch.rand(*shape).to(dtype).requires_grad_(grad)


@entry(FLA)
def fused_recurrent_gla():
    from fla.ops.gla import fused_recurrent_gla
    backward(fused_recurrent_gla(*qkv(), gk=decay(B, T, H, D))[0])


@entry(FLA)
def chunk_gla():
    from fla.ops.gla import chunk_gla
    backward(chunk_gla(*qkv(), decay(B, T, H, D))[0])


@entry(FLA)
def chunk_simple_gla():
    from fla.ops.simple_gla import chunk_simple_gla
    backward(chunk_simple_gla(*qkv(), g=decay(B, T, H))[0])


@entry(FLA)
def parallel_simple_gla():
    from fla.ops.simple_gla import parallel_simple_gla
    backward(parallel_simple_gla(*qkv(), g=decay(B, T, H))[0])


@entry(FLA)
def chunk_gated_delta_rule():
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    backward(chunk_gated_delta_rule(unit(B, T, H, D), unit(B, T, H, D), half(B, T, H, D, grad=True), decay(B, T, H), share(B, T, H))[0])


@entry(FLA)
def fused_recurrent_gated_delta_rule():
    from fla.ops.gated_delta_rule import fused_recurrent_gated_delta_rule
    fused_recurrent_gated_delta_rule(unit(B, T, H, D, grad=False), unit(B, T, H, D, grad=False), half(B, T, H, D), decay(B, T, H, grad=False), beta=share(B, T, H, grad=False))


@entry(FLA)
def chunk_delta_rule():
    from fla.ops.delta_rule import chunk_delta_rule
    backward(chunk_delta_rule(unit(B, T, H, D), unit(B, T, H, D), half(B, T, H, D, grad=True), share(B, T, H))[0])


@entry(FLA)
def fused_recurrent_delta_rule():
    from fla.ops.delta_rule import fused_recurrent_delta_rule
    backward(fused_recurrent_delta_rule(unit(B, T, H, D), unit(B, T, H, D), half(B, T, H, D, grad=True), share(B, T, H))[0])


@entry(FLA)
def hgrn():
    from fla.ops.hgrn import chunk_hgrn, fused_recurrent_hgrn
    backward(fused_recurrent_hgrn(randn(B, T, 64, grad=True), decay(B, T, 64))[0])
    backward(chunk_hgrn(randn(B, T, 64, grad=True), decay(B, T, 64))[0])


@entry(FLA)
def rwkv4():
    from fla.ops.rwkv4 import fused_recurrent_rwkv4
    w, u = decay(64), randn(64, grad=True)
    backward(fused_recurrent_rwkv4(w, u, randn(B, 40, 64, grad=True), randn(B, 40, 64, grad=True), randn(B, 3, 1, 64, grad=True))[0])


@entry(FLA)
def rwkv6():
    from fla.ops.rwkv6 import chunk_rwkv6, fused_recurrent_rwkv6
    for f in fused_recurrent_rwkv6, chunk_rwkv6:
        backward(f(*qkv(), decay(B, T, H, D), randn(H, D, grad=True))[0])


@entry(FLA)
def rwkv7():
    from fla.ops.rwkv7 import chunk_rwkv7
    r, k, v = qkv()
    a = unit(B, T, H, D)
    backward(chunk_rwkv7(r, decay(B, T, H, D), k, v, a, (-a * 0.5).detach().requires_grad_())[0])


@entry(FLA)
def parallel_attn():
    from fla.ops.attn.parallel import parallel_attn
    backward(parallel_attn(*qkv()))


@entry(FLA)
def forgetting_attn():
    from fla.ops.forgetting_attn import parallel_forgetting_attn
    backward(parallel_forgetting_attn(*qkv(), decay(B, T, H)))


@entry(FLA)
def softmax():
    from fla.ops.utils.softmax import softmax_bwd, softmax_fwd
    softmax_fwd(half(20, 130))
    softmax_bwd(share(20, 130, grad=False), half(20, 130))


@entry(FLA)
def logsumexp():
    from fla.ops.utils.logsumexp import logsumexp_fwd
    logsumexp_fwd(half(20, 130))


@entry(FLA)
def cumsum():
    from fla.ops.utils.cumsum import chunk_global_cumsum, chunk_local_cumsum
    for f in (lambda g: chunk_local_cumsum(g, 32)), chunk_global_cumsum:
        f(randn(B, T, H))
        f(randn(B, T, H, D))


@entry(FLA)
def logcumsumexp():
    from fla.ops.utils.logcumsumexp import logcumsumexp_fwd_kernel as kernel
    kernel[(H,)](randn(H, T, D), torch.empty(H, T, D), T=T, S=D)


@entry(FLA)
def matmul():
    from fla.ops.utils.matmul import addmm, matmul
    matmul(half(70, 96), half(96, 80))


@entry(FLA)
def mean_pooling():
    from fla.ops.utils.pooling import mean_pooling
    backward(mean_pooling(half(B, T, H, D, grad=True), 32))


@entry(FLA)
def pack():
    from fla.ops.utils.pack import pack_sequence, unpack_sequence
    offsets = torch.tensor([0, 5, 30, 41])
    pack_sequence(half(3, 25, 16), offsets)
    unpack_sequence(half(41, 16), offsets)


@entry(FLA)
def solve_tril():
    from fla.ops.utils.solve_tril import solve_tril
    for n in 16, 32, 64:
        solve_tril((randn(B, T, H, n) * 0.1).half())


@entry(FLA)
def based():
    from fla.ops.based import parallel_based
    q, k, v = half(B, T, H, 16, grad=True), half(B, T, H, 16, grad=True), half(B, T, H, 32, grad=True)
    backward(parallel_based(q, k, v, use_norm=False))


@entry(FLA)
def rebased():
    from fla.ops.rebased import parallel_rebased
    backward(parallel_rebased(*qkv(), use_normalize=False))


@entry(FLA)
def gsa():
    from fla.ops.gsa import chunk_gsa
    backward(chunk_gsa(*qkv(), half(B, T, H, 16, grad=True), decay(B, T, H, 16))[0])


@entry(FLA)
def abc():
    from fla.ops.abc import chunk_abc
    backward(chunk_abc(*qkv(), half(B, T, H, 16, grad=True))[0])


@entry(FLA)
def ttt_linear():
    from fla.ops.ttt import chunk_ttt_linear
    w, b, eta = randn(H, D, grad=True), randn(H, D, grad=True), (share(B, T, H, 1, dtype=torch.float32) * 0.01).detach().half().requires_grad_()
    chunk_ttt_linear(*(unit(B, T, H, D) for _ in range(3)), w, b, eta)


@entry(FLA)
def kda():
    from fla.ops.kda import chunk_kda
    backward(chunk_kda(unit(B, T, H, D), unit(B, T, H, D), half(B, T, H, D, grad=True), decay(B, T, H, D), share(B, T, H))[0])


@entry(FLA)
def iplr_delta_rule():
    from fla.ops.generalized_delta_rule import chunk_iplr_delta_rule, fused_recurrent_iplr_delta_rule
    for f in chunk_iplr_delta_rule, fused_recurrent_iplr_delta_rule:
        f(*qkv(), unit(B, T, H, D), unit(B, T, H, D))


@entry(FLA)
def nsa():
    from fla.ops.nsa import parallel_nsa
    q, k, v = half(1, 128, 16, 32, grad=True), half(1, 128, 1, 32, grad=True), half(1, 128, 1, 32, grad=True)
    gates = [share(1, 128, 16) for _ in range(3)]
    indices = (torch.arange(128) // 32).view(1, 128, 1, 1).contiguous()
    backward(parallel_nsa(q, k, v, *gates[:2], None, indices, 1, 32))


@entry(FLA)
def mesa_net():
    from fla.ops.mesa_net import chunk_mesa_net
    lamb = (share(H, D, dtype=torch.float32) + 0.25).detach().requires_grad_()
    backward(chunk_mesa_net(unit(B, T, H, D), unit(B, T, H, D), half(B, T, H, D, grad=True), decay(B, T, H), share(B, T, H), lamb, max_CG_iteration=3)[0])


@entry(FLA)
def path_attn():
    from fla.ops.path_attn import parallel_path_attn
    q, k, v = qkv()
    parallel_path_attn(q.detach(), k.detach(), v.detach(), unit(B, T, H, D, grad=False).float(), share(B, T, H, dtype=torch.float32, grad=False))


@entry(FLA)
def comba():
    from fla.ops.comba import chunk_comba
    backward(chunk_comba(unit(B, T, H, D), unit(B, T, H, D), half(B, T, H, D, grad=True), unit(B, T, H, D), decay(B, T, H), share(B, T, H))[0])


@entry(FLA)
def token_shift():
    from fla.modules.token_shift import token_shift
    backward(token_shift(half(2, 50, 64, grad=True)))


@entry(FLA)
def rotary():
    from fla.modules.rotary import rotary_embedding
    rotary_embedding(half(2, 40, 4, 32), half(40, 16), half(40, 16))


@entry(FLA)
def l2_norm():
    from fla.modules.l2norm import l2_norm
    backward(l2_norm(half(20, 100, grad=True)))


@entry(FLA)
def norms():
    from fla.modules.norm.layernorm import layer_norm, rms_norm
    backward(layer_norm(half(20, 100, grad=True), half(100, grad=True), half(100, grad=True)))
    backward(rms_norm(half(20, 1100, grad=True), half(1100, grad=True), None))


@entry(FLA)
def gated_norms():
    from fla.modules.norm.fused_norm_gate import layer_norm_gated, rms_norm_gated
    from fla.modules.norm.layernorm_gated import layernorm_fn
    backward(rms_norm_gated(half(20, 100, grad=True), half(20, 100, grad=True), half(100, grad=True), None))
    backward(layer_norm_gated(half(20, 1100, grad=True), half(20, 1100, grad=True), half(1100, grad=True), half(1100, grad=True)))
    backward(layernorm_fn(half(20, 100, grad=True), half(100, grad=True), half(100, grad=True), half(20, 100, grad=True)))


@entry(FLA)
def activations():
    from fla.modules.activations import ops as m
    x, y = half(20, 100, grad=True), half(20, 100, grad=True)
    for f in m.sigmoid, m.logsigmoid, m.swish, m.fast_gelu_impl:
        if isinstance(out := f(x), torch.Tensor):
            backward(out)
    backward(m.swiglu(x, y))


@entry(FLA)
def fused_kl_div():
    from fla.modules.fused_kl_div.ops import fused_kl_div_loss
    fused_kl_div_loss(half(20, 32), half(20, 32), half(300, 32), half(300, 32))


@entry(FLA)
def grpo():
    from fla.modules.grpo.ops import fused_grpo_loss
    ids, ones = torch.randint(0, 300, (2, 6)), torch.ones(2, 6, dtype=torch.int32)
    backward(fused_grpo_loss(half(2, 7, 300, grad=True), -torch.rand(2, 6) * 5, ids, randn(2), completion_mask=ones))


@entry(FLA)
def causal_conv1d():
    from fla.modules.causal_conv1d import causal_conv1d
    backward(causal_conv1d(half(2, 50, 64, grad=True), half(64, 4, grad=True), half(64, grad=True), activation="silu")[0])


# bitsandbytes: quantisation to 8 and 4 bits, optimisers on quantised state

BNB = "bitsandbytes"


def code():
    """A code book of 256 values in order."""
    return torch.linspace(-1, 1, 256)


@entry(BNB)
def quantize_8bit():
    from bitsandbytes.backends.triton import kernels_8bit_quant as m
    q, absmax = m.quantize_blockwise_triton(half(3000), code(), 256)
    m.dequant_8bit_blockwise(torch.randint(0, 256, (3000,), dtype=torch.uint8), torch.rand(12), code(), 256, dtype=torch.float16)


@entry(BNB)
def quantize_4bit():
    from bitsandbytes.backends.triton import kernels_4bit as m
    for kind in "fp4", "nf4":
        m.quantize_4bit_blockwise_triton(half(2048), 64, kind, 32, torch.empty(32), 2048, torch.empty(1024, 1, dtype=torch.uint8))
        m.dequantize_4bit_impl(torch.randint(0, 256, (1024, 1), dtype=torch.uint8), torch.rand(32), 64, kind, torch.float16, torch.empty(2048, dtype=torch.float16))
    m.dequantize_4bit_impl_passing_code(torch.randint(0, 256, (1024, 1), dtype=torch.uint8), torch.rand(32), 64, torch.linspace(-1, 1, 16), torch.float16, torch.empty(2048, dtype=torch.float16))


@entry(BNB)
def optimizers_32bit():
    from bitsandbytes.backends.triton.kernels_optim import optimizer_update_32bit_impl as update
    for name in "adam", "lion":
        state2 = torch.rand(3000) if name == "adam" else None
        update(name, half(3000), half(3000), randn(3000), state2, torch.zeros(1), 0.5, 0.1, 0.9, 0.99, 0.0, 0.0, 1e-8, 0.01, 2, 1e-3, 1.0, False)


@entry(BNB)
def optimizers_8bit():
    from bitsandbytes.backends.triton.kernels_optim import optimizer_update_8bit_blockwise_impl as update
    for name in "adam", "lion":
        two = name == "adam"
        q = lambda: torch.randint(0, 256, (3000,), dtype=torch.uint8)
        update(name, half(3000), half(3000), q(), q() if two else None, 0.9, 0.99, 0.0, 0.0, 1e-8, 2, 1e-3, code(), (code() + 1) / 2 if two else None,
               torch.rand(12), torch.rand(12) if two else None, 0.01, 1.0, False)


# conch-triton-kernels: inference

CONCH = "conch-triton-kernels"


@entry(CONCH)
def silu_and_mul():
    from conch.ops.activation.silu_and_mul import silu_and_mul
    silu_and_mul(bfloat(6, 400))


@entry(CONCH)
def rms_norms():
    from conch.ops.normalization.gemma_rms_norm import gemma_rms_norm
    from conch.ops.normalization.rms_norm import fused_add_rms_norm, rms_norm
    rms_norm(half(6, 400), half(400), 1e-6)
    fused_add_rms_norm(half(6, 400), half(6, 400), half(400), 1e-6)
    gemma_rms_norm(half(6, 400), half(400), 1e-6)
    gemma_rms_norm(half(6, 400), half(400), 1e-6, half(6, 400))


@entry(CONCH)
def rotary_embedding():
    from conch.ops.embedding.rotary_embedding import rotary_embedding
    rotary_embedding(torch.arange(20), half(20, 4 * 32), half(20, 2 * 32), 32, half(50, 32))


@entry(CONCH)
def int8_quant():
    from conch.ops.quantization.int8 import scaled_int8_quant
    scaled_int8_quant(half(6, 400), torch.tensor([0.02]))


@entry(CONCH)
def gemm():
    from conch.ops.quantization.gemm import mixed_precision_gemm, scaled_gemm
    mixed_precision_gemm(half(20, 128), torch.randint(-2**31, 2**31 - 1, (16, 64), dtype=torch.int32), half(4, 64), None, 4, 8, 32)
    scaled_gemm(torch.randint(-128, 128, (20, 64), dtype=torch.int8), torch.randint(-128, 128, (64, 48), dtype=torch.int8), torch.rand(20, 1), torch.rand(1, 48), torch.float16)


@entry(CONCH)
def paged_attention():
    from conch.ops.attention.paged_attention import paged_attention
    tables = torch.randperm(12, dtype=torch.int32).view(2, 6)
    paged_attention(half(2, 4, 64), half(12, 16, 2, 64), half(12, 16, 2, 64), tables, torch.tensor([90, 37], dtype=torch.int32))


@entry(CONCH)
def varlen_attention():
    from conch.ops.attention.varlen_attention import varlen_attention
    tables = torch.randperm(12, dtype=torch.int32).view(2, 6)
    varlen_attention(half(30, 4, 64), half(12, 16, 2, 64), half(12, 16, 2, 64), torch.tensor([0, 12, 30], dtype=torch.int32), 18,
                     torch.tensor([90, 37], dtype=torch.int32), 90, tables, causal=True)


@entry(CONCH)
def reshape_and_cache():
    from conch.ops.vllm.reshape_and_cache import reshape_and_cache
    reshape_and_cache(half(20, 2, 64), half(20, 2, 64), half(6, 16, 2, 64), half(6, 16, 2, 64), torch.randperm(96)[:20])


@entry(CONCH)
def nms():
    from conch.ops.vision.nms import nms
    corners = torch.rand(40, 2) * 10
    nms(torch.cat([corners, corners + torch.rand(40, 2) * 5], 1), torch.rand(40), 0.4)


# flag_gems: PyTorch's operators

GEMS = "flag_gems"


def gems(call):
    """call(flag_gems.ops), each launch of which compiles anew: the package's own caches ask a device."""
    os.environ["GEMS_VENDOR"] = "nvidia"
    from flag_gems.utils.libentry import LibEntry, LibTuner
    import flag_gems.ops
    from triton.runtime.autotuner import Autotuner
    LibEntry.run = lambda self, *args, **kwargs: (self.fn.run(*args, **kwargs), {})
    LibTuner.run = Autotuner.run
    with torch.no_grad():
        call(flag_gems.ops)


def integers(*shape, high=100, dtype=torch.int64):
    return torch.randint(0, high, shape, dtype=dtype)


# argmin_kernel_opt_k1 loads and stores whole blocks, whatever the sizes.
FAULTS = {"argmin_kernel_opt_k1": "past the end of allocation"}

for name, call in {
    "softmax": lambda o: o.softmax(half(6, 300), -1),
    "softmax_outer": lambda o: o.softmax(half(6, 30, 20), 1),
    "softmax_backward": lambda o: o.softmax_backward(half(6, 300), half(6, 300).softmax(-1), -1, torch.float16),
    "log_softmax": lambda o: o.log_softmax(randn(6, 300), -1),
    "log_softmax_backward": lambda o: o.log_softmax_backward(randn(6, 300), randn(6, 300).log_softmax(-1), -1, torch.float32),
    "cumsum": lambda o: o.cumsum(randn(5, 600), 1),
    "cummin": lambda o: o.cummin(randn(5, 100), 1),
    "cummax": lambda o: o.cummax(randn(5, 100), 1),
    "argmax": lambda o: (o.argmax(randn(5, 100), 1), o.argmax(randn(3000))),
    "argmin": lambda o: (o.argmin(randn(5, 100), 1), o.argmin(randn(3000))),
    "max": lambda o: (o.max(half(3000)), o.max_dim(half(5, 100), 1)),
    "min": lambda o: (o.min(half(3000)), o.min_dim(half(5, 100), 1)),
    "amax": lambda o: o.amax(half(5, 100), [1]),
    "all": lambda o: (o.all(integers(3000, high=2) > 0), o.all_dim(integers(5, 100) > 0, 1)),
    "any": lambda o: (o.any(integers(3000, high=2) > 0), o.any_dim(integers(5, 100) > 0, 1)),
    "prod": lambda o: (o.prod(randn(300)), o.prod_dim(randn(5, 10), 1)),
    "sum": lambda o: (o.sum(half(3000)), o.sum_dim(half(5, 100), [1])),
    "mean": lambda o: (o.mean(randn(3000)), o.mean_dim(randn(5, 100), [1])),
    "var_mean": lambda o: (o.var_mean(randn(5, 100), [1]), o.var_mean(randn(3000))),
    "std": lambda o: o.std(randn(5, 100), 1),
    "vector_norm": lambda o: [o.vector_norm(randn(5, 100), p, [1]) for p in (2, 1, 3, float("inf"), 0)],
    "sort": lambda o: (o.sort(randn(4, 100)), o.sort(integers(4, 3000, dtype=torch.int32))),
    "topk": lambda o: o.topk(randn(4, 100), 5),
    "mm": lambda o: o.mm(half(40, 64), half(64, 48)),
    "bmm": lambda o: o.bmm(bfloat(3, 40, 64), bfloat(3, 64, 48)),
    "addmm": lambda o: o.addmm(half(48), half(40, 64), half(64, 48)),
    "baddbmm": lambda o: o.baddbmm(randn(3, 40, 48), randn(3, 40, 64), randn(3, 64, 48)),
    "mv": lambda o: o.mv(randn(40, 64), randn(64)),
    "dot": lambda o: o.dot(randn(3000), randn(3000)),
    "vdot": lambda o: o.vdot(randn(3000), randn(3000)),
    "addmv": lambda o: o.addmv(randn(40), randn(40, 64), randn(64)),
    "embedding": lambda o: o.embedding(half(50, 40), integers(20, high=50)),
    "embedding_backward": lambda o: o.embedding_backward(randn(20, 40), integers(20, high=50), 50, -1, False, False),
    "layer_norm": lambda o: o.layer_norm(half(6, 300), [300], half(300), half(300)),
    "layer_norm_backward": lambda o: o.layer_norm_backward(half(6, 300), half(6, 300), [300], randn(6), torch.rand(6), half(300), half(300), [True] * 3),
    "group_norm": lambda o: o.group_norm(half(2, 8, 40), half(8), half(8), 2, 8, 40, 4, 1e-5),
    "group_norm_backward": lambda o: o.group_norm_backward(half(2, 8, 40), half(2, 8, 40), randn(2, 4), torch.rand(2, 4), half(8), 2, 8, 40, 4, [True] * 3),
    "batch_norm": lambda o: o.batch_norm(randn(4, 8, 30), randn(8), randn(8), randn(8), torch.rand(8), True, 0.1, 1e-5),
    "rms_norm": lambda o: o.rms_norm(half(6, 300), [300], half(300)),
    "weight_norm": lambda o: o.weight_norm_interface(randn(20, 30), randn(20, 1), 0),
    "tril": lambda o: (o.tril(randn(40, 50)), o.tril(randn(3, 40, 50))),
    "triu": lambda o: (o.triu(randn(40, 50)), o.triu(randn(3, 40, 50))),
    "nll_loss": lambda o: o.nll_loss_forward(randn(20, 30), integers(20, high=30), None, 1, -100),
    "mse_loss": lambda o: o.mse_loss(randn(3000), randn(3000)),
    "index_select": lambda o: o.index_select(half(20, 30), 0, integers(8, high=20)),
    "index_add": lambda o: o.index_add(randn(20, 30), 0, integers(8, high=20), randn(8, 30)),
    "isin": lambda o: o.isin(integers(300), integers(20)),
    "unique": lambda o: o._unique2(integers(300), sorted=True, return_inverse=True, return_counts=True),
    "nonzero": lambda o: o.nonzero(integers(300, high=2)),
    "masked_select": lambda o: o.masked_select(randn(300), integers(300, high=2) > 0),
    "count_nonzero": lambda o: (o.count_nonzero(integers(300, high=2)), o.count_nonzero(integers(5, 100, high=2), 1)),
    "conv1d": lambda o: o.conv1d(half(2, 8, 40), half(16, 8, 3)),
    "conv2d": lambda o: o.conv2d(half(2, 8, 12, 12), half(16, 8, 3, 3), None, 1, 1, 1, 1),
    "depthwise": lambda o: o._conv_depthwise2d(half(2, 8, 12, 12), half(8, 1, 3, 3), 3, None, 1, 1, 1),
    "max_pool2d": lambda o: o.max_pool2d_with_indices(half(2, 4, 12, 12), 3, 2, 1),
    "avg_pool2d": lambda o: o.avg_pool2d(half(2, 4, 12, 12), 3, 2, 1),
    "diag": lambda o: o.diag(randn(30)),
    "linspace": lambda o: o.linspace(0, 1, 300),
    "logspace": lambda o: o.logspace(0, 1, 30),
    "kron": lambda o: o.kron(randn(5, 6), randn(7, 8)),
    "trace": lambda o: o.trace(randn(30, 30)),
    "repeat_interleave": lambda o: o.repeat_interleave_self_tensor(randn(20, 30), integers(20, high=5), 0),
    "roll": lambda o: o.roll(randn(20, 30), 5, 1),
    "reflection_pad": lambda o: (o.reflection_pad1d(randn(2, 3, 30), (4, 5)), o.reflection_pad2d(randn(2, 3, 10, 10), (2, 3, 2, 3))),
    "replication_pad": lambda o: o.replication_pad1d(randn(2, 3, 30), (4, 5)),
    "pixel_unshuffle": lambda o: o.pixel_unshuffle(randn(2, 3, 8, 8), 2),
    "quantile": lambda o: o.quantile(randn(5, 100), torch.tensor([0.3, 0.7]), 1),
    "logit": lambda o: o.logit(torch.rand(300)),
    "selu": lambda o: o.selu(randn(300)),
    "digamma": lambda o: o.digamma_(torch.rand(300) * 5 + 0.5),
    "hyperbolic": lambda o: (o.arcsinh(randn(300)), o.arctanh_(torch.rand(300)), o.sinh_(randn(300)), o.cosh(randn(300)), o.hypot(randn(300), randn(300))),
    "expm1": lambda o: (o.expm1(randn(300)), o.log1p_(torch.rand(300)), o.exp2(randn(300)), o.log10(torch.rand(300)), o.tan(randn(300))),
    "rounding": lambda o: (o.floor_(randn(300) * 9), o.round(randn(300) * 9), o.sgn_(randn(300)), o.signbit(randn(300)), o.copysign(randn(300), randn(300))),
    "activations": lambda o: (o.hardsigmoid(half(300)), o.hardswish_(half(300)), o.relu6(half(300)), o.softshrink(half(300)), o.celu(half(300)), o.prelu(half(5, 60), half(60))),
    "hadamard": lambda o: o.hadamard_transform(half(6, 256)),
    "scaled_softmax": lambda o: (o.scaled_softmax_forward(half(1, 2, 20, 64), 0.3), o.scaled_softmax_backward(half(1, 2, 20, 64), half(1, 2, 20, 64).softmax(-1), 0.3)),
    "group_quant": lambda o: o.per_token_group_quant_fp8(half(6, 256), 128, dtype=torch.float8_e5m2),
    "scatter": lambda o: o.scatter_add_(randn(20, 30), 0, integers(20, 30, high=20), randn(20, 30)),
    "gather": lambda o: o.gather(randn(20, 30), 1, integers(20, 8, high=30)),
}.items():
    ENTRIES.append(Entry(GEMS, name, functools.partial(gems, call), FAULTS))
