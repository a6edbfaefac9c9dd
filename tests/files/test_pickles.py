"""Pickles of plain containers load; whatever else a pickle asks for is refused by name, and nothing of it runs."""

from __future__ import annotations

import os
import pickle
import pickletools
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pathformer.errors import GraphFileError, UnsafePickleError
from pathformer.files.pickles import load_pickle

PLAIN: list[Any] = [
    {0: "/m/027rn", 1: "東京"},
    {("e", ("r",)): {(1, (2,)), (3, (4,))}},
    defaultdict(set, {(1, (2,)): {5, 6}}),
    defaultdict(list, {1: [2]}),
    OrderedDict([("a", 1.5), ("b", None)]),
    [True, "text", frozenset({1}), -(2**70)],
]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("content", PLAIN, ids=range(len(PLAIN)))
def test_plain_containers_load(content: Any, protocol: int, tmp_path: Path) -> None:
    (tmp_path / "x.pkl").write_bytes(pickle.dumps(content, protocol))
    loaded = load_pickle(tmp_path / "x.pkl")
    assert loaded == content
    assert type(loaded) is type(content)


class Hostile:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch '{self.marker}'",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_hostile_pickle_is_refused_by_name_and_does_not_run(protocol: int, tmp_path: Path) -> None:
    marker, path = tmp_path / "it ran", tmp_path / "hostile.pkl"
    path.write_bytes(pickle.dumps({0: Hostile(marker)}, protocol))
    with pytest.raises(UnsafePickleError) as caught:
        load_pickle(path)
    assert str(caught.value) == (
        f"{path}: refused: this pickle asks for posix.system,"
        " and only plain containers, numbers and strings are admitted"
    )
    assert not marker.exists()
    pickle.loads(path.read_bytes())  # to show that it would have
    assert marker.exists()


@pytest.mark.parametrize(
    ("content", "asks"),
    [
        (b"cbuiltins\neval\n(S'1'\ntR.", "builtins.eval"),
        (b"cbuiltins\ngetattr\n.", "builtins.getattr"),
        (b"cos.path\njoin\n.", "os.path.join"),
        (b"ccollections\nCounter\n.", "collections.Counter"),
        (b"cbuiltins\nbytes\n(I1000000000000\ntR.", "builtins.bytes"),
        (b"Pmodel\n.", "a persistent object"),
        (pickle.dumps(np.float64(1)), "numpy"),
        (pickle.dumps(Path("x")), "pathlib"),
    ],
)
def test_what_else_is_refused(content: bytes, asks: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pkl"
    path.write_bytes(content)
    assert pickletools.optimize(content)
    with pytest.raises(UnsafePickleError, match=f"refused: this pickle asks for {asks}"):
        load_pickle(path)


def test_a_factory_that_is_not_plain_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps(defaultdict(os.getcwd)))
    with pytest.raises(UnsafePickleError, match=r"asks for posix\.getcwd"):
        load_pickle(path)


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps({1: 2})[:-3], b"\x80\x04}q\x00X\xff"])
def test_what_is_no_whole_pickle(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.pkl"
    path.write_bytes(content)
    with pytest.raises(GraphFileError, match="not a whole pickle"):
        load_pickle(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GraphFileError, match=r"x\.pkl: cannot be read \(No such file or directory\)"):
        load_pickle(tmp_path / "x.pkl")
