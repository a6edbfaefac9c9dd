"""SPARQL: read by its own semantics, checked against a SPARQL engine; everything else refused by name."""

from __future__ import annotations

import sys
import threading
import time

import pyoxigraph
import pytest
from hypothesis import assume, given, settings
from support.query_strategies import ENTITIES, RELATIONS, evaluate, graphs, trees

from pathformer.errors import (
    FreeVariableError,
    QuerySizeError,
    QuerySyntaxError,
    ScopeError,
    UnsupportedQueryError,
)
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.compile.bind import bind
from pathformer.query.compile.safety import unsafe_part
from pathformer.query.compile.scope import ask_the_same
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.iris import Naming, namespace_of
from pathformer.query.parse import parse as parse_any
from pathformer.query.print import to_query
from pathformer.query.syntax.sparql import parse, request, write

NAMING = Naming(
    Vocabulary.of([f"e{i}" for i in range(ENTITIES)], [f"r{k}" for k in range(RELATIONS // 2)]), namespace_of("test")
)


def engine_answers(text, edges):
    """What a SPARQL engine that is not ours answers."""
    store = pyoxigraph.Store()

    def node(name):
        return pyoxigraph.NamedNode(NAMING.namespace + name)

    for head, relation, tail in edges:
        if relation % 2 == 0:
            store.add(pyoxigraph.Quad(node(f"e{head}"), node(f"r{relation // 2}"), node(f"e{tail}")))
    rows = store.query(f"PREFIX : <{NAMING.namespace}>\n{text}" if "PREFIX" not in text else text)
    return frozenset(int(row[0].value.removeprefix(NAMING.namespace + "e")) for row in rows)


def our_answers(text, edges):
    return evaluate(to_tree(bind(parse(text, NAMING), NAMING.vocabulary)), edges)


@settings(max_examples=150)
@given(trees(max_leaves=8), graphs())
def test_an_engine_gives_the_answers_of_the_tree_to_what_we_write(tree, edges):
    assume(unsafe_part(tree) is None)
    text = write(to_query(tree, NAMING.vocabulary), NAMING)
    assert engine_answers(text, edges) == evaluate(tree, edges) == our_answers(text, edges)


READ = [
    "?x ^:r0 :e0",
    ":e0 :r0 ?v . ?v :r1 ?x",
    ":e0 :r0/:r1 ?x",
    ":e0 :r0/^:r1/:r2 ?x",
    ":e0 (:r0|^:r1)/:r2 ?x",
    ":e0 ^(:r0/:r1) ?x",
    "[ :r0 :e1 ] :r1 ?x",
    ":e0 :r0 _:b . _:b :r1 ?x",
    ":e0 :r0 ?x ; :r1 ?x",
    ":e0 :r0 ?x . { :e1 :r1 ?x } UNION { :e2 :r2 ?x }",
    "{ :e0 :r0 ?v } UNION { :e1 :r1 ?v } UNION { :e2 :r0 ?v } ?v :r2 ?x",
    "{ { :e0 :r0 ?v } { ?v :r1 ?x } }",
    # a filter sees its whole group, wherever it stands
    "FILTER NOT EXISTS { :e1 :r1 ?x } :e0 :r0 ?x",
    ":e0 :r0 ?v . FILTER NOT EXISTS { ?v :r2 :e1 } ?v :r1 ?x",
    ":e0 :r0 ?x FILTER NOT EXISTS { :e1 :r1 ?x } FILTER NOT EXISTS { :e2 :r2 ?x }",
    ":e0 :r0 ?x FILTER (NOT EXISTS { :e1 :r1 ?x } && NOT EXISTS { :e2 :r2 ?x })",
    ":e0 :r0 ?x FILTER NOT EXISTS { :e1 :r1 ?x FILTER NOT EXISTS { :e2 :r2 ?x } }",
    # variables of a NOT EXISTS that its group does not bind are its own, whatever they are called
    ":e0 :r0 ?x FILTER NOT EXISTS { :e1 :r1 ?v . ?v :r2 ?x } FILTER NOT EXISTS { :e2 :r1 ?v . ?v :r0 ?x }",
    ":e0 :r0 ?v . ?v :r1 ?x . { :e1 :r1 ?x FILTER NOT EXISTS { :e2 :r1 ?v . ?v :r0 ?x } }",
    # MINUS sees what stands before it; without a shared variable it removes nothing
    ":e0 :r0 ?x MINUS { :e1 :r1 ?x }",
    ":e0 :r0 ?x MINUS { :e1 :r1 ?v . ?v :r2 ?x }",
    ":e0 :r0 ?x MINUS { :e1 :r1 ?v }",
    "MINUS { :e1 :r1 ?x } :e0 :r0 ?x",
    ":e0 :r0 ?x MINUS { { :e1 :r1 ?x } UNION { :e2 :r2 ?x } }",
    ":e0 :r0 ?x MINUS { { :e1 :r1 ?x } UNION { :e2 :r2 ?v } }",
    ":e0 :r0 ?x MINUS { :e1 :r1 ?v . ?v :r2 ?x } MINUS { :e2 :r1 ?v . ?v :r0 ?x }",
    ":e0 :r0 ?x FILTER NOT EXISTS { ?v :r1 ?x . :e1 :r2 ?v MINUS { ?v :r0 :e2 } }",
    ":e0 :r0 ?v MINUS { ?v :r2 :e1 } ?v :r1 ?x",
    "{ :e0 :r0 ?x MINUS { :e1 :r1 ?x } } UNION { :e2 :r2 ?x }",
    # a variable that only one side of a UNION binds is bound by what follows
    "{ :e0 :r0 ?v . ?v :r1 ?x } UNION { :e1 :r1 ?x }",
]


@pytest.mark.parametrize("pattern", READ)
@settings(max_examples=25)
@given(edges=graphs())
def test_we_read_what_an_engine_reads(pattern, edges):
    text = f"SELECT ?x WHERE {{ {pattern} }}"
    assert our_answers(text, edges) == engine_answers(text, edges)


@pytest.mark.parametrize("denied", [":b :s :c", ":b :s :c . :c :s|:r :b", "{ :b :s :c } UNION { :b :r :c }"])
def test_not_exists_without_a_variable_is_told_so(denied):
    with pytest.raises(FreeVariableError, match=r"^FILTER NOT EXISTS has no variable, .* leave it out$"):
        parse(f"SELECT ?x {{ :a :r ?x FILTER NOT EXISTS {{ {denied} }} }}")
    with pytest.raises(ScopeError, match="shares no variable"):  # a blank node is a variable, too
        parse(f"SELECT ?x {{ :a :r ?x FILTER NOT EXISTS {{ {denied} . :b :s [] }} }}")


def test_not_exists_and_minus_mean_the_same_where_they_share_a_variable():
    expected = parse_any("?x : r(a, ?x) & !s(b, ?x)")
    assert ask_the_same(parse("SELECT ?x { :a :r ?x FILTER NOT EXISTS { :b :s ?x } }"), expected)
    assert ask_the_same(parse("SELECT ?x { :a :r ?x MINUS { :b :s ?x } }"), expected)
    assert ask_the_same(parse("SELECT ?x { :a :r ?x MINUS { :b :s ?y } }"), parse_any("?x : r(a, ?x)"))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ScopeError, "SELECT ?x { :e0 :r0 ?x FILTER NOT EXISTS { :e1 :r1 ?y } }"),
        (ScopeError, "SELECT ?x { :e0 :r0 ?x MINUS { :e1 :r0 ?u { ?u :r1 ?x } UNION { ?u :r1 :e2 } } }"),
        (QuerySyntaxError, "SELECT ?x { :O'Brien :in ?x }"),
        (QuerySyntaxError, "SELECT ?x { ?x :in :b FILTR NOT EXISTS { ?x :in :c } }"),
        (QuerySyntaxError, 'SELECT ?x { ?x :in """the old\n"town" """ . :b }'),
        (UnsupportedQueryError, "ASK { :a :r ?x }"),
        (UnsupportedQueryError, "SELECT ?x { :a :r ?x OPTIONAL { :b :s ?x } }"),
        (UnsupportedQueryError, "SELECT ?x { :a :r ?x FILTER NOT EXISTS { :b :s ?x MINUS { :c :t ?x } } }"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_kind(error, text):
    """These and more stand with their words in `golden/messages/sparql.txt`."""
    with pytest.raises(error):
        parse(text)


def test_an_empty_pattern_is_refused():
    with pytest.raises(UnsupportedQueryError, match="the pattern is empty"):
        parse("SELECT ?x { }")


def test_limit_and_distinct_stand_beside_the_query():
    found = request("SELECT DISTINCT ?x { :a :r ?x } LIMIT 10")
    assert (found.limit, found.distinct) == (10, True)
    plain = request("SELECT ?x { :a :r ?x }")
    assert (plain.limit, plain.distinct) == (None, False)
    assert found.query == plain.query
    assert request("SELECT ?x { :a :r ?x } LIMIT 0").limit == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ?x { :Fellini :directed ?x }", "?x : directed(Fellini, ?x)"),
        ("SELECT ?x { :New%20York :in ?x }", '?x : in("New York", ?x)'),
        (r"SELECT ?x { :a\,b :in ?x }", '?x : in("a,b", ?x)'),
        ("SELECT ?x { <urn:pathformer:films:Fellini> :directed ?x }", "?x : directed(Fellini, ?x)"),
        ("SELECT ?x { <http://e.org/F> :directed ?x }", "?x : directed(http://e.org/F, ?x)"),
        ("PREFIX e: <http://e.org/> SELECT ?x { e:F e:d ?x }", "?x : http://e.org/d(http://e.org/F, ?x)"),
        ("PREFIX : <http://e.org/> SELECT ?x { :F :d ?x }", "?x : http://e.org/d(http://e.org/F, ?x)"),
        ("BASE <http://e.org/> SELECT ?x { <F> <d> ?x }", "?x : http://e.org/d(http://e.org/F, ?x)"),
        ("SELECT $x { :a :r $x }", "?x : r(a, ?x)"),
    ],
)
def test_names(text, expected):
    assert parse(text, Naming(namespace=namespace_of("films"))) == parse_any(expected)


def test_an_rdf_type_is_an_iri():
    assert parse("SELECT ?x { ?x a :Film }").formula.relation == "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def test_written_text():
    query = parse_any("?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)")
    assert write(query, Naming(namespace=namespace_of("films"))) == (
        "PREFIX : <urn:pathformer:films:>\n"
        "SELECT DISTINCT ?x WHERE {\n"
        "  :Fellini :directed ?v1 .\n"
        "  FILTER NOT EXISTS { ?v1 :won :Oscar . }\n"
        "  ?v1 :stars ?x .\n"
        "}"
    )


def test_mistakes():
    for text, problem, place in (
        ("SELECT ?x { :a :r ?x ", "expected '}': a '{' is still open at the end of the query", 20),
        ("SELECT ?x { :a :r ?x MINUS { ?x :r '}' }", "expected '}': a '{' is still open at the end of the query", 40),
        ("SELECT ?x { :a :r ?x } }", "this '}' has no matching '{'", 23),
        ("SELECT ?x :a :r ?x }", "this '}' has no matching '{'", 19),
        ("SELECT ?x { :a :r }", "this is not valid SPARQL: the error is near ", 12),
        ("SELECT ?x", "this is not valid SPARQL: the error is near end of text", 9),
    ):
        with pytest.raises(QuerySyntaxError) as caught:
            parse(text)
        assert caught.value.problem.startswith(problem)
        assert caught.value.position == place
    with pytest.raises(
        QuerySyntaxError, match=r"the prefix foo: is not declared: write PREFIX foo: <\.\.\.> before SELECT"
    ):
        parse("SELECT ?x { :a foo:r ?x }")


@pytest.mark.parametrize(
    ("wrong", "right", "meant"),
    [
        ("SELECT ?x { <Town A> :in ?x }", ":Town%20A", '?x : in("Town A", ?x)'),
        ("SELECT ?x { ?x :in <Town (old) A> }", ":Town%20%28old%29%20A", '?x : in(?x, "Town (old) A")'),
        ("SELECT ?x { :a <lies in> ?x }", ":lies%20in", '?x : "lies in"(a, ?x)'),
        ("SELECT ?x { <urn:pathformer:graph:Town A> :in ?x }", ":Town%20A", '?x : in("Town A", ?x)'),
        ("SELECT ?x { <http://x.org/Town A> :in ?x }", "<http://x.org/Town%20A>", "?x : in(http://x.org/Town%20A, ?x)"),
    ],
)
def test_a_blank_in_an_iri_is_told_with_the_right_form(wrong, right, meant):
    with pytest.raises(QuerySyntaxError) as caught:
        parse(wrong)
    start, end = wrong.index("<"), wrong.index(">") + 1
    underlined = f"  {wrong}\n  {' ' * start}^"
    assert str(caught.value) == f"an IRI cannot contain a space: write {right}\n{underlined}"
    assert parse(wrong[:start] + right + wrong[end:]) == parse_any(meant)


@pytest.mark.parametrize(
    ("pattern", "wrong", "right", "meant"),
    [
        ("@ :in ?x", ":Town A", ":Town%20A", '?x : in("Town A", ?x)'),
        ("?x :in @", ":Town A", ":Town%20A", '?x : in(?x, "Town A")'),
        ("?x :in @ . ?x :of :b", ":New York City", ":New%20York%20City", '?x : in(?x, "New York City") & of(?x, b)'),
        (":a @ ?x", ":lies in", ":lies%20in", '?x : "lies in"(a, ?x)'),
        ("@ :in ?x", ":Area 51", ":Area%2051", '?x : in("Area 51", ?x)'),
        ("?x :in @", ":New%20York City", ":New%20York%20City", '?x : in(?x, "New York City")'),
        ("?x :in :b FILTER NOT EXISTS { ?x :in @ }", ":b A", ":b%20A", '?x : in(?x, b) & !in(?x, "b A")'),
        ("@ :in ?x", ':"Town A"', ":Town%20A", '?x : in("Town A", ?x)'),
    ],
)
def test_a_blank_in_a_name_is_told_with_the_right_form(pattern, wrong, right, meant):
    text = f"SELECT ?x {{ {pattern} }}"
    with pytest.raises(QuerySyntaxError) as caught:
        parse(text.replace("@", wrong))
    assert str(caught.value).startswith(f"a name cannot contain a space: write {right}\n")
    assert caught.value.position == text.index("@")
    assert parse(text.replace("@", right)) == parse_any(meant)


def test_a_literal_is_told_what_an_entity_of_that_name_is():
    for text in ('SELECT ?x { ?x :in "Town A" }', "SELECT ?x { 'Town A' :in ?x }"):
        with pytest.raises(UnsupportedQueryError, match=r'^the literal "Town A" is not .*entity .* write :Town%20A$'):
            parse(text)


def test_of_a_long_line_what_stands_around_the_place_is_shown():
    with pytest.raises(QuerySyntaxError) as caught:
        parse("SELECT ?x { " + ":a :r ?x . " * 90 + "Town :in ?x . " + ":b :r ?x . " * 90 + "}")
    _, line, caret = str(caught.value).split("\n")
    assert len(line) < 230
    assert line[caret.index("^") :].startswith("Town :in ?x . :b :r ?x")
    assert line.startswith("  ...")
    assert line.endswith("...")


def test_a_comparison_is_no_iri_with_a_blank():
    with pytest.raises(QuerySyntaxError, match="this is not valid SPARQL: the error is near"):
        parse("SELECT ?x { ?y :in ?x FILTER(?x < 3 && ?y > 4) ! }")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (r"SELECT ?x { :a :r\U00110000 ?x }", "this is not valid SPARQL: Invalid unicode code point: 00110000"),
        ("SELECT ?x { :a :r ?x } LIMIT " + "9" * 5000, "this is not valid SPARQL: Exceeds the limit"),
    ],
)
def test_numbers_that_python_cannot_hold_are_a_sentence(text, problem):
    with pytest.raises(QuerySyntaxError) as caught:
        parse(text)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    "pattern",
    [
        "{ " * 3000 + ":a :r ?x" + " }" * 3000,
        "<a> a ?x ." * 1990,
    ],
    ids=["nested", "triples"],
)
def test_what_rdflib_cannot_hold_is_a_sentence(pattern):
    with pytest.raises(QuerySizeError, match="too long or too deep to be read: write it as a formula"):
        parse(f"SELECT ?x {{ {pattern} }}")


