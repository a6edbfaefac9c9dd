"""A graph that grew: ids mean what they meant, new names follow, held-out triples stay held out."""

from __future__ import annotations

import numpy as np
import pytest

from pathformer.kg.grow import grow
from pathformer.kg.knowledge import KnowledgeGraph

OLD = [("a", "likes", "b"), ("b", "likes", "c"), ("c", "owns", "a"), ("a", "owns", "c")]


def named(kg: KnowledgeGraph, split: str | None = None) -> set[tuple[str, str, str]]:
    return {(row["head"], row["relation"], row["tail"]) for row in kg.to_table(split).to_pylist()}


def test_old_ids_stay_and_new_names_follow() -> None:
    old = KnowledgeGraph.from_triples(OLD, name="g")
    more = KnowledgeGraph.from_triples([("d", "hates", "a"), ("d", "likes", "e"), ("a", "likes", "b")])
    grown = grow(old, more)
    assert list(grown.kg.vocabulary.entities) == ["a", "b", "c", "d", "e"]
    assert list(grown.kg.vocabulary.relations) == ["likes", "owns", "hates"]
    assert (grown.entities, grown.relations, len(grown.triples)) == (2, 1, 2)  # one was known
    assert named(grown.kg) == {*OLD, ("d", "hates", "a"), ("d", "likes", "e")}
    assert grown.kg.name == "g"
    assert list(grown.kg.splits) == ["train"]


def test_nothing_new_is_nothing_new() -> None:
    old = KnowledgeGraph.from_triples(OLD)
    grown = grow(old, KnowledgeGraph.from_triples(OLD[1:3]))
    assert len(grown.triples) == grown.entities == grown.relations == 0
    assert grown.kg.vocabulary.fingerprint() == old.vocabulary.fingerprint()


def test_what_was_held_out_stays_so_and_some_of_the_new_is_too(
    small_graph_triples: dict[str, list[tuple[str, str, str]]],
) -> None:
    old = KnowledgeGraph.from_triples(*small_graph_triples.values())
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 50, (200, 2)).tolist()
    more = KnowledgeGraph.from_triples([(f"e{i}", "new", f"e{j}") for i, j in pairs])
    grown = grow(old, more, held_out=0.1)
    for split in ("valid", "test"):
        assert named(old, split) < named(grown.kg, split)
        assert len(grown.kg.splits[split]) - len(old.splits[split]) == int(0.1 * len(grown.triples))
    assert named(old, "train") < named(grown.kg, "train")
    assert grown.kg.triple_count == old.triple_count + len(grown.triples)
    learnt = np.unique(grown.kg.splits["train"][:, [0, 2]])
    assert len(learnt) == grown.kg.vocabulary.entity_count


def test_a_name_is_never_held_out_alone(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> None:
    old = KnowledgeGraph.from_triples(*small_graph_triples.values())
    more = KnowledgeGraph.from_triples([(f"n{i}", "r0", "e1") for i in range(40)])
    grown = grow(old, more, held_out=0.3)
    assert named(grown.kg, "test") == named(old, "test")


def test_labels_come_along() -> None:
    old = KnowledgeGraph.from_triples(OLD)
    labelled = KnowledgeGraph.from_triples([("d", "likes", "a")])
    from pathformer.kg.names import Names

    labelled = labelled.with_labels(Names.of(["Dora", "Anna"]))
    grown = grow(old, labelled).kg.vocabulary
    assert [grown.label(entity) for entity in range(4)] == ["Anna", "b", "c", "Dora"]
    assert grow(old, KnowledgeGraph.from_triples([("d", "likes", "a")])).kg.vocabulary.labels is None


@pytest.mark.parametrize("name", ["likes", "r0"])
def test_an_inverse_is_no_relation_of_its_own(name: str) -> None:
    old = KnowledgeGraph.from_triples([("a", name, "b")])
    grown = grow(old, KnowledgeGraph.from_triples([("b", name, "a")]))
    assert grown.kg.splits["train"].tolist() == [[0, 0, 1], [1, 0, 0]]
