"""Every format of the folder: found by name, reads the same graph, and any names that it can write."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet

from pathformer.errors import GraphFileError
from pathformer.kg.formats._registry import FileFormat, FolderFormat, file_format, formats
from pathformer.kg.knowledge import KnowledgeGraph

Named = tuple[str, str, str]
BASE = "http://example.org/"
TRIPLES: list[Named] = [
    ("Fellini", "directed", "La Strada"),
    ("La Strada", "won", "Oscar"),
    ('O\'Neal, "Shaq"', "plays for", "東京 🏀"),
    ("Fellini", "directed", "8½"),
    ("Ελλάδα", "σύνορα", "Србија"),
    ("NULL", "NaN", "N/A"),
]


def table(triples: list[Named]) -> pa.Table:
    columns = [pa.array([triple[place] for triple in triples], pa.string()) for place in range(3)]
    return pa.table(columns, names=["head", "relation", "tail"])


def write_tsv(triples: list[Named], path: Path) -> None:
    path.write_text("".join("\t".join(triple) + "\n" for triple in triples), "utf-8", newline="")


def write_csv(triples: list[Named], path: Path) -> None:
    csv.write_csv(table(triples), path, csv.WriteOptions(include_header=False))


def write_parquet(triples: list[Named], path: Path) -> None:
    parquet.write_table(table(triples), path)


def iri(name: str) -> ox.NamedNode:
    return ox.NamedNode(BASE + quote(name, safe=""))


def write_rdf(syntax: ox.RdfFormat) -> Callable[[list[Named], Path], None]:
    def write(triples: list[Named], path: Path) -> None:
        ox.serialize((ox.Triple(iri(h), iri(r), iri(t)) for h, r, t in triples), path, format=syntax)

    return write


@dataclass(frozen=True)
class Writer:
    """How a test writes a format, and which names the format can hold."""

    suffix: str
    write: Callable[[list[Named], Path], None]
    holds: Callable[[str], bool] = lambda name: True
    name_of: Callable[[str], str] = lambda name: name


def without_nul(name: str) -> bool:
    return "\0" not in name


def without_outer_spaces(name: str) -> bool:
    return name == name.strip(" \t\u00a0")


WRITERS = {
    "tsv": Writer("tsv", write_tsv, lambda name: without_outer_spaces(name) and not set(name) & set("\t\r\n\ufeff\0")),
    "csv": Writer("csv", write_csv, lambda name: without_outer_spaces(name) and without_nul(name)),
    "parquet": Writer("parquet", write_parquet, without_nul),
    "ntriples": Writer("nt", write_rdf(ox.RdfFormat.N_TRIPLES), name_of=lambda name: iri(name).value),
    "turtle": Writer("ttl", write_rdf(ox.RdfFormat.TURTLE), name_of=lambda name: iri(name).value),
}


def named(graph: KnowledgeGraph) -> set[Named]:
    return {tuple(row.values()) for row in graph.to_table().to_pylist()}  # type: ignore[misc]


def test_the_folder_is_the_registry() -> None:
    found = formats()
    assert len(found) == 6
    files = {name for name, format in found.items() if isinstance(format, FileFormat)}
    assert files == set(WRITERS)
    assert {name for name, format in found.items() if isinstance(format, FolderFormat)} == {"betae"}
    endings = [ending for format in found.values() if isinstance(format, FileFormat) for ending in format.suffixes]
    assert len(endings) == len(set(endings))
    assert all(format.title for format in found.values())


@pytest.mark.parametrize("format", WRITERS)
def test_every_format_reads_the_same_graph(format: str, tmp_path: Path) -> None:
    writer = WRITERS[format]
    path = tmp_path / f"films.{writer.suffix}"
    writer.write(TRIPLES, path)
    graph = KnowledgeGraph.read(path)
    assert graph.name == "films"
    assert named(graph) == {tuple(map(writer.name_of, triple)) for triple in TRIPLES}
    assert graph.fingerprint() == KnowledgeGraph.read(path, format=format, name="other").fingerprint()
    if format in ("tsv", "csv", "parquet"):
        assert graph.fingerprint() == KnowledgeGraph.from_triples(TRIPLES).fingerprint()


@pytest.mark.parametrize("packing", ["gz", "xz", "zst"])
@pytest.mark.parametrize("format", WRITERS)
def test_every_format_packed(format: str, packing: str, tmp_path: Path) -> None:
    writer = WRITERS[format]
    plain = tmp_path / f"films.{writer.suffix}"
    writer.write(TRIPLES, plain)
    pack = {"gz": gzip.compress, "xz": lzma.compress, "zst": lambda b: pa.compress(b, codec="zstd", asbytes=True)}
    packed = tmp_path / f"films.{writer.suffix}.{packing}"
    packed.write_bytes(pack[packing](plain.read_bytes()))
    graph = KnowledgeGraph.read(packed)
    assert graph.name == "films"
    assert graph.fingerprint() == KnowledgeGraph.read(plain).fingerprint()


text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
any_triples = st.lists(st.tuples(text, text, text), min_size=1, max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@pytest.mark.parametrize("format", WRITERS)
@given(triples=any_triples)
def test_any_names_round_trip(format: str, triples: list[Named], tmp_path: Path) -> None:
    writer = WRITERS[format]
    triples = [triple for triple in triples if all(map(writer.holds, triple))] or [("a", "r", "b")]
    path = tmp_path / f"x.{writer.suffix}"
    writer.write(triples, path)
    graph = KnowledgeGraph.read(path, header=False)
    assert named(graph) == {tuple(map(writer.name_of, triple)) for triple in triples}
    assert graph.report.lines == len(triples)
    for entity in graph.vocabulary.entities:
        assert graph.vocabulary.entity(graph.vocabulary.entity_id(entity)) == entity


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(triples=any_triples, valid=any_triples)
def test_any_names_round_trip_through_a_saved_graph(triples: list[Named], valid: list[Named], tmp_path: Path) -> None:
    graph = KnowledgeGraph.from_triples(triples, valid=[*valid, *triples[:1]], name="any")
    opened = KnowledgeGraph.open(graph.save(tmp_path / "saved", force=True))
    assert list(opened.vocabulary.entities) == list(graph.vocabulary.entities)
    assert list(opened.vocabulary.relations) == list(graph.vocabulary.relations)
    assert {s: t.tolist() for s, t in opened.splits.items()} == {s: t.tolist() for s, t in graph.splits.items()}
    assert opened.report == graph.report
    assert opened.fingerprint() == graph.fingerprint()
    for place, entity in enumerate(graph.vocabulary.entities):
        assert opened.vocabulary.entity_id(entity) == place


def test_a_format_is_told_by_the_ending(tmp_path: Path) -> None:
    assert file_format(Path("a.TXT")) is formats()["tsv"]
    assert file_format(Path("a.turtle.gz")) is formats()["turtle"]
    assert file_format(Path("a.dat"), "csv") is formats()["csv"]
    with pytest.raises(GraphFileError, match=r"^a\.dat: the ending '\.dat' names no format \(.*\.tsv.*\): say which"):
        file_format(Path("a.dat"))
    with pytest.raises(GraphFileError, match="the name has no ending that names a format"):
        file_format(Path("triples"))
    with pytest.raises(
        GraphFileError, match="no file format 'xls': expected one of csv, ntriples, parquet, tsv, turtle"
    ):
        file_format(Path("a.tsv"), "xls")
