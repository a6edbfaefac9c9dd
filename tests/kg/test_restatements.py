"""Relations that restate another: planted ones are found, unrelated ones are not, and their triples are matched."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.restatements import (
    count_overlaps,
    describe,
    find_restatements,
    find_statements,
    restate,
    share_by_chance,
)

Named = tuple[str, str, str]

seeds = st.integers(0, 2**32 - 1)
few = st.tuples(st.integers(0, 3), st.sampled_from([0, 2, 4]), st.integers(0, 3))
graphs = st.sets(few, max_size=30).map(lambda rows: np.array(sorted(rows), np.int32).reshape(-1, 3))


def drawn(
    rng: np.random.Generator, relation: str, facts: int = 60, entities: int = 40, skew: float = 0.0
) -> list[Named]:
    """Facts of a relation drawn at random: with skew, some entities stand in most of them; no loops."""
    weights = 1.0 / np.arange(1, entities + 1) ** skew
    ends = rng.choice(entities, (facts, 2), p=weights / weights.sum())
    return list(dict.fromkeys((f"e{head}", relation, f"e{tail}") for head, tail in ends if head != tail))


def plant(facts: list[Named], kind: str, rng: np.random.Generator) -> list[Named]:
    """More facts, which make `s` restate `r`, or `r` its own inverse."""
    match kind:
        case "inverse":
            return [(tail, "s", head) for head, _, tail in facts]
        case "duplicate":
            return [(head, "s", tail) for head, _, tail in facts]
        case "overlap":
            kept = [(head, "s", tail) for head, _, tail in facts[len(facts) // 10 :]]
            return kept + drawn(rng, "s", facts=len(facts) // 10)
        case "contained":
            return [(tail, "s", head) for head, _, tail in facts[: len(facts) // 2]]
        case _:
            return [(tail, "r", head) for head, _, tail in facts]


def found_in(triples: list[Named]) -> tuple[KnowledgeGraph, set[tuple[str, str, bool, str]]]:
    """The restatements of a graph: which relation, by which, whether the other way round, and the kind."""
    graph = KnowledgeGraph.from_triples(triples)
    names = graph.vocabulary
    return graph, {
        (names.relation(one.relation), names.relation(one.restated_by), bool(one.restated_by & 1), one.kind)
        for one in graph.restatements()
    }


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("inverse", ("r", "s", True, "inverse")),
        ("duplicate", ("r", "s", False, "duplicate")),
        ("overlap", ("r", "s", False, "duplicate")),
        ("contained", ("r", "s", True, "contained")),
        ("symmetric", ("r", "r", True, "symmetric")),
    ],
)
@given(seed=seeds)
def test_what_is_planted_is_found_and_nothing_else(kind: str, expected: tuple[str, str, bool, str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    facts = drawn(rng, "r")
    _, found = found_in([*facts, *drawn(rng, "t"), *plant(facts, kind, rng), *drawn(rng, "u")])
    assert found == {expected}


@given(
    seeds, st.integers(2, 30), st.lists(st.integers(1, 300), min_size=1, max_size=5), st.sampled_from([0.0, 1.0, 2.0])
)
def test_unrelated_relations_do_not_restate_each_other(seed: int, entities: int, sizes: list[int], skew: float) -> None:
    """However few or dense their facts are, and however much the same entities stand in them."""
    rng = np.random.default_rng(seed)
    triples = [fact for n, size in enumerate(sizes) for fact in drawn(rng, f"r{n}", size, entities, skew)]
    assert not triples or found_in(triples)[1] == set()


def test_a_few_facts_may_agree_by_chance() -> None:
    def doubled(facts: int) -> set[tuple[str, str, bool, str]]:
        return found_in([(f"a{n}", relation, f"b{n}") for n in range(facts) for relation in "rs"])[1]

    def mutual(pairs: int) -> set[tuple[str, str, bool, str]]:
        return found_in([(f"{a}{n}", "r", f"{b}{n}") for n in range(pairs) for a, b in ("ab", "ba")])[1]

    assert doubled(4) == set() == mutual(3)  # of mutual facts, half say nothing new
    assert doubled(12) == {("r", "s", False, "duplicate")}
    assert mutual(8) == {("r", "r", True, "symmetric")}


def test_a_relation_that_is_nearly_everywhere_does_not_restate_what_leans_to_it() -> None:
    """Four in five facts of `s` are in `r`; but of all pairs, seven in ten are."""
    rng = np.random.default_rng(0)
    pairs = [(f"a{h}", f"b{t}") for h in range(60) for t in range(60)]
    dense = rng.random(len(pairs)) < 0.7
    leaning = rng.random(len(pairs)) < np.where(dense, 0.34, 0.2)
    triples = [(h, "r", t) for (h, t), here in zip(pairs, dense, strict=True) if here]
    triples += [(h, "s", t) for (h, t), here in zip(pairs, leaning, strict=True) if here]
    assert found_in(triples)[1] == set()


def test_seven_facts_in_ten_are_a_restatement_and_six_are_not() -> None:
    facts = [(f"a{n}", "r", f"b{n}") for n in range(100)]
    for shared, expected in ((70, {("r", "s", False, "duplicate")}), (60, set())):
        others = [(head, "s", tail) for head, _, tail in facts[:shared]]
        others += [(f"a{n}", "s", f"c{n}") for n in range(100 - shared)]
        assert found_in(facts + others)[1] == expected


def test_degenerate_graphs() -> None:
    assert find_restatements(np.empty((0, 3), np.int32), 5, 4) == ()
    assert found_in([("a", "r", "b")])[1] == set()
    assert found_in([(f"e{n}", "r", f"e{n}") for n in range(50)])[1] == set()  # the inverse of a loop is the loop
    same = [(f"a{n}", f"r{k}", f"b{n}") for n in range(30) for k in range(5)]
    graph, found = found_in(same)
    assert found == {(f"r{k}", f"r{m}", False, "duplicate") for k in range(5) for m in range(k + 1, 5)}
    sizes = graph.vocabulary.entity_count, graph.vocabulary.relation_count
    groups = find_statements(graph.splits["train"], graph.restatements(), *sizes)
    assert Counter(groups.tolist()).most_common()[-1][1] == 5


def test_loops_agree_in_both_directions_and_say_nothing_of_their_own_inverse() -> None:
    loops = [(f"e{n}", relation, f"e{n}") for n in range(30) for relation in "rs"]
    assert found_in(loops)[1] == {("r", "s", False, "duplicate"), ("r", "s", True, "inverse")}
    mutual = [(f"{a}{n}", "r", f"{b}{n}") for n in range(15) for a, b in ("ab", "ba")]
    assert found_in([*mutual, *loops[::2]])[1] == {("r", "r", True, "symmetric")}


@given(graphs)
def test_overlaps_are_those_of_sets(triples: np.ndarray) -> None:
    """Twin: the pairs of each directed relation as a set."""
    pairs = {relation: {(h, t) for h, r, t in triples.tolist() if r == relation} for relation in (0, 2, 4)}
    pairs |= {relation + 1: {(t, h) for h, t in pairs[relation]} for relation in (0, 2, 4)}
    expected = {
        (one, other): len({(h, t) for h, t in pairs[one] & pairs[other] if other != one + 1 or h != t})
        for one in (0, 2, 4)
        for other in range(one + 1, 6)
    }
    assert count_overlaps(triples, 4, 6) == {key: shared for key, shared in expected.items() if shared}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30), st.data())
def test_the_share_by_chance_is_the_sum_over_pairs(others: list[tuple[int, int]], data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=10))
    expected = [
        min(1.0, sum(h == head for h, _ in others) * sum(t == tail for _, t in others) / len(others))
        for head, tail in pairs
    ]
    found = share_by_chance(np.array(pairs, np.int32), np.array(others, np.int32))
    assert found == pytest.approx(sum(expected) / len(expected))


@given(seeds)
def test_triples_state_the_same_where_their_relations_say_so(seed: int) -> None:
    """Twin: what each relation was planted to state. `r_too` is the inverse of `r_of`: they are joined through `r`."""
    rng = np.random.default_rng(seed)
    facts, mutual = drawn(rng, "r"), drawn(rng, "m")
    triples = [*facts, *drawn(rng, "u"), *((tail, "r_of", head) for head, _, tail in facts)]
    triples += [(head, "r_too", tail) for head, _, tail in facts]
    triples += [*mutual, *((tail, "m", head) for head, _, tail in mutual)]
    graph = KnowledgeGraph.from_triples(triples)
    names, rows = graph.vocabulary, graph.splits["train"]
    groups = find_statements(rows, graph.restatements(), names.entity_count, names.relation_count)
    first: dict[object, int] = {}
    for position, (head, relation, tail) in enumerate(rows.tolist()):
        match name := names.relation(relation):
            case "r" | "r_too":
                said: object = (head, "r", tail)
            case "r_of":
                said = (tail, "r", head)
            case "m":
                said = (frozenset((head, tail)), "m")
            case _:
                said = (head, name, tail)
        assert groups[position] == first.setdefault(said, position)


def test_a_triple_is_restated_by_equals_and_by_the_relation_that_its_own_is_a_part_of() -> None:
    facts = [(f"a{n}", "won", f"b{n}") for n in range(60)]
    triples = [*facts, *((t, "won_by", h) for h, _, t in facts[:50]), *((h, "kept", t) for h, _, t in facts[:30])]
    graph = KnowledgeGraph.from_triples([*triples, ("a60", "kept", "b60"), ("b61", "won_by", "a61")])
    names, rows = graph.vocabulary, graph.splits["train"]
    more = {
        (names.entity(head), names.relation(relation), names.entity(tail))
        for head, relation, tail in restate(rows, graph.restatements(), names.relation_count).tolist()
    }
    assert more - set(triples) == {
        *((t, "won_by", h) for h, _, t in facts[50:]),
        ("a61", "won", "b61"),
        ("a60", "won", "b60"),  # but not kept(a61, b61): what was won was not always kept
        ("b60", "won_by", "a60"),
    }


def test_a_family_may_turn_twice() -> None:
    """`s` restates `r`, `t` restates `s`, each the other way round: of `t` and `r` the direction is the same."""
    facts = [(f"a{n}", f"b{n}") for n in range(125)]
    triples = [(a, "r", b) for a, b in facts[:100]] + [(b, "s", a) for a, b in facts[25:]]
    triples += [(a, "t", b) for a, b in facts[90:]]
    graph = KnowledgeGraph.from_triples([*triples, ("b0", "r", "a0")])  # of r(a0, b0) it says nothing
    names, rows = graph.vocabulary, graph.splits["train"]
    assert [one.sentence(names)[:5] for one in graph.restatements()] == ["`s` s", "`t` s"]
    groups = find_statements(rows, graph.restatements(), names.entity_count, names.relation_count)
    assert Counter(Counter(groups.tolist()).values()) == {1: 26, 2: 65 + 25, 3: 10}


def test_sentences() -> None:
    facts = [(f"a{n}", "won", f"b{n}") for n in range(100)]
    triples = [*facts, *((tail, "won_by", head) for head, _, tail in facts[:99]), *((h, "got", t) for h, _, t in facts)]
    triples += [(head, "kept", tail) for head, _, tail in facts[:40]]
    triples += [(f"{a}{n}", "met", f"{b}{n}") for n in range(50) for a, b in ("ab", "ba")]
    graph = KnowledgeGraph.from_triples(triples)
    said = [one.sentence(graph.vocabulary) for one in graph.restatements()]
    for sentence in (
        "`got` states the same as `won` in 100 % of its facts",
        "`won_by` states the inverse of `won` in 100 % of its facts",
        "`kept` states a part of `won` in 100 % of its facts",
        "`kept` states a part of the inverse of `won_by` in 100 % of its facts",
        "`met` states its own inverse in 100 % of its facts",
    ):
        assert sentence in said
    assert describe(graph.restatements(), graph.vocabulary).startswith(f"4 relations repeat other facts ({said[0]}; ")
