"""Formula to tree: the rules of scope, safety, cycles and free variables, both sides of each, and the meaning kept."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given, settings
from support.formula_strategies import bound_queries, meaning
from support.query_strategies import evaluate, graphs, trees

from pathformer.errors import (
    CyclicQueryError,
    FreeVariableError,
    QueryError,
    QuerySizeError,
    ScopeError,
    UnsafeQueryError,
)
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import And, Atom, Constant, Not, Query, Variable
from pathformer.query.compile.bind import bind, own_vocabulary
from pathformer.query.compile.safety import positive, unsafe_part
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.parse import parse
from pathformer.query.print import to_query
from pathformer.query.structures import STRUCTURES, structure, structure_of
from pathformer.query.tree import Intersection, Negation, Projection, Union, canonical


def tree_of(text):
    query = parse(text)
    vocabulary = own_vocabulary(query)
    return to_tree(bind(query, vocabulary), vocabulary)


def shape_of(text):
    return structure_of(tree_of(text)).name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x : r(a, ?x)", "1p"),
        ("?x : r(?x, a)", "1p"),
        ("?x : r(a, ?v) & s(?v, ?x)", "2p"),
        ("?x : s(?x, ?v) & r(?v, a)", "2p"),
        ("?x : r(a, ?v) & s(?v, ?w) & t(?w, ?x)", "3p"),
        ("?x : r(a, ?x) & s(b, ?x)", "2i"),
        ("?x : r(a, ?x) & (s(b, ?x) & t(c, ?x))", "3i"),
        ("?x : r(a, ?v) & s(b, ?v) & t(?v, ?x)", "ip"),
        ("?x : r(a, ?v) & s(?v, ?x) & t(b, ?x)", "pi"),
        ("?x : r(a, ?x) | s(b, ?x)", "2u"),
        ("?x : (r(a, ?v) | s(b, ?v)) & t(?v, ?x)", "up"),
        ("?x : r(a, ?x) & !s(b, ?x)", "2in"),
        ("?x : r(a, ?x) & s(b, ?x) & !t(c, ?x)", "3in"),
        ("?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)", "inp"),
        ("?x : r(a, ?v) & s(?v, ?x) & !t(b, ?x)", "pin"),
        ("?x : !(r(a, ?v) & s(?v, ?x)) & t(b, ?x)", "pni"),
    ],
)
def test_the_fourteen_structures(text, expected):
    assert shape_of(text) == expected


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("?x : r(a, ?x) | r(a, ?x)", "?x : r(a, ?x)"),
        ("?x : r(a, ?x) | (s(b, ?x) | r(a, ?x))", "?x : r(a, ?x) | s(b, ?x)"),
        ("?x : (r(a, ?v) | r(a, ?v)) & s(?v, ?x)", "?x : r(a, ?v) & s(?v, ?x)"),
        ("?x : r(a, ?x) & !(s(b, ?x) | s(b, ?x))", "?x : r(a, ?x) & !s(b, ?x)"),
        ("?x : r(a, ?x) & r(a, ?x)", "?x : r(a, ?x)"),
    ],
)
def test_what_is_said_twice_counts_once(text, same_as):
    assert tree_of(text) == tree_of(same_as)


def test_a_relation_is_read_in_either_direction():
    query = parse("?x : won(?f, Oscar) & stars(?f, ?x)")
    vocabulary = Vocabulary.of(["Oscar"], ["won", "stars"])
    expected = STRUCTURES["2p"].tree((0, 1, 2))  # won is relation 0 and its inverse 1, stars is 2
    assert to_tree(bind(query, vocabulary)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # inside one negation ?v is its own: the complement of a 2p
        ("?x : r(b, ?x) & !(r(a, ?v) & s(?v, ?x))", "((e,(r,)),(e,(r,r,n)))"),
        # outside it is not: ?v stands in the other atom too, so the complement is inside the path
        ("?x : !r(a, ?v) & s(?v, ?x)", "(e,(r,n,r))"),
        # each side of an 'or' has a ?v of its own
        ("?x : r(a, ?v) & s(?v, ?x) | r(b, ?v) & s(?v, ?x)", "((e,(r,r)),(e,(r,r)),(u,))"),
        # an 'or' that shares one variable stays in place, one that shares two is distributed
        ("?x : (r(a, ?v) | s(b, ?v)) & !t(c, ?v) & t(?v, ?x)", "((((e,(r,)),(e,(r,)),(u,)),(e,(r,n))),(r,))"),
        ("?x : r(a, ?v) & (s(?v, ?x) | t(?v, ?x))", "((e,(r,r)),(e,(r,r)),(u,))"),
        ("?x : r(a, ?v) & s(?v, ?x) & (p(b, ?v) | q(c, ?x))", "((((e,(r,)),(e,(r,))),(r,)),((e,(r,r)),(e,(r,))),(u,))"),
        # a denied 'or' splits, a denied 'and' of independent parts is an 'or' of denials
        ("?x : r(a, ?v) & s(?v, ?x) & !(p(b, ?v) | q(c, ?x))", "((((e,(r,)),(e,(r,n))),(r,)),(e,(r,n)))"),
        (
            "?x : r(a, ?v) & s(?v, ?x) & !(p(b, ?v) & q(c, ?x))",
            "((((e,(r,)),(e,(r,n))),(r,)),((e,(r,r)),(e,(r,n))),(u,))",
        ),
        # a ?w of its own in both sides of a denied 'or' stays two variables
        (
            "?x : r(a, ?v) & s(?v, ?x) & !(p(b, ?w) & q(?w, ?v) | p(c, ?w) & q(?w, ?x))",
            "((((e,(r,)),(e,(r,r,n))),(r,)),(e,(r,r,n)))",
        ),
        (
            "?x : r(a, ?v) & s(?v, ?x) & !(p(c, ?w) & (q(?w, ?v) | t(?w, ?x)))",
            "((((e,(r,)),(e,(r,r,n))),(r,)),(e,(r,r,n)))",
        ),
        # double negations cancel, unions written by De Morgan are unions, the same atom twice is one atom
        ("?x : !!r(a, ?x)", "1p"),
        ("?x : r(a, ?v) & !!(s(?v, ?x) & t(b, ?x))", "pi"),
        ("?x : !(!r(a, ?x) & !s(b, ?x))", "2u"),
        ("?x : !(!r(a, ?x) | s(b, ?x))", "2in"),
        ("?x : r(a, ?v) & s(?v, ?x) & s(?v, ?x)", "2p"),
    ],
)
def test_scope(text, expected):
    assert shape_of(text) == structure(expected).name


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ScopeError, "?x : r(a, ?v) & !s(?v, ?x)"),
        (ScopeError, "?x : r(a, ?v) & s(?v, ?x) & !(p(b, ?x) | q(?v, ?x))"),
        (UnsafeQueryError, "?x : !r(a, ?x)"),
        (UnsafeQueryError, "?y : !(r(a, ?y) & !s(b, ?y))"),
        (CyclicQueryError, "?x : r(a, ?v) & s(?v, ?x) & t(?x, ?v)"),
        (CyclicQueryError, "?x : r(a, ?x) & r(?x, ?x)"),
        (FreeVariableError, "?x : r(?v, ?x)"),
        (FreeVariableError, "?x : r(a, ?x) & (s(b, ?x) | t(c, ?w))"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_kind(error, text):
    """These and more stand with their words in `golden/messages/unaskable.txt`."""
    with pytest.raises(error):
        tree_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "?x : !r(a, ?v) & s(?v, ?x)",  # a complement inside a path
        "?x : (r(a, ?v) | !s(b, ?v)) & t(?v, ?x)",
        "?x : (r(a, ?x) | !s(b, ?x)) & t(c, ?x)",
        "?x : r(a, ?x) & !s(b, ?x) | t(c, ?x)",
        "?x : !(!r(a, ?x) & !(s(b, ?x) & !t(c, ?x)))",
    ],
)
def test_an_answer_with_a_positive_atom_in_every_disjunct_is_safe(text):
    assert unsafe_part(tree_of(text)) is None


def test_names_in_messages_are_the_vocabularys():
    query = parse('?x : "not"("New York", ?x) | !r(b, ?x)')
    vocabulary = Vocabulary.of(["New York", "B"], ["not", "R"])
    with pytest.raises(UnsafeQueryError, match=r"!R\(B, \?x\) only says"):
        to_tree(bind(query, vocabulary), vocabulary)
    with pytest.raises(UnsafeQueryError, match=r"!2\(1, \?x\) only says"):
        to_tree(bind(query, vocabulary))


def test_names_in_messages_are_whole_and_variables_as_they_were_written():
    query = parse("?x : made(file~1, disk~12) & made(file~1, ?x)")
    names = own_vocabulary(query)
    with pytest.raises(FreeVariableError, match=r"^made\(file~1, disk~12\) has no variable"):
        to_tree(bind(query, names), names)
    query = parse("?x : p(a, ?w) & r(?w, ?x) & !((q(a~1, ?v) & s(?v, ?w) & t(?v, ?x)) | q(b, ?x))")
    names = own_vocabulary(query)
    with pytest.raises(ScopeError, match=r"^s\(\?v, \?w\) is under 'not' and joins \?w to \?x"):
        to_tree(bind(query, names), names)


def test_a_query_that_is_not_bound_is_a_mistake_of_the_caller():
    with pytest.raises(TypeError, match="bind it to a vocabulary first"):
        to_tree(parse("?x : r(a, ?x)"))


@given(trees())
def test_a_tree_comes_back_from_its_formula(tree):
    assume(unsafe_part(tree) is None)
    assert canonical(to_tree(to_query(tree))) == canonical(positive(tree))


@given(trees(), graphs())
def test_positive_keeps_the_answers(tree, edges):
    assert evaluate(positive(tree), edges) == evaluate(tree, edges)
    assert (unsafe_part(positive(tree)) is None) == (unsafe_part(tree) is None)


@settings(max_examples=200)
@given(bound_queries(), graphs())
def test_a_tree_means_what_its_formula_means(query, edges):
    try:
        tree = to_tree(query)
    except QueryError:
        assume(False)
    assert evaluate(tree, edges) == meaning(query, edges)


def chain(hops):
    atoms = [Atom(0, Constant(0) if hop == 0 else Variable(f"v{hop}"), Variable(f"v{hop + 1}")) for hop in range(hops)]
    return Query(Variable(f"v{hops}"), And(tuple(atoms)) if hops > 1 else atoms[0])


def test_paths_may_be_long_and_too_long_is_a_sentence():
    assert structure_of(to_tree(chain(150))).columns == ("e", *["r"] * 150)
    with pytest.raises(QuerySizeError, match=r"longest path has 5,000 operators; the limit is 200"):
        to_tree(chain(5000))


def test_a_flat_formula_may_have_thousands_of_parts():
    began = time.process_time()
    conjunction = parse("?x : " + " & ".join(f"r(a{i}, ?x)" for i in range(5000)))
    tree = to_tree(bind(conjunction, own_vocabulary(conjunction)))
    assert isinstance(tree, Intersection)
    assert len(tree.branches) == 5000
    union = parse("?x : " + " | ".join(f"r(a{i}, ?x)" for i in range(5000)))
    tree = to_tree(bind(union, own_vocabulary(union)))
    assert isinstance(tree, Union)
    assert len(tree.branches) == 5000
    assert time.process_time() - began < 5


def test_a_deep_formula_is_a_sentence():
    for text in ("!" * 5000 + "r(a, ?x)", "!(" * 3000 + "r(a, ?x)" + ")" * 3000):
        with pytest.raises(QuerySizeError, match=r"has [35],00\d nested levels of and, or, not; the limit is 100"):
            parse(f"?x : {text}")
    nested = Atom(0, Constant(0), Variable("x"))
    for _ in range(5000):
        nested = Not(nested)
    with pytest.raises(QuerySizeError, match="5,001 nested levels"):
        to_tree(Query(Variable("x"), nested))
    assert shape_of("?x : " + "(" * 5000 + "r(a, ?x)" + ")" * 5000) == "1p"
    assert tree_of("?x : r(a, ?x) & " + "!" * 90 + "s(b, ?x)") == tree_of("?x : r(a, ?x) & s(b, ?x)")


def test_ors_that_share_two_variables_and_multiply_are_counted():
    wide = " & ".join(f"(p(a{i}, ?v) | q(b{i}, ?x))" for i in range(60))
    with pytest.raises(QuerySizeError, match=r"multiply to about 10\^18 disjuncts; the limit is 1,024"):
        tree_of(f"?x : r(a, ?v) & s(?v, ?x) & {wide}")
    denied = " & ".join(f"!(p(a{i}, ?v) & q(b{i}, ?x))" for i in range(3000))
    with pytest.raises(QuerySizeError, match=r"multiply to about 10\^903 disjuncts"):
        tree_of(f"?x : r(a, ?v) & s(?v, ?x) & {denied}")


def test_fork_of_a_negated_part_is_kept_as_written():
    tree = tree_of("?x : r(a, ?x) & !(s(b, ?x) & t(c, ?x))")
    assert isinstance(tree, Intersection)
    assert isinstance(tree.branches[1], Negation)
    assert isinstance(tree.branches[1].of, Intersection)
    assert isinstance(tree.branches[0], Projection)
