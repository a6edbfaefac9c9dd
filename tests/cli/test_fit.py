"""`pathformer fit`: reads with the options of `import`, tells what it met, and says what is missing."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from support import command_line
from typer.testing import CliRunner

from pathformer.cli._main import app
from pathformer.cli.fit import print_result
from pathformer.engine.engine import Engine
from pathformer.errors import EngineError, GraphFileError, InputError
from pathformer.kg.knowledge import KnowledgeGraph

run = partial(command_line.run, "fit", only_stdout=True)


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> list[KnowledgeGraph]:
    """The graphs that were to be learned; nothing is trained."""
    graphs: list[KnowledgeGraph] = []

    def learn(graph: KnowledgeGraph, *_: Any, **__: Any) -> None:
        graphs.append(graph)
        raise typer.Exit

    monkeypatch.setattr("pathformer.fitting.fit.fit", learn)
    return graphs


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    for reader in ("pathformer.kg.knowledge.KnowledgeGraph.read", "pathformer.kg.datasets.load"):
        monkeypatch.setattr(reader, lambda *_, **__: pytest.fail("the graph was read"))


def test_the_options_reach_the_reader(tmp_path: Path, fitted: list[KnowledgeGraph]) -> None:
    (tmp_path / "films.dat").write_bytes("who;what;whom\nZoë;saw;'8½; uncut'\nfew;columns\n".encode("latin-1"))
    (tmp_path / "labels.tsv").write_text("saw\twatched\n")
    options = ["--format", "csv", "--delimiter", "semicolon", "--quote", "'", "--encoding", "latin-1", "--header"]
    labels = ["--relation-names", tmp_path / "labels.tsv"]
    run(tmp_path / "films.dat", *options, *labels, "--skip-bad", "--out", tmp_path / "engine")
    [graph] = fitted
    assert list(graph.vocabulary.entities) == ["Zoë", "8½; uncut"]
    assert graph.vocabulary.relation_labels is not None
    assert graph.report.skipped == 1


def test_merged_and_skipped_lines_are_told_as_import_tells_them(tmp_path: Path, fitted: list[KnowledgeGraph]) -> None:
    (tmp_path / "people.tsv").write_text("# by hand\nZed\tknows\tDora\nZed\tknows\t Dora \n")
    told = run(tmp_path / "people.tsv", "--skip-bad", "--out", tmp_path / "engine")
    assert "  1 repeated line, merged\n  1 bad line, skipped\n    for example " in told


def test_what_is_to_be_learned_is_counted(tmp_path: Path, fitted: list[KnowledgeGraph]) -> None:
    told = run("world", "--out", tmp_path / "engine").splitlines()
    [world] = fitted
    assert told == [
        f"world: {world.triple_count:,} triples",
        f"  {world.vocabulary.entity_count:,} entities, {world.report.labels:,} with a label",
        f"  {len(world.vocabulary.relations)} relations",
    ]


def test_a_bad_line_names_the_way_on(tmp_path: Path, fitted: list[KnowledgeGraph]) -> None:
    (tmp_path / "people.tsv").write_text("# by hand\nZed\tknows\tDora\n")
    with pytest.raises(GraphFileError, match=r"comment\? .*--skip-bad"):
        run(tmp_path / "people.tsv", "--out", tmp_path / "engine")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--minutes", "0"), "minutes"),
        (("--minutes", "nan"), "minutes"),
        (("--index", "foo"), "no index 'foo'"),
        (("--device", "gpu"), "no device is called 'gpu'"),
    ],
)
def test_what_cannot_be_is_refused_before_the_graph_is_read(
    option: tuple[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_reading(monkeypatch)
    with pytest.raises(InputError) as caught:
        run("world", "--out", tmp_path / "engine", *option)
    assert str(caught.value).startswith(message)


def test_an_engine_that_is_none_is_refused_before_the_graph_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_reading(monkeypatch)
    with pytest.raises(EngineError, match="none does not exist: make an engine there with"):
        run("new.tsv", "--update", tmp_path / "none")
    with pytest.raises(EngineError, match="holds no engine: make one with"):
        run("new.tsv", "--update", tmp_path)


def test_a_file_that_is_not_there_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        run("nope.tsv", "--out", tmp_path / "engine")
    assert str(caught.value).startswith(
        "no file or folder 'nope.tsv', and no dataset of that name; the known ones are "
    )


def test_a_known_graph_takes_no_option_of_reading(tmp_path: Path, fitted: list[KnowledgeGraph]) -> None:
    with pytest.raises(InputError) as caught:
        run("codex-s", "--format", "tsv", "--skip-bad", "--out", tmp_path / "engine")
    for word in ("codex-s", "leave out --format, --skip-bad", "./codex-s"):
        assert word in str(caught.value)
    assert not fitted


def test_a_known_graph_is_fitted_alone(tmp_path: Path, fitted: list[KnowledgeGraph]) -> None:
    (tmp_path / "more.tsv").write_text("Zed\tknows\tDora\n")
    with pytest.raises(InputError, match=r"^world .* --update ENGINE"):
        run("world", tmp_path / "more.tsv", "--out", tmp_path / "engine")
    assert not fitted


def test_a_file_called_like_a_known_graph_is_meant_by_its_path(
    tmp_path: Path, fitted: list[KnowledgeGraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "world").write_text("Zed\tknows\tDora\n")
    run("./world", "--format", "tsv", "--out", tmp_path / "engine")
    assert list(fitted[0].vocabulary.entities) == ["Zed", "Dora"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "there"), "there exists and was not made by this command: choose another folder"),
        (("--out", "engine"), "engine exists already: choose another folder, or replace it with --force"),
        (("--out", "new", "--seed", "-1"), "seed -1: expected a whole number from 0, below 2^64"),
        (("--out", "new", "--seed", str(2**64)), f"seed {2**64}: expected a whole number from 0, below 2^64"),
        (("--update", "engine", "--seed", "-1"), "seed -1: expected a whole number from 0, below 2^64"),
    ],
)
def test_a_place_and_a_seed_are_refused_before_the_graph_is_read(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, file in (("there", "letter.txt"), ("engine", "engine.json")):
        Path(folder).mkdir()
        (Path(folder) / file).touch()
    forbid_reading(monkeypatch)
    done = CliRunner().invoke(app, ["fit", "triples.tsv", *options])
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith(message)


def test_what_to_type_next_can_be_typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the folder is called, with the first names that are not too long for a line, and whole."""
    monkeypatch.setattr(
        "pathformer.fitting.report.FitReport.from_json", lambda text: SimpleNamespace(scores=None, links=None)
    )
    long = "x" * 5000
    triples = [(long, "likes", "b"), ("Zoë O'Hara", "likes", "wine\x1b[31m"), ("Zed", "likes", "Zed")]
    engine = SimpleNamespace(kg=KnowledgeGraph.from_triples(triples), files={"report.json": b"", "report.md": b""})
    print_result(engine, Path("my very long folder of the engines that I made of my films", "and others"))
    first, *questions = capsys.readouterr().out.splitlines()
    assert first.endswith("and others/report.md). Ask it:")
    typed = [shlex.split(question) for question in questions]
    assert {tuple(words[:3]) for words in typed} == {
        ("pathformer", "ask", "my very long folder of the engines that I made of my films/and others")
    }
    assert [words[3] for words in typed] == [
        '?x : likes("Zoë O\'Hara", ?x)',
        '?x : likes(?x, "wine\\u001B[31m")',
    ]
    alone = SimpleNamespace(kg=KnowledgeGraph.from_triples(triples[:1]), files={"report.json": b"", "report.md": b""})
    print_result(alone, Path("films"))
    assert f"likes({long}, ?x)" in capsys.readouterr().out


