"""Delimited text: headers, chosen columns, delimiters, quotes, encodings; and every kind of bad line, by its number."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pathformer.errors import GraphFileError
from pathformer.kg.formats._lines import layout, rows, triples
from pathformer.kg.formats._registry import ReadOptions
from pathformer.kg.knowledge import KnowledgeGraph

Named = tuple[str, str, str]
OPEN = '. The line has an odd number of quote signs ": is one left open?'


def read(tmp_path: Path, content: str | bytes, name: str = "x.tsv", **options: Any) -> KnowledgeGraph:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return KnowledgeGraph.read(path, **options)


def named(graph: KnowledgeGraph) -> list[Named]:
    return sorted(tuple(row.values()) for row in graph.to_table().to_pylist())  # type: ignore[misc]


def problem(tmp_path: Path, content: str | bytes, name: str = "x.tsv", **options: Any) -> str:
    """The message without the folder."""
    with pytest.raises(GraphFileError) as caught:
        read(tmp_path, content, name, **options)
    return str(caught.value).removeprefix(f"{tmp_path}/")


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("a\tr\tb\n", {}),
        ("a\tr\tb", {}),
        ("a\tr\tb\r\n\r\n", {}),
        ("\n\na\tr\tb\ra\tr\tb\n", {}),
        ("\ufeffa\tr\tb\n", {}),
        ("head\trelation\ttail\na\tr\tb\n", {}),
        ("Object\tPredicate\tSubject\nb\tr\ta\n", {}),
        ("id\t#subject\tpredicate\tobject\tdate\n1\ta\tr\tb\t2020\n", {}),
        ("x\ty\tz\na\tr\tb\n", {"header": True}),
        ("w\tx\ty\tz\n9\tb\tr\ta\n", {"columns": ["z", "y", "x"]}),
        ("9\tb\tr\ta\n", {"columns": [4, 3, 2]}),
        ("w\tx\ty\tz\n9\tb\tr\ta\n", {"columns": [4, 3, 2], "header": True}),
        ("x\tx\ty\nb\ta\tr\n", {"columns": [2, "y", 1]}),
        ("a|r|b\n", {"delimiter": "|"}),
        (" a\tr \t\u00a0b \n", {}),
        ("a \tr\tb\n a\tr\tb\na\tr\n", {"skip_bad": True}),
        ("x\t y \tz\na\tr\tb\n", {"columns": ["x", "y", "z"]}),
        ("a r b\n", {"delimiter": " "}),
        ('"a"\t"r"\tb\n', {"quote": '"'}),
        ("'a'\tr\tb\n", {"quote": "'"}),
    ],
)
def test_one_triple_written_in_many_ways(content: str, options: dict[str, Any], tmp_path: Path) -> None:
    assert named(read(tmp_path, content, **options)) == [("a", "r", "b")]


def test_quotes_are_letters_in_tsv_and_signs_in_csv(tmp_path: Path) -> None:
    assert named(read(tmp_path, '"a\tsaid ""\tb "c"\n')) == [('"a', 'said ""', 'b "c"')]
    assert named(read(tmp_path, '"a, ""x""\ny","r",b\n', "x.csv")) == [('a, "x"\ny', "r", "b")]
    assert named(read(tmp_path, '"a,r,b\n', "x.csv", quote="")) == [('"a', "r", "b")]


def test_a_header_is_no_triple_unless_said_so(tmp_path: Path) -> None:
    content = "subject,predicate,object\na,r,b\n"
    assert named(read(tmp_path, content, "x.csv")) == [("a", "r", "b")]
    assert len(named(read(tmp_path, content, "x.csv", header=False))) == 2


def test_single_letters_are_a_triple_and_no_header(tmp_path: Path) -> None:
    assert named(read(tmp_path, "s\tp\to\n")) == [("s", "p", "o")]
    assert named(read(tmp_path, "h\tr\tt\n")) == [("h", "r", "t")]


@pytest.mark.parametrize("packing", ["gz", "xz", "zst"])
def test_archives_of_several_members(packing: str, tmp_path: Path) -> None:
    pack = {"gz": gzip.compress, "xz": lzma.compress, "zst": lambda b: pa.compress(b, codec="zstd", asbytes=True)}
    content = pack[packing](b"a\tr\tb\n") + pack[packing](b"c\tr\td\n")
    assert named(read(tmp_path, content, f"x.tsv.{packing}")) == [("a", "r", "b"), ("c", "r", "d")]


def test_other_encodings(tmp_path: Path) -> None:
    content = "Zoë\tliebt\tÉmile\n"
    assert named(read(tmp_path, content.encode("latin-1"), encoding="latin-1")) == [("Zoë", "liebt", "Émile")]
    assert named(read(tmp_path, content.encode("utf-16"), encoding="utf-16")) == [("Zoë", "liebt", "Émile")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-be", "utf-8"])
@pytest.mark.parametrize("packing", ["", "gz", "xz", "zst", "bz2"])
def test_a_mark_tells_the_encoding(encoding: str, packing: str, tmp_path: Path) -> None:
    """As spreadsheets and some shells write it; whole columns, and line by line behind a bad line."""
    pack = {"gz": gzip.compress, "xz": lzma.compress, "zst": lambda b: pa.compress(b, codec="zstd", asbytes=True)}
    pack |= {"": bytes, "bz2": bz2.compress}
    mark = "\ufeff" if encoding.endswith(("be", "8")) else ""  # the others write it of themselves
    content = pack[packing](f"{mark}Zoë\tliebt\tÉmile\nbad\n{'x' * 99}\tr\ty\n".encode(encoding))
    expected = [("Zoë", "liebt", "Émile"), ("x" * 99, "r", "y")]
    assert named(read(tmp_path, content, f"x.tsv.{packing}".rstrip("."), skip_bad=True)) == expected


@pytest.mark.parametrize(
    ("encoding", "names"), [("latin-1", "éü"), ("utf-16", "é東"), ("shift_jis", "東京"), ("utf-16-le", "éü")]
)
def test_long_files_of_other_encodings(encoding: str, names: str, tmp_path: Path) -> None:
    """In UTF-8 they are longer than what is read of them at once."""
    content = "".join(f"{names[0]}{number}\tr\t{names[1]}{number * 7 % 1000}\n" for number in range(5000))
    told = read(tmp_path, content).fingerprint()
    assert read(tmp_path, content.encode(encoding), encoding=encoding).fingerprint() == told
    assert read(tmp_path, f"{content}bad\n".encode(encoding), encoding=encoding, skip_bad=True).fingerprint() == told


def test_a_header_of_several_lines_costs_no_triple(tmp_path: Path) -> None:
    for content, options in (
        ('head,"rel\nation\n",tail\na,r,b\nc,r,d\n', {"header": True}),
        ('x,"the\nhead",relation,tail\n1,a,r,b\n2,c,r,d\n', {"columns": ["the\nhead", "relation", "tail"]}),
        ('# comment\n"of\nit"\nhead,"",tail\na,r,b\nc,r,d\n', {"header": True, "skip_bad": True}),
        ("head,\0,tail\na,r,b\nc,r,d\n", {"header": True}),
    ):
        assert named(read(tmp_path, content, "x.csv", **options)) == [("a", "r", "b"), ("c", "r", "d")]  # type: ignore[arg-type]


def test_a_header_alone_is_no_triple(tmp_path: Path) -> None:
    for content in ("x\ty\tz", "x\ty\tz\n"):
        assert problem(tmp_path, content, header=True).startswith("x.tsv: the file holds no triples")


def test_a_row_may_be_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathformer.kg.formats._delimited._BLOCK", 64)
    long = "x" * 500
    assert named(read(tmp_path, f"a\tr\tb\n{long}\tr\tb\nb\tr\ta\n")) == [
        ("a", "r", "b"),
        ("b", "r", "a"),
        (long, "r", "b"),
    ]


def test_a_line_at_the_border_of_two_blocks(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    graph = read(tmp_path, f"{long}1\tr\tb\n{long}2\tr\tb\n{long}3\tr\tb\n")
    assert graph.vocabulary.entity_count == 4


def test_a_bad_line_far_in_the_file(tmp_path: Path) -> None:
    lines = [f"e{n}\tr{n % 7}\te{n * 13 % 1000}" for n in range(400_000)]
    lines[300_000] = "e1\tr1"
    assert problem(tmp_path, "\n".join(lines)) == (
        "x.tsv:300001: found 2 columns, expected 3 separated by '\\t'. "
        "Leave such lines out with --skip-bad (skip_bad=True)"
    )


@pytest.mark.parametrize(
    ("content", "options", "line", "closed", "skipped"),
    [
        ('a,r,"b\nc,r,d\ne,r,f\n', {}, 1, "never closed", 1),
        ('"a,r,b\nc,r,d\ne,r,f\n', {}, 1, "never closed", 1),
        ('c,r,d\na,r,b"\nx,r,"y\ne,r,f\n', {}, 3, "never closed", 1),
        ('a,r,"b\nc,r,d\nx,r,"y\ne,r,f\n', {}, 1, "closed in line 3, with more behind it", 2),
        ('a,r,"b\r\nc,r,d\r\n"x",r,y\r\ne,r,f\r\n', {}, 1, "closed in line 3, with more behind it", 1),
        ('c,r,d,1\na,r,b,"a note\ne,r,f,2\n', {"columns": [1, 2, 3]}, 2, "never closed", 1),
        ('subject,predicate,object\nc,r,d\na,"r,b\ne,r,f\n', {}, 3, "never closed", 1),
    ],
)
def test_a_quote_left_open_is_told_and_swallows_no_lines(
    content: str, options: dict[str, Any], line: int, closed: str, skipped: int, tmp_path: Path
) -> None:
    assert problem(tmp_path, content, "x.csv", **options) == (
        f'x.csv:{line}: a quote sign " is opened here and {closed}. '
        "Close it, or read quote signs as letters with --quote '' (quote=\"\")"
    )
    graph = read(tmp_path, content, "x.csv", skip_bad=True, **options)
    assert {("c", "r", "d"), ("e", "r", "f")} <= set(named(graph))
    assert graph.report.skipped == skipped
    assert graph.report.notes == (f'{tmp_path}/x.csv:{line}: a quote sign " is opened here and {closed}',)
    assert not any("\n" in name for triple in named(graph) for name in triple)


def test_a_quote_left_open_in_a_header_is_told_too(tmp_path: Path) -> None:
    content = 'subject,"predicate,object\na,r,b\n'
    assert problem(tmp_path, content, "x.csv").startswith(
        'x.csv:1: a quote sign " is opened here and never closed. Close'
    )
    assert named(read(tmp_path, content, "x.csv", skip_bad=True)) == [("a", "r", "b")]


def test_a_quote_left_open_far_in_a_file_costs_one_line_of_it(tmp_path: Path) -> None:
    """More lines below it than the csv module takes for one cell, and than Arrow takes at once."""
    lines = [f"e{n},r{n % 7},{'x' * 20}{n}" for n in range(200_000)]
    lines[70_000] = 'e1,r1,"b'
    content = "\n".join(lines)
    assert problem(tmp_path, content, "x.csv").startswith("x.csv:70001: cannot be parsed (field larger than field")
    graph = read(tmp_path, content, "x.csv", skip_bad=True)
    assert (graph.report.lines, graph.report.skipped) == (199_999, 1)


def test_lines_below_a_row_of_too_few_cells_are_read_for_themselves(tmp_path: Path) -> None:
    graph = read(tmp_path, 'a,r,b\n"c,r,d\ne,r,f\nx,"\ng,r,h\n', "x.csv", skip_bad=True)
    assert named(graph) == [("a", "r", "b"), ("e", "r", "f"), ("g", "r", "h")]
    assert graph.report.skipped == 2


def test_names_of_several_lines_stay_whole_wherever_they_stand(tmp_path: Path) -> None:
    lines = [f'e{n},r,"line one, {n}\nline ""two"""' for n in range(3)]
    expected = [(f"e{n}", "r", f'line one, {n}\nline "two"') for n in range(3)]
    assert named(read(tmp_path, "\n".join(lines), "x.csv")) == expected
    assert read(tmp_path, "\n".join(lines), "x.csv", skip_bad=True).report.skipped == 0


