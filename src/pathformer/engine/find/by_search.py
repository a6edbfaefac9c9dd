"""The candidates of longer questions, by search: the entities whose best assignment is likeliest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.exact_sets import ExactSets
from pathformer.kg.schema import RelationSchema
from pathformer.links.table import LinkTable
from pathformer.query.tree import Tree
from pathformer.search.assignment import Assignment
from pathformer.search.optimise import optimise, score
from pathformer.symbolic.impossible import impossible_answers
from pathformer.symbolic.plausible import log_mean_tails

__all__ = ["find_by_search"]

_BLOCK = 1 << 24  # scores that are worked out at once


def find_by_search(trees: Sequence[Tree], schema: RelationSchema, table: LinkTable, top: int) -> list[Candidates]:
    """Returns the known answers of each tree on the graph of `schema`, and the `top` best others.

    The distance of an entity is minus the log of its best assignment's belief.
    """
    found: list[Candidates] = []
    size = max(1, _BLOCK // table.entities)
    for first in range(0, len(trees), size):
        part = trees[first : first + size]
        rows = score(part, table) if top else np.zeros((len(part), table.entities), np.float32)
        found += [_candidates(tree, row, schema, table, top) for tree, row in zip(part, rows, strict=True)]
    return found


def _candidates(tree: Tree, row: np.ndarray, schema: RelationSchema, table: LinkTable, top: int) -> Candidates:
    sets = ExactSets(schema.graph)
    known = sets.of(tree).astype(np.int64)
    beliefs = row.copy()
    beliefs[known] = 0.0
    beliefs[impossible_answers(tree, schema.graph)] = 0.0
    count = min(top, int((beliefs > 0).sum()))
    others = np.argpartition(-beliefs, count - 1)[:count] if count else np.zeros(0, np.int64)
    others = others[np.lexsort((others, -beliefs[others]))]
    far = np.concatenate([np.zeros(len(known)), -np.log(np.maximum(beliefs[others], 1e-30))])
    return Candidates(
        tree=tree,
        entities=np.concatenate([known, others]),
        distances=far.astype(np.float32),
        known=np.arange(len(far)) < len(known),
        implausible=np.zeros(len(far), np.bool_),
        entity_count=schema.graph.entities,
        ends=log_mean_tails(tree, schema),
        sets=sets,
        assign=_assigner(tree, table),
    )


def _assigner(tree: Tree, table: LinkTable) -> Callable[[int], Assignment | None]:
    """Returns a function that gives an entity's best assignment; the search is done again when it is first called."""
    optimum = cache(lambda: optimise([tree], table))
    return lambda entity: optimum().assignment(entity)
