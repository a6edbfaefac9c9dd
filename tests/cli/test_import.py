"""`pathformer import`: from files to a saved graph, with a summary; wrong input is one sentence and leaves nothing."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from support import command_line
from typer.testing import CliRunner

from pathformer.cli._main import app
from pathformer.kg.knowledge import KnowledgeGraph

run = partial(command_line.run, "import")


TRIPLES = "Fellini\tdirected\tLa Strada\nLa Strada\twon\tOscar\nFellini\tdirected\tLa Strada\n"


def shell(*arguments: object) -> tuple[int, str]:
    """Exit code and stderr of the program as it is called in a shell."""
    program = "from pathformer.cli._main import main; main()"
    command = [sys.executable, "-c", program, "import", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"NO_COLOR": "1"})
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "films.tsv").write_text(TRIPLES)
    output = run(tmp_path / "films.tsv", "--out", tmp_path / "films")
    assert re.fullmatch(
        r"films: 2 triples\n"
        r"  3 entities\n"
        r"  2 relations\n"
        r"  1 repeated line, merged\n"
        rf"saved to {tmp_path}/films in \d+\.\d s\n",
        output,
    )
    assert KnowledgeGraph.open(tmp_path / "films").triple_count == 2


def test_what_lies_beside_the_triples_of_a_folder_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    folder.mkdir()
    for part in ("train", "valid", "test"):
        (folder / f"{part}.txt").write_text(TRIPLES)
    assert "not read" not in run(folder, "--out", tmp_path / "plain")
    (folder / "names.txt").write_text("Fellini\tFederico Fellini\n")
    (folder / "README.md").write_text("about")
    (folder / "more").mkdir()
    told = "  not read: names.txt. "
    assert told in run(folder, "--out", tmp_path / "told")
    assert "not read" not in run(folder, "--names", folder / "names.txt", "--out", tmp_path / "named")
    assert "not read" not in run(tmp_path / "told", "--out", tmp_path / "saved")  # a saved graph is read whole
    (folder / "a\x1b[31m.txt").touch()
    assert r"  not read: a\x1b[31m.txt, names.txt. " in run(folder, "--out", tmp_path / "steering")
    (folder / "a\x1b[31m.txt").unlink()
    for number in range(6):
        (folder / f"notes{number}.txt").touch()
    assert "  not read: names.txt, notes0.txt, notes1.txt, notes2.txt, notes3.txt, ...." in run(
        folder, "--out", tmp_path / "many"
    )


def test_every_option_of_delimited_text(tmp_path: Path) -> None:
    path = tmp_path / "x.dat.gz"
    path.write_bytes(gzip.compress("n|o|s|p\n1|'La|Strada'|Zoë|saw\n2|x\n".encode("latin-1")))
    (tmp_path / "names.tsv").write_text("label\twho\nZoë Z.\tZoë\n", encoding="latin-1")
    (tmp_path / "relations.json").write_text('{"saw": "has seen"}')
    options = "--format csv --delimiter pipe --quote ' --encoding latin-1 --columns s,p,o --skip-bad --name seen"
    labels = ["--names", tmp_path / "names.tsv", "--names-columns", "who,label"]
    output = run(
        path, "--out", tmp_path / "out", *options.split(), *labels, "--relation-names", tmp_path / "relations.json"
    )
    assert "seen: 1 triple\n  2 entities, 1 with a label\n  1 relation\n  1 bad line, skipped\n" in output
    assert f"    for example {path}:3: found 2 columns, expected 4 separated by '|'\n" in output
    graph = KnowledgeGraph.open(tmp_path / "out")
    assert list(graph.vocabulary.entities) == ["Zoë", "La|Strada"]
    assert graph.vocabulary.label(0) == "Zoë Z."
    assert graph.vocabulary.relation_label(0) == "has seen"


def test_splits_and_what_was_dropped(tmp_path: Path) -> None:
    for split, content in {"train": "a\tr\tb\n", "valid": "b\tr\ta\nb\tr\tz\n", "test": "a\tr\tb\n"}.items():
        (tmp_path / f"{split}.txt").write_text(content)
    output = run(*(tmp_path / f"{split}.txt" for split in ("train", "valid", "test")), "-o", tmp_path / "g")
    assert "2 triples (train 1, valid 1, test 0)\n" in output
    assert "  1 triple of a later split is in an earlier split, dropped\n" in output
    assert "  1 triple has a name that train lacks, dropped\n" in output


def test_rdf_literals(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text("@prefix : <http://e/> . :a :r :b ; :age 7 .")
    assert "  1 RDF literal, left out\n" in run(path, "-o", tmp_path / "without")
    assert "left out" not in run(path, "-o", tmp_path / "with", "--literals")
    assert KnowledgeGraph.open(tmp_path / "with").triple_count == 2


def test_literals_that_became_labels_are_not_told_as_lost(tmp_path: Path) -> None:
    path, labels = tmp_path / "x.ttl", tmp_path / "labels.tsv"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    path.write_text(f'@prefix : <http://e/> . :a :r :b ; :age 3 ; {label} "A", "B", "C" . :no {label} "no entity" .')
    told = "  5 RDF literals, left out"
    assert f"{told} but for 1 label\n" in run(path, "-o", tmp_path / "labelled")
    labels.write_text("http://e/r\tlikes\n")
    assert f"{told} but for 1 label\n" in run(path, "-o", tmp_path / "more", "--relation-names", labels)
    assert KnowledgeGraph.open(tmp_path / "more").report.literal_labels == 1
    labels.write_text("http://e/b\tBen\n")  # a file's labels take the place of the graph's own
    assert f"{told}\n" in run(path, "-o", tmp_path / "named", "--names", labels)
    path.write_text("@prefix : <http://e/> . :a :r :b ; :age 3 .")
    assert "  1 RDF literal, left out\n" in run(path, "-o", tmp_path / "none", "--names", labels)


def test_header_or_not(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("subject,predicate,object\na,r,b\n")
    assert "x: 1 triple\n" in run(tmp_path / "x.csv", "-o", tmp_path / "one")
    assert "x: 2 triples" in run(tmp_path / "x.csv", "-o", tmp_path / "two", "--no-header")


def test_replacing(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("a\tr\tb\n")
    run(tmp_path / "x.tsv", "-o", tmp_path / "g")
    code, error = shell(tmp_path / "x.tsv", "-o", tmp_path / "g")
    assert code == 2
    assert error.startswith(f"error: {tmp_path}/g exists already")
    assert error.endswith("--force\n")
    run(tmp_path / "x.tsv", "-o", tmp_path / "g", "--force")


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("x.tsv", b"a\tr\tb\nc\tr\n", [], "x.tsv:2: found 2 columns, expected 3"),
        ("x.csv", b"a,b,c\n1,2,3\n", ["--columns", "a,b,d"], "x.csv:1: no column 'd'"),
        ("x.tsv.gz", gzip.compress(b"a\tr\tb\n" * 9, mtime=0)[:-9], [], "x.tsv.gz:10: the gzip archive ends early or"),
        ("x.xls", b"?", [], "x.xls: the ending '.xls' names no format"),
    ],
)
def test_bad_input_is_one_sentence_exit_code_2_and_no_output(
    name: str, content: bytes, options: list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    code, error = shell(tmp_path / name, "-o", tmp_path / "out", *options)
    assert code == 2
    assert error.startswith(f"error: {tmp_path}/{message}")
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_help_ends_in_examples() -> None:
    for command in ("import", "split", "datasets"):
        done = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "100"})
        assert done.exit_code == 0
        assert "Examples:" in done.output
        assert f"$ pathformer {command}" in done.output


def test_the_input(tmp_path: Path) -> None:
    program = "from pathformer.cli._main import main; main()"
    command = [sys.executable, "-c", program, "import", "-", "--format", "tsv", "--out", str(tmp_path / "films")]
    done = subprocess.run(command, input=TRIPLES, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pipe: 2 triples\n  3 entities\n  2 relations\n  1 repeated line, merged\n")
    assert KnowledgeGraph.open(tmp_path / "films").triple_count == 2


def test_an_example_of_a_bad_line_speaks_to_a_shell(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(b"a\tr\tb\nc\tr\tcaf\xe9\n")
    told = run(tmp_path / "x.tsv", "--out", tmp_path / "x", "--skip-bad")
    assert "(byte 0xe9): name the right one with --encoding\n" in told
