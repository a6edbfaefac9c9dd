"""Search by brute force: every assignment of every variable, and the definitions of the operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import product

import numpy as np
from hypothesis import strategies as st

from pathformer.query.tree import Anchor, Intersection, Negation, NodeId, Projection, Tree, Union
from pathformer.search.settings import SearchSettings
from support.query_strategies import ENTITIES, RELATIONS, Edges

BOTH = {
    "product": lambda a, b: a * b,
    "goedel": min,
    "lukasiewicz": lambda a, b: max(0.0, a + b - 1),
}
EITHER = {
    "product": lambda a, b: 1 - (1 - a) * (1 - b),
    "goedel": max,
    "lukasiewicz": lambda a, b: min(1.0, a + b),
}


def predictions() -> st.SearchStrategy[np.ndarray]:
    """Tables (R, N, N) of probabilities with many equal ones, none certain."""
    shape = (RELATIONS, ENTITIES, ENTITIES)
    values = np.array([0, 0, 0, 0.1, 0.3, 0.5, 0.9], np.float32)
    return st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).choice(values, shape))


def matrix(edges: Edges, predicted: np.ndarray) -> np.ndarray:
    """The table of links as one array (R, N, N)."""
    certain = predicted.copy()
    for head, relation, tail in edges:
        certain[relation, head, tail] = 1
    return certain


def best_score(tree: Tree, entity: int, table: np.ndarray, settings: SearchSettings) -> float:
    """The score of an entity: the most that any assignment gives."""
    nodes = list(variables(tree, settings))
    every = product(range(table.shape[1]), repeat=len(nodes))
    return max(value(tree, entity, dict(zip(nodes, chosen, strict=True)), table, settings) for chosen in every)


def variables(tree: Tree, settings: SearchSettings, node: NodeId = ()) -> Iterator[NodeId]:
    """The variables outside negations, and with `links` those of a negated link."""
    match tree:
        case Negation(Projection() as of) if settings.negation == "links":
            yield from variables(of, settings, (*node, 0))
        case Projection(_, of) if not isinstance(of, Anchor):
            yield (*node, 0)
            yield from variables(of, settings, (*node, 0))
        case Intersection(branches) | Union(branches):
            for number, branch in enumerate(branches):
                yield from variables(branch, settings, (*node, number))


def value(
    tree: Tree,
    entity: int,
    bindings: Mapping[NodeId, int],
    table: np.ndarray,
    settings: SearchSettings,
    node: NodeId = (),
) -> float:
    """What one assignment gives an entity; 0 for a part with a variable that is not bound."""
    both, scale = BOTH[settings.norm], settings.negation_scale

    def hop(projection: Projection, node: NodeId, links: np.ndarray) -> float:
        if isinstance(projection.of, Anchor):
            return float(links[projection.of.entity, entity])
        head = bindings.get((*node, 0))
        if head is None:
            return 0.0
        return both(value(projection.of, head, bindings, table, settings, (*node, 0)), float(links[head, entity]))

    match tree:
        case Anchor(anchor):
            return float(entity == anchor)
        case Projection(relation):
            return hop(tree, node, table[relation])
        case Negation(Projection(relation) as of) if settings.negation == "links":
            return hop(of, (*node, 0), 1 - np.minimum(1, scale * table[relation]))
        case Negation(of):
            part = best_score(of, entity, table, settings)
            return 1 - min(1.0, (scale if isinstance(of, Projection) else 1.0) * part)
        case Intersection(branches) | Union(branches):
            parts = [value(branch, entity, bindings, table, settings, (*node, n)) for n, branch in enumerate(branches)]
            return reduce(both if isinstance(tree, Intersection) else EITHER[settings.norm], parts)
