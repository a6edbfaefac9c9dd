"""Random trees, and a naive evaluation of them over a small random graph: what every rewrite must keep."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

ENTITIES, RELATIONS = 5, 6  # relations directed: three and their inverses

Edges = frozenset[tuple[int, int, int]]


def trees(unions: bool = True, max_leaves: int = 12) -> st.SearchStrategy[Tree]:
    """Trees of any nesting whose anchors are always projected, as in every syntax."""
    leaf = st.builds(Projection, st.integers(0, RELATIONS - 1), st.builds(Anchor, st.integers(0, ENTITIES - 1)))

    def extend(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        branches = st.lists(inner, min_size=2, max_size=3).map(tuple)
        kinds = [
            st.builds(Projection, st.integers(0, RELATIONS - 1), inner),
            st.builds(Negation, inner),
            st.builds(Intersection, branches),
        ]
        return st.one_of(*kinds, st.builds(Union, branches)) if unions else st.one_of(*kinds)

    return st.recursive(leaf, extend, max_leaves=max_leaves)


def graphs() -> st.SearchStrategy[Edges]:
    """Directed edges (head, relation, tail) of a small graph, both directions of each."""
    every = list(product(range(ENTITIES), range(0, RELATIONS, 2), range(ENTITIES)))
    forward = st.frozensets(st.sampled_from(every), max_size=20)
    return forward.map(lambda edges: edges | {(t, r ^ 1, h) for h, r, t in edges})


def evaluate(tree: Tree, edges: Edges) -> frozenset[int]:
    """The answers, by the definitions of the set operators."""
    match tree:
        case Anchor(entity):
            return frozenset({entity})
        case Projection(relation, of):
            start = evaluate(of, edges)
            return frozenset(t for h, r, t in edges if r == relation and h in start)
        case Negation(of):
            return frozenset(range(ENTITIES)) - evaluate(of, edges)
        case Intersection(branches):
            return frozenset.intersection(*(evaluate(branch, edges) for branch in branches))
        case Union(branches):
            return frozenset.union(*(evaluate(branch, edges) for branch in branches))


def has_union(tree: Tree) -> bool:
    """Whether a union stands anywhere in it."""
    match tree:
        case Anchor():
            return False
        case Projection(_, of) | Negation(of):
            return has_union(of)
        case Intersection(branches):
            return any(map(has_union, branches))
        case Union():
            return True
