"""Triples that are taken away leave every part of a graph; names and ids stay, and train keeps every name it can."""

from __future__ import annotations

import numpy as np
import pytest
from support.engines import random_triples

from pathformer.errors import InputError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.shrink import shrink

Named = tuple[str, str, str]


def named(kg: KnowledgeGraph, *splits: str) -> set[Named]:
    names = kg.vocabulary
    return {
        (names.entity(h), names.relation(r), names.entity(t))
        for split in splits or kg.splits
        for h, r, t in kg.splits[split].tolist()
    }


@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_is_what_a_set_would_leave(seed: int) -> None:
    triples = random_triples(20, 3, 60, seed)
    kg = KnowledgeGraph.from_triples(triples).split(0.2, 0.2, seed=seed)
    rng = np.random.default_rng(seed)
    gone = [triples[i] for i in rng.choice(len(triples), 30, replace=False)]
    strange = [("e1", "r0", "nobody"), ("e1", "never", "e2"), ("e1", "r0", "e1")]
    absent = [triple for triple in strange if triple not in triples]
    shrunk = shrink(kg, KnowledgeGraph.from_triples([*gone, *gone, *absent]))
    assert named(shrunk.kg) == set(triples) - set(gone)
    assert shrunk.kg.triple_count == len(set(triples) - set(gone))
    assert (len(shrunk.triples), shrunk.absent) == (30, len(absent))
    assert shrunk.kg.vocabulary is kg.vocabulary
    kept = named(shrunk.kg, "train")
    for split in ("valid", "test"):
        assert named(shrunk.kg, split) <= named(kg, split)
        for head, relation, tail in named(shrunk.kg, split):
            assert any(head in (h, t) for h, _, t in kept)
            assert any(tail in (h, t) for h, _, t in kept)
            assert any(relation == r for _, r, _ in kept)


def test_a_held_out_triple_whose_name_train_lost_goes_back() -> None:
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c"), ("c", "r", "a")], test=[("a", "r", "c")])
    left = shrink(kg, KnowledgeGraph.from_triples([("b", "r", "c"), ("c", "r", "a")])).kg
    assert named(left, "train") == {("a", "r", "b"), ("a", "r", "c")}
    assert named(left, "test") == set()


def test_all_triples_are_not_taken_away() -> None:
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c")], name="films")
    with pytest.raises(InputError, match=r"all 2 triples of films"):
        shrink(kg, kg)
