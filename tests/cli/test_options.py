"""Commands that read a graph without options of reading: what they advise can be followed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pathformer.cli._main import app
from pathformer.cli._options import load_graph
from pathformer.engine.storage import HEADER
from pathformer.errors import GraphFileError
from pathformer.kg.knowledge import KnowledgeGraph

QUESTION = "?x : r(a, ?x)"
READERS = {
    "explain": lambda graph, tmp_path: ["explain", QUESTION, "--graph", graph],
    "sample": lambda graph, tmp_path: ["sample", graph, "--out", tmp_path / "q", "-s", "1p"],
    "verify": lambda graph, tmp_path: ["verify", tmp_path / "queries", "--graph", graph],
}
LINES = "a\tr\tb\nb\tr\tc\n"


def invoke(*arguments: object) -> BaseException | None:
    return CliRunner().invoke(app, list(map(str, arguments))).exception


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    """A folder for `verify`, drawn from a sound file of the same triples."""
    (tmp_path / "sound.tsv").write_text(LINES)
    assert invoke("sample", tmp_path / "sound.tsv", "--out", tmp_path / "queries", "-s", "1p") is None
    return tmp_path / "queries"


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize(
    ("content", "name", "options"),
    [
        (LINES, "triples", ("--format", "tsv")),
        (LINES.replace("\t", ";"), "triples.tsv", ("--delimiter", ";")),
        (LINES + "c\n", "triples.tsv", ("--skip-bad",)),
        ("1\ta\tr\tb\n2\tb\tr\tc\n", "triples.tsv", ("--columns", "2,3,4")),
        ("1;a;r;b\n2;b;r;c\n", "triples.tsv", ("--delimiter", ";", "--columns", "2,3,4")),
    ],
)
def test_what_no_option_of_theirs_mends_an_import_does(
    command: str, content: str, name: str, options: tuple[str, ...], queries: Path, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    refused = invoke(*READERS[command](tmp_path / name, tmp_path))
    assert isinstance(refused, GraphFileError)
    assert str(refused).startswith(f"{tmp_path / name}:")
    named = options[::2]
    what = f"{' and '.join(named)} {'is an option' if len(named) == 1 else 'are options'}"
    way_on = f"({what} of `pathformer import`: name the folder that it makes instead)"
    assert str(refused).endswith(way_on)
    assert invoke("import", tmp_path / name, *options, "--out", tmp_path / "graph") is None
    assert invoke(*READERS[command](tmp_path / "graph", tmp_path)) is None


@pytest.mark.parametrize("command", READERS)
def test_what_no_option_mends_is_told_as_it_is(command: str, queries: Path, tmp_path: Path) -> None:
    (tmp_path / "none.tsv").write_text("")
    told = str(invoke(*READERS[command](tmp_path / "none.tsv", tmp_path)))
    assert told == f"{tmp_path}/none.tsv: the file is empty: expected a head, a relation and a tail on each line"


def test_commands_that_have_the_option_advise_it_alone(tmp_path: Path) -> None:
    (tmp_path / "triples").write_text(LINES)
    for command in ("import", "fit"):
        refused = str(invoke(command, tmp_path / "triples", "--out", tmp_path / "out"))
        assert re.search(r"say which it is with --format \(format=\.\.\.\), one of [a-z, ]+$", refused)


@pytest.mark.parametrize("command", READERS)
def test_an_engine_stands_for_its_graph(command: str, queries: Path, tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    KnowledgeGraph.read(tmp_path / "sound.tsv").save(engine / "graph")
    refused = invoke(*READERS[command](engine, tmp_path))
    assert str(refused) == f"{engine}: an engine and no graph: its graph lies in {engine / 'graph'}"
    (engine / HEADER).touch()
    assert invoke(*READERS[command](engine, tmp_path)) is None


def test_a_known_name_is_no_engine_beside_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    KnowledgeGraph.from_triples([("a", "r", "b")]).save(tmp_path / "world" / "graph")
    (tmp_path / "world" / HEADER).touch()
    monkeypatch.chdir(tmp_path)
    assert load_graph("world", None).vocabulary.entity_count > 2
    assert load_graph("./world", None).vocabulary.entity_count == 2
