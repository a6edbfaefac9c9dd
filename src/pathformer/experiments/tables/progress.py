"""What its budget bought a row: updates, queries, how much of the paper's figures it reached, and how it got there.

A table shows what methods have after equal time. Whether a method is at its end by then, or has hardly begun, is told
by how often it was updated and by the mean MRR of validation at each quarter of its run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pathformer.experiments.curves import group_of
from pathformer.experiments.records import Record
from pathformer.experiments.tables.catalogue import COMPARED
from pathformer.experiments.tables.choice import Choice, chosen
from pathformer.experiments.tables.measured import printed
from pathformer.experiments.tables.shares import BAR

__all__ = ["Progress", "longer", "progress"]

_QUARTERS = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A row with a record."""

    table: int
    dataset: str  # as the table writes it
    model: str  # likewise
    record: Record
    paper: Mapping[str, float]
    ours: Mapping[str, float]

    @property
    def share(self) -> float | None:
        """Of the paper's 1p, where it prints one."""
        return self.ours["1p"] / self.paper["1p"] if "1p" in self.paper and "1p" in self.ours else None

    @property
    def is_below(self) -> bool:
        """Whether that share is under the bar."""
        return self.share is not None and self.share < BAR

    @property
    def averages(self) -> tuple[float, float] | None:
        """Ours and the paper's, of the structures that the row is judged by."""
        name = group_of(self.record)[0]
        return (self.ours[name], self.paper[name]) if name in self.paper and name in self.ours else None

    @property
    def quarters(self) -> tuple[float, ...]:
        """Their mean MRR in the validation nearest to each quarter of the run; empty with fewer than four."""
        structures = group_of(self.record)[1]
        looks = [look for look in self.record.curve if set(structures) <= look.keys()]
        if len(looks) < len(_QUARTERS):
            return ()
        times = [part * self.record.seconds for part in _QUARTERS]
        nearest = [min(looks, key=lambda look, time=time: abs(look["seconds"] - time)) for time in times]  # type: ignore[misc]
        return tuple(sum(look[name] for name in structures) / len(structures) for look in nearest)


def progress(
    records: Sequence[Record], numbers: Iterable[int] = COMPARED, choice: Choice | None = None
) -> list[Progress]:
    """The rows of some tables that have a record, each once: in the first table that has it."""
    choice, found = choice or Choice(), dict[str, Progress]()
    for number in numbers:
        for place, record in chosen(number, records, choice).items():
            if record is not None and place.run not in found:
                found[place.run] = Progress(
                    table=number,
                    dataset=place.dataset,
                    model=place.model,
                    record=record,
                    paper=printed(place.run),
                    ours=record.figures(choice.weights),
                )
    return list(found.values())


def longer(rows: Sequence[Progress], records: Sequence[Record]) -> list[Progress]:
    """The same rows as longer records of the same variant have them."""
    return [
        replace(row, record=record, ours=record.figures("last"))
        for row in rows
        for record in records
        if (record.run, record.variant) == (row.record.run, row.record.variant) and record.seconds > row.record.seconds
        if record.minutes != row.record.minutes
    ]
