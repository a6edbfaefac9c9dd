"""RDF: which terms are entities, what is left out, blank nodes of several files, labels, errors by line."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from pathformer.errors import GraphFileError, MissingExtraError
from pathformer.kg.formats import _rdf
from pathformer.kg.knowledge import KnowledgeGraph

TURTLE = """@prefix : <http://e/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:a :knows :b ; :age 7 ; rdfs:label "der A"@de, "an A"@en .
:b :knows [ :knows :c ] ; skos:prefLabel "B" .
:c rdfs:label "C (fr)"@fr .
_:x :knows _:x .
"""


def read(tmp_path: Path, content: str | bytes, name: str = "x.ttl", **options: Any) -> KnowledgeGraph:
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return KnowledgeGraph.read(tmp_path / name, **options)


def named(graph: KnowledgeGraph) -> set[tuple[str, ...]]:
    return {tuple(name.removeprefix("http://e/") for name in row.values()) for row in graph.to_table().to_pylist()}


def test_iris_and_blank_nodes_are_entities_and_literals_are_left_out(tmp_path: Path) -> None:
    graph = read(tmp_path, TURTLE)
    assert named(graph) == {
        ("a", "knows", "b"),
        ("b", "knows", "_:b1"),
        ("_:b1", "knows", "c"),
        ("_:b2", "knows", "_:b2"),
    }
    assert graph.report.lines == 4
    assert graph.report.literals == 5


def test_literals_may_be_kept(tmp_path: Path) -> None:
    graph = read(tmp_path, TURTLE, literals=True)
    assert ("a", "age", '"7"^^<http://www.w3.org/2001/XMLSchema#integer>') in named(graph)
    assert ("b", "http://www.w3.org/2004/02/skos/core#prefLabel", '"B"') in named(graph)
    assert graph.report.literals == 0
    assert graph.triple_count == 9


def test_labels_of_the_file_are_labels_and_english_is_preferred(tmp_path: Path) -> None:
    vocabulary = read(tmp_path, TURTLE).vocabulary
    labels = {vocabulary.entity(place): vocabulary.label(place) for place in range(vocabulary.entity_count)}
    assert labels["http://e/a"] == "an A"
    assert labels["http://e/b"] == "B"
    assert labels["http://e/c"] == "C (fr)"
    assert labels["_:b1"] == "_:b1"
    assert vocabulary.entity_id("an a") == vocabulary.entity_id("http://e/a")


def test_reading_twice_gives_the_same_blank_nodes(tmp_path: Path) -> None:
    assert read(tmp_path, TURTLE).fingerprint() == read(tmp_path, TURTLE).fingerprint()


def test_blank_nodes_of_different_files_are_different(tmp_path: Path) -> None:
    for name in ("one.nt", "two.nt"):
        (tmp_path / name).write_text("_:x <http://e/r> <http://e/a> .\n_:x <http://e/s> _:y .\n")
    graph = KnowledgeGraph.read([tmp_path / "one.nt", tmp_path / "two.nt"])
    assert set(graph.vocabulary.entities) == {"http://e/a", "_:b1", "_:b2", "_:f2b1", "_:f2b2"}
    assert graph.name == "one"


def test_more_than_one_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rdf, "_ROWS", 2)
    graph = read(tmp_path, TURTLE, "y.ttl")
    assert graph.triple_count == 4
    assert graph.report.literals == 5
    assert graph.report.labels == 3


LABEL = '<http://e/a> <http://www.w3.org/2000/01/rdf-schema#label> "an A" .\n'


def test_a_file_of_literals_may_stand_beside_others(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("labels.nt", "facts.nt", "more.nt")]
    for path, content in zip(files, (LABEL, "<http://e/a> <http://e/r> <http://e/b> .\n", LABEL), strict=True):
        path.write_text(content)
    for order in (files, files[::-1]):
        graph = KnowledgeGraph.read(order)
        assert named(graph) == {("a", "r", "b")}
        assert graph.report.literals == 2
        assert graph.vocabulary.label(graph.vocabulary.entity_id("http://e/a")) == "an A"
    with pytest.raises(GraphFileError, match=r"labels\.nt: the file holds no triples: 1 RDF literal was left out"):
        KnowledgeGraph.read([files[0], files[2]])
    (tmp_path / "nothing.nt").write_text("# nothing\n")
    with pytest.raises(GraphFileError, match=r"nothing\.nt: the file holds no triples: it has only"):
        KnowledgeGraph.read([files[1], tmp_path / "nothing.nt"])


def test_a_split_of_literals_is_empty_but_train_is_not(tmp_path: Path) -> None:
    for name, content in (("train", "<http://e/a> <http://e/r> <http://e/b> .\n"), ("test", LABEL)):
        (tmp_path / f"{name}.nt").write_text(content)
    assert {split: len(part) for split, part in KnowledgeGraph.read(tmp_path).splits.items()} == {"train": 1, "test": 0}
    (tmp_path / "train.nt").write_text(LABEL)
    with pytest.raises(GraphFileError, match=r"train\.nt: the file holds no triples: 1 RDF literal was left out"):
        KnowledgeGraph.read(tmp_path)


def test_bad_lines_of_ntriples_can_be_skipped(tmp_path: Path) -> None:
    good = b"<http://e/a> <http://e/r> <http://e/%d> .\n"
    content = good % 1 + b"broken\n" + good % 2 + b'<http://e/a> <http://e/r> "\xff" .\n' + good % 3 + b"<http://e/a>"
    graph = read(tmp_path, content, "x.nt", skip_bad=True)
    assert graph.triple_count == 3
    assert graph.report.skipped == 3
    assert graph.report.notes[0].startswith(f"{tmp_path}/x.nt:")
    assert len(graph.report.notes) == 1


@pytest.mark.parametrize(
    "bad",
    [
        "broken",
        "<http://e/a> <http://e/r> .",
        '<http://e/a> <http://e/r> "left open .',
        "<http://e/a> <http://e/r> <http://e/b .",
        "<http://e/a> <http://e/r> <http://e/b> <http://e/c> .",
        "<http://e/a> <http://e/r> <http://e/b>",
        "<http://e/a> <http://e/r> <http://e/b> . <http://e/a> <http://e/r>",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_bad_line_of_ntriples_costs_itself_alone(bad: str, end: str, tmp_path: Path) -> None:
    good = [f"_:n{number} <http://e/r> <http://e/{number}> ." for number in range(1, 4)]
    graph = read(tmp_path, end.join([good[0], bad, *good[1:], good[0], ""]), "x.nt", skip_bad=True)
    assert named(graph) == {("_:b1", "r", "1"), ("_:b2", "r", "2"), ("_:b3", "r", "3")}
    assert (graph.report.skipped, graph.report.duplicates) == (1, 1)
    assert graph.report.notes[0].startswith(f"{tmp_path}/x.nt:2: ")


def test_good_lines_are_the_same_whether_or_not_bad_ones_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"_:n{number % 9} <http://e/r{number % 3}> <http://e/{number * 7 % 31}> ." for number in range(200)]
    whole = read(tmp_path, "\n".join(lines), "x.nt")
    monkeypatch.setattr(_rdf, "_BYTES", 300)  # several pieces, some with a bad line, not the first
    mixed = [part for at, line in enumerate(lines, 1) for part in ([line] if at % 40 else [line, '"left open'])]
    again = read(tmp_path, "\n".join(mixed), "x.nt", skip_bad=True)
    assert again.fingerprint() == whole.fingerprint()
    assert again.report.skipped == 5
    assert again.report.notes[0].startswith(f"{tmp_path}/x.nt:41: ")


@pytest.mark.parametrize("name", ["x.nt", "x.ttl"])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_mark_before_the_text_is_no_part_of_it(name: str, skip_bad: bool, tmp_path: Path) -> None:
    content = "\ufeff<http://e/a> <http://e/r> <http://e/b> .\n"
    assert named(read(tmp_path, content, name, skip_bad=skip_bad)) == {("a", "r", "b")}


def test_a_long_file_with_a_bad_byte_keeps_its_line_numbers(tmp_path: Path) -> None:
    lines = [b"<http://e/%d> <http://e/r> <http://e/b> ." % number for number in range(20_000)]
    lines[15_000] = b"<http://e/\xff> <http://e/r> <http://e/b> ."
    graph = read(tmp_path, b"\n".join(lines), "x.nt", skip_bad=True)
    assert graph.report.skipped == 1
    assert graph.report.notes[0].startswith(f"{tmp_path}/x.nt:15001: not UTF-8 text: ")
    assert graph.triple_count == 19_999


def test_bad_statements_of_turtle_can_be_skipped_but_not_bad_bytes(tmp_path: Path) -> None:
    content = b"@prefix : <http://e/> .\n:a :r :b .\n:a y:r :b .\n:c :r :d .\n"
    graph = read(tmp_path, content, skip_bad=True)
    assert graph.triple_count == 2
    assert graph.report.skipped == 1
    with pytest.raises(GraphFileError, match=r"x\.ttl:5: Invalid UTF-8"):
        read(tmp_path, content + b':c :r "\xff" .\n:e :r :f .\n', skip_bad=True)


def test_quoted_triples_are_left_out(tmp_path: Path) -> None:
    graph = read(tmp_path, "@prefix : <http://e/> .\n:a :r :b .\n:a :says <<( :a :r :c )>> .\n")
    assert named(graph) == {("a", "r", "b")}
    assert graph.report.literals == 1


def test_without_the_library_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == "pyoxigraph":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"reading RDF needs pyoxigraph: pip install 'pathformer\[rdf\]'"):
        read(tmp_path, TURTLE)
