"""Compares a model on many queries at once with a recursion over each query."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.plan.build import plan_trees
from pathformer.query.compile.dnf import to_demorgan, to_dnf
from pathformer.query.tree import Tree

DEEP = "(((((e,(r,)),(e,(r,n))),(r,r)),(((e,(r,)),(e,(r,)),(e,(r,)),(e,(r,r))),(n,)),(e,(r,))),(r,n,r))"
_REWRITTEN: dict[str, Callable[[Tree], tuple[Tree, ...]]] = {
    "dnf": to_dnf,
    "native": lambda tree: (tree,),
    "demorgan": lambda tree: (to_demorgan(tree),),
}


def assert_recursive(
    made: Model, trees: Sequence[Tree], encode: Callable[[Tree], Tensor], tolerance: float = 1e-4
) -> None:
    """Of each tree the rows (one a disjunct, where unions are rewritten so) are what `encode` makes of its parts."""
    plan = plan_trees(trees, made.union)
    points = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    for place, tree in enumerate(trees):
        rows = points[torch.from_numpy(plan.layout.owners == plan.order[place])]
        expected = torch.stack([encode(part) for part in _REWRITTEN[made.union](tree)])
        torch.testing.assert_close(rows, expected, rtol=tolerance, atol=0.1 * tolerance)
