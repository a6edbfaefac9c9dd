"""`pathformer import`: from files to a saved graph, with a summary; wrong input is one sentence and leaves nothing."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from pathformer.cli import app
from pathformer.cli.import_ import summary
from pathformer.kg.knowledge import KnowledgeGraph

TRIPLES = "Fellini\tdirected\tLa Strada\nLa Strada\twon\tOscar\nFellini\tdirected\tLa Strada\n"


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["import", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def shell(*arguments: object) -> tuple[int, str]:
    """Exit code and stderr of the program as it is called in a shell."""
    program = "from pathformer.cli import main; main()"
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


def test_a_first_line_that_may_be_a_header_is_told(tmp_path: Path) -> None:
    facts = "".join(f"e{k}\tr{k % 3}\te{k + 1}\n" for k in range(30))
    told = "  the first triple shares no name with the others: film, what, whom. If it is a header, say --header\n"
    path, number = tmp_path / "facts.tsv", count()

    def read(first: str, *options: str, rest: str = facts) -> str:
        path.write_text(f"{first}\n{rest}")
        return run(path, "--out", tmp_path / f"out{next(number)}", *options)

    assert told in read("film\twhat\twhom")
    assert "31 triples" in read("film\twhat\twhom", "--no-header")
    assert r"others: red\x1b[31m, what, whom. If" in read("red\x1b[31m\twhat\twhom")  # names cannot steer the terminal
    for quiet in (
        read("film\twhat\twhom", "--no-header"),
        read("film\twhat\twhom", "--header"),
        read("subject\tpredicate\tobject"),
        read("e3\twhat\twhom"),
        read("film\tr2\twhom"),
        read("film\twhat\twhom", rest="a\tknows\tb\n"),  # of two lines nothing can be said
        read("http://a/film\thttp://a/what\thttp://a/whom"),
    ):
        assert "header" not in quiet


def test_what_lies_beside_the_triples_of_a_folder_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    folder.mkdir()
    for part in ("train", "valid", "test"):
        (folder / f"{part}.txt").write_text(TRIPLES)
    assert "not read" not in run(folder, "--out", tmp_path / "plain")
    (folder / "names.txt").write_text("Fellini\tFederico Fellini\n")
    (folder / "README.md").write_text("about")
    (folder / "more").mkdir()
    told = "  not read: names.txt; where these are labels, say --names or --relation-names\n"
    assert told in run(folder, "--out", tmp_path / "told")
    assert "not read" not in run(folder, "--names", folder / "names.txt", "--out", tmp_path / "named")
    assert "not read" not in run(tmp_path / "told", "--out", tmp_path / "saved")  # a saved graph is read whole
    (folder / "a\x1b[31m.txt").touch()
    assert r"  not read: a\x1b[31m.txt, names.txt; where" in run(folder, "--out", tmp_path / "steering")
    (folder / "a\x1b[31m.txt").unlink()
    for number in range(6):
        (folder / f"notes{number}.txt").touch()
    assert "  not read: names.txt, notes0.txt, notes1.txt, notes2.txt, notes3.txt, ...; where" in run(
        folder, "--out", tmp_path / "many"
    )


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("facts.csv", "say --header"),
        ("facts.txt", "say --header"),
        ("facts.parquet", "write the file without that row: its columns have names already"),
        ("facts.nt", None),
        ("facts.ttl", None),
    ],
)
def test_what_to_do_about_a_header_is_a_matter_of_the_format(tmp_path: Path, name: str, advice: str | None) -> None:
    rows = [("film", "what", "whom"), *((f"e{k}", f"r{k % 3}", f"e{k + 1}") for k in range(30))]
    path = tmp_path / name
    match path.suffix:
        case ".parquet":
            columns = dict(zip(("head", "relation", "tail"), map(list, zip(*rows, strict=True)), strict=True))
            parquet.write_table(pa.table(columns), path)
        case ".nt" | ".ttl":
            path.write_text("".join("".join(f"<urn:{word}> " for word in row) + ".\n" for row in rows))
        case suffix:
            path.write_text("".join(("," if suffix == ".csv" else "\t").join(row) + "\n" for row in rows))
    output = run(path, "--out", tmp_path / "out")
    assert "31 triples" in output
    if advice is None:
        assert "If it is a header" not in output
    else:
        told = f"  the first triple shares no name with the others: film, what, whom. If it is a header, {advice}\n"
        assert told in output
    if path.suffix in (".csv", ".parquet"):  # a format that is said counts, not the ending
        path.rename(tmp_path / "facts.data")
        assert told in run(tmp_path / "facts.data", "--format", path.suffix[1:], "--out", tmp_path / "said")
    assert "If it is a header" not in run(tmp_path / "out", "--out", tmp_path / "again")  # a saved graph has none


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
    assert f"    for example {path}:3: 2 columns, expected 4 with '|' between them\n" in output
    graph = KnowledgeGraph.open(tmp_path / "out")
    assert list(graph.vocabulary.entities) == ["Zoë", "La|Strada"]
    assert graph.vocabulary.label(0) == "Zoë Z."
    assert graph.vocabulary.relation_label(0) == "has seen"


def test_splits_and_what_was_dropped(tmp_path: Path) -> None:
    for split, content in {"train": "a\tr\tb\n", "valid": "b\tr\ta\nb\tr\tz\n", "test": "a\tr\tb\n"}.items():
        (tmp_path / f"{split}.txt").write_text(content)
    output = run(*(tmp_path / f"{split}.txt" for split in ("train", "valid", "test")), "-o", tmp_path / "g")
    assert "2 triples (train 1, valid 1, test 0)\n" in output
    assert "  1 triple of a later split that an earlier one has, dropped\n" in output
    assert "  1 triple with a name that train lacks, dropped\n" in output


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
    advice = "choose another place, or replace it with --force"
    assert error == f"error: {tmp_path}/g exists already: {advice}\n"
    run(tmp_path / "x.tsv", "-o", tmp_path / "g", "--force")


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("x.tsv", b"a\tr\tb\nc\tr\n", [], "x.tsv:2: 2 columns, expected 3 with '\\t' between them"),
        (
            "x.tsv",
            b"a\tr\tb\nc\tr\t\xe9\n",
            [],
            "x.tsv:2: the tail is not text in the file's encoding (byte 0xe9): say",
        ),
        ("x.tsv", b"", [], "x.tsv: the file is empty"),
        ("x.tsv", b"a\tr\tb\n", ["--columns", "1,2,7"], "x.tsv:1: no column 7: there are 3, counted from 1"),
        ("x.csv", b"a,b,c\n1,2,3\n", ["--columns", "a,b,d"], "x.csv:1: no column 'd'; the columns are 'a', 'b', 'c'"),
        (
            "x.tsv.gz",
            gzip.compress(b"a\tr\tb\n" * 9, mtime=0)[:-9],
            [],
            "x.tsv.gz:10: the gzip archive ends early or is damaged (",
        ),
        ("x.nt", b"<http://e/a> nonsense\n", [], "x.nt:1: "),
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
    program = "from pathformer.cli import main; main()"
    command = [sys.executable, "-c", program, "import", "-", "--format", "tsv", "--out", str(tmp_path / "films")]
    done = subprocess.run(command, input=TRIPLES, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pipe: 2 triples\n  3 entities\n  2 relations\n  1 repeated line, merged\n")
    assert KnowledgeGraph.open(tmp_path / "films").triple_count == 2


def test_a_header_in_words_of_its_own_is_told_of_a_pipe_too() -> None:
    triples = [("Wer", "was", "wen"), *((f"a{n}", "r", "b") for n in range(20))]
    told = summary(KnowledgeGraph.from_triples(triples), [Path("-")], format="tsv")
    assert "the first triple shares no name with the others: Wer, was, wen. If it is a header, " in told
    assert "header" not in summary(KnowledgeGraph.from_triples(triples), [Path("no such file")], format="tsv")


def test_names_that_one_would_hardly_tell_apart_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "people.tsv"
    file.write_text("\u00c9mile\tknows\tAnn\nE\u0301mile\tKnows\tANN\nann\tknows\tBo\n", "utf-8")
    output = run(file, "--out", tmp_path / "people")
    differ = "from another only in case, or in how accents are encoded"
    assert f"  3 entities differ {differ}: \u00c9mile and E\u0301mile\n" in output
    assert f"  1 relation differs {differ}: knows and Knows\n" in output
    graph = KnowledgeGraph.open(tmp_path / "people")
    assert graph.vocabulary.entity_count == 6
    assert differ not in summary(graph, [tmp_path / "people"])  # saved, and told when it was
    assert differ not in summary(graph, [Path("world")])
    monkeypatch.setattr("pathformer.cli._strange._COMPARED", 5)
    told = summary(graph, [file])
    assert (told.count(differ), "1 relation differs" in told) == (1, True)
    file.write_text("Ann\tknows\tBo\nBo\tknows\tCy\n", "utf-8")
    assert differ not in run(file, "--out", tmp_path / "others")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('"Ann"\t"knows"\t"Bob"\n"Bob"\t"knows"\tCy\n', '2 entities stand in quote signs, as "Ann" does'),
        ('Ann\tknows\tBob\n"C ""y"" D"\tknows\tAnn\n', '1 entity stands in quote signs, as "C ""y"" D" does'),
        ('Ann\tsaw\t"Heroes"\nBob\tsaw\t"Heroes"\n', ""),  # a song may be called so
        ('Ann\tsaw\t"Heroes" and "Low"\nBob\tsaw\tX\n', ""),
    ],
)
def test_quote_signs_that_a_program_wrote_are_told(lines: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text(lines)
    output = run(tmp_path / "x.tsv", "--out", tmp_path / "x")
    assert (f"  {told}. If they are no part of the names, say --quote '\"'\n" in output) is bool(told)
    assert ("quote signs" in output) is bool(told)
    without = run(tmp_path / "x.tsv", "--out", tmp_path / "x", "--force", "--quote", '"', "--skip-bad")
    assert "quote signs" not in without
    (tmp_path / "x.csv").write_text('"""Ann""",knows,"""Bob"""\n')  # read as CSV writes them, these are letters
    assert "quote signs" not in run(tmp_path / "x.csv", "--out", tmp_path / "c")


def test_an_example_of_a_bad_line_speaks_to_a_shell(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(b"a\tr\tb\nc\tr\tcaf\xe9\n")
    told = run(tmp_path / "x.tsv", "--out", tmp_path / "x", "--skip-bad")
    assert "(byte 0xe9): say which it is with --encoding\n" in told


def test_the_header_of_a_file_behind_another_is_told(tmp_path: Path) -> None:
    header, rows = "id,Subject,Predicate,Object\n", "1,a,is,b\n2,b,is,object\n3,subject,is,b\n"
    (tmp_path / "x.csv").write_text(header + rows)
    assert "like the header" not in run(tmp_path / "x.csv", "--out", tmp_path / "x")
    (tmp_path / "y.csv").write_text(2 * (header + rows))
    output = run(tmp_path / "y.csv", "--out", tmp_path / "y")
    assert "  a triple looks like the header of another file: Subject, Predicate, Object\n" in output
    both = run(tmp_path / "x.csv", tmp_path / "y.csv", "--out", tmp_path / "both")
    assert both.count("looks like the header") == 1
