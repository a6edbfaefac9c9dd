"""Tables of rows that are looked up by id, and a gradient for them that is written once.

N rows, d columns, n ids.

A table may be read several times in a pass (anchors here, candidate answers there). Plain autograd makes a full (N, d)
gradient for every reading and adds them. On a CUDA device a `Reading` keeps a ledger instead: each reading's backward
pass notes what it owes, and when all have, one kernel writes the table's whole gradient, row by row, without atomics:
deterministic, and several times faster than adding rows into memory.

Rows of values, taken by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.backend import fused

__all__ = ["Reading", "Table", "assemble", "take_once"]


class Table(nn.Module):
    """N rows of d numbers, uniform in [low, high) at first."""

    def __init__(self, rows: int, columns: int, low: float, high: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, columns).uniform_(low, high))

    def __len__(self) -> int:
        return len(self.weight)

    def read(self) -> Reading:
        """Open the table for one forward pass; share the reading between all its look-ups."""
        return Reading(self.weight)


class Reading:
    """One pass's look-ups of one table."""

    def __init__(self, weight: Tensor) -> None:
        self.fused = fused(weight)
        self.weight = weight
        if self.fused:
            from pathformer.nn.kernels.ledger import Ledger

            self.ledger = Ledger()
            self.weight = self.ledger.open(weight)

    def rows(self, ids: Tensor) -> Tensor:
        """Rows by id, ids (n,) -> (n, d)."""
        if self.fused:
            places = torch.arange(len(ids), device=ids.device)
            return assemble([(self, ids, places)], None, None, len(ids))
        return F.embedding(ids, self.weight)


def assemble(
    parts: Sequence[tuple[Reading, Tensor, Tensor]],
    others: tuple[Tensor, Tensor] | None,
    order: Tensor | None,
    rows: int,
) -> Tensor:
    """Rows of several tables, each at its own places, as one tensor (rows, d).

    parts: readings with ids (n,) and their places (n,) in the result; others: values (m, d) and their places (m,). The
    places are all different and cover the result; `order` (rows,) is their inverse, the rank of each row in the places
    of all parts one after the other (None: they are in order).
    """
    if parts[0][0].fused:
        from pathformer.nn.kernels.ledger import assemble as kernel

        return kernel([(part.weight, part.ledger, ids, places) for part, ids, places in parts], others, rows)
    pieces = [part.rows(ids) for part, ids, _ in parts]
    if others is not None:
        pieces.append(others[0])
    joined = torch.cat(pieces)
    return joined if order is None else take_once(joined, order)


def take_once(values: Tensor, rows: Tensor) -> Tensor:
    """values[rows] for rows that are all different. values (V, d), rows (n,) -> (n, d).

    Knowing that no row repeats, the backward pass copies rows into place instead of adding them one by one.
    """
    if not torch.is_grad_enabled():
        return values.index_select(0, rows)  # what a question's few rows cost is the calls
    taken: Tensor = _TakeOnce.apply(values, rows)  # type: ignore[no-untyped-call]
    return taken


class _TakeOnce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, rows: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.count = len(values)
        return values.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        return grads[0].new_zeros(ctx.count, grads[0].shape[1]).index_copy_(0, rows, grads[0]), None
