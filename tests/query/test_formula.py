"""The formula language: what it reads, how it prints, and what it says of mistakes."""

from __future__ import annotations

import re

import pytest
from formula_strategies import named_formulas
from hypothesis import given

from pathformer.errors import QuerySizeError, QuerySyntaxError
from pathformer.query.ast import And, Atom, Constant, Not, Or, Query, Variable
from pathformer.query.syntax import formula
from pathformer.query.syntax.formula import parse, write

X, V = Variable("x"), Variable("v")
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
    with pytest.raises(QuerySyntaxError, match="after 'not' it is not clear how far it reaches, write"):
        parse("?x : !∃v. r(a, ?v) & s(?v, ?x)")
    with pytest.raises(QuerySyntaxError, match=r"the answer \?x is what is asked for: it has no ∃"):
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
    assert formula._BARE.pattern == bare.replace('"', r"\"")


PLACES = [
    ("", 0, "the query is empty: expected '?x : relation(constant, ?x)'"),
    ("directed(Fellini, ?x)", 0, "a query starts with its answer and a colon, such as '?x : ', found 'directed'"),
    ("?x directed(Fellini, ?x)", 3, "expected ':' after the answer ?x, found 'directed'"),
    ("?x :", 4, "expected an atom such as relation(constant, ?x) after ':', found the end of the query"),
    ("?x : directed(Fellini, ?v & starred(?v, ?x)", 26, "expected ')' after the second argument, found '&'"),
    ("?x : directed(Federico Fellini, ?x)", 23, 'a name of several words needs quotes: "Federico Fellini"'),
    ("?x : born in(a, ?x)", 10, "expected '(' after the relation 'born', found 'in'; a name of several words needs"),
    ("?x : r('Federico' \"Fellini\", ?x)", 18, 'a name of several words needs quotes: "Federico Fellini"'),
    (r"?x : r('a \"b\"' c, ?x)", 17, r'a name of several words needs quotes: "a \"b\" c"'),
    ("?x : r('it''s', ?x)", 11, 'a quote is not doubled inside a name: write "it\'s"'),
    ('?x : r("a""b", ?x)', 10, r'a quote is not doubled inside a name: write "a\"b"'),
    ("?x : 'it''s'(a, ?x)", 9, "expected '(' after the relation \"'it'\", found \"'s'\"; a quote is not doubled"),
    ('?x : r(a"b", ?x)', 8, "a name is either all between quotes or not at all"),
    ("?x : r('a'b, ?x)", 10, "a name is either all between quotes or not at all"),
    ("?x : r(a, ?x, b)", 12, "a relation has two arguments, subject and object; found ',' and a third"),
    ("?x : r(a)", 8, "a relation has two arguments, subject and object; found one"),
    ("?x : r(a ?x)", 9, "expected ',' after the first argument, found '?x'"),
    ("?x : r(, ?x)", 7, "expected a constant or a variable as the first argument, found ','"),
    ("?x : r(a, )", 10, "expected a constant or a variable as the second argument, found ')'"),
    (
        "?x : r(a, or )",
        10,
        "expected a constant or a variable as the second argument, found 'or'; as a name it needs quotes",
    ),
    ("?x : r(a, ?x) &", 15, "expected an atom such as relation(constant, ?x) after '&', found the end of the query"),
    ("?x : & r(a, ?x)", 5, "expected an atom such as relation(constant, ?x) after ':', found '&'"),
    ("?x : (r(a, ?x)", 14, "expected ')': a '(' is still open at the end of the query"),
    ("?x : r(a, ?x))", 13, "this ')' closes no '('"),
    ("?x : ?r(a, ?x)", 5, "a variable cannot be a relation: expected an atom"),
    ("?x : r(a, ?x), s(b, ?x)", 13, "',' does not join atoms: write '&'"),
    ("?x : r(a, ?x) s(b, ?x)", 14, "expected '&', '|' or the end after an atom, found 's'"),
    ("?x : (r(a, ?x) s(b, ?x))", 15, "expected '&', '|' or ')' after an atom, found 's'"),
    ('?x : r(a, "b)', 10, 'the quote " is not closed on its line, or holds an escape other than'),
    (r'?x : r("\q", ?x)', 7, 'the quote " is not closed on its line, or holds an escape other than'),
    (r'?x : r("\U00110000", ?x)', 7, 'the quote " is not closed on its line, or holds an escape other than'),
    ("?x : r(a, ?)", 10, "expected the name of a variable after '?', such as ?x"),
    ("?x : r[a, ?x]", 6, "'[' stands where it has no meaning; a name that holds it needs quotes"),
    ("?x : r(“Federico Fellini”, ?x)", 17, '“ is no quote sign here: write " before and behind the name'),
    ("?x : «born in»(a, ?x)", 11, "expected '(' after the relation '«born', found 'in»'; « is no quote sign here"),
    ("?x : r(O’Brien Flann, ?x)", 15, 'a name of several words needs quotes: "O’Brien Flann"'),
    ("?x : r(a, ?x) And s(b, ?x)", 14, "the word is written 'and', found 'And'"),
    ("?x : (r(a, ?x) oR s(b, ?x))", 15, "the word is written 'or', found 'oR'"),
    ("?x : r(a, ?x) & Not s(b, ?x)", 16, "the word is written 'not', found 'Not'"),
    ("?x : Not (s(b, ?x) & r(a, ?x))", 5, "the word is written 'not', found 'Not'"),
    ("?x : r(a, ?x) & nOt(s(b, ?x))", 16, "the word is written 'not', found 'nOt'"),
    ("?x : Nut(s(b, ?x))", 10, "expected ',' after the first argument, found '('"),
    ("?x : Not(a, s(b, ?x))", 13, "expected ')' after the second argument, found '('"),
    ("?x : r(a, ?x) Not s(b, ?x)", 14, "expected '&', '|' or the end after an atom, found 'Not'"),
    ("?x : Or s(b, ?x)", 8, "expected '(' after the relation 'Or', found 's'; a name of several words needs quotes"),
    ("?x : r(Not a, ?x)", 11, 'a name of several words needs quotes: "Not a"'),
    ('?x : r(‘Abd "", ?x)', 12, 'a name of several words needs quotes: "‘Abd "'),
    ("?x : r(‘Federico Fellini’, ?x)", 17, '‘ is no quote sign here: write " before and behind the name'),
    ("?x : r(’t Hooft, ?x)", 10, 'a name of several words needs quotes: "’t Hooft"'),
    ("?x : r(‘Abd al-Malik, ?x)", 12, 'a name of several words needs quotes: "‘Abd al-Malik"'),
    ("?x : r(a, ?x) And", 14, "the word is written 'and', found 'And'"),
    ("?x : r(a, ?x) Andes", 14, "expected '&', '|' or the end after an atom, found 'Andes'"),
    ("?x : Not", 8, "expected '(' after the relation 'Not', found the end of the query"),
    ("?x : r", 6, "expected '(' after the relation 'r', found the end of the query"),
]


