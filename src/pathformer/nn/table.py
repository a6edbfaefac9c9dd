"""Tables of rows that are looked up by id, with a gradient that is written once; rows of values taken by number.

N rows, d columns, n ids.

A table may be read several times in a pass (anchors here, candidate answers there). Plain autograd makes a full (N, d)
gradient for every reading and adds them. On a CUDA device each reading's backward pass notes its share instead, and
when all have, one kernel writes the table's whole gradient, row by row, without atomics: deterministic, and several
times faster than adding rows into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.backend import is_fused

__all__ = ["Reading", "Table", "assemble", "take_once"]


class Table(nn.Module):
    """N rows of d numbers, uniform in [low, high) at first."""

    def __init__(self, rows: int, columns: int, low: float, high: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, columns).uniform_(low, high))

    def __len__(self) -> int:
        return len(self.weight)

    def read(self) -> Reading:
        """Opens the table for one forward pass, whose look-ups must share the reading."""
        return Reading(self.weight)


class Reading:
    """The look-ups of one table in one pass."""

    def __init__(self, weight: Tensor) -> None:
        self.fused = is_fused(weight)
        self.weight = weight
        if self.fused:
            from pathformer.nn.kernels.table import TableGradient

            self.gradient = TableGradient()
            self.weight = self.gradient.open(weight)

    def rows(self, ids: Tensor) -> Tensor:
        """Returns rows by id: ids (n,) -> (n, d)."""
        if self.fused:
            positions = torch.arange(len(ids), device=ids.device)
            return assemble([(self, ids, positions)], None, None, len(ids))
        return F.embedding(ids, self.weight)


def assemble(
    parts: Sequence[tuple[Reading, Tensor, Tensor]],
    others: tuple[Tensor, Tensor] | None,
    order: Tensor | None,
    rows: int,
) -> Tensor:
    """Puts rows of several tables at their positions in one tensor (rows, d).

    parts: readings with ids (n,) and their positions (n,) in the result; others: values (m, d) and their positions
    (m,). The positions are all different and cover the result; `order` (rows,) is their inverse, the rank of each row
    among the positions of all parts one after the other (None: they are in order).
    """
    if parts[0][0].fused:
        from pathformer.nn.kernels.table import assemble as kernel

        return kernel([(part.weight, part.gradient, ids, positions) for part, ids, positions in parts], others, rows)
    pieces = [part.rows(ids) for part, ids, _ in parts]
    if others is not None:
        pieces.append(others[0])
    joined = torch.cat(pieces)
    return joined if order is None else take_once(joined, order)


def take_once(values: Tensor, rows: Tensor) -> Tensor:
    """Returns values[rows] for rows that are all different: values (V, d), rows (n,) -> (n, d).

    Knowing that no row repeats, the backward pass copies rows into place instead of adding them one by one.
    """
    if not torch.is_grad_enabled():
        return values.index_select(0, rows)  # for the few rows of a question only the number of calls matters
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