def test_bad_lines_can_be_skipped_with_a_count(tmp_path: Path) -> None:
    content = b"a\tr\n" + b"a\tr\tb\n" * 3 + b"c\tr\td\te\nc\t\td\n\xff\tr\tb\nc\tr\0\td\nc\tr\td\n"
    graph = read(tmp_path, content, skip_bad=True)
    assert named(graph) == [("a", "r", "b"), ("c", "r", "d")]
    assert graph.report.skipped == 5
    assert graph.report.lines == 4
    assert graph.report.notes == (f"{tmp_path}/x.tsv:1: found 2 columns, expected 3 separated by '\\t'",)


def test_comments_can_be_skipped(tmp_path: Path) -> None:
    graph = read(tmp_path, "# made by hand\na\tr\tb\n", skip_bad=True)
    assert named(graph) == [("a", "r", "b")]
    [note] = graph.report.notes
    assert note.endswith("x.tsv:1: found 1 column, expected 3 separated by '\\t'. Is the line a comment?")


@pytest.mark.parametrize(
    ("content", "name", "options", "skipped"),
    [
        ("# by hand\n\n# in May\nsubject\tpredicate\tobject\na\tr\tb\n", "x.tsv", {}, 2),
        ("# by hand\nsubject\tpredicate\tobject\na\tr\tb\n# end\n", "x.tsv", {}, 2),
        ('# by "hand", in May\nobject,predicate,subject\nb,r,a\n', "x.csv", {}, 1),
        ("# by hand\n9\tb\tr\ta\n", "x.tsv", {"columns": [4, 3, 2]}, 1),
        ("# by hand\nw,x,y,z\n9,b,r,a\n", "x.csv", {"columns": ["z", "y", "x"]}, 1),
    ],
)
def test_a_header_and_columns_are_found_below_skipped_comments(
    content: str, name: str, options: dict[str, Any], skipped: int, tmp_path: Path
) -> None:
    graph = read(tmp_path, content, name, skip_bad=True, **options)
    assert named(graph) == [("a", "r", "b")]
    assert graph.report.skipped == skipped


