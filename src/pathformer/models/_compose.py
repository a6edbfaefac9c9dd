"""What a path is worth without a transformer: its start times its relations, complex number by complex number.

P paths, n rows that meet an operator, q numbers of a query: q / 2 real and then q / 2 imaginary parts.

    x <- x r        a relation: in the space `hermitian`, a single link is then scored as by ComplEx
    x <- c x        [Negation]; c is learned and below 0 at first, so that at a sum of branches the answers lose

The value before each further relation is first read as an entity that is expected there:

    x <- E[v_e],  e with probability softmax(-Dist(e, x))

and, where relations have domains w_r, as an entity that the next relation leaves: softmax(-Dist(e, x) + <w_r, v_e>).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from pathformer.models._walk import Walk, follow
from pathformer.spaces.hermitian import multiply

__all__ = ["Composition"]

Expect = Callable[[Tensor, Tensor | None], Tensor]
_COMPLEMENT = -0.5  # c at first


class Composition(nn.Module):
    """The product along each path."""

    def __init__(self, negation: bool) -> None:
        super().__init__()
        self.complement = nn.Parameter(torch.tensor([_COMPLEMENT])) if negation else None  # c

    def forward(
        self, walk: Walk, starts: Tensor, chain: Tensor, expect: Expect, domains: Tensor | None = None
    ) -> Tensor:
        """Starts (P, q), relations of all hops (., q) -> (P, q); expect: rows (n, q) as entities (n, q).

        domains: w_r of the same relations (., q), which `expect` is given with the rows.
        """
        width = chain.shape[1]

        def first(rows: Tensor, relations: Tensor) -> Tensor:
            return multiply(rows, relations[:, :width])

        def onward(rows: Tensor, relations: Tensor) -> Tensor:
            return first(expect(rows, None if domains is None else relations[:, width:]), relations)

        links = chain if domains is None else torch.cat([chain, domains], dim=1)
        return follow(walk, starts, links, (first, self.negate), (onward, self.negate))

    def negate(self, rows: Tensor) -> Tensor:
        """c x."""
        assert self.complement is not None
        return rows * self.complement
