"""A path step as a walk: the index tensors by which all its paths advance one operator at a time.

P paths, longest first, so the paths that have an operator at place j are the first n_j of them, and n_1 >= n_2 >= ...
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pathformer.plan import PathStep, Token

__all__ = ["Hop", "Walk"]


@dataclass(frozen=True, eq=False)
class Hop:
    """The operators at one place of the paths that reach it: relations, and negations after them."""

    count: int  # n_j
    relations: int  # how many of them are relations
    order: Tensor | None  # (n_j,) paths of relations, then paths of negations; None where there is but one kind
    back: Tensor | None  # (n_j,) its inverse


@dataclass(frozen=True, eq=False)
class Walk:
    """The hops of a path step."""

    anchored: bool  # the paths start at anchors; otherwise all start at variables
    hops: tuple[Hop, ...]
    relation_sources: Tensor  # places in the batch's ids, hop by hop, in each hop's order

    @classmethod
    def of(cls, step: PathStep, device: torch.device) -> Walk:
        """The tensors of a step."""
        starts = step.kinds[step.offsets[:-1]]
        anchored = bool((starts == Token.ENTITY).all())
        assert anchored or (starts == Token.VARIABLE).all(), "a level has anchors or variables, not both"
        hops, sources = [], [np.empty(0, np.int64)]
        for place in range(1, int(step.lengths.max(initial=1))):
            tokens = step.offsets[:-1][step.lengths > place] + place
            negated = step.kinds[tokens] == Token.NEGATION
            order = np.argsort(negated, kind="stable")
            relations = len(tokens) - int(negated.sum())
            mixed = 0 < relations < len(tokens)
            hops.append(
                Hop(
                    len(tokens),
                    relations,
                    torch.from_numpy(order).to(device) if mixed else None,
                    torch.from_numpy(np.argsort(order)).to(device) if mixed else None,
                )
            )
            sources.append(step.sources[tokens[order[:relations]]])
        return cls(anchored, tuple(hops), torch.from_numpy(np.concatenate(sources)).to(device))
