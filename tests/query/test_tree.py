"""A tree's variables keep the names that the question gave them."""

from __future__ import annotations

import pytest
from hypothesis import given
from support.query_strategies import trees

from pathformer.engine.engine import Engine
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.compile.bind import bind
from pathformer.query.compile.dnf import to_demorgan, to_dnf
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.parse import parse
from pathformer.query.print import spell
from pathformer.query.tree import Projection, Tree, canonical, map_children, node_at

VOCABULARY = Vocabulary.of(["a", "b"], ["r", "s"])


def tree_of(text: str) -> Tree:
    return to_tree(bind(parse(text), VOCABULARY), VOCABULARY)


@pytest.mark.parametrize(
    "formula",
    [
        "r(a, ?x)",
        "r(a, ?film) & s(?film, ?x)",
        "r(a, ?one) & s(?one, ?x) & r(a, ?other) & s(?other, ?x)",
        "r(a, ?one) & s(?one, ?x) | s(?other, b) & r(?x, ?other)",
        "r(a, ?x) & !(s(b, ?v) & r(?v, ?x)) & !(r(b, ?w) & s(?w, ?x))",
    ],
)
def test_a_tree_is_spelled_with_the_names_of_the_question(formula: str) -> None:
    assert spell(tree_of(f"?x : {formula}"), VOCABULARY) == formula


def test_a_part_that_was_taken_apart_keeps_its_names() -> None:
    tree = tree_of("?x : r(a, ?v) & (s(?v, ?x) | r(?v, ?x))")
    assert spell(tree, VOCABULARY) == "r(a, ?v) & s(?v, ?x) | r(a, ?v) & r(?v, ?x)"


def test_the_answer_may_have_any_name() -> None:
    assert spell(tree_of("?v1 : r(a, ?x) & r(?x, ?v1)"), VOCABULARY) == "r(a, ?x) & r(?x, ?v1)"


def test_a_part_names_its_own_variable_and_an_entity_takes_its_place() -> None:
    tree = tree_of("?x : r(a, ?u) & s(?u, ?v) & !s(b, ?v) & r(?v, ?x)")
    part = node_at(tree, (0,))
    assert spell(part, VOCABULARY) == "r(a, ?u) & s(?u, ?v) & !s(b, ?v)"
    assert spell(part, VOCABULARY, 1) == "r(a, ?u) & s(?u, b) & !s(b, b)"


def test_rewrites_keep_the_names() -> None:
    tree = tree_of("?x : (r(a, ?u) | !!s(b, ?u)) & r(?u, ?x)")
    assert [spell(disjunct, VOCABULARY) for disjunct in to_dnf(tree)] == [
        "r(a, ?u) & r(?u, ?x)",
        "s(b, ?u) & r(?u, ?x)",
    ]
    assert spell(to_demorgan(tree), VOCABULARY) == "!(!r(a, ?u) & !s(b, ?u)) & r(?u, ?x)"
    assert spell(canonical(tree), VOCABULARY) == "(r(a, ?u) | s(b, ?u)) & r(?u, ?x)"


def with_names(tree: Tree) -> Tree:
    match tree:
        case Projection(relation, of):
            return Projection(relation, with_names(of), f"v{relation}")
        case _:
            return map_children(tree, with_names)


@given(trees())
def test_names_take_no_part_in_comparison_or_order(tree: Tree) -> None:
    plain, named = map_children(tree, lambda child: child), with_names(tree)
    assert named == with_names(plain)
    assert (hash(canonical(named)), repr(canonical(named))) == (hash(canonical(plain)), repr(canonical(plain)))


@pytest.mark.parametrize(
    ("part", "joined"),
    [
        ("directed(Fellini, ?f{0}) & stars(?f{0}, ?x)", " & "),
        ("!(directed(Visconti, ?f{0}) & stars(?f{0}, ?x))", " & "),
        ("directed(Fellini, ?f{0}) & stars(?f{0}, ?x)", " | "),
    ],
    ids=["and", "not", "or"],
)
def test_a_flat_question_may_have_hundreds_of_variables(engine: Engine, part: str, joined: str) -> None:
    parts = [part.format(number) for number in range(600)]
    first = engine.ask(f"?x : stars(La_Strada, ?x){joined}{joined.join(parts)}", top=1)[0]
    assert first.known
    assert first.entity in ("Masina", "Quinn", "Mastroianni", "Cardinale", "Noël")
    if joined == " & ":
        assert "?f599" in str(first.reason)
