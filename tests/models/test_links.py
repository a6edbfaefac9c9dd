"""The walk of link-by-link methods against a recursion over the tree, one query and one operator at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.contract_cases import CASES, IDS, make
from support.recursion import DEEP, assert_recursive
from torch import Tensor

from pathformer.models._base import find
from pathformer.models._batch import Batch
from pathformer.models._contract import shapes
from pathformer.models._link_by_link import LinkModel
from pathformer.models.gqe import GQE, Config
from pathformer.nn.table import take_once
from pathformer.plan.build import build_layout, build_plan, plan_trees
from pathformer.plan.layout import Block
from pathformer.query.structures import STRUCTURES, structure
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.spaces.point import Point

LINKED = [case for case in CASES if issubclass(find(case[0]), LinkModel)]
ENTITIES, RELATIONS, DIM = 20, 20, 3


class Weave(LinkModel):
    """Operators that tell everything apart: none commutes with another, and forks know their branches' places."""

    name: ClassVar[str] = "weave"
    native: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__(None, ENTITIES, RELATIONS)
        self.space = Point(DIM, 24.0)
        self.entities = self.space.entity_table(ENTITIES)
        self.relations = self.space.relation_table(RELATIONS)

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        return torch.sin(2 * rows + 9 * relations).roll(1, dims=-1)

    def enter(self, entities: Tensor, relations: Tensor) -> Tensor:
        return self.project(entities, relations) + 0.5

    def negate(self, rows: Tensor) -> Tensor:
        return 0.3 - rows * rows

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        return _fold(branches, 1.0)

    def unite(self, branches: Sequence[Tensor]) -> Tensor:
        return _fold(branches, -1.0)


def _fold(branches: Sequence[Tensor], sign: float) -> Tensor:
    total = branches[0]
    for place, branch in enumerate(branches[1:], 2):
        total = torch.cat([total[: len(branch)] * 0.7 + sign * branch / place, total[len(branch) :]])
    return total


def walk(made: LinkModel, tree: Tree) -> Tensor:
    """The tree as it stands, recursively: a row (q,)."""
    match tree:
        case Anchor(entity):
            return made.space.anchor(made.entities.weight[entity])
        case Projection(relation, Anchor(entity)):
            return made.enter(made.entities.weight[entity][None], made.relations.weight[relation][None])[0]
        case Projection(relation, operand):
            return made.project(walk(made, operand)[None], made.relations.weight[relation][None])[0]
        case Negation(operand):
            return made.negate(walk(made, operand)[None])[0]
        case Intersection(branches):
            return made.intersect([walk(made, branch)[None] for branch in branches])[0]
        case Union(branches):
            return made.unite([walk(made, branch)[None] for branch in branches])[0]


def assert_walked(made: LinkModel, trees: Sequence[Tree]) -> None:
    assert_recursive(made, trees, lambda part: walk(made, part), 1e-5)


@pytest.fixture(scope="module")
def weave() -> Weave:
    torch.manual_seed(0)
    return Weave()


def test_every_structure_is_the_recursion_over_its_tree(weave: Weave) -> None:
    rng = np.random.default_rng(0)
    shapes = [*STRUCTURES.values(), structure(DEEP)]
    assert_walked(weave, [shape.tree(rng.integers(20, size=len(shape.columns)).tolist()) for shape in shapes * 3])


