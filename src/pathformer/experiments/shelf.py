"""Graphs and queries that several runs share, read once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pathformer.experiments.queries import QuerySets, query_sets
from pathformer.experiments.run import Material
from pathformer.experiments.settings import Run
from pathformer.kg import KnowledgeGraph
from pathformer.kg.datasets import load

__all__ = ["Shelf"]


class Shelf:
    """What a list of runs works on: a graph a dataset, a query set for all structures that any of them wants."""

    def __init__(self, runs: Iterable[Run], data: str | Path | None = None) -> None:
        self._data = data
        self._wanted: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
        for run in runs:
            trained, evaluated = self._wanted.setdefault((run.dataset, run.queries), ({}, {}))
            trained |= dict.fromkeys(run.trained_structures)
            evaluated |= dict.fromkeys(run.evaluated_structures)
        self._graphs: dict[str, KnowledgeGraph] = {}
        self._sets: dict[tuple[str, str], QuerySets] = {}

    def holds(self, run: Run) -> bool:
        """Whether a run's graph and queries are read already."""
        return (run.dataset, run.queries) in self._sets

    def material(self, run: Run) -> Material:
        """A run's graph and its own structures' queries."""
        if run.dataset not in self._graphs:
            self._graphs[run.dataset] = load(run.dataset, self._data)
        kg, key = self._graphs[run.dataset], (run.dataset, run.queries)
        if key not in self._sets:
            trained, evaluated = self._wanted[key]
            self._sets[key] = query_sets(
                kg, run.queries, trained=tuple(trained), evaluated=tuple(evaluated), data=self._data
            )
        return Material(kg, self._sets[key].only(train=run.trained_structures, other=run.evaluated_structures))
