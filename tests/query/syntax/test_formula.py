"""The formula language: what it reads, how it prints, and what it says of mistakes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from support.formula_strategies import named_formulas

from pathformer.errors import QuerySizeError, QuerySyntaxError
from pathformer.query.ast import And, Atom, Constant, Not, Or, Query, Variable
from pathformer.query.print import BARE
from pathformer.query.syntax import formula
from pathformer.query.syntax.formula import parse, write

X = Variable("x")
A, B, C = (Atom("r", Constant(name), X) for name in "abc")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("r(a, ?x)", A),
        ("r(a,?x)&r(b,?x)", And((A, B))),
        ("r(a, ?x) && r(b, ?x) and r(c, ?x)", And((A, B, C))),
        ("r(a, ?x) ∧ r(b, ?x) AND r(c, ?x)", And((A, B, C))),
        ("r(a, ?x) | r(b, ?x) or r(c, ?x)", Or((A, B, C))),
        ("r(a, ?x) || r(b, ?x) ∨ r(c, ?x)", Or((A, B, C))),
        ("!r(a, ?x)", Not(A)),
        ("not r(a, ?x)", Not(A)),
        ("NOT(r(a, ?x))", Not(A)),
        ("¬¬r(a, ?x)", Not(Not(A))),
        ("r(a, ?x) | r(b, ?x) & !r(c, ?x)", Or((A, And((B, Not(C)))))),
        ("(r(a, ?x) | r(b, ?x)) & r(c, ?x)", And((Or((A, B)), C))),
        ("!(r(a, ?x) & r(b, ?x)) | r(c, ?x)", Or((Not(And((A, B))), C))),
        ("(r(a, ?x) & r(b, ?x)) & r(c, ?x)", And((And((A, B)), C))),
        ("((r(a, ?x)))", A),
        ("\n  r ( a ,\n ?x )\t", A),
    ],
)
def test_operators_and_precedence(text, expected):
    assert parse(f"?x : {text}") == Query(X, expected)


@pytest.mark.parametrize(
    "text",
    [
        "∃v. r(a, ?v) & s(?v, ?x)",
        "∃?v. r(a, ?v) & s(?v, ?x)",
        "∃v: (r(a, ?v) & s(?v, ?x))",
        "(∃v r(a, ?v)) & s(?v, ?x)",
        "r(a, ?v) & ∃ v, w . s(?v, ?x)",
        "∃v.∃w. r(a, ?v) ∧ s(?v, ?x)",
    ],
)
def test_a_quantifier_changes_nothing(text):
    expected = parse("?x : r(a, ?v) & s(?v, ?x)").formula
    assert parse(f"?x : {text}").formula in (expected, And((expected,)))


def test_a_quantifier_after_not_needs_parentheses_and_keeps_the_scope():
    assert parse("?x : !∃v. (r(a, ?v) & s(?v, ?x)) & t(b, ?x)") == parse("?x : !(r(a, ?v) & s(?v, ?x)) & t(b, ?x)")
    with pytest.raises(QuerySyntaxError, match="so that it is clear how far it reaches"):
        parse("?x : !∃v. r(a, ?v) & s(?v, ?x)")
    with pytest.raises(QuerySyntaxError, match=r"the answer \?x cannot be quantified: remove its ∃"):
        parse("?x : ∃x. r(a, ?x)")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Fellini",
            "/film/director/film",
            "http://example.org/a#b",
            "concept:athlete:1",
            "x-y_z.w",
            "-/film",
            "+r",
            "O'Brien",
        ),
        *("हिन्दी", "中国", "Ærøskøbing", "a@b", "50%", "notable", "android", "order", "Or", "St.", "2001", "a=b", "€"),
    ],
)
def test_bare_names(name):
    assert parse(f"?x : {name}({name}, ?x)") == Query(X, Atom(name, Constant(name), X))
    assert write(Query(X, Atom(name, Constant(name), X))) == f"?x : {name}({name}, ?x)"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"New York"', "New York"),
        ("'New York'", "New York"),
        (r'"a \"quote\" and \\ \n\t"', 'a "quote" and \\ \n\t'),
        (r"'it\'s'", "it's"),
        (r'"\u00e9\U0001F600"', "é😀"),
        (r'"\U0010FFFF\U00000041"', "\U0010ffffA"),
        ('"and"', "and"),
        ('"?x"', "?x"),
        ('"a(b)"', "a(b)"),
    ],
)
def test_quoted_names(written, name):
    assert parse(f"?x : {written}({written}, ?x)") == Query(X, Atom(name, Constant(name), X))


@given(named_formulas())
def test_what_is_written_is_read_back_as_the_very_same(tree):
    query = Query(X, tree)
    assert parse(write(query)) == query
    assert "\n" not in write(query)


def test_ids_of_a_bound_query_print_as_numbers():
    assert write(Query(X, Atom(4, Constant(7), X))) == "?x : 4(7, ?x)"


def test_bare_names_are_those_of_the_grammar():
    (bare,) = re.findall(r"^BARE: /(.*)/$", formula.GRAMMAR.read_text(encoding="utf-8"), re.MULTILINE)
    assert BARE.pattern == bare.replace('"', r"\"")


@pytest.mark.parametrize("pieces", ["a b", "'a' 'b'", "'it''s'", '"a""b"', r"'\\''b'", r'"\t" c'])
def test_the_name_that_is_suggested_can_be_read(pieces):
    for text in (f"?x : r({pieces}, ?x)", f"?x : {pieces}(a, ?x)"):
        with pytest.raises(QuerySyntaxError) as caught:
            parse(text)
        suggested = re.search(r'".*"$', caught.value.problem.partition("name")[2])[0]
        assert parse(text.replace(pieces, suggested))


def test_the_place_is_right_below_wide_signs_too():
    with pytest.raises(QuerySyntaxError) as caught:
        parse("?x :\n\t出演(日本 ?x)")
    assert str(caught.value).splitlines()[1:] == ["  \t出演(日本 ?x)", "  \t          ^"]


def test_a_long_nesting_is_a_sentence():
    with pytest.raises(QuerySizeError, match="has 101 nested levels"):
        parse("?x : " + "!" * 100 + "r(a, ?x)")
    assert parse("?x : " + "!" * 99 + "r(a, ?x)")
