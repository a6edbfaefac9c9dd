"""Negations that are lifted out of paths into forks."""

from __future__ import annotations

import numpy as np

from pathformer.plan.build import build_layout
from pathformer.plan.layout import Block, ForkStep, Layout, PathStep, Token
from pathformer.plan.lift_negations import lift_negations
from pathformer.query.structures import EFOL_TRAINED, structure


def layout_of(*names: str, count: int = 2) -> Layout:
    return build_layout([Block(structure(name), count) for name in names])


def tokens(layout: Layout) -> list[tuple[int, ...]]:
    """The kinds of every path, value by value."""
    found = []
    for step in layout.steps:
        if isinstance(step, PathStep):
            found += [tuple(part.tolist()) for part in np.split(step.kinds, step.offsets[1:-1])]
        else:
            found += [()] * len(step)
    return found


E, R, N = Token.ENTITY, Token.RELATION, Token.NEGATION


def test_branches_lose_their_last_negation_and_are_marked() -> None:
    lifted, negated = lift_negations(layout_of("pni", "2in", count=1))
    first, forks = lifted.steps
    assert isinstance(first, PathStep)
    assert isinstance(forks, ForkStep)
    assert tokens(lifted)[:4] == [(E, R, R), (E, R), (E, R), (E, R)]
    pairs = list(zip(*(branch.tolist() for branch in forks.branches), strict=True))
    assert [[bool(negated[value]) for value in pair] for pair in pairs] == [[True, False], [False, True]]
    assert lifted.roots.tolist() == [4, 5]


def test_what_no_fork_reads_stays() -> None:
    for name in ("(e,(r,n))", "(e,(r,n,r))", "1p", "3i"):
        before = layout_of(name)
        after, negated = lift_negations(before)
        assert tokens(after) == tokens(before)
        assert not negated.any()
        assert after.roots.tolist() == before.roots.tolist()


def test_steps_stay_sorted_and_every_value_is_where_its_readers_look() -> None:
    before = layout_of(*EFOL_TRAINED, count=3)
    after, negated = lift_negations(before)
    assert after.values == before.values
    for one, other in zip(before.steps, after.steps, strict=True):
        assert (one.first, len(one)) == (other.first, len(other))
        if isinstance(other, PathStep):
            assert (np.diff(other.lengths) <= 0).all()
            entities = [np.sort(step.sources[step.kinds == Token.ENTITY]) for step in (one, other)]  # type: ignore[union-attr]
            assert entities[0].tolist() == entities[1].tolist()
    assert negated.sum() == 5 * 3
    assert not after.negated


def test_twice_denied_is_not_denied() -> None:
    lifted, negated = lift_negations(layout_of("((e,(r,)),(e,(r,n,n)))", count=1))
    assert tokens(lifted)[:2] == [(E, R), (E, R)]
    assert not negated.any()
