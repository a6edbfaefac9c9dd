"""Many queries of one structure as integers: a table of ids, and answers as rows of different length.

n queries, k ids a query (anchors and relations in reading order of the structure's tuple; `Structure.columns`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pathformer.errors import BenchmarkError
from pathformer.kg.ragged import Ragged
from pathformer.query.structures import Structure
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.graph_pair import GraphPair

__all__ = ["Queries", "StoredQueries", "reading_ids"]


@dataclass(frozen=True, eq=False, slots=True)
class Queries:
    """Queries of one structure with their answers.

    easy: answers on the smaller graph; hard: answers on the larger graph that are not easy. Training queries have easy
    answers only (those on the train graph) and empty rows for hard ones.
    """

    structure: Structure
    ids: npt.NDArray[np.int32]  # (n, k)
    easy: Ragged
    hard: Ragged
    removed: Ragged | None = None  # what negations take away on the smaller graph, if asked for (`removed_answers`)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: npt.NDArray[np.integer]) -> Queries:
        """Returns the chosen queries, in the order given."""
        removed = None if self.removed is None else self.removed.take(rows)
        return Queries(self.structure, self.ids[rows], self.easy.take(rows), self.hard.take(rows), removed)

    def spread(self, count: int | None) -> Queries:
        """Returns at most `count` evenly spaced queries; None returns all."""
        if count is None or len(self) <= count:
            return self
        return self.take(np.linspace(0, len(self) - 1, count).round().astype(np.int64))


@dataclass(frozen=True, eq=False, slots=True)
class StoredQueries:
    """Queries of one structure as a folder holds them: answers may be absent, or easy and hard ones together."""

    structure: Structure
    ids: npt.NDArray[np.int32]  # (n, k)
    easy: Ragged | None = None
    hard: Ragged | None = None
    everything: Ragged | None = None  # easy and hard answers in one row, as the Query2box layout keeps them

    def __len__(self) -> int:
        return len(self.ids)

    def complete(self, graphs: GraphPair) -> Queries:
        """Returns the queries with all answers; those that are absent here are found by traversal."""
        if self.easy is not None and self.hard is not None:
            return Queries(self.structure, self.ids, self.easy, self.hard)
        return Queries(self.structure, self.ids, *answer_rows(self.structure, self.ids, graphs))

    def check_range(self, entities: int, relations: int, where: str) -> None:
        """Refuse ids that a graph of this size does not have; the message names the first query at fault."""
        for column, kind in enumerate(self.structure.columns):
            known, what = (entities, "entity") if kind == "e" else (relations, "relation")
            wrong = np.flatnonzero((self.ids[:, column] < 0) | (self.ids[:, column] >= known))
            if len(wrong):
                query = self.structure.instance(self.ids[wrong[0]].tolist())
                raise BenchmarkError(
                    f"{where}: the {self.structure} query {query} has {what} {self.ids[wrong[0], column]}, "
                    f"but the graph has {known:,} ({what} ids 0 to {known - 1})"
                )
        for answers in filter(None, (self.easy, self.hard, self.everything)):
            outside = answers.values[(answers.values < 0) | (answers.values >= entities)]
            if len(outside):
                raise BenchmarkError(
                    f"{where}: an answer to a {self.structure} query is entity {outside[0]}, "
                    f"but the graph has {entities:,} (entity ids 0 to {entities - 1})"
                )


@contextmanager
def reading_ids(file: Path, what: str) -> Iterator[None]:
    """Turns errors of making arrays from the queries or answers of a file into an error that names the file."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise BenchmarkError(f"{file}: its {what} are not all made of ids ({error})") from error
