"""The rules of train, valid and test, and a graph of one's own divided by them."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.errors import InputError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.splits import Report

Named = tuple[str, str, str]

few = st.sampled_from("abcdef")
named_triples = st.lists(st.tuples(few, st.sampled_from("rst"), few), min_size=1, max_size=60)


def named(graph: KnowledgeGraph, split: str | None = None) -> set[Named]:
    return {tuple(row.values()) for row in graph.to_table(split).to_pylist()}  # type: ignore[misc]


def test_repeats_are_merged_and_counted() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "a"), ("a", "r", "b"), ("a", "r", "b")])
    assert named(graph) == {("a", "r", "b"), ("b", "r", "a")}
    assert graph.report == Report(lines=4, duplicates=2)


def test_ids_follow_the_order_of_first_appearance() -> None:
    graph = KnowledgeGraph.from_triples([("z", "s", "y"), ("y", "r", "x"), ("z", "s", "a")])
    assert list(graph.vocabulary.entities) == ["z", "y", "x", "a"]
    assert list(graph.vocabulary.relations) == ["s", "r"]
    assert graph.splits["train"].tolist() == [[0, 0, 1], [0, 0, 3], [1, 2, 2]]


def test_a_loop_and_a_relation_called_like_an_entity() -> None:
    graph = KnowledgeGraph.from_triples([("a", "a", "a")])
    assert graph.vocabulary.entity_count == 1
    assert graph.vocabulary.relation_id("a") == 0
    assert graph.graph().tails_of(0, 0).tolist() == [0]
    assert graph.graph().tails_of(0, 1).tolist() == [0]


def test_valid_and_test_know_only_the_names_of_train() -> None:
    graph = KnowledgeGraph.from_triples(
        [("a", "r", "b"), ("b", "s", "c")],
        valid=[("a", "r", "c"), ("a", "r", "new"), ("new", "r", "a"), ("a", "new", "b"), ("a", "r", "b")],
        test=[("a", "r", "c"), ("c", "s", "b"), ("c", "s", "b")],
    )
    assert list(graph.vocabulary.entities) == ["a", "b", "c"]
    assert list(graph.vocabulary.relations) == ["r", "s"]
    assert named(graph, "valid") == {("a", "r", "c")}
    assert named(graph, "test") == {("c", "s", "b")}
    assert graph.report == Report(lines=10, unseen=3, repeated=2, duplicates=1)


def test_graphs_are_cumulative() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b")], [("b", "r", "a")], [("a", "r", "a")])
    assert [graph.graph(split).edges for split in ("train", "valid", "test")] == [2, 4, 6]
    assert graph.graph() is graph.graph("test")
    with pytest.raises(InputError, match="the graph 'graph' has no 'dev' triples, only train, valid, test"):
        graph.graph("dev")
    with pytest.raises(InputError, match="has no 'test' triples, only train"):
        KnowledgeGraph.from_triples([("a", "r", "b")]).to_table("test")


@given(named_triples, named_triples, named_triples)
def test_assembly_against_sets(train: list[Named], valid: list[Named], test: list[Named]) -> None:
    graph = KnowledgeGraph.from_triples(train, valid, test)
    entities = {name for head, _, tail in train for name in (head, tail)}
    relations = {relation for _, relation, _ in train}

    def known(part: list[Named]) -> list[Named]:
        return [t for t in part if {t[0], t[2]} <= entities and t[1] in relations]

    assert named(graph, "train") == set(train)
    assert named(graph, "valid") == set(known(valid)) - set(train)
    assert named(graph, "test") == set(known(test)) - set(train) - set(valid)
    report = graph.report
    assert report.lines == len(train) + len(valid) + len(test)
    assert report.unseen == len(valid) - len(known(valid)) + len(test) - len(known(test))
    assert report.lines - report.unseen - report.duplicates - report.repeated == graph.triple_count


@given(named_triples, st.floats(0.05, 0.45), st.floats(0.05, 0.45), st.integers(0, 5))
def test_a_split_loses_nothing_and_train_keeps_every_name(
    triples: list[Named], valid: float, test: float, seed: int
) -> None:
    graph = KnowledgeGraph.from_triples(triples)
    divided = graph.split(valid, test, seed=seed)
    parts = [named(divided, split) for split in divided.splits]
    assert set().union(*parts) == set(triples)
    assert sum(map(len, parts)) == len(set(triples))
    assert {name for h, _, t in parts[0] for name in (h, t)} == {name for h, _, t in triples for name in (h, t)}
    assert {relation for _, relation, _ in parts[0]} == {relation for _, relation, _ in triples}
    assert divided.vocabulary is graph.vocabulary
    for split, fraction in (("valid", valid), ("test", test)):
        assert len(divided.splits.get(split, ())) <= int(fraction * len(set(triples)))


def many(count: int = 2000, entities: int = 50) -> KnowledgeGraph:
    random = np.random.default_rng(1)
    rows = random.integers(0, entities, (count, 2)).tolist()
    return KnowledgeGraph.from_triples((f"e{h}", f"r{(h * t) % 5}", f"e{t}") for h, t in rows)


def test_where_there_is_enough_the_fractions_are_reached() -> None:
    graph = many()
    divided = graph.split(0.2, 0.1, seed=3)
    assert len(divided.splits["valid"]) == int(0.2 * graph.triple_count)
    assert len(divided.splits["test"]) == int(0.1 * graph.triple_count)


def test_a_seed_draws_the_same_and_another_seed_others() -> None:
    graph = many()
    first, again, other = (graph.split(seed=seed).fingerprint() for seed in (1, 1, 2))
    assert first == again != other


def test_a_divided_graph_can_be_divided_anew() -> None:
    graph = many()
    assert graph.split(seed=1).split(seed=2).fingerprint() == graph.split(seed=2).fingerprint()


def test_a_chain_can_spare_nothing() -> None:
    chain = KnowledgeGraph.from_triples((f"e{n}", "r", f"e{n + 1}") for n in range(0, 100, 2))
    divided = chain.split(0.2, 0.2)
    assert {split: len(part) for split, part in divided.splits.items()} == {"train": 50, "valid": 0, "test": 0}


def test_only_one_part_may_be_wanted() -> None:
    assert list(many().split(0.1, 0).splits) == ["train", "valid"]
    assert list(many().split(0, 0.1).splits) == ["train", "test"]


@pytest.mark.parametrize(
    ("valid", "test"), [(0, 0), (-0.1, 0.2), (0.5, 0.5), (2, 0.1), (nan, 0.1), (0.1, nan), (inf, 0.1)]
)
def test_fractions_that_make_no_sense(valid: float, test: float) -> None:
    with pytest.raises(InputError, match="expected each from 0, together between 0 and 1"):
        many(50).split(valid, test)


def test_a_seed_is_not_negative() -> None:
    with pytest.raises(InputError, match=r"^seed -5: expected a whole number from 0, below 2\^64$"):
        many(50).split(seed=-5)
    assert many(50).split(seed=0).splits


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        ([("a", "r", "b"), ("a", "", "b")], r"train triple 1 is \('a', '', 'b'\): expected three names"),
        ([("a", "r")], r"train triple 0 is \('a', 'r'\)"),
        ([("a", "r", 1)], r"train triple 0 is \('a', 'r', 1\)"),
        ([("a", "r", "\ud800")], "half of a surrogate pair"),
    ],
)
def test_python_triples_that_are_none(triples: list[Named], message: str) -> None:
    with pytest.raises(InputError, match=message):
        KnowledgeGraph.from_triples(triples)


def test_repr_tells_the_sizes() -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b")], valid=[("b", "r", "a")], name="two")
    assert repr(graph) == "<KnowledgeGraph 'two': 2 entities, 1 relation, train 1, valid 1 triples>"
