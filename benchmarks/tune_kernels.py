"""Launch settings of the fused kernels: each tried alone at the paper's size, the fastest kept for the process.

    PYTHONPATH=src python benchmarks/tune_kernels.py

A case is captured as a CUDA graph and replayed, so that launches from Python are not what is measured. Prints every
setting with its time, and last the fastest as they would stand in the kernels' files.
"""

from __future__ import annotations

import time

import torch
from triton.testing import do_bench_cudagraph

from pathformer.nn.kernels import activation, adam, attention, ledger, norm
from pathformer.nn.packing import Packing
from pathformer.training.adam import Slot

TOKENS, DIM, HIDDEN, HEADS, ENTITIES, QUERIES, CANDIDATES = 9728, 800, 3200, 8, 63_361, 2560, 129
LENGTHS = [4] * 512 + [3] * 512 + [2] * 3072


class Context:
    """What autograd would hand to a function's forward and backward passes."""

    saved_tensors: tuple = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def set_materialize_grads(self, value):
        pass

    def mark_non_differentiable(self, *tensors):
        pass


def low(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def try_all(title, places, choices, work, best):
    """Set `places` (module, name) or (module, name, key) to each of `choices`, time `work`, keep the fastest."""
    usual = tuple(_get(place) for place in places)
    times = {}
    for choice in dict.fromkeys([usual, *choices]):
        for place, value in zip(places, choice, strict=True):
            _set(place, value)
        try:
            times[choice] = do_bench_cudagraph(work, rep=5) * 1e3
        except Exception as error:
            print(f"  {title} {choice}: {type(error).__name__} {str(error)[:80]}")
    fastest = min(times, key=times.get)
    for place, value in zip(places, fastest, strict=True):
        _set(place, value)
    names = ", ".join(".".join(map(str, (place[0].__name__.rpartition(".")[2], *place[1:]))) for place in places)
    best.append(f"{names} = {fastest}  ({times[usual]:.1f} -> {times[fastest]:.1f} us)")
    print(f"  {title}: " + ", ".join(f"{choice} {spent:.1f}" for choice, spent in times.items()), flush=True)


def _get(place):
    value = getattr(place[0], place[1])
    return value[place[2]] if len(place) == 3 else value


def _set(place, value):
    if len(place) == 3:
        getattr(place[0], place[1])[place[2]] = value
    else:
        setattr(place[0], place[1], value)


def attention_case(lengths):
    """A context after a forward pass over sequences of these lengths, and both passes as calls."""
    seed = torch.tensor([5], dtype=torch.int32, device="cuda")
    packing = Packing.of(lengths, "cuda")
    qkv, grad = low(sum(lengths), 3 * DIM), low(sum(lengths), DIM)
    arguments = (qkv, low(3 * DIM), None, packing.offsets, packing.classes, 1, HEADS, False, 0.1, seed)
    context = Context()
    attention._Attention.forward(context, *arguments)
    return (
        lambda: attention._Attention.forward(Context(), *arguments),
        lambda: attention._Attention.backward(context, grad, None),
    )


def tune_attention(best):
    forward, backward = attention_case([2] * 3072)
    places = [(attention, "PATHS", 2), (attention, "WARPS", 2)]
    try_all("attention forward, 2 tokens", places, [(1, 1), (4, 2)], forward, best)
    places = [(attention, "BACK_PATHS", 2), (attention, "BACK_WARPS", 2)]
    try_all("attention backward, 2 tokens", places, [(1, 1), (2, 2)], backward, best)
    forward, backward = attention_case([4] * 512 + [3] * 512)
    places = [(attention, "PATHS", 4), (attention, "WARPS", 4)]
    try_all("attention forward, 4 tokens", places, [(1, 2), (2, 2)], forward, best)
    places = [(attention, "BACK_PATHS", 4), (attention, "BACK_WARPS", 4)]
    try_all("attention backward, 4 tokens", places, [(1, 1), (1, 4)], backward, best)
    _, backward = attention_case(LENGTHS)
    places = [(attention, "PROGRAMS")]
    try_all("attention backward, all", places, [(528,), (1056,)], backward, best)


def tune_norm(best):
    seed = torch.tensor([5], dtype=torch.int32, device="cuda")
    rows, update, grad, of_total = (low(TOKENS, DIM) for _ in range(4))
    arguments = (rows, update, low(DIM), low(DIM), low(DIM), 1e-6, 0.1, seed)
    forward, context = norm._AddNorm.forward, Context()
    forward(context, *arguments)
    try_all("norm forward", [(norm, "WARPS")], [(1,), (4,)], lambda: forward(Context(), *arguments), best)
    choices = [(4, 528, 1), (4, 1056, 1), (2, 1056, 1), (8, 528, 1)]
    places = [(norm, "BACK_WARPS"), (norm, "PROGRAMS"), (norm, "STAGES")]
    try_all("norm backward", places, choices, lambda: norm._AddNorm.backward(context, of_total, grad), best)


def tune_activation(best):
    seed = torch.tensor([5], dtype=torch.int32, device="cuda")
    values, grad = low(TOKENS, HIDDEN), low(TOKENS, HIDDEN)
    forward, context = activation._ReluDropout.forward, Context()
    bias = low(HIDDEN)
    forward(context, values, bias, 0.1, seed)
    places = [(activation, "ROWS"), (activation, "COLUMNS"), (activation, "WARPS")]
    choices = [(8, 256, 4), (32, 128, 8)]
    try_all("activation forward", places, choices, lambda: forward(Context(), values, bias, 0.1, seed), best)
    names = ("BACK_ROWS", "BACK_COLUMNS", "BACK_WARPS", "STAGES", "LANES")
    choices = [(16, 128, 4, 1, 64), (8, 256, 4, 1, 128), (16, 128, 4, 1, 128)]
    places = [(activation, name) for name in names]
    try_all("activation backward", places, choices, lambda: activation._ReluDropout.backward(context, grad), best)


def tune_ledger(best):
    weight, points = low(ENTITIES, DIM) * 0.02, low(QUERIES, DIM) * 0.02
    share = 1.0 / (5.0 + torch.arange(ENTITIES, device="cuda", dtype=torch.float32))
    ids = torch.randint(ENTITIES, (QUERIES, CANDIDATES), device="cuda", dtype=torch.int32)
    ids[:, 0] = torch.multinomial(share, QUERIES, replacement=True).int()
    anchors = torch.multinomial(share, 4096, replacement=True).int()
    places = torch.arange(4096, device="cuda")
    grads, coefficients = low(TOKENS, DIM), torch.randn(QUERIES, CANDIDATES, device="cuda")

    def distance():
        ledger._Distance.forward(Context(), points, weight, None, ids)

    context = Context()
    ledger._Distance.forward(context, points, weight, ledger.Ledger(), ids)

    def of_points():
        context.ledger = ledger.Ledger()
        ledger._Distance.backward(context, coefficients)

    def settle():
        ledger._settle(weight, [(anchors, grads, places)], [(ids, points, coefficients)])

    names = [(ledger, "PAIRS"), (ledger, "PAIR_WARPS")]
    try_all("distance", names, [(32, 8)], distance, best)
    names = [(ledger, "TURN"), (ledger, "TURN_WARPS")]
    try_all("gradient of points", names, [(8, 4), (2, 4)], of_points, best)
    names = [(ledger, "DEBTS"), (ledger, "DEBT_WARPS")]
    try_all("gradient of a table", names, [(2, 4), (8, 8)], settle, best)


def tune_adam(best):
    weight = torch.randn(ENTITIES, DIM, device="cuda")
    working = torch.nn.Parameter(weight.bfloat16())
    working.grad = torch.randn_like(working)
    slot = Slot("w", weight, working, torch.zeros_like(weight), torch.zeros_like(weight), 1.0, 0.0)
    rate, steps = torch.tensor(1e-4, device="cuda"), torch.ones((), dtype=torch.float64, device="cuda")
    kernels = {}

    def work():
        key = (adam.CHUNK, adam.WARPS)
        if key not in kernels:
            kernels[key] = adam.AdamKernel([slot], rate, steps, (0.9, 0.999), 1e-8)
        kernels[key].run()

    names = [(adam, "CHUNK"), (adam, "WARPS")]
    try_all("adam, entities", names, [(1024, 4)], work, best)


def tune():
    """Tune all; returns the lines that say what was chosen."""
    best: list[str] = []
    begun = time.perf_counter()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for part in (tune_attention, tune_norm, tune_activation, tune_ledger, tune_adam):
            part(best)
            torch.cuda.empty_cache()
    print(f"tuned in {time.perf_counter() - begun:.0f} s:")
    for line in best:
        print(f"  {line}", flush=True)
    return best


if __name__ == "__main__":
    tune()
