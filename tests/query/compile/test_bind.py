"""Names to ids and back, and names as IRIs."""

from __future__ import annotations

import pytest
from hypothesis import given
from support.formula_strategies import NAMES

from pathformer.errors import AmbiguousNameError, UnknownIdError, UnknownNameError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import And, Atom, Constant, Query, Variable
from pathformer.query.compile.bind import bind, own_vocabulary
from pathformer.query.iris import iri_of, local_of, name_of, namespace_of
from pathformer.query.parse import parse
from pathformer.query.print import unbind

FILMS = Vocabulary.of(["Fellini", "Oscar", "oscar night", "OSCAR NIGHT"], ["directed", "won"])
X, F = Variable("x"), Variable("f")


def test_names_become_ids():
    query = bind(parse("?x : directed(Fellini, ?f) & won(?x, ?f)"), FILMS)
    assert query == Query(X, And((Atom(0, Constant(0), F), Atom(2, X, F))))
    assert unbind(query, FILMS) == parse("?x : directed(Fellini, ?f) & won(?x, ?f)")
    assert bind(query, FILMS) == query


def test_exact_comes_before_case_folded():
    assert bind(parse("?x : DIRECTED(fellini, ?x)"), FILMS) == bind(parse("?x : directed(Fellini, ?x)"), FILMS)
    assert bind(parse('?x : won(?x, "OSCAR NIGHT")'), FILMS).formula.object == Constant(3)
    with pytest.raises(AmbiguousNameError):
        bind(parse('?x : won(?x, "Oscar Night")'), FILMS)


def test_an_unknown_name_gives_the_closest():
    with pytest.raises(UnknownNameError, match="no entity 'Felini'; closest: 'Fellini'"):
        bind(parse("?x : directed(Felini, ?x)"), FILMS)
    with pytest.raises(UnknownNameError, match="no relation 'direct'; closest: 'directed'"):
        bind(parse("?x : direct(Fellini, ?x)"), FILMS)


@pytest.mark.parametrize("inverse", ["-directed", "directed_reverse"])
def test_a_relation_by_its_inverses_own_name_swaps_its_arguments(inverse):
    assert bind(parse(f"?x : {inverse}(?x, Fellini)"), FILMS) == bind(parse("?x : directed(Fellini, ?x)"), FILMS)
    assert bind(parse("?x : +directed(Fellini, ?x)"), FILMS) == bind(parse("?x : directed(Fellini, ?x)"), FILMS)


def test_ids_must_be_the_vocabularys():
    with pytest.raises(UnknownIdError, match=r"^no entity has the id 4: the ids of entities go from 0 to 3$"):
        bind(Query(X, Atom(0, Constant(4), X)), FILMS)
    with pytest.raises(UnknownIdError, match=r"^no relation has the id 4: the ids of relations go from 0 to 3$"):
        bind(Query(X, Atom(4, Constant(0), X)), FILMS)
    assert bind(Query(X, Atom(3, Constant(0), X)), FILMS).formula == Atom(2, X, Constant(0))


def test_a_query_has_a_vocabulary_of_its_own():
    query = parse("?x : r(a, ?v) & s(?v, ?x) & !r(b, ?x)")
    own = own_vocabulary(query)
    assert list(own.entities) == ["a", "b"]
    assert list(own.relations) == ["r", "s"]
    assert unbind(bind(query, own), own) == query


@given(NAMES)
def test_a_name_is_an_iri_and_back(name):
    namespace = namespace_of("a graph")
    assert namespace == "urn:pathformer:a%20graph:"
    assert name_of(iri_of(name, namespace), namespace) == name
    assert name_of(namespace + local_of(name), namespace) == name


def test_iris_stay_and_other_names_are_encoded():
    namespace = namespace_of("films")
    assert iri_of("http://example.org/a#b", namespace) == "http://example.org/a#b"
    assert iri_of("New York", namespace) == "urn:pathformer:films:New%20York"
    assert iri_of("São Paulo", namespace) == "urn:pathformer:films:São%20Paulo"
    assert iri_of("/m/027rn", namespace) == "urn:pathformer:films:%2Fm%2F027rn"
    assert iri_of("urn:pathformer:films:x", namespace) == "urn:pathformer:films:urn%3Apathformer%3Afilms%3Ax"


def test_what_was_written_without_a_graph_is_read_in_any() -> None:
    """As `pathformer explain` writes SPARQL."""
    namespace = namespace_of("films")
    assert name_of("urn:pathformer:graph:New%20York", namespace) == "New York"
    assert name_of("urn:pathformer:other:New%20York", namespace) == "urn:pathformer:other:New%20York"
    assert name_of(iri_of("urn:pathformer:graph:x", namespace), namespace) == "urn:pathformer:graph:x"
    assert local_of("St.-Denis.") == "St.-Denis%2E"
