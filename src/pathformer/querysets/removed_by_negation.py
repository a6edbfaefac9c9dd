"""Removed answers: entities that answer a query without its negated branches, but not with them.

    2in  r1(a, x) & !r2(b, x)      the tails of (a, r1) that are also tails of (b, r2)

A model of the positive part alone ranks them first, because it has learned them.

Random walks find mostly negations that remove one or two entities, while the benchmark's queries, which must lose an
answer to an edge that is not in the graph, remove ten times as many: hence `sample_by_removed_answers`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from pathformer.kg.ragged import Ragged, difference
from pathformer.query.compile.negated_parts import positive_part
from pathformer.query.structures import Structure
from pathformer.querysets.queries import Queries
from pathformer.querysets.sampler import Rules, sample
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.graph_pair import GraphPair

__all__ = ["add_all_removed", "add_removed", "sample_by_removed_answers"]

OVER = 4  # queries that are drawn for each one that is chosen


def add_removed(queries: Queries, graphs: GraphPair) -> Queries:
    """Returns the queries with the answers that their negated branches remove on the smaller graph."""
    part = positive_part(queries.structure)
    if part is None:
        return replace(queries, removed=Ragged.empty(len(queries)))
    structure, columns = part
    without, _ = answer_rows(structure, queries.ids[:, list(columns)], graphs)
    return replace(queries, removed=difference(without, queries.easy))


def add_all_removed(queries: Iterable[Queries], graphs: GraphPair) -> list[Queries]:
    """Adds removed answers to the queries of each structure with a negation that lacks them."""
    return [add_removed(part, graphs) if part.structure.negated and part.removed is None else part for part in queries]


def sample_by_removed_answers(
    structure: Structure,
    graphs: GraphPair,
    count: int,
    most: int,
    *,
    seed: int = 0,
    stream: str = "train",
    rules: Rules | None = None,
) -> Queries:
    """Draws several times `count` queries and chooses `count` of them by how many answers their negations remove.

    A query that removes n answers is chosen with a weight of min(n, most), and none twice: by the largest u^(1/weight),
    u uniform in 0 to 1 (Efraimidis and Spirakis).
    """
    drawn = sample(structure, graphs, OVER * count, seed=seed, stream=stream, rules=rules)
    drawn = add_removed(drawn, graphs)
    assert drawn.removed is not None
    weights = np.minimum(drawn.removed.counts, most)
    rng = np.random.default_rng(list(f"{seed}/{stream}/{structure.name}".encode()))
    keys = rng.random(len(drawn)) ** (1.0 / np.maximum(weights, 1e-3))
    return drawn.take(np.sort(np.argsort(-keys, kind="stable")[:count]))
