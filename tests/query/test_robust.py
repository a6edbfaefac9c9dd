"""Whatever is typed, the answer is a query or a sentence."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pathformer.errors import QueryError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import Query
from pathformer.query.compile.bind import bind, own_vocabulary
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.iris import Naming
from pathformer.query.parse import parse, write

NAMING = Naming(Vocabulary.of("abc", "rst"))
GOOD = {
    "formula": "?x : ∃v. r(a, ?v) & !(s(\"b\", ?x) | t('c', ?v)) and not (s(?v, ?x) or ¬r(a, ?x))",
    "sparql": "PREFIX e: <http://e/> SELECT DISTINCT ?x { :a :r/^:s|e:t ?x . { :b :r ?x } UNION { ?x :s _:v ; :t :c }"
    " FILTER NOT EXISTS { :a :r ?v . ?v :s ?x } MINUS { [ :t ?x ] :r (:a) } OPTIONAL { ?x a 5 } } ORDER BY ?x LIMIT 3",
    "betae": "(((0, (0, -2)), ((1, (2,)), (2, (3, 4)), (-1,))), (5, -2, 1))",
}


@st.composite
def spoiled(draw, good):
    """A good text with a few pieces left out, doubled or replaced."""
    text = good
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 8)))
        piece = draw(
            st.sampled_from(
                ["", text[start:end] * 2, "?", "(", ")", "{", "}", ".", "|", "!", '"', "\\", "∃", ",", "-1"]
            )
        )
        text = text[:start] + piece + text[end:]
    return text


@pytest.mark.parametrize("syntax", GOOD)
@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_spoiled_text_is_a_query_or_a_sentence(syntax, data):
    with suppress(QueryError):
        query = parse(data.draw(spoiled(GOOD[syntax])), syntax, NAMING)
        assert parse(write(query)) == query
        assert to_tree(bind(query, own_vocabulary(query)))


@pytest.mark.parametrize("syntax", [None, *GOOD])
@given(text=st.text(max_size=40))
def test_any_text_is_a_query_or_a_sentence(syntax, text):
    with suppress(QueryError):
        assert isinstance(parse(text, syntax, NAMING), Query)
