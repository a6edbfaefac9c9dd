"""BIQE: the tokens of a query, written out by hand, and its score against the published average of scores."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pathformer.errors import UnsupportedQueryError
from pathformer.models._base import build
from pathformer.models._batch import Batch
from pathformer.models._sequences import MARKS, FlatSequences, longest_route
from pathformer.models.biqe import BIQE, Config
from pathformer.nn.packing import Packing
from pathformer.plan.build import Plan, build_plan
from pathformer.query.compile.dnf import to_dnf
from pathformer.query.structures import STRUCTURES, structure
from pathformer.query.tree import Anchor, Intersection, Projection, Tree

ENTITIES, RELATIONS = 30, 30
POSITIVE = [shape for shape in STRUCTURES.values() if not shape.negated]


def sequences(plan: Plan) -> list[tuple[list[str], list[int]]]:
    """Tokens as text and their positions, for every disjunct of the layout."""
    flat = FlatSequences.of(plan.layout, torch.device("cpu"))
    tokens = [{(1, 0): "M", (0, 1): "S", (0, 0): "?"}[int(mask), int(end)] for mask, end in flat.marks[:, :MARKS]]
    named = [f"e{plan.ids[source]}" for source in flat.entity_sources]
    named += [f"r{plan.ids[source]}" for source in flat.relation_sources]
    for place, name in zip(flat.places, named, strict=True):
        assert tokens[place] == "?"
        tokens[place] = name
    assert (flat.marks[:, MARKS:].sum(dim=1) == 1).all()
    positions = flat.marks[:, MARKS:].argmax(dim=1)
    bounds = flat.packing.offsets.tolist()
    found = [(tokens[a:b], positions[a:b].tolist()) for a, b in pairwise(bounds)]
    firsts = flat.targets[: flat.sizes[0]].tolist()
    return [found[bounds.index(firsts[place])] for place in flat.back]


@pytest.mark.parametrize(
    ("name", "row", "tokens"),
    [
        ("1p", (1, 2), ["M r2 e1 S"]),
        ("2p", (1, 2, 3), ["M r3 M r2 e1 S"]),
        ("3p", (1, 2, 3, 4), ["M r4 M r3 M r2 e1 S"]),
        ("2i", (1, 2, 3, 4), ["M r2 e1 S M r4 e3 S"]),
        ("pi", (1, 2, 3, 4, 5), ["M r3 M r2 e1 S M r5 e4 S"]),
        ("ip", (1, 2, 3, 4, 5), ["M r5 M r2 e1 S M r5 M r4 e3 S"]),
        ("2u", (1, 2, 3, 4), ["M r2 e1 S", "M r4 e3 S"]),
        ("up", (1, 2, 3, 4, 5), ["M r5 M r2 e1 S", "M r5 M r4 e3 S"]),
    ],
)
def test_tokens_of_the_benchmark(name: str, row: tuple[int, ...], tokens: list[str]) -> None:
    plan = build_plan([(STRUCTURES[name], np.array([row]))])
    found = sequences(plan)
    assert [" ".join(text) for text, _ in found] == tokens
    for text, positions in found:
        assert positions == [
            place for route in " ".join(text).split("S")[:-1] for place in range(len(route.split()) + 1)
        ]


def test_a_mixed_batch_keeps_every_query_apart() -> None:
    rng = np.random.default_rng(0)
    parts = [(shape, rng.integers(30, size=(3, len(shape.columns)))) for shape in POSITIVE]
    alone = [s for shape, table in parts for row in table for s in sequences(build_plan([(shape, row[None])]))]
    assert sequences(build_plan(parts)) == alone


def make(**settings: object) -> BIQE:
    torch.manual_seed(0)
    small = {"dim": 16, "heads": 2, "layers": 2, "positions": 16, **settings}
    return BIQE(Config(**small), ENTITIES, RELATIONS).eval()  # type: ignore[arg-type]


def read(made: BIQE, tree: Tree) -> list[Tensor]:
    """What stands at each target [MASK] after reading the tree as one sequence."""
    rows, starts = [], []

    def route(tree: Tree, after: list[Tensor]) -> None:
        """From the target down: `after` are the tokens between the target and this set."""
        match tree:
            case Anchor(entity):
                tokens = [*after[:-1], made.entities.weight[entity][:16], made.marks.weight[1]]
                starts.append(len(rows))
                rows.extend(token + made.marks.weight[MARKS + place] for place, token in enumerate(tokens))
            case Projection(relation, of):
                route(of, [*after, made.relations.weight[relation], made.marks.weight[0]])
            case Intersection(branches):
                for branch in branches:
                    route(branch, after)
            case _:
                raise AssertionError(tree)

    route(tree, [made.marks.weight[0]])
    hidden = made.encoder(torch.stack(rows), Packing.of([len(rows)]))
    return [hidden[start] for start in starts]


@torch.no_grad()
def test_scores_are_the_average_over_the_routes() -> None:
    made = make()
    deep = structure("(((((e,(r,)),(e,(r,r))),(r,r)),(e,(r,)),((e,(r,)),(e,(r,)),(u,))),(r,))")
    rng = np.random.default_rng(0)
    shapes = [*POSITIVE, deep]
    plan = build_plan([(shape, rng.integers(30, size=(2, len(shape.columns)))) for shape in shapes])
    candidates = torch.arange(ENTITIES).repeat(plan.layout.queries, 1)
    found = made.distances(Batch.of(plan.layout), torch.from_numpy(plan.ids), candidates)
    trees, base = [], 0
    for block in plan.layout.blocks:
        width = len(block.structure.columns)
        trees += [block.structure.tree(row.tolist()) for row in plan.ids[base:][: 2 * width].reshape(2, width)]
        base += 2 * width
    for query, tree in enumerate(trees):
        scores = []
        for disjunct in to_dnf(tree):
            per_route = [
                made.entities.weight[:, :16] @ mask + made.entities.weight[:, 16] for mask in read(made, disjunct)
            ]
            scores.append(torch.stack(per_route).mean(dim=0))
        torch.testing.assert_close(found[query], -torch.stack(scores).amax(dim=0), rtol=1e-4, atol=1e-4)


@given(st.permutations(range(3)))
def test_routes_have_no_order(order: list[int]) -> None:
    made, branches = make(), np.array([[1, 2], [3, 4], [5, 6]])
    plans = [build_plan([(STRUCTURES["3i"], rows.reshape(1, 6))]) for rows in (branches, branches[order])]
    one, other = (made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids)) for plan in plans)
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_which_relation_leads_to_which_anchor_is_not_told() -> None:
    """As published: positions restart in every route, and all tokens attend to all. Said on the method's page."""
    made, rows = make(), np.array([[1, 2, 3, 4], [1, 4, 3, 2], [1, 2, 3, 5]])  # the second: relations changed places
    plan = build_plan([(STRUCTURES["2i"], rows)])
    one, swapped, other = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    torch.testing.assert_close(swapped, one, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(other, one, atol=1e-3)
    longer = np.array([[1, 2, 3, 4, 5], [1, 2, 5, 4, 3], [4, 2, 3, 1, 5]])  # last relations, then anchors
    plan = build_plan([(STRUCTURES["pi"], longer)])
    one, swapped, other = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    torch.testing.assert_close(swapped, one, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(other, one, atol=1e-3)  # where places differ, they tell


@torch.no_grad()
def test_targets_of_one_query_read_alike() -> None:
    made, tree = make(), STRUCTURES["3i"].tree([1, 2, 3, 4, 5, 6])
    first, *others = read(made, tree)
    for other in others:
        torch.testing.assert_close(other, first, rtol=1e-4, atol=1e-5)


def test_every_token_counts() -> None:
    made = make()
    row = [1, 2, 3, 4, 5]
    rows = [row, *([*row[:place], 9, *row[place + 1 :]] for place in range(5))]
    plan = build_plan([(STRUCTURES["ip"], np.array(rows))])
    first, *others = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert all(not torch.allclose(first, other, atol=1e-4) for other in others)


def test_what_it_cannot_read_is_refused() -> None:
    made = make(positions=7)
    with pytest.raises(UnsupportedQueryError, match=r"^biqe cannot take a negation \(in 2in\); methods that can: "):
        made.encode(*_batch("2in"))
    with pytest.raises(UnsupportedQueryError) as refused:
        made.encode(*_batch("3p"))
    assert str(refused.value) == (
        "biqe cannot read a route of 8 tokens, only of 7 (its setting 'positions') (in 3p); methods that can: "
        "betae, composed, cone, fuzzqe, gammae, gqe, mlp, mlp-mixer, pair, pathformer, q2b, q2p"
    )
    assert len(made.encode(*_batch("2p"))) == 1
    assert made.takes(STRUCTURES["2p"])
    assert not made.takes(STRUCTURES["3p"])  # so that a caller can leave them out


def test_the_longest_route_is_that_of_the_sequences() -> None:
    for shape in [*POSITIVE, structure("(((((e,(r,)),(e,(r,r))),(r,r)),(e,(r,))),(r,))")]:
        plan = build_plan([(shape, np.zeros((1, len(shape.columns)), np.int32))])
        assert longest_route(plan.layout) == Batch.of(plan.layout).sequences.longest
    assert longest_route(build_plan([]).layout) == 0


def _batch(name: str) -> tuple[Batch, Tensor]:
    shape = STRUCTURES[name]
    plan = build_plan([(shape, np.zeros((1, len(shape.columns)), np.int32))])
    return Batch.of(plan.layout), torch.from_numpy(plan.ids)


def test_size_is_that_of_pathformers_encoder() -> None:
    with torch.device("meta"):
        made = build("biqe", {}, entities=14_505, relations=474)
    assert made.sizes()["network"] / 1e6 == pytest.approx(46.1, abs=0.05)
    assert made.sizes()["tables"] == 14_505 * 801 + (474 + 2 + 64) * 800