def test_spaces_around_names_make_no_second_entity(tmp_path: Path) -> None:
    content = "Zed\tknows\t Dora \nDora\tknows \tZed\nZed\tknows\tDora\n"
    assert named(read(tmp_path, content)) == [("Dora", "knows", "Zed"), ("Zed", "knows", "Dora")]
    assert named(read(tmp_path, 'a b, r ," b  c "\n', "x.csv")) == [("a b", "r", "b  c")]


def test_skipping_everything_leaves_no_graph(tmp_path: Path) -> None:
    assert problem(tmp_path, "a\tr\nb\n", skip_bad=True).startswith("x.tsv: the file holds no triples")


def test_a_good_file_skips_nothing(tmp_path: Path) -> None:
    graph = read(tmp_path, "a\tr\tb\n", skip_bad=True)
    assert graph.report.skipped == 0
    assert graph.report.notes == ()


cells = st.sampled_from([b"a", b"b", b"", b"\xff", b"a\0", "é".encode(), b'"', b" ", b" b"])
lines = st.lists(cells, min_size=1, max_size=5)
ends = st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(table=st.lists(st.tuples(lines, ends), min_size=1, max_size=12))
@example(table=[([b"a", b"b", b"a"], b"\r"), ([b"a", b"b"], b"\n")])
def test_the_fast_reader_and_the_slow_one_agree(table: list[tuple[list[bytes], bytes]], tmp_path: Path) -> None:
    """What one skips the other calls bad, and the first bad line is the one that stops the reading."""
    path = tmp_path / "x.tsv"
    path.write_bytes(b"".join(b"\t".join(line) + end for line, end in table))
    good = [
        line for line, _ in table if len(line) == 3 and all(cell not in (b"", b" ", b"\xff", b"a\0") for cell in line)
    ]
    blank = sum(line == [b""] for line, _ in table)
    options = ReadOptions(header=False, skip_bad=True)
    if not good:
        with pytest.raises(GraphFileError, match="the file holds no triples"):
            KnowledgeGraph.read(path, header=False, skip_bad=True)
        return
    graph = KnowledgeGraph.read(path, header=False, skip_bad=True)
    assert graph.report.lines == len(good)
    assert graph.report.skipped == len(table) - len(good) - blank
    slowly = list(triples(path, options, layout(path, options, "\t", "")))
    assert [row for row in slowly if isinstance(row, tuple)] == [
        tuple(cell.decode().strip() for cell in line) for line in good
    ]
    first = next((row for row in slowly if isinstance(row, GraphFileError)), None)
    if first is None:
        assert KnowledgeGraph.read(path, header=False).fingerprint() == graph.fingerprint()
    else:
        with pytest.raises(GraphFileError) as caught:
            KnowledgeGraph.read(path, header=False)
        assert caught.value.line == first.line


