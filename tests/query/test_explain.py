"""Every stage as text: scope, tree, normal form, paths and forks."""

from __future__ import annotations

import pytest
from hypothesis import given
from support.formula_strategies import named_formulas

from pathformer.errors import CyclicQueryError, QuerySizeError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import Query, Variable
from pathformer.query.compile.scope import write_scopes
from pathformer.query.explain import explain
from pathformer.query.iris import Naming
from pathformer.query.parse import parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x : r(a, ?x)", "?x : r(a, ?x)"),
        ("?x : r(a, ?v) & s(?v, ?x)", "?x : ∃v. r(a, ?v) & s(?v, ?x)"),
        ("?x : r(b, ?x) & !(r(a, ?v) & s(?v, ?x))", "?x : r(b, ?x) & !∃v. (r(a, ?v) & s(?v, ?x))"),
        ("?x : !r(a, ?v) & s(?v, ?x)", "?x : ∃v. !r(a, ?v) & s(?v, ?x)"),
        ("?x : r(a, ?v) & s(?v, ?x) | t(b, ?x)", "?x : ∃v. (r(a, ?v) & s(?v, ?x)) | t(b, ?x)"),
        ("?x : r(a, ?v) & s(?v, ?x) | t(b, ?v)", "?x : ∃v. r(a, ?v) & s(?v, ?x) | t(b, ?v)"),
        ("?x : r(a, ?x) & !s(?v, ?x)", "?x : r(a, ?x) & !∃v. (s(?v, ?x))"),
        ("?x : r(?v, ?w) & s(?w, ?x) & t(?v, a)", "?x : ∃v. ∃w. r(?v, ?w) & s(?w, ?x) & t(?v, a)"),
    ],
)
def test_scope_is_written_out(text, expected):
    assert write_scopes(parse(text)) == expected


@given(named_formulas())
def test_a_written_scope_changes_nothing(formula):
    query = Query(Variable("x"), formula)
    assert parse(write_scopes(query)) == query


def stages(text, **options):
    return dict(explain(text, **options))


def test_the_papers_example():
    found = stages("?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)")
    assert list(found) == [
        "query, read as formula",
        "scope",
        "computation tree: inp",
        "disjunctive normal form: 1 disjunct",
        "path and fork queries: 3 paths, 1 fork",
        "as sparql",
    ]
    assert found["computation tree: inp"] == [
        "?x",
        "└─ stars",
        "   └─ ∩",
        "      ├─ directed",
        "      │  └─ Fellini",
        "      └─ not",
        "         └─ won⁻¹",
        "            └─ Oscar",
    ]
    assert found["path and fork queries: 3 paths, 1 fork"] == [
        "P1  Fellini ─directed→ ·     {Fellini, directed}",
        "P2  Oscar ─won⁻¹→ · ─not→ ·  {Oscar, won⁻¹, [Negation]}",
        "F1  P1 ∩ P2 → ·",
        "P3  F1 ─stars→ ?x            {F1, stars}",
    ]


def test_a_graph_gives_labels_and_ids():
    films = Vocabulary.of(["Q1", "Q2"], ["P1", "P2"], labels=["Fellini", None], relation_labels=["directed", None])
    found = stages("?x : P1(Fellini, ?x) | P2(?x, Q2)", naming=Naming(films))
    assert found["computation tree: 2u"] == [
        "?x",
        "└─ ∪",
        "   ├─ directed",
        "   │  └─ Fellini",
        "   └─ P2⁻¹",
        "      └─ Q2",
    ]
    assert found["disjunctive normal form: 2 disjuncts"] == ["?x : P1(Q1, ?x)", "?x : P2(?x, Q2)"]
    assert found["as betae"] == ["((0, (0,)), (1, (3,)), (-1,))"]


def test_what_shares_its_label_is_shown_by_its_name():
    films = Vocabulary.of(["Q1", "Q2"], ["P1", "P2"], labels=["Maria", "Maria"], relation_labels=["has", "has"])
    found = stages("?x : P1(Q1, ?x) | P2(?x, Q2)", naming=Naming(films))
    assert found["computation tree: 2u"] == ["?x", "└─ ∪", "   ├─ P1", "   │  └─ Q1", "   └─ P2⁻¹", "      └─ Q2"]


def test_an_answer_called_like_a_fresh_variable_stays_itself():
    found = stages("?v1 : r(a, ?w) & s(?w, ?v1)")
    assert found["disjunctive normal form: 1 disjunct"] == ["?v1 : r(a, ?v2) & s(?v2, ?v1)"]
    assert "  :a :r ?v2 ." in found["as sparql"]


def test_what_belongs_to_asking_is_shown():
    found = stages("SELECT DISTINCT ?x { :a :r ?x } LIMIT 3")
    assert found["query, read as sparql"] == ["?x : r(a, ?x)", "asked with: limit 3, distinct"]


def test_many_disjuncts_are_counted():
    pairs = " & ".join(f"(r(a{i}, ?x) | s(b{i}, ?x))" for i in range(5))
    found = stages(f"?x : {pairs}")
    assert len(found["disjunctive normal form: 32 disjuncts"]) == 13
    assert found["disjunctive normal form: 32 disjuncts"][-1] == "... and 20 disjuncts more"


def test_stages_before_a_refusal_are_shown():
    found = explain("?x : r(a, ?v) & s(?v, ?x) & t(?v, ?x)")
    assert [next(found)[0], next(found)[0]] == ["query, read as formula", "scope"]
    with pytest.raises(CyclicQueryError):
        next(found)
    found = explain("?x : " + " | ".join(f"r(a{i}, ?x)" for i in range(5000)))
    assert [next(found)[0] for _ in range(3)][-1].startswith("computation tree: ((e,(r,)),(e,(r,))")
    with pytest.raises(QuerySizeError, match="5,000 disjuncts"):
        next(found)
