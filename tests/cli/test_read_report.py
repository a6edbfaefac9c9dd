"""What `pathformer import` tells of names that were perhaps meant otherwise, and of what it is silent."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from support import command_line

from pathformer.cli._read_report import summarise
from pathformer.kg.knowledge import KnowledgeGraph

run = partial(command_line.run, "import")


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


def test_a_header_in_words_of_its_own_is_told_of_a_pipe_too() -> None:
    triples = [("Wer", "was", "wen"), *((f"a{n}", "r", "b") for n in range(20))]
    told = summarise(KnowledgeGraph.from_triples(triples), [Path("-")], {"format": "tsv"})
    assert "the first triple shares no name with the others: Wer, was, wen. If it is a header, " in told
    assert "header" not in summarise(KnowledgeGraph.from_triples(triples), [Path("no such file")], {"format": "tsv"})


def test_names_that_one_would_hardly_tell_apart_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "people.tsv"
    file.write_text("\u00c9mile\tknows\tAnn\nE\u0301mile\tKnows\tANN\nann\tknows\tBo\n", "utf-8")
    output = run(file, "--out", tmp_path / "people")
    differ = "from another only in case, or in how accents are encoded"
    assert f"  3 entities differ {differ}: \u00c9mile and E\u0301mile\n" in output
    assert f"  1 relation differs {differ}: knows and Knows\n" in output
    graph = KnowledgeGraph.open(tmp_path / "people")
    assert graph.vocabulary.entity_count == 6
    assert differ not in summarise(graph, [tmp_path / "people"], {})  # saved, and told when it was
    assert differ not in summarise(graph, [Path("world")], {})
    monkeypatch.setattr("pathformer.cli._read_report._COMPARED", 5)
    told = summarise(graph, [file], {})
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
    for quote in ('"', ""):
        said = run(tmp_path / "x.tsv", "--out", tmp_path / "x", "--force", "--quote", quote, "--skip-bad")
        assert "quote signs" not in said
    (tmp_path / "y.tsv").write_text('"""Ann"""\tknows\t"""Bob"""\n')
    assert "quote signs" not in run(tmp_path / "y.tsv", "--out", tmp_path / "y", "--quote", '"')
    (tmp_path / "x.csv").write_text('"""Ann""",knows,"""Bob"""\n')  # read as CSV writes them, these are letters
    assert "quote signs" not in run(tmp_path / "x.csv", "--out", tmp_path / "c")


def test_the_header_of_a_file_behind_another_is_told(tmp_path: Path) -> None:
    header, rows = "id,Subject,Predicate,Object\n", "1,a,is,b\n2,b,is,object\n3,subject,is,b\n"
    (tmp_path / "x.csv").write_text(header + rows)
    assert "like the header" not in run(tmp_path / "x.csv", "--out", tmp_path / "x")
    (tmp_path / "y.csv").write_text(2 * (header + rows))
    output = run(tmp_path / "y.csv", "--out", tmp_path / "y")
    assert "  a triple looks like the header of another file: Subject, Predicate, Object\n" in output
    both = run(tmp_path / "x.csv", tmp_path / "y.csv", "--out", tmp_path / "both")
    assert both.count("looks like the header") == 1


@pytest.mark.parametrize(
    ("lines", "options", "told"),
    [
        (1, (), ""),
        (1, ("--no-header",), ""),  # it was said to be none
        (1, ("--columns", "1,2,3"), "the first triple looks like a header: {}. If it is a header, say --header"),
        (1, ("--columns", "1,2,3", "--header"), ""),
        (1, ("--columns", "head,relation,tail"), ""),
        (2, (), "a triple looks like the header of another file: {}"),
        (2, ("--header",), "a triple looks like the header of another file: {}"),
    ],
)
@pytest.mark.parametrize("rows", [2, 30])
def test_a_first_line_in_well_known_words_is_told_once_where_it_was_read(
    lines: int, options: tuple[str, ...], told: str, rows: int, tmp_path: Path
) -> None:
    (tmp_path / "x.tsv").write_text(lines * "head\trelation\ttail\n" + "".join(f"a\tr\tb{n}\n" for n in range(rows)))
    output = run(tmp_path / "x.tsv", *options, "--out", tmp_path / "x")
    assert f"  {told.format('head, relation, tail')}\nsaved" in output if told else "header" not in output
    assert sum("header" in line for line in output.splitlines()) == bool(told)


def test_the_classes_and_properties_of_an_ontology_are_no_twins(tmp_path: Path) -> None:
    """`:Author` is what `:author` leads to, by custom; other letters of another case are told of IRIs, too."""
    lines = "<http://x.org/{}> <http://x.org/is> <http://x.org/c> .\n"
    (tmp_path / "x.nt").write_text("".join(map(lines.format, ("Author", "author", "#Team", "#team"))))
    assert "differ" not in run(tmp_path / "x.nt", "--out", tmp_path / "x")
    (tmp_path / "y.nt").write_text("".join(map(lines.format, ("Author", "auThor", "X/a", "x/a"))))
    assert "2 entities differ from another only in case" in run(tmp_path / "y.nt", "--out", tmp_path / "y")


def test_of_a_long_name_both_ends_are_told(tmp_path: Path) -> None:
    (tmp_path / "x.nt").write_text(
        "".join(f'<http://x.org/a> <http://x.org/text> "{letter * 5000}" .\n' for letter in "aA")
    )
    output = run(tmp_path / "x.nt", "--literals", "--out", tmp_path / "x")
    told = (f'"{99 * letter}...{99 * letter}"' for letter in "aA")
    assert f"in how accents are encoded: {' and '.join(told)}\n" in output
    (tmp_path / "y.tsv").write_text(f"{5000 * 'h'}\tr\tt\n" + "".join(f"a\tb\tc{n}\n" for n in range(30)))
    assert f"the others: {100 * 'h'}...{100 * 'h'}, r, t. If" in run(tmp_path / "y.tsv", "--out", tmp_path / "y")
