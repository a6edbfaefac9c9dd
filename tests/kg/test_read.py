"""Which files make which split, tables of other libraries, and Parquet's columns."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from pyarrow import parquet

from pathformer.errors import GraphFileError, InputError
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    return folder


def sizes(graph: KnowledgeGraph) -> dict[str, int]:
    return {split: len(part) for split, part in graph.splits.items()}


def test_files_called_train_valid_and_test_are_splits(tmp_path: Path) -> None:
    write(tmp_path / "films", train__txt="a\tr\tb\nb\tr\ta\n", dev__csv="a,r,a\n", test__tsv="b\tr\tb\n", x__tsv="")
    graph = KnowledgeGraph.read(tmp_path / "films")
    assert graph.name == "films"
    assert sizes(graph) == {"train": 2, "valid": 1, "test": 1}
    files = [tmp_path / "films" / name for name in ("test.tsv", "train.txt", "dev.csv")]
    assert KnowledgeGraph.read(files).fingerprint() == graph.fingerprint()
    assert KnowledgeGraph.read([str(path) for path in files]).fingerprint() == graph.fingerprint()
    by_name = {"test": files[0], "train": [files[1]], "valid": files[2]}
    assert KnowledgeGraph.read(by_name, name="x").fingerprint() == graph.fingerprint()


def test_two_words_for_one_split_are_read_both(tmp_path: Path) -> None:
    write(tmp_path, train__txt="a\tr\tb\nb\tr\ta\n", one__tsv="a\tr\ta\n", two__tsv="b\tr\tb\n")
    parts = {"train": tmp_path / "train.txt", "valid": tmp_path / "one.tsv", "dev": tmp_path / "two.tsv"}
    assert sizes(KnowledgeGraph.read(parts)) == {"train": 2, "valid": 2}


def test_a_file_whose_name_is_no_text_is_read_and_saved(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/B\xfccher"))
    folder.mkdir()
    (folder / "x.tsv").write_text("a\tr\tb\n")
    parquet.write_table(pa.table({"s": ["a"], "p": ["r"], "o": ["b"]}), tmp_path / "x.parquet")
    (tmp_path / "x.parquet").rename(folder / "x.parquet")
    for path in (folder / "x.tsv", folder / "x.parquet"):
        graph = KnowledgeGraph.read(path.rename(folder.with_suffix(path.suffix)))
        opened = KnowledgeGraph.open(graph.save(folder / path.suffix[1:]))
        assert (opened.name, list(opened.vocabulary.entities)) == ("B?cher", ["a", "b"])


def test_values_of_another_type_are_told(tmp_path: Path) -> None:
    file = tmp_path / "g.tsv"
    file.write_text("a\tr\tb\n")
    for given in (None, 3):
        with pytest.raises(InputError, match=f"{given} names no files: expected a path or several"):
            KnowledgeGraph.read(given)
        with pytest.raises(InputError, match=rf"train is a {type(given).__name__}, expected tuples \(head,.*\)$"):
            KnowledgeGraph.from_triples(given)
    with pytest.raises(InputError, match=r"expected tuples .*: a table is read by KnowledgeGraph\.from_table"):
        KnowledgeGraph.from_triples(pa.table({"head": ["a"], "relation": ["r"], "tail": ["b"]}))
    with pytest.raises(InputError, match="a graph is called by a text, not by 3"):
        KnowledgeGraph.read(file, name=3)
    with pytest.raises(InputError, match="no encoding None: expected a name such as"):
        KnowledgeGraph.read(file, encoding=None)
    assert repr(KnowledgeGraph.read(file)) == "<KnowledgeGraph 'g': 2 entities, 1 relation, train 1 triple>"


@pytest.mark.parametrize("triple", [7, None, "abc", ("a", "r"), ("a", "", "b"), ("a", "r", 1)])
def test_what_is_no_triple_is_shown(triple: Any) -> None:
    with pytest.raises(InputError) as caught:
        KnowledgeGraph.from_triples([("a", "r", "b"), triple])
    assert str(caught.value).startswith(f"train triple 1 is {triple!r}: expected three names (head, relation, tail)")


def test_a_train_file_alone_makes_a_graph_of_its_folders_name(tmp_path: Path) -> None:
    write(tmp_path / "films", train__txt="a\tr\tb\n")
    assert KnowledgeGraph.read(tmp_path / "films").name == "films"
    assert sizes(KnowledgeGraph.read(tmp_path / "films" / "train.txt")) == {"train": 1}
    assert KnowledgeGraph.read(tmp_path / "films" / "train.txt").name == "films"


def test_several_files_make_one_graph(tmp_path: Path) -> None:
    write(tmp_path, one__tsv="a\tr\tb\n", two__csv="a,r,b\nc,s,a\n", train__txt="d\tr\ta\n")
    graph = KnowledgeGraph.read([tmp_path / "one.tsv", tmp_path / "two.csv", tmp_path / "train.txt"])
    assert sizes(graph) == {"train": 3}
    assert graph.report.duplicates == 1
    assert list(graph.vocabulary.entities) == ["a", "b", "c", "d"]


def test_a_saved_graph_may_be_read(tmp_path: Path) -> None:
    write(tmp_path, one__tsv="a\tr\tb\n")
    saved = KnowledgeGraph.read(tmp_path / "one.tsv").save(tmp_path / "saved")
    assert KnowledgeGraph.read(saved, name="other").name == "other"


def test_what_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path / "films", train__txt="a\tr\tb\n", train__csv="a,r,b\n")
    (tmp_path / "nothing").mkdir()
    nothing = "no file of triples to read: name a file, or a folder with a file that is called train"
    cases: list[tuple[Any, str]] = [
        (tmp_path / "nothing", "nothing: not a saved graph, and no train file (train.txt, train.tsv, ...) in it"),
        (tmp_path / "films", "films: several files could be train: train.csv, train.txt; name the files to read"),
        (tmp_path / "gone.tsv", "gone.tsv: no such file"),
        ([tmp_path / "films", tmp_path / "films" / "train.txt"], "films: is not a file"),
        ([], nothing),
        ({"valid": tmp_path / "films" / "train.txt"}, nothing),
        ({"training": tmp_path / "films" / "train.txt"}, "no split 'training': expected train, valid, test"),
    ]
    for paths, message in cases:
        with pytest.raises(InputError) as caught:
            KnowledgeGraph.read(paths)
        assert str(caught.value).removeprefix(f"{tmp_path}/") == message


@contextmanager
def piped(path: Path, content: bytes) -> Iterator[Path]:
    """A named pipe that somebody writes to."""
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(content,), daemon=True)  # a test that fails need not read it
    writer.start()
    yield path
    writer.join()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_as_a_file_is(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    lines = b"subject\tpredicate\tobject\na\tr\tb\nb\tr\tc\n"
    (tmp_path / "one.tsv").write_bytes(pack(lines))
    with piped(tmp_path / "pipe.tsv", pack(lines)) as pipe:
        graph = KnowledgeGraph.read(pipe)
    assert graph.fingerprint() == KnowledgeGraph.read(tmp_path / "one.tsv").fingerprint()
    assert graph.name == "pipe"
    with (
        piped(tmp_path / "fifo", pack(b"c\tr\td\n")) as pipe,
        piped(tmp_path / "labels", pack(b"d\tDora\n")) as labels,
    ):
        graph = KnowledgeGraph.read([pipe, tmp_path / "one.tsv"], format="tsv", names=labels)
    assert (graph.name, graph.triple_count, graph.vocabulary.label(1)) == ("pipe", 3, "Dora")


def test_what_is_wrong_with_a_pipe_names_it(tmp_path: Path) -> None:
    with piped(tmp_path / "cut.tsv", b"a\tr\tb\na\n") as pipe, pytest.raises(GraphFileError) as caught:
        KnowledgeGraph.read(pipe)
    assert str(caught.value).startswith(f"{pipe}:2: found 1 column, expected 3")
    with piped(tmp_path / "bad.tsv", b"a\tr\tb\na\n") as pipe:
        assert KnowledgeGraph.read(pipe, skip_bad=True).report.notes[0].startswith(f"{pipe}:2: found 1 column")
    with piped(tmp_path / "none.tsv", b"") as pipe, pytest.raises(GraphFileError) as caught:
        KnowledgeGraph.read(pipe)
    assert str(caught.value) == f"{pipe}: nothing came out of the pipe"
    (tmp_path / "one.tsv").write_text("a\tr\tb\n")
    with piped(tmp_path / "labels", b"") as pipe, pytest.raises(GraphFileError) as caught:
        KnowledgeGraph.read(tmp_path / "one.tsv", names=pipe)
    assert str(caught.value) == f"{pipe}: nothing came out of the pipe"
    with pytest.raises(GraphFileError, match=r"^-: the name has no ending that names a format"):
        KnowledgeGraph.read("-")


def test_a_pipe_of_triples_needs_no_option_where_its_name_ends_in_a_format(tmp_path: Path) -> None:
    with piped(tmp_path / "pipe.tsv", b"a\tr\tb\n") as pipe:
        assert load(pipe).triple_count == 1


@pytest.mark.parametrize("stop", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_stops_a_pipe_leaves_nothing_behind(
    stop: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Path.open

    def stopped(path: Path, mode: str = "r", *arguments: Any, **more: Any) -> Any:
        """What is written into a temporary file is stopped."""
        file = plain(path, mode, *arguments, **more)
        if mode != "wb" or path.parent.parent.name != "temporary":
            return file
        full = mock.MagicMock(wraps=file)
        full.write.side_effect = stop
        full.__exit__.side_effect = lambda *_: file.close()
        full.__enter__.return_value = full
        return full

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(Path, "open", stopped)
    with (
        piped(tmp_path / "pipe.tsv", b"a\tr\tb\n") as pipe,
        pytest.raises((InputError, KeyboardInterrupt)) as caught,
    ):
        KnowledgeGraph.read(pipe)
    if isinstance(caught.value, InputError):
        told = f"the temporary folder {tmp_path}/temporary is full: set TMPDIR to a folder with more room"
        assert str(caught.value) == told
    assert not list((tmp_path / "temporary").iterdir())


def test_the_graph_of_an_engine_is_named(tmp_path: Path) -> None:
    graph = KnowledgeGraph.from_triples([("a", "r", "b")]).save(tmp_path / "engine" / "graph")
    with pytest.raises(GraphFileError, match=f"engine: an engine and no graph: its graph lies in {graph}"):
        KnowledgeGraph.read(graph.parent)
    with pytest.raises(GraphFileError, match="engine: an engine and no graph: its graph lies in"):
        load(str(graph.parent))
    assert KnowledgeGraph.read(graph).triple_count == 1


def test_the_second_file_is_named_when_it_is_bad(tmp_path: Path) -> None:
    write(tmp_path, one__tsv="a\tr\tb\n", two__tsv="a\tr\tb\nc\n")
    with pytest.raises(GraphFileError, match=r"two\.tsv:2: found 1 column, expected 3"):
        KnowledgeGraph.read([tmp_path / "one.tsv", tmp_path / "two.tsv"])


COLUMNS = {"id": [1, 2], "object": ["b", "c"], "subject": ["a", "b"], "predicate": ["r", "s"]}


def test_a_table_by_well_known_names_by_choice_and_by_number() -> None:
    table = pa.table(COLUMNS)
    expected = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "c")]).fingerprint()
    assert KnowledgeGraph.from_table(table).fingerprint() == expected
    assert KnowledgeGraph.from_table(table, columns=["subject", "predicate", "object"]).fingerprint() == expected
    assert KnowledgeGraph.from_table(table, columns=[3, 4, 2], name="t").fingerprint() == expected
    renamed = table.select(["subject", "predicate", "object"]).rename_columns(["x", "y", "z"])
    assert KnowledgeGraph.from_table(renamed).fingerprint() == expected


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int8(), pa.string())]
)
def test_columns_of_any_text_type(kind: pa.DataType) -> None:
    columns = [pa.array(COLUMNS[name]).cast(kind) for name in ("subject", "predicate", "object")]
    graph = KnowledgeGraph.from_table(pa.table(columns, names=["s", "p", "o"]))
    assert list(graph.vocabulary.entities) == ["a", "b", "c"]


def test_whole_numbers_are_names() -> None:
    graph = KnowledgeGraph.from_table(pa.table({"h": [10, 10], "r": ["x", "y"], "t": [7, 10]}))
    assert list(graph.vocabulary.entities) == ["10", "7"]


def test_many_batches() -> None:
    batches = [pa.record_batch({"h": [f"e{n}"], "r": ["r"], "t": [f"e{n + 1}"]}) for n in range(100)]
    graph = KnowledgeGraph.from_table(pa.Table.from_batches(batches))
    assert graph.triple_count == 100
    assert list(graph.vocabulary.entities) == [f"e{n}" for n in range(101)]


def test_any_object_with_the_arrow_stream_interface() -> None:
    class Frame:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)

    assert KnowledgeGraph.from_table(Frame()).triple_count == 2
    with pytest.raises(InputError, match="a list is no table: expected one with the Arrow stream interface"):
        KnowledgeGraph.from_table([1])


def test_a_table_that_arrow_cannot_take_is_told() -> None:
    class Mixed:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            raise pa.ArrowTypeError("expected bytes, got a 'int' object")

    with pytest.raises(
        InputError, match=r"^the Mixed cannot be read as Arrow's \(expected bytes, got a 'int' object\)$"
    ):
        KnowledgeGraph.from_table(Mixed())


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"x": ["a"], "y": ["b"]},
            {},
            "t: the columns are 'x', 'y': choose head, relation and tail by name or number"
            " with --columns (columns=...)",
        ),
        ({"s": ["a"], "p": [1.5], "o": ["b"]}, {}, "t: the column 'p' holds double, expected text or whole numbers"),
        ({"s": ["a", None], "p": ["r", "r"], "o": ["b", "c"]}, {}, "t:2: the head is empty"),
        ({"s": ["a", "b"], "p": ["r", "r"], "o": ["b", ""]}, {}, "t:2: the tail is empty"),
        (
            {"s": ["a", "b"], "p": ["r", "r\0"], "o": ["b", "c"]},
            {},
            "t:2: the relation contains a NUL byte: is the file",
        ),
        (
            {"s": [b"a"], "p": [b"r"], "o": [b"\xff"]},
            {},
            "t:1: the tail is not text in this encoding (byte 0xff)",
        ),
        (
            COLUMNS,
            {"columns": ["subject", "predicate", "objekt"]},
            "t: no column 'objekt'; closest: 'object'",
        ),
        (
            COLUMNS,
            {"columns": ["subject", 4, "subject"]},
            "t: column 3 is chosen as head and tail: each needs a column",
        ),
    ],
)
def test_bad_tables(columns: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphFileError) as caught:
        KnowledgeGraph.from_table(pa.table(columns), name="t", **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("columns", [None, [1, 2, 3], ["x", "y", "x"]])
def test_columns_of_one_name_are_told(columns: list[str | int] | None, tmp_path: Path) -> None:
    table = pa.table([["a"], ["r"], ["b"]], names=["x", "y", "x"])
    parquet.write_table(table, tmp_path / "t.parquet")
    message = "2 columns are called 'x'" if columns != ["x", "y", "x"] else "column 1 is chosen as head and tail"
    for read in (KnowledgeGraph.from_table, KnowledgeGraph.read):
        with pytest.raises(GraphFileError, match=message):
            read(table if read == KnowledgeGraph.from_table else tmp_path / "t.parquet", columns=columns)


def test_bad_rows_can_be_skipped() -> None:
    table = pa.table({"s": ["a", None, "b", "", "\0"], "p": ["r"] * 5, "o": ["b"] * 5})
    graph = KnowledgeGraph.from_table(table, name="t", skip_bad=True)
    assert graph.triple_count == 2
    assert graph.report.skipped == 3
    assert graph.report.notes == ("t:2: the head is empty",)


def test_parquet_columns_and_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table(COLUMNS), path)
    assert KnowledgeGraph.read(path).triple_count == 2
    with pytest.raises(GraphFileError, match=r"x\.parquet: no column 9: the file has 4, counted from 1"):
        KnowledgeGraph.read(path, columns=[1, 2, 9])
    parquet.write_table(pa.table({"s": ["a", ""], "p": ["r", "r"], "o": ["b", "c"]}), path)
    with pytest.raises(GraphFileError, match=r"x\.parquet:2: the head is empty"):
        KnowledgeGraph.read(path)
    for content, message in ((b"", "the file is empty"), (b"PAR1", "not a whole Parquet file"), (None, "not a whole")):
        path.write_bytes(path.read_bytes()[:-20] if content is None else content)
        with pytest.raises(GraphFileError, match=message):
            KnowledgeGraph.read(path)
        parquet.write_table(pa.table(COLUMNS), path)


def test_reading_does_not_import_pandas(tmp_path: Path) -> None:
    write(tmp_path, one__tsv="a\tr\tb\n", names__tsv="a\tA\n")
    parquet.write_table(pa.table(COLUMNS), tmp_path / "two.parquet")
    program = (
        "import sys; from pathformer.kg.knowledge import KnowledgeGraph\n"
        "folder = sys.argv[1]; graph = KnowledgeGraph.read([folder + '/one.tsv', folder + '/two.parquet'],\n"
        "    names=folder + '/names.tsv')\n"
        "graph.save(folder + '/saved'); graph.split(0.4, 0)\n"
        "assert not {'pandas', 'torch', 'numba'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path], check=True)
