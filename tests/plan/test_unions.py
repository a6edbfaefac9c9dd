"""What becomes of unions in a layout: three ways, one meaning, each shown by answering the layout with sets."""

from __future__ import annotations

from typing import get_args
from xml.etree import ElementTree

import numpy as np
import pytest
from draw_plan import draw_plan
from hypothesis import given
from hypothesis import strategies as st
from support.query_strategies import ENTITIES, Edges, evaluate, graphs, trees

from pathformer.kg.vocabulary import Vocabulary
from pathformer.plan.build import Plan, build_layout, build_plan, plan_trees
from pathformer.plan.describe import describe
from pathformer.plan.layout import Block, Layout, PathStep, Token, UnionWay
from pathformer.query.compile.paths import Fork, Path, forks, from_paths, to_paths
from pathformer.query.picture.text_tree import Labels, Listing
from pathformer.query.structures import STRUCTURES, structure, structure_of
from pathformer.query.tree import Tree

WAYS = get_args(UnionWay)
EVERYTHING = frozenset(range(ENTITIES))
NESTED = "(((e,(r,)),(((e,(r,)),(e,(r,))),(r,)),(u,)),(e,(r,n)),(((e,(r,)),(e,(r,)),(u,)),(r,)))"


def answers(plan: Plan, edges: Edges) -> list[frozenset[int]]:
    """The answers of every query, by running the plan's steps on sets of entities; disjuncts are united."""
    bank: list[frozenset[int]] = []
    for step in plan.layout.steps:
        if isinstance(step, PathStep):
            bank += [_path(step, place, plan.ids, bank, edges) for place in range(len(step))]
        else:
            combine = frozenset.union if step.united else frozenset.intersection
            columns = [[bank[number] for number in branch] for branch in step.branches]
            bank += [combine(*(c[place] for c in columns if place < len(c))) for place in range(len(step))]
    found: list[frozenset[int]] = [frozenset()] * plan.layout.queries
    for root, owner in zip(plan.layout.roots, plan.layout.owners, strict=True):
        found[owner] |= bank[root]
    return [found[place] for place in plan.order]


def _path(step: PathStep, place: int, ids: np.ndarray, bank: list[frozenset[int]], edges: Edges) -> frozenset[int]:
    reached: frozenset[int] = frozenset()
    for at in range(step.offsets[place], step.offsets[place + 1]):
        source = step.sources[at]
        match Token(step.kinds[at]):
            case Token.ENTITY:
                reached = frozenset({int(ids[source])})
            case Token.VARIABLE:
                reached = bank[source]
            case Token.NEGATION:
                reached = EVERYTHING - reached
            case Token.RELATION:
                reached = frozenset(t for h, r, t in edges if r == ids[source] and h in reached)
    return reached


@pytest.mark.parametrize("way", WAYS)
@given(queries=st.lists(trees(max_leaves=8), max_size=4), edges=graphs())
def test_a_layout_answers_as_the_trees_do(way: UnionWay, queries: list[Tree], edges: Edges) -> None:
    plan = plan_trees(queries, way)
    assert plan.layout.union == way
    assert answers(plan, edges) == [evaluate(tree, edges) for tree in queries]


@given(trees())
def test_only_the_normal_form_gives_a_query_several_points(tree: Tree) -> None:
    block = Block(structure_of(tree), 2)
    assert {way: build_layout([block], way).united for way in ("native", "demorgan")} == {
        "native": False,
        "demorgan": False,
    }
    assert build_layout([block], "native").native == block.structure.united
    assert not build_layout([block], "dnf").native
    assert not build_layout([block], "demorgan").native


@given(trees())
def test_paths_with_unions_are_the_tree(tree: Tree) -> None:
    query = to_paths(tree, unions=True)
    assert to_paths(from_paths(query), unions=True) == query
    for fork in forks(query):
        kinds = {branch.united for branch in fork.branches if isinstance(branch, Fork)}
        assert fork.united not in kinds  # a fork of its own kind is the same fork


def layouts(name: str) -> dict[UnionWay, Layout]:
    return {way: build_layout([Block(structure(name), 1)], way) for way in WAYS}


def test_negations_are_those_of_the_steps() -> None:
    assert {way: layout.negated for way, layout in layouts("2u").items()} == {
        "dnf": False,
        "native": False,
        "demorgan": True,
    }
    double = "(((e,(r,n)),(e,(r,n))),(n,))"  # !(!a & !b), which the normal form knows as a union
    assert {way: layout.negated for way, layout in layouts(double).items()} == {
        "dnf": False,
        "native": True,
        "demorgan": True,
    }
    assert all(layout.negated for layout in layouts("2in").values())
    assert not any(layout.negated for layout in layouts("pi").values())


def test_a_fork_of_a_union_waits_for_it() -> None:
    steps = layouts(NESTED)["native"].steps
    kinds = ["path" if isinstance(step, PathStep) else "union" if step.united else "fork" for step in steps]
    assert kinds == ["path", "fork", "union", "path", "union", "fork"]


@pytest.mark.parametrize(
    ("way", "lines"),
    [
        ("dnf", ["4 queries, 8 points, 18 ids", "P(e, r) | P(e, r)", "P(e, r, r) | P(e, r, r)"]),
        ("native", ["4 queries, 4 points, 18 ids", "U(P(e, r), P(e, r))", "P(U(P(e, r), P(e, r)), r)"]),
        (
            "demorgan",
            ["4 queries, 4 points, 18 ids", "P(F(P(e, r, N), P(e, r, N)), N)", "P(F(P(e, r, N), P(e, r, N)), N, r)"],
        ),
    ],
)
def test_explain_says_what_became_of_unions(way: UnionWay, lines: list[str]) -> None:
    told = describe(build_layout([Block(structure("2u"), 2), Block(structure("up"), 2)], way)).splitlines()
    assert told[:3] == [lines[0], f"  2 x 2u  {lines[1]}", f"  2 x up  {lines[2]}"]
    assert ("step 2: 4 unions (4 of 2 branches), 1 round" in told) == (way == "native")
    assert ("step 2: 4 forks (4 of 2 branches), 1 round" in told) == (way == "demorgan")


@pytest.mark.parametrize("shape", [*STRUCTURES, NESTED])
@pytest.mark.parametrize("way", WAYS)
def test_every_value_is_drawn(way: UnionWay, shape: str) -> None:
    vocabulary = Vocabulary.of([f"e{i}" for i in range(20)], [f"r{i}" for i in range(20)])
    columns = structure(shape).columns
    plan = build_plan([(structure(shape), np.arange(len(columns))[None])], way)
    root = ElementTree.fromstring(draw_plan(plan, Labels(vocabulary)))
    texts = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    marks = [text for text in texts if text[0] in "PFU" and text[1:].isdigit()]
    assert len(set(marks)) == len(marks) == plan.layout.values
    assert any(mark.startswith("U") for mark in marks) == plan.layout.native == ("union" in texts)


def test_a_listing_tells_a_union_from_an_intersection() -> None:
    listing = Listing(Labels(Vocabulary.of(["a", "b"], ["r", "s"])))
    listing.add(to_paths(STRUCTURES["2u"].tree((0, 0, 1, 2)), unions=True))
    listing.add(Fork((Path(0, (0,)), Path(1, (2,)))))
    told = list(listing.lines())
    assert [line for line in told if line.startswith("F")] == ["F1  P1 ∪ P2 → ·", "F2  P3 ∩ P4 → ·"]