raw_cells = st.lists(st.sampled_from(["a", "b", '"', ",", "\n", "\r\n", "é", " "]), max_size=14).map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(content=raw_cells.map(lambda text: f"x,r,y\n{text}\nx,r,z\n"))
@example(content='x,r,y\na"b,"c"d,e""f\nx,r,z\n')
@example(content='x,r,y\na,r,"b\n\nc"\nx,r,z\n')
@example(content='x,r,y\n"\nx,r,z\n')
def test_in_csv_they_agree_too_however_odd_the_quotes(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content.encode())
    options = ReadOptions(header=False)
    slowly = list(triples(path, options, layout(path, options, ",", '"')))
    first = next((row for row in slowly if isinstance(row, GraphFileError)), None)
    if first is None:
        assert named(KnowledgeGraph.read(path, header=False)) == sorted(set(slowly))  # type: ignore[type-var]
    else:
        assert problem(tmp_path, content, "x.csv", header=False) == str(first).removeprefix(f"{tmp_path}/")
        graph = KnowledgeGraph.read(path, header=False, skip_bad=True)
        assert named(graph) == sorted({row for row in slowly if isinstance(row, tuple)})
        assert graph.report.skipped == sum(isinstance(row, GraphFileError) for row in slowly)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(header=raw_cells, skip_bad=st.booleans())
