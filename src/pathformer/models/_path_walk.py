"""A path step as a walk: the index tensors by which all its paths advance one operator at a time.

P paths, longest first, so the paths with an operator at position j are the first n_j of them, and n_1 >= n_2 >= ...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pathformer.nn.table import take_once
from pathformer.plan.layout import PathStep, Token

__all__ = ["Hop", "Walk", "follow"]

Project = Callable[[Tensor, Tensor], Tensor]  # rows (n, .), rows of relations (n, r) -> (n, q)
Negate = Callable[[Tensor], Tensor]  # rows (n, .) -> (n, q)


@dataclass(frozen=True, eq=False)
class Hop:
    """The operators at one position of the paths that reach it: relations, and negations after them."""

    count: int  # n_j
    relations: int  # how many of them are relations
    order: Tensor | None  # (n_j,) paths of relations, then of negations; None if all are of one kind
    back: Tensor | None  # (n_j,) its inverse


@dataclass(frozen=True, eq=False)
class Walk:
    """The hops of a path step."""

    anchored: bool  # the paths start at anchors; otherwise all start at variables
    hops: tuple[Hop, ...]
    relation_sources: Tensor  # positions in the batch's ids, hop by hop, in each hop's order
    first_sources: Tensor  # (P,) positions in the ids of each path's first operator, in the paths' order
    first_negated: Tensor | None  # (P,) whether that is a negation or missing; None if all are relations

    @classmethod
    def of(cls, step: PathStep, device: torch.device) -> Walk:
        """Makes the tensors of a step."""
        starts = step.kinds[step.offsets[:-1]]
        anchored = bool((starts == Token.ENTITY).all())
        assert anchored or (starts == Token.VARIABLE).all(), "a level has anchors or variables, not both"
        bare = step.lengths == 1  # a fork that is denied, where its negation is a matter of the next fork
        firsts = np.where(bare, 0, step.offsets[:-1] + 1)
        denied = bare | (step.kinds[firsts] == Token.NEGATION)
        hops, sources = [], [np.empty(0, np.int64)]
        for position in range(1, int(step.lengths.max(initial=1))):
            tokens = step.offsets[:-1][step.lengths > position] + position
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
        return cls(
            anchored,
            tuple(hops),
            torch.from_numpy(np.concatenate(sources)).to(device),
            torch.from_numpy(np.where(denied, 0, step.sources[firsts])).to(device),
            torch.from_numpy(denied).to(device) if denied.any() else None,
        )


def follow(
    walk: Walk, starts: Tensor, chain: Tensor, first: tuple[Project, Negate], then: tuple[Project, Negate]
) -> Tensor:
    """Walks all paths of a step to their ends: starts (P, .), rows of the relations of all hops (., r) -> (P, q).

    first, then: how a relation and how a negation moves rows, at the first position of the paths and at all others.
    """
    rows, ended = starts, []
    for number, (hop, relations) in enumerate(
        zip(walk.hops, chain.split([hop.relations for hop in walk.hops]), strict=True)
    ):
        if hop.count < len(rows):
            rows, rest = rows.split([hop.count, len(rows) - hop.count])
            ended.append(rest)
        rows = _hop(hop, relations, rows, *(then if number else first))
    return torch.cat([rows, *reversed(ended)])


def _hop(hop: Hop, relations: Tensor, rows: Tensor, project: Project, negate: Negate) -> Tensor:
    """Moves each row by one operator: (n, .) -> (n, q)."""
    if hop.order is not None:
        rows = take_once(rows, hop.order)
    linked, negated = rows.split([hop.relations, hop.count - hop.relations])
    parts = []
    if len(linked):
        parts.append(project(linked, relations))
    if len(negated):
        parts.append(negate(negated))
    moved = torch.cat(parts)
    return moved if hop.back is None else take_once(moved, hop.back)