@pytest.mark.parametrize(
    "pattern",
    [
        " UNION ".join(f"{{ :a{number} :r ?x }}" for number in range(1200)),
        "?x :r " + ", ".join(f":a{number}" for number in range(4000)),
        "{ " * 6000 + ":a :r ?x" + " }" * 6000,
        ":a :r ?x " * 1_000_000,
    ],
    ids=["union", "objects", "nested", "megabytes"],
)
def test_what_would_take_minutes_is_refused_at_once(pattern):
    start = time.process_time()
    with pytest.raises(QuerySizeError) as caught:
        parse(f"SELECT ?x {{ {pattern} }}")
    assert str(caught.value) == (
        "the SPARQL query has more than 10,000 signs and words, and its parser is slow: write it as a formula"
    )
    assert time.process_time() - start < 2.0


def test_ten_times_the_triples_take_some_ten_times_as_long():
    """rdflib orders the triples of a block in a time that grows with the square of their number: 2,500 took 20 s."""

    def seconds(triples):
        start = time.process_time()
        query = parse("SELECT ?x { ?x :r " + ",".join(f":a{number}" for number in range(triples)) + " }")
        assert len(query.formula.parts) == triples
        return time.process_time() - start

    seconds(10)
    assert seconds(2500) < 40 * seconds(250)


