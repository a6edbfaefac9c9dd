"""Recomputes every answer of a folder of queries and reports differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.ragged import Ragged, union
from pathformer.querysets.queries import StoredQueries
from pathformer.querysets.query_sets import QuerySets, graph_pair
from pathformer.symbolic.answer import answer_rows

__all__ = ["Verdict", "differing_rows", "verify"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for the queries of one split and structure."""

    split: str
    structure: str
    queries: int
    checked: tuple[str, ...]  # which answers the folder holds: "easy", "hard", "easy + hard"
    wrong: tuple[int, ...]  # how many queries differ in each of them
    answers: int  # how many answers were compared
    example: str | None  # the first query that differs, in words

    @property
    def absent(self) -> tuple[str, ...]:
        """Returns which answers the folder lacks; easy ones follow from all answers and the hard ones."""
        wanted = ("easy",) if self.split == "train" else ("easy", "hard")
        present = {*self.checked, *(("easy",) if {"hard", "easy + hard"} <= set(self.checked) else ())}
        return tuple(what for what in wanted if what not in present)

    @property
    def agrees(self) -> bool:
        """Whether everything that was checked is the same."""
        return not any(self.wrong)


def verify(
    sets: QuerySets[StoredQueries], kg: KnowledgeGraph, report: Callable[[Verdict], None] | None = None
) -> list[Verdict]:
    """Compares every answer of a folder with traversal; returns a verdict for each split and structure."""
    sets.check_graph(kg)
    verdicts = []
    for split, stored in sets.splits.items():
        graphs = graph_pair(kg, split)
        for queries in stored.values():
            easy, hard = answer_rows(queries.structure, queries.ids, graphs)
            verdicts.append(_compare(split, queries, easy, hard))
            if report:
                report(verdicts[-1])
    return verdicts


def _compare(split: str, stored: StoredQueries, easy: Ragged, hard: Ragged) -> Verdict:
    checked, wrong, answers, example = [], [], 0, None
    compared = {"easy": (stored.easy, easy), "hard": (stored.hard if split != "train" else None, hard)}
    if stored.everything is not None:
        compared["easy + hard"] = (stored.everything, union(easy, hard))
    for what, (given, found) in compared.items():
        if given is None:
            continue
        different = differing_rows(given, found)
        checked.append(what)
        wrong.append(len(different))
        answers += len(given.values)
        if len(different) and example is None:
            example = _describe(what, stored, given, found, int(different[0]))
    return Verdict(split, stored.structure.name, len(stored), tuple(checked), tuple(wrong), answers, example)


def differing_rows(one: Ragged, other: Ragged) -> npt.NDArray[np.int64]:
    """Returns the rows in which two tables of answers differ."""
    same_length = one.counts == other.counts
    rows = np.flatnonzero(same_length)
    unequal = one.take(rows).values != other.take(rows).values
    owners = np.repeat(rows, one.counts[rows])
    return np.union1d(np.flatnonzero(~same_length), owners[unequal])


def _describe(what: str, stored: StoredQueries, given: Ragged, found: Ragged, row: int) -> str:
    query = stored.structure.instance(stored.ids[row].tolist())
    missing = np.setdiff1d(found[row], given[row])
    extra = np.setdiff1d(given[row], found[row])
    parts = []
    if len(missing):
        parts.append(f"lacks {_first_ids(missing)}")
    if len(extra):
        parts.append(f"has {_first_ids(extra)}, which traversal does not find")
    return f"{query}: its {what} answers: the folder {' and '.join(parts)}"


def _first_ids(ids: npt.NDArray[np.int32]) -> str:
    shown = ", ".join(map(str, ids[:5].tolist()))
    return shown if len(ids) <= 5 else f"{shown} and {len(ids) - 5:,} more"