@pytest.mark.parametrize(("text", "place", "problem"), PLACES)
def test_mistakes_are_told_in_a_sentence_with_the_place(text, place, problem):
    with pytest.raises(QuerySyntaxError) as caught:
        parse(text)
    assert caught.value.problem.startswith(problem)
    assert caught.value.position == place
    assert ("^" in str(caught.value)) is bool(text)  # of an empty query nothing is underlined


@pytest.mark.parametrize("pieces", ["a b", "'a' 'b'", "'it''s'", '"a""b"', r"'\\''b'", r'"\t" c'])
def test_the_name_that_is_suggested_can_be_read(pieces):
    for text in (f"?x : r({pieces}, ?x)", f"?x : {pieces}(a, ?x)"):
        with pytest.raises(QuerySyntaxError) as caught:
            parse(text)
        suggested = re.search(r'".*"$', caught.value.problem.partition("name")[2])[0]
        assert parse(text.replace(pieces, suggested))


def test_the_place_is_underlined():
    with pytest.raises(QuerySyntaxError) as caught:
        parse("?x : directed(Fellini, ?v & starred(?v, ?x)")
    assert str(caught.value) == (
        "expected ')' after the second argument, found '&'\n"
        "  ?x : directed(Fellini, ?v & starred(?v, ?x)\n"
        "                            ^"
    )


def test_the_place_is_right_below_wide_signs_too():
    with pytest.raises(QuerySyntaxError) as caught:
        parse("?x :\n\t出演(日本 ?x)")
    assert str(caught.value).splitlines()[1:] == ["  \t出演(日本 ?x)", "  \t          ^"]


def test_a_long_nesting_is_a_sentence():
    with pytest.raises(QuerySizeError, match="nests 101 levels"):
        parse("?x : " + "!" * 100 + "r(a, ?x)")
    assert parse("?x : " + "!" * 99 + "r(a, ?x)")