def test_a_long_block_says_what_its_triples_say():
    objects = ",".join(f":a{number}" for number in range(120))
    for text, meant in (
        (f"?x :r {objects}", [f"r(?x, a{n})" for n in range(120)]),
        (f"?x :r {objects} . ?x :s _:b . _:b :t :c", [*(f"r(?x, a{n})" for n in range(120)), "s(?x, ?b)", "t(?b, c)"]),
        (
            f"?x :r {objects} MINUS {{ ?x :s :b }} ?x :t :c",
            [*(f"r(?x, a{n})" for n in range(120)), "!s(?x, b)", "t(?x, c)"],
        ),
        (
            f":d :s ?x FILTER NOT EXISTS {{ ?x :r {objects} }}",
            ["s(d, ?x)", f"!({' & '.join(f'r(?x, a{n})' for n in range(120))})"],
        ),
    ):
        assert ask_the_same(parse(f"SELECT ?x {{ {text} }}"), parse_any("?x : " + " & ".join(meant)))


def test_more_triples_than_the_usual_stack_holds_are_read():
    before = sys.getrecursionlimit(), threading.stack_size()
    assert len(parse("SELECT ?x { " + " . ".join(f":a{n} :r ?x" for n in range(250)) + " }").formula.parts) == 250
    with pytest.raises(UnsupportedQueryError, match="OPTIONAL"):
        parse("SELECT ?x { " + " . ".join(f":a{n} :r ?x" for n in range(250)) + " OPTIONAL { ?x :s ?y } }")
    assert (sys.getrecursionlimit(), threading.stack_size()) == before