def _trees() -> st.SearchStrategy[Tree]:
    """Union-free trees whose paths and forks nest anyhow; intersections stand under an operator."""

    def grow(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        operator = st.one_of(
            st.builds(Projection, st.integers(0, RELATIONS - 1), inner),
            st.builds(Negation, st.builds(Projection, st.integers(0, RELATIONS - 1), inner)),
        )
        fork = st.lists(operator, min_size=2, max_size=4).map(lambda branches: Intersection(tuple(branches)))
        return st.one_of(operator, st.builds(Projection, st.integers(0, RELATIONS - 1), fork))

    link = st.builds(Projection, st.integers(0, RELATIONS - 1), st.integers(0, ENTITIES - 1).map(Anchor))
    return st.recursive(link, grow, max_leaves=8)


@settings(max_examples=40)
@given(trees=st.lists(_trees(), min_size=1, max_size=5))
def test_any_tree_is_the_recursion_over_it(weave: Weave, trees: list[Tree]) -> None:
    assert_walked(weave, trees)


def test_a_path_that_begins_with_a_negation(weave: Weave) -> None:
    assert_walked(weave, [Projection(1, Anchor(3)), Negation(Projection(2, Negation(Anchor(4))))])


def test_native_unions_meet_where_they_stand(weave: Weave) -> None:
    rng = np.random.default_rng(1)
    shapes = [STRUCTURES["2u"], STRUCTURES["up"], STRUCTURES["pi"]]
    trees = [shape.tree(rng.integers(20, size=len(shape.columns)).tolist()) for shape in shapes * 2]
    plan = plan_trees(trees, "native")
    points = weave.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert len(points) == len(trees)
    for place, tree in enumerate(trees):
        torch.testing.assert_close(points[plan.order[place]], walk(weave, tree))


@pytest.mark.parametrize(("name", "variant"), LINKED, ids=[IDS[CASES.index(case)] for case in LINKED])
def test_every_link_by_link_method_is_the_recursion_over_its_tree(name: str, variant: dict[str, Any]) -> None:
    made, rng = make(name, variant), np.random.default_rng(0)
    assert isinstance(made, LinkModel)
    trees = [shape.tree([int(rng.integers(6)) for _ in shape.columns]) for shape in shapes(made) for _ in range(2)]
    assert_recursive(made, trees, lambda part: walk(made, part), 1e-3)


def test_index_tensors_are_made_once_and_hold_no_ids() -> None:
    layout = build_layout([Block(STRUCTURES["pni"], 2), Block(STRUCTURES["2p"], 3)])
    batch = Batch.of(layout)
    assert batch.walks is batch.walks
    walks = [step for step in batch.walks if step is not None]
    assert [[(hop.count, hop.relations) for hop in step.hops] for step in walks] == [[(7, 7), (5, 5), (2, 0)]]
    assert all(hop.order is None for hop in walks[0].hops)  # pni is e r r n, 2p is e r r: no place has both kinds
    mixed = Batch.of(build_layout([Block(STRUCTURES["2in"], 2), Block(STRUCTURES["2p"], 3)])).walks[0]
    assert mixed is not None
    assert [(hop.count, hop.relations) for hop in mixed.hops] == [(7, 7), (5, 3)]
    order, back = mixed.hops[1].order, mixed.hops[1].back
    assert order is not None
    assert back is not None
    rows = torch.randn(5, 2)
    assert torch.equal(take_once(take_once(rows, order), back), rows)


def test_an_operator_that_a_method_lacks_is_our_mistake() -> None:
    made = GQE(Config(dim=4), 5, 2)
    with pytest.raises(AssertionError, match="gqe takes no negation"):
        made.negate(torch.zeros(1, 4))
    with pytest.raises(AssertionError, match="gqe has no union of its own"):
        made.unite([torch.zeros(1, 4)])


def test_gqe_by_loops() -> None:
    """Translations along paths, and weights over branches, number by number."""
    torch.manual_seed(0)
    made = GQE(Config(dim=4), 20, 6)
    assert made.sizes() == {"tables": 26 * 4, "network": 4 * 4 + 4 + 4 * 4}
    rows = [(STRUCTURES["3i"], np.array([[1, 2, 3, 4, 5, 0]])), (STRUCTURES["pi"], np.array([[1, 2, 3, 4, 5]]))]
    plan = build_plan(rows)
    points = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids)).tolist()
    e, r = made.entities.weight.detach(), made.relations.weight.detach()
    forks = [[e[1] + r[2], e[3] + r[4], e[5] + r[0]], [e[1] + r[2] + r[3], e[4] + r[5]]]
    for found, branches in zip(points, forks, strict=True):
        assert found == pytest.approx(attended(made, branches), abs=1e-5)


def attended(made: GQE, branches: list[Tensor]) -> list[float]:
    net = {name: weight.tolist() for name, weight in made.attention.state_dict().items()}
    vectors, scores = [branch.tolist() for branch in branches], []
    for x in vectors:
        layer = zip(net["hidden.weight"], net["hidden.bias"], strict=True)
        hidden = [max(0.0, sum(w * v for w, v in zip(row, x, strict=True)) + b) for row, b in layer]
        scores.append([sum(w * h for w, h in zip(row, hidden, strict=True)) for row in net["scores.weight"]])
    out = []
    for place in range(4):
        shares = np.exp([score[place] for score in scores])
        out.append(float(sum(s * x[place] for s, x in zip(shares, vectors, strict=True)) / shares.sum()))
    return out
