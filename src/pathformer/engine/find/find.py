"""Finds the candidates of questions: known answers, predictions, and which of these are plausible.

Single links are predicted from the evidence, where there is any; longer questions by search over the table of links, or
from points. An engine without either gives known answers alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pathformer.engine.find.by_search import find_by_search
from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.finders import Finders
from pathformer.engine.find.nearest import find_known, find_nearest
from pathformer.engine.find.single_links import find_link, is_link
from pathformer.kg.schema import RelationSchema
from pathformer.query.compile.negated_parts import contradicts_itself
from pathformer.query.tree import Tree
from pathformer.symbolic.plausible import is_plausible

__all__ = ["find", "search_depth"]

_DEEPER, _DEEPEST = 4, 1000  # the search looks at `top` times the first, at `top` plus the second at most


def find(trees: Sequence[Tree], schema: RelationSchema, finders: Finders, top: int) -> list[Candidates]:
    """Returns the candidates of each tree: known answers on the graph of `schema`, and predictions.

    The search goes deeper than `top`, so that `top` plausible predictions are among the others in most cases.
    """
    depth, links = search_depth(top), finders.links
    found: dict[int, Candidates] = {}
    if links is not None:
        found = {n: find_link(tree, schema, links, depth) for n, tree in enumerate(trees) if is_link(tree)}
    rest = [number for number in range(len(trees)) if number not in found]
    longer = [trees[number] for number in rest]
    table = finders.table(schema.graph)
    if table is not None:
        others = find_by_search(longer, schema, table, depth)
    elif finders.points is None:
        others = [find_known(tree, schema) for tree in longer]
    else:
        others = find_nearest(longer, schema, *finders.points, depth)
    found |= dict(zip(rest, others, strict=True))
    return [_judge(found[number], schema, top) for number in range(len(trees))]


def search_depth(top: int) -> int:
    """Returns how many of the nearest other entities are looked at for `top` plausible ones."""
    return min(_DEEPER * top, top + _DEEPEST)


def _judge(candidates: Candidates, schema: RelationSchema, top: int) -> Candidates:
    """Decides which candidates are plausible; a question that contradicts itself has no predictions."""
    if contradicts_itself(candidates.tree):
        return replace(candidates.where(candidates.known), contradictory=True)
    return _mark_implausible(candidates, schema, top)


def _mark_implausible(candidates: Candidates, schema: RelationSchema, top: int) -> Candidates:
    """Marks the predictions that do not fit the question, up to the `top`-th that does; the rest is never shown."""
    implausible, left = np.zeros(len(candidates), np.bool_), top
    for position in candidates.predicted.nonzero()[0].tolist():
        if not left:
            break
        implausible[position] = not is_plausible(int(candidates.entities[position]), candidates.tree, schema)
        left -= not implausible[position]
    return replace(candidates, implausible=implausible)
