"""What is held out goes with all that states the same; and parts that a user made are read so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.kg.grow import grow
from pathformer.kg.holdout import count_restated, spell_out
from pathformer.kg.knowledge import KnowledgeGraph

Named = tuple[str, str, str]


def stated_twice(seed: int, facts: int = 200, share: float = 1.0) -> list[Named]:
    """Two relations, of which one is stated the other way round as well, and a mutual one."""
    rng = np.random.default_rng(seed)
    rows = [(f"e{h}", r, f"e{t}") for r in ("r", "u", "m") for h, t in rng.integers(0, 40, (facts, 2)) if h != t]
    others = [(t, "r_of", h) for h, r, t in rows if r == "r" and rng.random() < share]
    return list(dict.fromkeys([*rows, *others, *((t, "m", h) for h, r, t in rows if r == "m")]))


def said(triple: Named) -> Named:
    """One of the triples that state the same."""
    head, relation, tail = triple
    if relation == "r_of" or (relation == "m" and tail < head):
        head, tail = tail, head
    return head, relation.removesuffix("_of"), tail


def named(graph: KnowledgeGraph, split: str) -> set[Named]:
    return {tuple(row.values()) for row in graph.to_table(split).to_pylist()}  # type: ignore[misc]


@given(st.integers(0, 10**6), st.floats(0.0, 0.4), st.floats(0.05, 0.4), st.sampled_from([0.9, 1.0]))
def test_what_states_the_same_is_in_one_part(seed: int, valid: float, test: float, share: float) -> None:
    triples = stated_twice(seed, share=share)
    divided = KnowledgeGraph.from_triples(triples).split(valid, test, seed=seed)
    parts = [named(divided, split) for split in divided.splits]
    statements = [{said(triple) for triple in part} for part in parts]
    assert sum(map(len, statements)) == len(set().union(*statements))
    assert sorted(triple for part in parts for triple in part) == sorted(triples)
    assert {name for h, _, t in parts[0] for name in (h, t)} == {name for h, _, t in triples for name in (h, t)}
    assert {relation for _, relation, _ in parts[0]} == {"r", "r_of", "u", "m"}
    for split, fraction in (("valid", valid), ("test", test)):
        wanted = int(fraction * len(triples))
        assert wanted - 3 <= len(divided.splits.get(split, ())) <= wanted  # a statement of two that does not fit
    spelled = spell_out(divided)
    assert all(named(spelled, split) == part for split, part in list(zip(divided.splits, parts, strict=True))[1:])
    assert {said(triple) for triple in named(spelled, "train")} == statements[0]
    assert share < 1.0 or spelled is divided


def test_a_statement_of_two_triples_is_not_drawn_more_often() -> None:
    divided = KnowledgeGraph.from_triples(stated_twice(0, facts=1500)).split(0.0, 0.2, seed=1)
    held, train = ([said(triple) for triple in named(divided, split)] for split in ("test", "train"))
    shares = {r: len({s for s in held if s[1] == r}) / len({s for s in held + train if s[1] == r}) for r in "ru"}
    assert shares["r"] == pytest.approx(shares["u"], abs=0.05)


def test_when_all_relations_are_one() -> None:
    triples = [(f"a{n % 20}", f"r{k}", f"b{n % 13}") for n in range(200) for k in range(4)]
    divided = KnowledgeGraph.from_triples(triples).split(0.1, 0.1)
    pairs = [{(h, t) for h, _, t in named(divided, split)} for split in divided.splits]
    assert sum(map(len, pairs)) == 200
    assert [len(divided.splits[split]) for split in ("valid", "test")] == [80, 80]


def test_what_an_earlier_part_states_is_known_there() -> None:
    facts = [(f"a{n}", "r", f"b{n % 7}") for n in range(60)]
    turned = [(t, "r_of", h) for h, _, t in facts]
    names = [(name, "is", name) for h, _, t in facts for name in (h, t)]
    given_parts = KnowledgeGraph.from_triples(
        [*names, *facts[:40], *turned[:30], *turned[58:]],
        valid=[*turned[30:34], *facts[44:48]],  # the first are stated in train, the last in test too
        test=[*turned[44:48], *facts[50:56], *turned[50:56], *facts[56:]],
    )
    spelled = spell_out(given_parts)
    assert named(spelled, "train") == {*names, *facts[:40], *turned[:40], *facts[58:], *turned[58:]}
    assert named(spelled, "valid") == set(facts[44:48]) | set(turned[44:48])
    assert named(spelled, "test") == {*facts[50:58], *turned[50:56]}
    assert count_restated(given_parts) == (4 + 12, 4 + 4 + 2)
    assert count_restated(spelled) == (8 + 12, 0)


def test_new_triples_are_held_out_with_those_that_state_the_same() -> None:
    old = KnowledgeGraph.from_triples(stated_twice(1, facts=300)).split(0.1, 0.1)
    grown = grow(old, KnowledgeGraph.from_triples(stated_twice(2, facts=300)), held_out=0.2).kg
    parts = [{said(triple) for triple in named(grown, split)} for split in grown.splits]
    assert sum(map(len, parts)) == len(set().union(*parts))
    assert len(grown.splits["test"]) > len(old.splits["test"]) + 100


def test_a_new_triple_that_an_old_one_states_stays_in_train() -> None:
    facts = [(f"a{n % 20}", "r", f"b{n}") for n in range(100)]
    names = [(name, "is", "thing") for h, _, t in facts for name in (h, t)]
    old = KnowledgeGraph.from_triples([*facts[:60], *names], valid=facts[60:80], test=facts[80:])
    turned = KnowledgeGraph.from_triples([(t, "r_of", h) for h, _, t in facts[:80]])
    grown = grow(old, turned, held_out=0.4).kg
    assert named(grown, "train") >= {(t, "r_of", h) for h, _, t in facts[:60]}
    assert named(spell_out(grown), "test") >= set(facts[80:])