@example(header='"he\nad",b,a', skip_bad=False)
@example(header='a,b\n"c",a,b', skip_bad=True)
def test_nor_does_the_header_make_a_difference(header: str, skip_bad: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(f"{header}\nx,r,y\nx,r,z\n".encode())
    options = ReadOptions(header=True, skip_bad=skip_bad)
    try:
        slowly = list(triples(path, options, layout(path, options, ",", '"')))
    except GraphFileError as error:
        slowly = [error]
    bad = [row for row in slowly if isinstance(row, GraphFileError)]
    good = sorted({row for row in slowly if isinstance(row, tuple)})
    if good and (skip_bad or not bad):
        assert named(KnowledgeGraph.read(path, header=True, skip_bad=skip_bad)) == good
    elif bad and not skip_bad:
        assert problem(tmp_path, path.read_bytes(), "x.csv", header=True) == str(bad[0]).removeprefix(f"{tmp_path}/")


def test_a_cell_beyond_the_csv_modules_limit_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\nc,{}\n".format("x" * 200_000))
    with pytest.raises(GraphFileError, match=r"x\.csv:2: cannot be parsed \(field larger than field limit"):
        list(rows(path, "utf-8", ",", '"'))
    path.write_text('a,b\nc,"{}\n'.format("x" * 200_000))
    with pytest.raises(GraphFileError, match=rf"x\.csv:2: cannot be parsed \(field larger .*\){re.escape(OPEN)}$"):
        list(rows(path, "utf-8", ",", '"'))
