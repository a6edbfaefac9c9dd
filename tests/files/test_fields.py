"""Fields of headers: each kind takes what it names and nothing else, whatever JSON can hold."""

from __future__ import annotations

import json

import pytest

from pathformer.files.fields import wrong_field

VALUES = ["0", "7", "-3", "2.5", "NaN", "Infinity", "1e400", "1" + "0" * 400, "true", "null", '"7"', "[7]", '{"a": 7}']


@pytest.mark.parametrize(
    ("kind", "right"),
    [
        ("a count", {"0", "7", "1" + "0" * 400}),
        ("a number", {"0", "7", "-3", "2.5"}),
        ("text", {'"7"'}),
        ("text or null", {'"7"', "null"}),
        ("true or false", {"true"}),
        ("a list", {"[7]"}),
        ("an object", {'{"a": 7}'}),
        ("an object of counts", {'{"a": 7}'}),
    ],
)
def test_each_kind(kind: str, right: set[str]) -> None:
    for value in VALUES:
        expected = None if value in right else f"'rows' is not {kind}"
        assert wrong_field({"rows": json.loads(value)}, {"rows": kind}) == expected, value


def test_a_field_that_is_missing_is_told_first() -> None:
    assert wrong_field({"b": "x"}, {"a": "text", "b": "a count"}) == "'a' is missing"
    assert wrong_field({"a": {"x": -1}}, {"a": "an object of counts"}) == "'a' is not an object of counts"
