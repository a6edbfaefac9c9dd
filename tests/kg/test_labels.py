"""Labels from files of every shape that the data folder has, and what is wrong with a file of labels."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from pathformer.errors import InputError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.names import Names

TRIPLES = "Q1\tP1\tQ2\nQ2\tP2\tQ3\n"


def read(tmp_path: Path, content: str | bytes, name: str = "names.tsv", **options: Any) -> KnowledgeGraph:
    (tmp_path / "x.tsv").write_text(TRIPLES)
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return KnowledgeGraph.read(tmp_path / "x.tsv", names=tmp_path / name, **options)


def labels(graph: KnowledgeGraph) -> list[str]:
    return [graph.vocabulary.label(place) for place in range(graph.vocabulary.entity_count)]


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("names.tsv", "Q1\tone\nQ3\tthree, 3\nQ9\tnobody\n", {}),
        ("names.txt", "Q1\tone\nQ1\ttwice\nQ3\tthree, 3\n", {}),
        ("names.tsv", "id\tname\nQ1\tone\nQ3\tthree, 3\n", {}),
        ("names.csv", 'Q1,one\nQ3,"three, 3"\n', {}),
        ("names.tsv.gz", gzip.compress(b"Q1\tone\nQ3\tthree, 3\n", mtime=0), {}),
        ("names.tsv", "id\tqid\tlabel\tdescription\n0\tQ1\tone\tx\n2\tQ3\tthree, 3\ty\n", {}),
        ("names.tsv", "one\tQ1\nthree, 3\tQ3\n", {"names_columns": [2, 1]}),
        ("names.tsv", "what\tqid\tthing\nx\tQ1\tone\nx\tQ3\tthree, 3\n", {"names_columns": ["qid", "thing"]}),
        ("names.json", '{"Q1": "one", "Q3": {"label": "three, 3", "description": "d"}, "Q2": {}}', {}),
        ("names.tsv", "Q1\tone\nQ2\t\nQ3\tthree, 3\n", {}),
    ],
)
def test_labels_of_many_shapes(name: str, content: str | bytes, options: dict[str, Any], tmp_path: Path) -> None:
    graph = read(tmp_path, content, name, **options)
    assert labels(graph) == ["one", "Q2", "three, 3"]
    assert graph.report.labels == 2
    assert graph.vocabulary.entity_id("One") == 0


def test_labels_are_in_the_encoding_of_the_other_files(tmp_path: Path) -> None:
    assert labels(read(tmp_path, "Q1\tÉté\n".encode("latin-1"), encoding="latin-1"))[0] == "Été"
    (tmp_path / "relations.tsv").write_bytes("P2\tcôté\n".encode("latin-1"))
    graph = read(tmp_path, "Q1\tone\n", encoding="latin-1", relation_names=tmp_path / "relations.tsv")
    assert graph.vocabulary.relation_label(2) == "côté"


def test_relations_have_labels_too(tmp_path: Path) -> None:
    (tmp_path / "relations.tsv").write_text("P2\tpart of\n")
    graph = read(tmp_path, "Q1\tone\n", relation_names=tmp_path / "relations.tsv")
    assert [graph.vocabulary.relation_label(place) for place in range(4)] == ["P1", "P1", "part of", "part of"]
    assert graph.vocabulary.relation_id("Part Of") == 2


def test_labels_of_python_are_given_by_name_or_in_order() -> None:
    graph = KnowledgeGraph.from_triples([("Q1", "P1", "Q2"), ("Q2", "P1", "Q3")])
    by_name = graph.with_labels({"Q3": "three", "Q1": "one", "Q9": "not there"}, {"P1": "likes"})
    assert labels(by_name) == labels(graph.with_labels(["one", None, "three"])) == ["one", "Q2", "three"]
    assert (by_name.report.labels, by_name.vocabulary.relation_label(1)) == (2, "likes")
    assert by_name.vocabulary.entity_id("three") == 2
    for wrong in (["one"], "one", Names.of(["one"])):
        with pytest.raises(InputError, match="a label for each entity is expected, 3 of them, or a mapping"):
            graph.with_labels(wrong)
    with pytest.raises(InputError, match="no relation is labelled: the graph has names such as 'P1'"):
        graph.with_labels(None, {"P2": "likes"})


def test_labels_change_neither_ids_nor_fingerprints(tmp_path: Path) -> None:
    graph = read(tmp_path, "Q1\tone\n")
    plain = KnowledgeGraph.read(tmp_path / "x.tsv")
    assert graph.fingerprint() == plain.fingerprint()
    assert graph.vocabulary.fingerprint() == plain.vocabulary.fingerprint()


def test_labels_can_be_given_to_a_saved_graph(tmp_path: Path) -> None:
    graph = read(tmp_path, "Q1\tone\n")
    KnowledgeGraph.read(tmp_path / "x.tsv").save(tmp_path / "saved")
    again = KnowledgeGraph.read(tmp_path / "saved", names=tmp_path / "names.tsv")
    assert labels(again) == labels(graph)
    assert again.graph().edges == 4
