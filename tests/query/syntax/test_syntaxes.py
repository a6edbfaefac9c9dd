"""The contract of every syntax: found by name, recognises its own, and reads back what it writes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.formula_strategies import NAMES
from support.query_strategies import ENTITIES, RELATIONS, trees

from pathformer.errors import UnknownPluginError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import Request
from pathformer.query.compile.bind import bind
from pathformer.query.compile.safety import unsafe_part
from pathformer.query.compile.scope import ask_the_same
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.iris import Naming, namespace_of
from pathformer.query.parse import detect, parse, request, syntaxes, write
from pathformer.query.print import to_query
from pathformer.query.tree import canonical

ALL = ("betae", "formula", "sparql")
EXAMPLE = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"


def naming_of(entities, relations):
    return Naming(Vocabulary.of(entities, relations), namespace_of("graph"))


PLAIN = naming_of([f"e{i}" for i in range(ENTITIES)], [f"r{k}" for k in range(RELATIONS // 2)])
FILMS = naming_of(["Fellini", "Oscar"], ["directed", "won", "stars"])


def test_the_folder_holds_these():
    assert syntaxes() == ALL


@pytest.mark.parametrize("syntax", ALL)
def test_an_example_is_recognised_and_reads_back(syntax):
    query = parse(EXAMPLE)
    text = write(query, syntax, FILMS)
    assert detect(text) == syntax
    assert ask_the_same(parse(text, naming=FILMS), query)
    assert ask_the_same(parse(text, syntax, FILMS), query)
    assert isinstance(request(text, naming=FILMS), Request)


@pytest.mark.parametrize("syntax", ALL)
@settings(max_examples=60)
@given(tree=trees())
def test_any_tree_reads_back(syntax, tree):
    assume(unsafe_part(tree) is None)
    query = to_query(tree, PLAIN.vocabulary)
    again = parse(write(query, syntax, PLAIN), syntax, PLAIN)
    assert ask_the_same(again, query, PLAIN.vocabulary)


@pytest.mark.parametrize("syntax", ALL)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(tree=trees(max_leaves=4), data=st.data())
def test_any_names_read_back(syntax, tree, data):
    assume(unsafe_part(tree) is None)
    entities = data.draw(st.lists(NAMES, min_size=ENTITIES, max_size=ENTITIES, unique=True))
    relations = data.draw(st.lists(NAMES, min_size=RELATIONS // 2, max_size=RELATIONS // 2, unique=True))
    naming = naming_of(entities, relations)
    query = to_query(tree, naming.vocabulary)
    again = parse(write(query, syntax, naming), syntax, naming)
    expected, found = (to_tree(bind(q, naming.vocabulary)) for q in (query, again))
    assert canonical(found) == canonical(expected)


def test_detection():
    assert detect("?x : r(a, ?x)") == "formula"
    assert detect("r(a, ?x)") == "formula"
    assert detect("# a comment\nPREFIX : <urn:x:> SELECT ?x {}") == "sparql"
    assert detect("select ?x {}") == detect("ASK{}") == detect("INSERT DATA {}") == "sparql"
    assert detect("selected(a, ?x)") == "formula"
    assert detect(" ((1, (2,)), (3, (4, -2)))") == "betae"
    assert detect("") == "formula"


def test_an_unknown_syntax_is_refused():
    with pytest.raises(UnknownPluginError, match="sparqle"):
        parse("?x : r(a, ?x)", "sparqle")


def test_same_looks_through_names_and_order():
    one = parse("?x : r(a, ?v) & s(?v, ?x) & (t(b, ?x) | !q(c, ?x))")
    other = parse("?y : (!q(c, ?y) | t(b, ?y)) & s(?w, ?y) & r(a, ?w) & r(a, ?w)")
    assert ask_the_same(one, other)
    assert not ask_the_same(one, parse("?y : (q(c, ?y) | t(b, ?y)) & s(?w, ?y) & r(a, ?w)"))
    assert not ask_the_same(parse("?x : r(a, ?x)"), parse("?x : r(?x, a)"))


@pytest.mark.parametrize("library", ["torch", "rdflib", "lark", "pyarrow", "numba"])
def test_importing_the_package_loads_nothing_heavy(library):
    code = f"import sys, pathformer.query.parse, pathformer.query.compile.to_tree; sys.exit('{library}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
