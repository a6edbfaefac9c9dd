"""Names in two arrays: what goes in comes out, and every name is found under the ids that carry it."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.errors import InputError
from pathformer.kg import names as module
from pathformer.kg.names import Names

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=40)


@given(texts)
def test_what_goes_in_comes_out(given_texts: list[str]) -> None:
    names = Names.of(given_texts)
    assert len(names) == len(given_texts)
    assert list(names) == given_texts
    assert [names[place] for place in range(len(names))] == given_texts


@given(texts, st.text(max_size=3))
def test_find_gives_every_place_and_nothing_else(given_texts: list[str], other: str) -> None:
    names = Names.of(given_texts)
    for text in [*given_texts, other]:
        assert names.find(text) == [place for place, name in enumerate(given_texts) if name == text]


def test_names_whose_hashes_collide_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_hashes", lambda offsets, data: np.zeros(len(offsets) - 1, np.uint64))
    monkeypatch.setattr(module, "_hash", lambda name: np.uint64(0))
    names = Names.of(["a", "b", "a", "c"])
    assert names.find("a") == [0, 2]
    assert names.find("c") == [3]
    assert names.find("d") == []


def test_hashes_do_not_depend_on_where_a_chunk_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    given_texts = [f"name {number}" * (number % 5) for number in range(50)]
    whole = Names.of(given_texts).index
    monkeypatch.setattr(module, "_CHUNK", 7)
    pieces = Names.of(given_texts)
    assert np.array_equal(whole[0], pieces.index[0])
    assert list(pieces) == given_texts


@given(texts)
def test_folding_is_pythons_with_accents_in_their_letters(given_texts: list[str]) -> None:
    expected = [unicodedata.normalize("NFC", text.casefold()) for text in given_texts]
    assert list(Names.of(given_texts).fold_all()) == expected


def test_bytes_and_index_are_loaded_when_first_needed() -> None:
    asked: list[str] = []
    made = Names.of(["x", "yz"])

    def buffers() -> module.Buffers:
        asked.append("buffers")
        return made.buffers

    def index() -> module.Index:
        asked.append("index")
        return made.index

    names = Names(2, buffers, index)
    assert len(names) == 2
    assert asked == []
    assert names[1] == "yz"
    assert asked == ["buffers"]
    assert names.find("x") == [0]
    assert names.find("yz") == [1]
    assert asked == ["buffers", "index"]


@pytest.mark.parametrize("place", [-1, 2])
def test_a_place_that_is_not_there(place: int) -> None:
    with pytest.raises(IndexError, match=f"no name {place}: there are 2"):
        Names.of(["a", "b"])[place]


def test_half_a_surrogate_pair_is_no_name() -> None:
    with pytest.raises(InputError, match="half of a surrogate pair"):
        Names.of(["fine", "\ud800"])
    assert Names.of(["fine"]).find("\ud800") == []
