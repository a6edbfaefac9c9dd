"""BetaE's tuples: ids through a vocabulary, and what is not such a tuple."""

from __future__ import annotations

import numpy as np
import pytest

from pathformer.errors import QuerySizeError, QuerySyntaxError, UnknownIdError, UnsupportedQueryError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.iris import Naming
from pathformer.query.parse import parse as parse_any
from pathformer.query.structures import STRUCTURES
from pathformer.query.syntax.betae import parse, write

NAMING = Naming(Vocabulary.of(["a", "b", "c"], ["r", "s", "t"]))


def test_ids_become_names_and_inverses_swap():
    assert parse("((0, (0, 3)), (1, (4, -2)))", NAMING) == parse_any("?x : r(a, ?v1) & s(?x, ?v1) & !t(b, ?x)")
    assert parse("((0, (0,)), (1, (2,)), (-1,))", NAMING) == parse_any("?x : r(a, ?x) | s(b, ?x)")


def test_python_tuples_are_read_as_text_is():
    instance = (((0, (0,)), (1, (2,)), (-1,)), (4,))
    assert parse(instance, NAMING) == parse(str(instance), NAMING)


def test_numbers_of_an_array_are_ids_too():
    for kind in (np.int32, np.int64, np.uint8):
        number = np.arange(3).astype(kind)
        assert parse((number[1], (number[2], number[0])), NAMING) == parse("(1, (2, 0))", NAMING)
    two = np.array([-2, -1])
    assert parse(((0, (0,)), (1, (2, two[0]))), NAMING) == parse("((0, (0,)), (1, (2, -2)))", NAMING)
    assert parse(((0, (0,)), (1, (2,)), (two[1],)), NAMING) == parse("((0, (0,)), (1, (2,)), (-1,))", NAMING)


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure_prints_as_it_was(name):
    structure = STRUCTURES[name]
    row = [number % 3 for number in range(len(structure.columns))]
    text = str(structure.instance(row))
    assert write(parse(text, NAMING), NAMING) == text


def test_the_de_morgan_forms_of_released_files_are_unions():
    assert write(parse("(((0, (0, -2)), (1, (2, -2))), (-2,))", NAMING), NAMING) == "((0, (0,)), (1, (2,)), (-1,))"


@pytest.mark.parametrize("ids", [(True, (1,)), (0, (1.5,)), (0, [1]), [(0, (1,)), (0, (1,)), [-1]]])
def test_what_is_not_a_tuple_of_ids_is_refused(ids):
    with pytest.raises(QuerySyntaxError, match="is not a query"):
        parse(ids, NAMING)


def test_ids_outside_the_vocabulary_are_refused():
    with pytest.raises(UnknownIdError, match=r"^no entity has the id 3: the ids of entities go from 0 to 2$"):
        parse("(3, (0,))", NAMING)
    for number in (6, 7):  # an inverse is named as it was typed
        with pytest.raises(
            UnknownIdError, match=rf"^no relation has the id {number}: the ids of relations go from 0 to 5$"
        ):
            parse(f"((0, (0,)), (1, (5, {number})))", NAMING)
    assert parse("(2, (5,))", NAMING) == parse_any("?x : t(?x, c)")


def test_ids_need_a_graph():
    with pytest.raises(UnsupportedQueryError, match="tuples contain ids, which have a meaning only in a graph"):
        parse("(0, (0,))")
    with pytest.raises(UnsupportedQueryError, match="name that graph with --graph"):
        write(parse_any("?x : r(a, ?x)"), Naming())


def test_deep_tuples_are_a_sentence():
    deep = (0, (0,))
    for _ in range(5000):
        deep = ((deep, (0, (0,))), (2,))
    with pytest.raises(QuerySizeError, match="the tuple nests more than 100 levels"):
        parse(deep, NAMING)
    with pytest.raises(QuerySyntaxError, match="expected nested tuples of ids"):
        parse("(" * 5000 + ")" * 5000, NAMING)
    for wrong in ((), []):  # no query at any depth, and too deep to print
        for _ in range(5000):
            wrong = (wrong,)
        with pytest.raises(QuerySizeError, match="the tuple nests more than 100 levels"):
            parse(wrong, NAMING)


@pytest.mark.parametrize(
    "named", [("Ada", ("knows",)), (0, ("knows",)), ((0, (0,)), ("Ada", (0,))), (((0, (0,)), (1, ("knows",))), (2,))]
)
def test_names_in_a_tuple_are_told_that_ids_are_taken(named):
    with pytest.raises(QuerySyntaxError) as caught:
        parse(named, NAMING)
    assert str(caught.value) == f"{named} is not a query: tuples take ids, not names, as in ((5, (2,)), (7, (4, -2)))"
    with pytest.raises(QuerySyntaxError, match=r"^a tuple contains ids, as in \(5, \(2,\)\), not names; with names,"):
        parse_any(str(named), naming=NAMING)
    with pytest.raises(QuerySyntaxError, match=r"^a question starts with its answer variable and a colon"):
        parse_any("(knows(Ada, ?x))", naming=NAMING)


def nested(levels):
    """Forks in chains, two levels at a time."""
    text = (0, (0,))
    for _ in range(levels // 2):
        text = ((text, (1, (2,))), (4,))
    return text


def test_tuples_may_nest_as_deep_as_formulas():
    assert write(parse(nested(96), NAMING), NAMING) == str(nested(96))
    with pytest.raises(QuerySizeError, match="the tuple nests more than 100 levels"):
        parse(nested(102), NAMING)


@pytest.mark.parametrize("operators", [201, 1000, 100_000])
def test_long_chains_are_a_sentence(operators):
    message = rf"^the longest path has {operators:,} operators; the limit is 200: ask for a shorter one$"
    with pytest.raises(QuerySizeError, match=message):
        parse(f"(0, ({'0, ' * operators}))", NAMING)
    with pytest.raises(QuerySizeError, match=message.replace(f"{operators:,}", f"{operators + 2:,}")):
        parse((((0, (0,) * operators), (1, (2,))), (4,)), NAMING)


def test_a_chain_up_to_the_limit_is_read():
    text = str((0, (0,) * 199))
    assert write(parse(text, NAMING), NAMING) == text
