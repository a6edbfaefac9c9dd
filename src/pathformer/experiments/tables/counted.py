"""Tables 9, 10 and 11, which describe the data: counted on the graphs and queries at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pathformer.errors import DatasetError
from pathformer.experiments.tables.catalogue import DATASETS, TITLES
from pathformer.experiments.tables.paper import MEAN_ANSWERS, QUERY_COUNTS, STATISTICS
from pathformer.experiments.tables.view import Row, View
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.protocol import sample_benchmark
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets, read_query_sets

__all__ = ["answers", "counted_tables", "counts", "printed_only", "statistics"]

_CUT_OFF = "The paper cuts its figures off after one decimal, so that 1.79 is its 1.7; ours are rounded to two."


def counted_tables(
    numbers: Sequence[int], datasets: Sequence[str] | None, queries: Path | None, data: Path | None
) -> list[View]:
    """Makes the tables of these datasets; without a default dataset, of the paper's figures alone.

    datasets: those of the paper if none is named; queries: a folder of them, otherwise they are drawn; data: the folder
    that holds datasets.
    """
    views = []
    for name in datasets or DATASETS:
        try:
            views += _of_dataset(numbers, name, queries, data)
        except DatasetError as error:
            if datasets:
                raise
            views += [printed_only(number, name, str(error)) for number in numbers]
    return views


def _of_dataset(numbers: Sequence[int], name: str, queries: Path | None, data: Path | None) -> list[View]:
    kg = load(name, data)
    views = [statistics(kg)] if 9 in numbers else []
    if {10, 11} & set(numbers):
        splits = ("train", "valid", "test") if 10 in numbers else ("test",)
        drawn = read_query_sets(queries, kg, splits) if queries else sample_benchmark(kg, splits=splits)
        views += [counts(drawn)] if 10 in numbers else []
        views += [answers(drawn)] if 11 in numbers else []
        origin = f"the queries in {queries}" if queries else "queries drawn now by the protocol, seed 0"
        note = f"Counted on {origin}."
        views = [view if view.number == 9 else replace(view, notes=(note, *view.notes)) for view in views]
    return views


def statistics(kg: KnowledgeGraph) -> View:
    """Makes Table 9: entities, relations and edges of a graph."""
    edges = {split: len(triples) for split, triples in kg.splits.items()}
    ours = {
        "Entities": kg.vocabulary.entity_count,
        "Relations": len(kg.vocabulary.relations),
        "Training Edges": edges.get("train", 0),
        "Val Edges": edges.get("valid", 0),
        "Test Edges": edges.get("test", 0),
        "Total Edges": sum(edges.values()),
    }
    return _compare(9, kg.name, STATISTICS, ours)


def counts(benchmark: QuerySets[Queries]) -> View:
    """Makes Table 10: how many queries of which structure."""
    ours: dict[str, int] = {}
    for split, queries_of in benchmark.splits.items():
        for name, queries in queries_of.items():
            ours.setdefault(_group(split, queries), len(queries))
            if ours[_group(split, queries)] != len(queries):  # the paper has one figure for a group
                ours[f"{split} {name}"] = len(queries)
    return _compare(10, benchmark.graph, QUERY_COUNTS, ours)


def _group(split: str, queries: Queries) -> str:
    if split == "train":
        return "train 2in/3in/inp/pin/pni" if queries.structure.negated else "train 1p/2p/3p/2i/3i"
    return f"{split} 1p" if queries.structure == STRUCTURES["1p"] else f"{split} others"


def answers(benchmark: QuerySets[Queries]) -> View:
    """Makes Table 11: mean hard answers a test query."""
    ours = {name: round(float(queries.hard.counts.mean()), 2) for name, queries in benchmark["test"].items()}
    return replace(_compare(11, benchmark.graph, MEAN_ANSWERS, ours), notes=(_CUT_OFF,))


def printed_only(number: int, name: str, why: str) -> View:
    """Makes a table of the paper's figures alone, with the reason why there are none of ours."""
    tables: dict[int, Mapping[str, Mapping[str, float]]] = {9: STATISTICS, 10: QUERY_COUNTS, 11: MEAN_ANSWERS}
    paper = tables[number].get(name, {})
    rows = tuple(Row(label, value, None) for label, value in paper.items())
    return View(number, _title(number, name), rows, name, (f"Not counted here: {why}",))


def _compare(number: int, name: str, papers: Mapping[str, Mapping[str, float]], ours: Mapping[str, float]) -> View:
    paper = papers.get(name, {})
    labels = [*ours, *(label for label in paper if label not in ours)]
    rows = tuple(Row(label, paper.get(label), ours.get(label)) for label in labels)
    return View(number, _title(number, name), rows, name)


def _title(number: int, name: str) -> str:
    return f"{TITLES[number]}, {DATASETS.get(name, name)}"