def test_a_known_graph_is_fitted_beside_a_folder_of_its_name(
    tmp_path: Path, fitted: list[KnowledgeGraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `fit world --out world`: nothing is looked for in that folder."""
    KnowledgeGraph.from_triples([("a", "r", "b")]).save(tmp_path / "world" / "graph")
    monkeypatch.chdir(tmp_path)
    assert run("world", "--out", tmp_path / "engine").startswith("world: ")
    assert fitted[0].triple_count > 1


def test_facts_are_changed_as_the_options_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files to take away are read with the options of reading, but for those of labels."""
    Engine(KnowledgeGraph.from_triples([("a", "likes", "c")])).save(tmp_path / "engine")
    (tmp_path / "new.txt").write_text("a;likes;b\n")
    (tmp_path / "wrong.txt").write_text("b;likes;c\n")
    (tmp_path / "labels.tsv").write_text("a\tAnna\n")
    given: list[tuple[Any, ...]] = []

    def change(folder: Path, more: Any, minutes: Any, *, remove: Any, train: bool, **_: Any) -> None:
        given.append((more, remove, train))
        raise typer.Exit

    monkeypatch.setattr("pathformer.fitting.update.update", change)
    text = ["--format", "csv", "--delimiter", "semicolon"]
    update, wrong = ["--update", tmp_path / "engine"], ["--remove", tmp_path / "wrong.txt"]
    run(tmp_path / "new.txt", *update, *wrong, *text, "--names", tmp_path / "labels.tsv", "--no-train")
    run(*update, *wrong, *text)
    engine = Engine.open(tmp_path / "engine")
    engine.files["untrained.npy"] = b""
    engine.save(tmp_path / "engine", force=True)
    run(*update)
    (more, less, trained), second, third = given
    assert more.vocabulary.labelled == 1
    assert list(less.vocabulary.entities) == ["b", "c"]
    assert (trained, second[0], second[2]) == (False, None, True)
    assert third == (None, None, True)
    with pytest.raises(InputError, match="there are no triples to learn"):
        run(*update, "--no-train")  # which would leave them waiting
