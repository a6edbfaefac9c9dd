"""Adam on any number of weights in one launch, over tables of addresses.

A program updates one chunk of one weight: it reads gradient, master, m and v once, and writes master, m, v and the copy
that the network reads. That is 28 bytes a weight in float32 plus the copy, and the kernel runs at the memory's speed.
Where gradients lie is looked up at run time, so a captured pass can be given its addresses after the capture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["AdamKernel"]

CHUNK, WARPS = 2048, 8


class AdamKernel:
    """The update of a list of slots (see `training.adam.Slot`)."""

    def __init__(
        self, slots: Sequence[Any], rate: Tensor, steps: Tensor, betas: tuple[float, float], epsilon: float
    ) -> None:
        self._slots, self._rate, self._steps, self._betas, self._epsilon = slots, rate, steps, betas, epsilon
        device = rate.device
        self._low = any(slot.working.data_ptr() != slot.master.data_ptr() for slot in slots)
        chunks = [(number, start) for number, s in enumerate(slots) for start in range(0, s.master.numel(), CHUNK)]
        self._chunks = torch.tensor(chunks, dtype=torch.int64, device=device)  # weight, first number
        self._sizes = torch.tensor([slot.master.numel() for slot in slots], dtype=torch.int64, device=device)
        factors = [(slot.rate, slot.decay) for slot in slots]
        self._factors = torch.tensor(factors, dtype=torch.float32, device=device)
        self._addresses = torch.zeros(5, len(slots), dtype=torch.int64, device=device)
        self._bases = torch.tensor(betas, dtype=torch.float64, device=device)
        self._scales = torch.zeros(2, dtype=torch.float32, device=device)  # 1 - b1^t, 1 - b2^t
        self._grads: list[Tensor | None] = []

    def run(self) -> None:
        """Makes one update from the current gradients."""
        if not (self._rate.is_cuda and torch.cuda.is_current_stream_capturing()):
            self.aim()
        self._scales.copy_(1.0 - torch.pow(self._bases, self._steps))
        _adam[(len(self._chunks),)](
            self._chunks, self._sizes, self._factors, self._addresses, self._rate, self._scales,
            self._betas[0], 1.0 - self._betas[0], self._betas[1], 1.0 - self._betas[1], self._epsilon, len(self._slots),
            CHUNK=CHUNK, LOW=self._low, num_warps=WARPS,
        )  # fmt: skip

    def aim(self) -> None:
        """Looks up all addresses; a weight without a gradient is left alone."""
        grads = [slot.working.grad for slot in self._slots]
        self._grads = [None if grad is None else grad.contiguous() for grad in grads]  # kept alive
        columns = []
        for slot, grad in zip(self._slots, self._grads, strict=True):
            found = 0 if grad is None else grad.data_ptr()
            states = (slot.master, slot.first, slot.second, slot.working)
            columns.append([found, *(tensor.data_ptr() for tensor in states)])
        self._addresses.copy_(torch.tensor(columns, dtype=torch.int64).t())


@triton.jit
def _adam(
    chunks, sizes, factors, addresses, rate, scales, beta1, rest1, beta2, rest2, epsilon, count,
    CHUNK: tl.constexpr, LOW: tl.constexpr,
):  # fmt: skip
    weight = tl.load(chunks + tl.program_id(0) * 2)
    start = tl.load(chunks + tl.program_id(0) * 2 + 1)
    size = tl.load(sizes + weight)
    if tl.load(addresses + weight) != 0:
        speed = tl.load(rate) * tl.load(factors + 2 * weight)
        shrink = 1.0 - speed * tl.load(factors + 2 * weight + 1)
        column = addresses + weight
        bits = tl.load(column) | tl.load(column + count) | tl.load(column + 2 * count)
        bits |= tl.load(column + 3 * count) | tl.load(column + 4 * count)
        if (bits % 16 == 0) & (start + CHUNK <= size):  # whole chunks need no mask: 16 bytes at a time
            _adam_chunk(
                column, start, size, speed, shrink, scales, beta1, rest1, beta2, rest2, epsilon, count,
                CHUNK, LOW, True,
            )  # fmt: skip
        else:
            _adam_chunk(
                column, start, size, speed, shrink, scales, beta1, rest1, beta2, rest2, epsilon, count,
                CHUNK, LOW, False,
            )  # fmt: skip


@triton.jit
def _adam_chunk(
    column, start, size, speed, shrink, scales, beta1, rest1, beta2, rest2, epsilon, count,
    CHUNK: tl.constexpr, LOW: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    low: tl.constexpr = tl.bfloat16 if LOW else tl.float32
    place = start + tl.arange(0, CHUNK)
    inside = place < size
    grads = tl.load(column).to(tl.pointer_type(low)) + place
    masters = tl.load(column + count).to(tl.pointer_type(tl.float32)) + place
    firsts = tl.load(column + 2 * count).to(tl.pointer_type(tl.float32)) + place
    seconds = tl.load(column + 3 * count).to(tl.pointer_type(tl.float32)) + place
    copies = tl.load(column + 4 * count).to(tl.pointer_type(low)) + place
    if WHOLE:
        grads = tl.multiple_of(grads, 16)
        masters = tl.multiple_of(masters, 16)
        firsts = tl.multiple_of(firsts, 16)
        seconds = tl.multiple_of(seconds, 16)
        copies = tl.multiple_of(copies, 16)
        grad, master, first, second = tl.load(grads), tl.load(masters), tl.load(firsts), tl.load(seconds)
    else:
        grad = tl.load(grads, mask=inside, other=0.0)
        master = tl.load(masters, mask=inside, other=0.0)
        first = tl.load(firsts, mask=inside, other=0.0)
        second = tl.load(seconds, mask=inside, other=0.0)
    grad = grad.to(tl.float32)
    first = beta1 * first + rest1 * grad
    second = beta2 * second + rest2 * grad * grad  # rest2 is rounded once: 1 - 0.999 in float32 is off by 1e-5
    size1, size2 = tl.load(scales), tl.load(scales + 1)
    master = master * shrink - speed * (first / size1) / (tl.sqrt(second / size2) + epsilon)
    if WHOLE:
        tl.store(masters, master)
        tl.store(firsts, first)
        tl.store(seconds, second)
        if LOW:
            tl.store(copies, master)
    else:
        tl.store(masters, master, mask=inside)
        tl.store(firsts, first, mask=inside)
        tl.store(seconds, second, mask=inside)
        if LOW:
            tl.store(copies, master, mask=inside)
