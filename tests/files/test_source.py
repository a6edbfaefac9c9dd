"""Bytes of packed files: told by their first bytes, and one sentence with the line where a damaged one ends."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from pathformer.errors import GraphFileError, InputError
from pathformer.files.source import open_bytes, plain_name

TEXT = b"".join(f"a{n * 7919 % 100003}\tr\tb{n * 31 % 997}\n".encode() for n in range(20_000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "zstd": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "bz2": bz2.compress,
}


@pytest.mark.parametrize("packing", PACKERS)
def test_unpacking(packing: str, tmp_path: Path) -> None:
    path = tmp_path / "whatever its name"
    path.write_bytes(PACKERS[packing](TEXT))
    steps: list[int] = []
    with open_bytes(path, advance=steps.append) as stream:
        assert stream.packing == packing
        assert stream.read() == TEXT
    assert sum(steps) == path.stat().st_size


def test_pieces_of_any_size(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abcdefg")
    with open_bytes(path) as stream:
        assert stream.packing == ""
        assert [stream.read(3), stream.read(3), stream.read(3), stream.read(3)] == [b"abc", b"def", b"g", b""]


@pytest.mark.parametrize("packing", PACKERS)
def test_a_truncated_archive_tells_where_it_ends(packing: str, tmp_path: Path) -> None:
    path, whole = tmp_path / "x", PACKERS[packing](TEXT)
    path.write_bytes(whole[: 2 * len(whole) // 3])
    with open_bytes(path) as stream, pytest.raises(GraphFileError) as caught:
        stream.read()
    assert f"the {packing} archive ends early or is damaged (" in str(caught.value)
    line = caught.value.line
    assert line is not None
    assert str(caught.value).startswith(f"{path}:{line}: ")
    # zstd unpacks 128 kB at once and bzip2 900 kB, all or nothing
    assert {"gzip": 12_000, "xz": 12_000, "zstd": 9_000, "bz2": 0}[packing] < line < 15_000


def test_the_line_of_the_damage_does_not_depend_on_the_pieces(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(TEXT)[:40_000])
    lines = []
    for size in (100, 7000, 1 << 22):
        with open_bytes(path) as stream, pytest.raises(GraphFileError) as caught:
            list(iter(partial(stream.read, size), b""))
        lines.append(caught.value.line)
    assert len(set(lines)) == 1


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "shift_jis", "utf-8-sig"])
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_other_encodings_come_out_as_utf8(encoding: str, size: int, tmp_path: Path) -> None:
    text = "a\tr\tß\n" if encoding == "latin-1" else "東京\tr\tb\n" * 3
    path = tmp_path / "x"
    path.write_bytes(text.encode(encoding))
    with open_bytes(path, encoding) as stream:
        read = b"".join(iter(lambda: stream.read(size), b""))
    assert read.decode() == text  # the mark is no part of it


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("marked", [False, True])
def test_no_more_bytes_than_were_asked_for(encoding: str, marked: bool, tmp_path: Path) -> None:
    """Buffers have no room for more, and UTF-8 is longer than other encodings."""
    text = "éü\n" * 5000
    path = tmp_path / "x"
    path.write_bytes((f"\ufeff{text}" if marked and encoding != "latin-1" else text).encode(encoding))
    with open_bytes(path, encoding) as stream:
        pieces = list(iter(partial(stream.read, 7), b""))
    assert max(map(len, pieces)) <= 7
    assert b"".join(pieces).decode().removeprefix("\ufeff" if encoding in ("utf-8-sig", "utf-16") else "") == text
    with open_bytes(path, encoding) as stream:
        whole = io.BufferedReader(stream, 64).read()
    assert whole == b"".join(pieces)


def test_what_does_not_decode_is_kept_for_the_reader_to_find(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a\n\xe9\n")
    with open_bytes(path, "ascii") as stream:
        assert stream.read() == b"a\n\xe9\n"


def test_what_cannot_be_decoded_at_all_is_an_error_with_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for asked, told, mark in (("utf-16-le", "utf-16-le", b""), ("utf-8", "utf-16", codecs.BOM_UTF16_LE)):
        path.write_bytes(mark + "a\nb\n".encode("utf-16-le") + b"\x00")
        with open_bytes(path, asked) as stream, pytest.raises(GraphFileError) as caught:
            stream.read()
        assert str(caught.value).startswith(f"{path}:3: not {told} text (")


@pytest.mark.parametrize("encoding", ["klingon", "hex", "rot13", "utf\0", "undefined"])
def test_an_encoding_that_does_not_exist_or_is_none_of_text(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a")
    with pytest.raises(InputError) as caught, open_bytes(tmp_path / "x", encoding):
        pass
    assert str(caught.value).startswith(f"no encoding {encoding!r}: expected a name such as")


@pytest.mark.parametrize("size", [1, 1000])
def test_an_archive_that_ends_within_a_character(size: int, tmp_path: Path) -> None:
    """The decoder waits for the other half and reads on, where the damage is."""
    path = tmp_path / "x"
    path.write_bytes(gzip.compress("a\n".encode("utf-16-le"))[:-9])
    with open_bytes(path, "utf-16-le") as stream, pytest.raises(GraphFileError, match="the gzip archive ends early"):
        list(iter(partial(stream.read, size), b""))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GraphFileError, match="cannot be opened"), open_bytes(tmp_path / "x"):
        pass


@pytest.mark.parametrize(
    ("name", "plain"), [("a.tsv", "a.tsv"), ("a.tsv.gz", "a.tsv"), ("a.nt.ZST", "a.nt"), ("a.b.csv.xz", "a.b.csv")]
)
def test_plain_names(name: str, plain: str) -> None:
    assert plain_name(Path(name)) == plain
