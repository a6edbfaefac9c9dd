"""A plan computes exactly the paths and forks of every query: it is run here on symbols instead of vectors."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.plan.build import Plan, build_layout, build_plan, plan_trees
from pathformer.plan.describe import describe
from pathformer.plan.layout import Block, Layout, PathStep, Token
from pathformer.query.compile.dnf import to_dnf
from pathformer.query.compile.paths import Fork, Path, to_paths
from pathformer.query.structures import NEGATION, STRUCTURES, Structure, structure, structure_of
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union


def trees() -> st.SearchStrategy[Tree]:
    leaf = st.builds(Projection, st.integers(0, 5), st.builds(Anchor, st.integers(0, 9)))

    def extend(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        branches = st.lists(inner, min_size=2, max_size=4).map(tuple)
        return st.one_of(
            st.builds(Projection, st.integers(0, 5), inner),
            st.builds(Negation, inner),
            st.builds(Intersection, branches),
            st.builds(Union, branches),
        )

    return st.recursive(leaf, extend, max_leaves=8)


def run(plan: Plan) -> list[list[Path | Fork]]:
    """The disjuncts of every query, in the order given, as the steps of the plan compute them."""
    bank: list[Path | Fork] = []
    for step in plan.layout.steps:
        assert step.first == len(bank)
        bank += _paths(step, plan.ids, bank) if isinstance(step, PathStep) else _forks(step.branches, bank)
    assert len(bank) == plan.layout.values
    disjuncts: list[list[Path | Fork]] = [[] for _ in range(plan.layout.queries)]
    for root, owner in zip(plan.layout.roots, plan.layout.owners, strict=True):
        disjuncts[owner].append(bank[root])
    return [disjuncts[place] for place in plan.order]


def _paths(step: PathStep, ids: np.ndarray, bank: list) -> list[Path]:
    values = {
        Token.ENTITY: lambda source: int(ids[source]),
        Token.RELATION: lambda source: int(ids[source]),
        Token.NEGATION: lambda source: NEGATION,
        Token.VARIABLE: lambda source: bank[source],
    }
    tokens = [values[Token(kind)](source) for kind, source in zip(step.kinds, step.sources, strict=True)]
    return [Path(tokens[a], tuple(tokens[a + 1 : b])) for a, b in zip(step.offsets, step.offsets[1:], strict=False)]


def _forks(branches: tuple[np.ndarray, ...], bank: list) -> list[Fork]:
    count = len(branches[0])
    return [Fork(tuple(bank[column[f]] for column in branches if f < len(column))) for f in range(count)]


def expected(tree: Tree) -> list[Path | Fork]:
    return list(map(to_paths, to_dnf(tree)))


@given(st.lists(trees(), max_size=5))
def test_any_trees_in_any_order(queries: list[Tree]) -> None:
    # to_dnf drops disjuncts that are equal by chance of their ids; a plan, which sees the structure alone, keeps them.
    assert [list(dict.fromkeys(found)) for found in run(plan_trees(queries))] == [expected(tree) for tree in queries]


@given(trees(), st.integers(1, 3))
def test_paths_are_sorted_by_length_and_forks_by_arity(tree: Tree, count: int) -> None:
    for step in build_layout([Block(structure_of(tree), count), Block(STRUCTURES["3p"], count)]).steps:
        sizes = step.lengths if isinstance(step, PathStep) else step.arities
        assert (np.diff(sizes) <= 0).all()


def test_the_fourteen_structures_make_three_steps() -> None:
    blocks = [Block(s, 3) for s in STRUCTURES.values()]
    layout = build_layout(blocks)
    assert [type(step).__name__ for step in layout.steps] == ["PathStep", "ForkStep", "PathStep"]
    assert layout.queries == 42
    assert len(layout.roots) == 48  # 2u and up have two disjuncts a query
    assert layout.united
    assert layout.negated
    assert (np.diff(layout.owners) >= 0).all()


def test_training_structures_have_one_disjunct_and_no_padding() -> None:
    layout = build_layout([Block(STRUCTURES[name], 512) for name in ("1p", "2p", "3p", "2i", "3i")])
    assert not layout.united
    assert not layout.negated
    paths, forks = layout.steps
    assert isinstance(paths, PathStep)
    assert len(paths) == 8 * 512
    assert paths.tokens == 19 * 512
    assert len(forks) == 2 * 512
    np.testing.assert_array_equal(layout.owners, np.arange(2560))


def test_plan_of_tables_keeps_their_order() -> None:
    one, two = structure("1p"), structure("2in")
    plan = build_plan([(one, np.array([[7, 1], [8, 2]])), (two, np.array([[1, 2, 3, 4]]))])
    assert plan.ids.tolist() == [7, 1, 8, 2, 1, 2, 3, 4]
    assert run(plan) == [[Path(7, (1,))], [Path(8, (2,))], [Fork((Path(1, (2,)), Path(3, (4, NEGATION))))]]


def test_a_block_without_queries_costs_nothing() -> None:
    layout = build_layout([Block(structure("inp"), 0), Block(structure("1p"), 2)])
    assert [len(step) for step in layout.steps] == [2]
    assert layout.queries == 2
    empty = build_plan([])
    assert (empty.layout.queries, empty.layout.steps, len(empty.ids)) == (0, (), 0)


def test_a_table_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match=r"queries of 2p need 3 ids a row \(e r r\), got a table of shape \(4, 2\)"):
        build_plan([(structure("2p"), np.zeros((4, 2), np.int32))])


def test_explain_names_every_step() -> None:
    layout: Layout = build_layout([Block(STRUCTURES["pni"], 2), Block(STRUCTURES["3i"], 1), Block(STRUCTURES["up"], 1)])
    assert describe(layout).splitlines() == [
        "4 queries, 5 points, 21 ids",
        "  2 x pni  F(P(e, r, r, N), P(e, r))",
        "  1 x 3i  F(P(e, r), P(e, r), P(e, r))",
        "  1 x up  P(e, r, r) | P(e, r, r)",
        "step 1: 9 paths, 24 tokens (2 of 4 tokens, 2 of 3, 5 of 2)",
        "step 2: 3 forks (1 of 3 branches, 2 of 2), 2 rounds",
    ]


def test_planning_does_not_load_torch() -> None:
    code = "import sys, pathformer.plan; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_a_structure_s_columns_are_is_asked_once_however_many_paths_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    columns = Structure.columns.fget

    def counted(structure: Structure) -> tuple[str, ...]:
        asked.append(structure)
        return columns(structure)

    blocks = [Block(structure_of(Intersection((Projection(0, Anchor(0)),) * paths)), 2) for paths in (2, 500)]
    build_layout(blocks)  # decomposed, which is remembered
    monkeypatch.setattr(Structure, "columns", property(counted))
    assert build_layout(blocks).values == 2 * (2 + 1 + 500 + 1)
    assert asked == [block.structure for block in blocks]
