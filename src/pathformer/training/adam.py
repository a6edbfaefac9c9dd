"""Dense Adam on every weight that moves, with float32 masters behind weights that may be of lower precision.

    m = b1 m + (1 - b1) g        v = b2 v + (1 - b2) g^2
    w = w - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) - lr * decay * w

Kingma and Ba; `decay` is decoupled (AdamW). Step count and rate are tensors on the device, so a captured update moves
on by itself and the rate can be set between replays. On a CUDA device all weights are updated by one kernel, which also
writes the lower-precision copies that the next pass reads. Weights that get no gradient are kept as they are: they have
no moments, neither here nor in a checkpoint.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from pathformer.nn.backend import is_fused

if TYPE_CHECKING:
    from pathformer.nn.kernels.adam import AdamKernel

__all__ = ["Adam", "Slot"]


@dataclass(frozen=True, eq=False, slots=True)
class Slot:
    """One weight: its float32 master and state, and the copy that the network reads and whose gradient it gets."""

    name: str
    master: Tensor
    working: nn.Parameter  # `master` itself where the network runs in float32
    first: Tensor  # m
    second: Tensor  # v
    rate: float | Tensor  # factor of the learning rate, one for all its rows or one for each, (N, 1)
    decay: float


class Adam:
    """The optimiser of one model."""

    def __init__(
        self,
        masters: Mapping[str, nn.Parameter],
        working: Mapping[str, nn.Parameter],
        *,
        rate: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        decay: float = 0.0,
        factors: Mapping[str, float | Tensor] | None = None,
        spared: Collection[str] = (),
    ) -> None:
        """`working` has the names of `masters`; `factors` multiplies the rate of the weights it names, or of each row.

        spared: weights that do not decay, by name. A working weight that requires no gradient is kept.
        """
        self.betas, self.epsilon = betas, epsilon
        self.slots: Sequence[Slot] = [
            Slot(
                name,
                master.detach(),
                working[name],
                torch.zeros_like(master, requires_grad=False),
                torch.zeros_like(master, requires_grad=False),
                (factors or {}).get(name, 1.0),
                0.0 if name in spared else decay,
            )
            for name, master in masters.items()
            if working[name].requires_grad
        ]
        kept = [name for name in masters if not working[name].requires_grad]
        self._kept = [(masters[name].detach(), working[name]) for name in kept]
        device = next(iter(masters.values())).device
        self.steps = torch.zeros((), dtype=torch.float64, device=device)  # t
        self._rate = torch.full((), rate, dtype=torch.float32, device=device)  # lr
        self._kernel = self._new_kernel()

    def _new_kernel(self) -> AdamKernel | None:
        if not self.slots or not is_fused(self.slots[0].master):
            return None
        if any(isinstance(slot.rate, Tensor) for slot in self.slots):
            return None  # it has one rate a weight
        from pathformer.nn.kernels.adam import AdamKernel

        return AdamKernel(self.slots, self._rate, self.steps, self.betas, self.epsilon)

    def twin(self) -> Adam:
        """The same rate, step count and moments for another captured pass, whose gradients lie elsewhere."""
        other = copy.copy(self)
        other._kernel = self._new_kernel()
        return other

    def set_rate(self, rate: float) -> None:
        """Set lr from the next update on; nothing is captured anew."""
        self._rate.fill_(rate)

    def clear(self) -> None:
        """Drop the gradients, so that the next backward pass writes them instead of adding to them."""
        for slot in self.slots:
            slot.working.grad = None

    def reset(self) -> None:
        """Forget the moments: the fresh optimiser that the reference code makes at each drop of its rate."""
        self.steps.zero_()
        for slot in self.slots:
            slot.first.zero_()
            slot.second.zero_()

    @torch.no_grad()
    def update(self) -> None:
        """One step, from the gradients of the working weights."""
        self.steps += 1
        if self._kernel is not None:
            self._kernel.run()
            return
        first_scale = 1 - torch.pow(self.betas[0], self.steps)
        second_scale = 1 - torch.pow(self.betas[1], self.steps)
        for slot in self.slots:
            self._plain(slot, first_scale, second_scale)

    def settle(self) -> None:
        """Tell the kernel where a captured pass has its gradients; call once after the capture."""
        if self._kernel is not None:
            self._kernel.aim()

    def _plain(self, slot: Slot, first_scale: Tensor, second_scale: Tensor) -> None:
        if slot.working.grad is None:  # a weight that this batch's structures do not use, as in torch.optim
            return
        grad, (b1, b2) = slot.working.grad.float(), self.betas
        slot.first.mul_(b1).add_(grad, alpha=1 - b1)
        slot.second.mul_(b2).addcmul_(grad, grad, value=1 - b2)
        size = (slot.second / second_scale).sqrt_().add_(self.epsilon)
        rate = self._rate * slot.rate
        if slot.decay:
            slot.master.mul_(1 - rate * slot.decay)
        slot.master.sub_(rate * (slot.first / first_scale) / size)
        if slot.working.data_ptr() != slot.master.data_ptr():
            slot.working.copy_(slot.master)

    def state(self) -> dict[str, Tensor]:
        """Returns what a checkpoint must hold besides the masters: `steps`, `first.<name>`, `second.<name>`."""
        state = {"steps": self.steps}
        for slot in self.slots:
            state[f"first.{slot.name}"] = slot.first
            state[f"second.{slot.name}"] = slot.second
        return state

    @torch.no_grad()
    def load(self, state: Mapping[str, Tensor]) -> None:
        """Take up a saved state, and bring the working copies in line with the masters."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Copy the masters to the working weights, after the masters were set from outside."""
        for master, working in [*((slot.master, slot.working) for slot in self.slots), *self._kept]:
            if working.data_ptr() != master.data_ptr():
                working.copy_(master)
