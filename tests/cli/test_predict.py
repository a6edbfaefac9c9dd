"""`pathformer predict` as people meet it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.link_engines import link_engine
from typer.testing import CliRunner, Result

from pathformer.cli import _main as cli
from pathformer.engine.engine import load
from pathformer.errors import InputError


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return link_engine().save(tmp_path_factory.mktemp("engines") / "random")


def predict(*arguments: object, error: str | None = None) -> Result:
    result = CliRunner().invoke(cli.app, ["predict", *map(str, arguments)])
    if error is None:
        assert result.exit_code == 0, result.exception
    else:
        assert isinstance(result.exception, InputError)
        assert error in str(result.exception)
    return result


def test_it_writes_the_list_and_says_what_it_measured(engine: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "links.tsv"
    printed = predict(engine, "r1", "--top", 3, "--out", out).output
    assert printed.startswith(f"wrote 3 links to {out} in ")
    assert "A probability says how often such a link was among the facts held back" in printed
    lines = out.read_text("utf-8").splitlines()
    assert [line.split("\t")[1] for line in lines[1:]] == load(engine).predict("r1", top=3)["head"].to_pylist()


def test_it_replaces_a_file_only_with_force(engine: Path, tmp_path: Path) -> None:
    out = tmp_path / "links.parquet"
    out.write_text("mine")
    predict(engine, "r1", "--out", out, error="exists already: choose another name, or replace it with --force")
    assert out.read_text() == "mine"
    assert "pairs" in predict(engine, "r1", "--all-pairs", "--out", out, "--force").output
    assert out.read_bytes().startswith(b"PAR1")


def test_what_it_cannot_write_is_said_first(tmp_path: Path) -> None:
    """Before the engine is opened: there is none."""
    predict("none", "r1", "--out", tmp_path / "links.xlsx", error="must be one of .parquet, .csv, .tsv")
    predict("none", "r1", "--all-pairs", "--out", tmp_path / "links.csv", error="let --out end in .parquet")
    predict("none", "r1", "--out", tmp_path, error="the ending says")


def test_a_folder_in_the_way_of_the_parts_stays(engine: Path, tmp_path: Path) -> None:
    mine = tmp_path / "links.csv.parts" / "mine.txt"
    mine.parent.mkdir()
    mine.touch()
    predict(engine, "r1", "--out", tmp_path / "links.csv", error="is in the way and was not made by this command")
    assert mine.exists()


def test_heads_that_nothing_was_measured_on_are_counted(engine: Path, tmp_path: Path) -> None:
    heads = tmp_path / "heads.txt"
    graph, names = (kg := load(engine).kg).graph(), kg.vocabulary
    without = [e for e in range(graph.entities) if not len(graph.tails_of(e, 2))][:2]
    heads.write_text("\n".join(map(names.entity, without)), "utf-8")
    printed = predict(engine, "r1", "--heads", heads, "--out", tmp_path / "links.csv").output
    assert "2 heads of those asked for had no fact of the relation yet" in printed
