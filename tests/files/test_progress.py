"""The bar of a long reading: on a terminal only, and it ends where the files end."""

from __future__ import annotations

import gzip
import lzma
import os
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from rich.progress import Progress

from pathformer.files.progress import reading
from pathformer.kg.formats._registry import ReadOptions, file_format
from pathformer.kg.knowledge import KnowledgeGraph

LINES = b"".join(b"a%d\tr\tb%d\n" % (n, n % 7) for n in range(1000))


def test_no_bar_without_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.tsv").write_bytes(LINES)
    KnowledgeGraph.read(tmp_path / "x.tsv", progress=True)
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / "x.tsv").write_bytes(LINES)
    KnowledgeGraph.read(tmp_path / "x.tsv", progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "reading" in err
    KnowledgeGraph.read(tmp_path / "x.tsv")
    assert capsys.readouterr() == ("", "")


def test_no_end_of_a_pipe_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    totals: list[float | None] = []
    monkeypatch.setattr(Progress, "add_task", lambda *_, total: totals.append(total))
    (tmp_path / "x.tsv").write_bytes(LINES)
    os.mkfifo(tmp_path / "pipe")
    for paths in ([tmp_path / "x.tsv"], [tmp_path / "x.tsv", tmp_path / "pipe"]):
        with reading({"train": paths}, shown=True):
            pass
    assert totals == [len(LINES), None]


@pytest.mark.parametrize("name", ["x.tsv", "x.tsv.gz", "x.tsv.xz", "x.nt", "x.parquet"])
def test_the_steps_add_up_to_the_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    match name:
        case "x.tsv":
            path.write_bytes(LINES)
        case "x.tsv.gz":
            path.write_bytes(gzip.compress(LINES))
        case "x.tsv.xz":
            path.write_bytes(lzma.compress(LINES))
        case "x.nt":
            path.write_bytes(b"<http://e/a> <http://e/r> <http://e/b> .\n" * 1000)
        case "x.parquet":
            parquet.write_table(pa.table({"h": ["a"] * 1000, "r": ["r"] * 1000, "t": ["b"] * 1000}), path)
    steps: list[int] = []
    list(file_format(path).read(path, ReadOptions(advance=steps.append)))
    assert sum(steps) == path.stat().st_size
