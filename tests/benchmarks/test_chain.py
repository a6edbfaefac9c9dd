"""Chained links against loops over entities, one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from _chain import Chain

from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.ragged import Ragged
from pathformer.models._base import Model, build
from pathformer.query.structures import STRUCTURES, structure
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import graph_pair
from pathformer.querysets.sampler import sample

Triples = list[tuple[str, str, str]]


@pytest.fixture(scope="module")
def kg(small_graph_triples: dict[str, Triples]) -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(*small_graph_triples.values())


@pytest.fixture(scope="module")
def model(kg: KnowledgeGraph) -> Model:
    torch.manual_seed(1)
    made = build("complex", {"rank": 4}, entities=kg.vocabulary.entity_count, relations=kg.vocabulary.relation_count)
    torch.nn.init.normal_(made.entities.weight)
    torch.nn.init.normal_(made.operators.weight)  # type: ignore[arg-type,union-attr]
    return made.eval()


def by_hand(tree: Tree, chain: Chain, width: int) -> Any:
    """The degrees of a tree with unions at its root only."""
    match tree:
        case Union(branches):
            return np.max([by_hand(branch, chain, width) for branch in branches], axis=0)
        case Intersection(branches):
            return np.prod([by_hand(branch, chain, width) for branch in branches], axis=0)
        case Negation(of):
            inner = by_hand(of, chain, width)
            return 1 - inner / inner.max()
        case Anchor(entity):
            return np.eye(len(chain.table))[entity]
        case Projection(relation, Anchor(entity)):
            return link(chain, entity, relation)
        case Projection(relation, of):
            inner = by_hand(of, chain, width)
            best = np.argsort(-inner, kind="stable")[:width]
            return np.max([inner[v] * link(chain, int(v), relation) for v in best], axis=0)
    raise AssertionError(tree)


def link(chain: Chain, head: int, relation: int) -> Any:
    with torch.inference_mode():
        return chain.links(torch.tensor([head]), torch.tensor([relation]))[0].double().numpy()


@pytest.mark.parametrize(
    ("name", "width"),
    [
        *((name, width) for name in STRUCTURES if name != "up" for width in (3, 64)),
        ("(e,(n,r))", 64),
        ("((e,(n,r)),(e,(r,)))", 64),
        ("((e,(r,r,n,r)),(e,(r,)))", 64),  # after a negation many are equally likely: a narrow beam takes any of them
    ],
)
def test_degrees_are_those_of_loops(kg: KnowledgeGraph, model: Model, name: str, width: int) -> None:
    shape = structure(name)
    rng = np.random.default_rng(0)
    counts = [kg.vocabulary.entity_count if kind == "e" else kg.vocabulary.relation_count for kind in shape.columns]
    ids = rng.integers(0, counts, (5, len(counts))).astype(np.int32)
    chain = Chain(model, width)
    with torch.inference_mode():
        found = chain.degrees(Queries(shape, ids, Ragged.empty(5), Ragged.empty(5)))
    for row, given in zip(ids.tolist(), found, strict=True):
        assert given.numpy() == pytest.approx(by_hand(shape.tree(row), chain, chain.width), rel=2e-4, abs=1e-9)


def test_single_links_rank_as_the_model_itself_does(kg: KnowledgeGraph, model: Model) -> None:
    asked = {"1p": sample(STRUCTURES["1p"], graph_pair(kg, "test"), None)}
    assert evaluate(Chain(model), asked).mrr == pytest.approx(evaluate(ModelRanker(model), asked).mrr, abs=1e-3)


def test_blocks_change_nothing(kg: KnowledgeGraph, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {name: sample(STRUCTURES[name], graph_pair(kg, "test"), 9) for name in ("2p", "inp")}
    whole = evaluate(Chain(model), asked).scores
    monkeypatch.setattr("_chain._NUMBERS", 2 * 50 * 50)
    assert evaluate(Chain(model), asked).scores == whole
