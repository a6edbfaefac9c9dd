"""Which record a row of a table shows, where it has several.

1. Only records of the asked variant count; none: those with no word of their own, which stand for the paper's rows.
2. Methods are compared at one budget of time: the asked one, else the one that most rows of the table's dataset have.
   Where several budgets have as many rows, the one that was measured last counts, then the longest.
3. A row without that budget shows its longest record, and the table says so.
4. Of two records of one budget the newer counts. In one folder there are no two, since a file is named after run,
   budget and variant: what is measured again takes the place of what was there. Of two folders the later one's counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pathformer.experiments.records import Record
from pathformer.experiments.tables.catalogue import MEASURED, Place

__all__ = ["Choice", "chosen"]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was asked for."""

    weights: str = "last"  # "last", as the reference code reports, or "best" on validation
    minutes: float | None = None  # the budget; none: the one that most rows have
    variant: str = ""


def chosen(number: int, records: Sequence[Record], choice: Choice) -> dict[Place, Record | None]:
    """The record of every row of a table of MRR, in its order; none where there is none."""
    own = [record for record in records if record.variant == choice.variant]
    return {place: _record(place, number, own, choice.minutes) for place in MEASURED[number].places}


def _record(place: Place, number: int, records: Sequence[Record], minutes: float | None) -> Record | None:
    own = [record for record in records if record.run == place.run]
    shared = minutes if minutes is not None else _shared(place.dataset, number, records)
    alike = [record for record in own if record.minutes == shared]
    if alike:
        return max(alike, key=lambda record: record.date)
    return max(own, key=lambda record: record.seconds, default=None)


def _shared(dataset: str, number: int, records: Sequence[Record]) -> float | None:
    """The budget of most rows of a dataset."""
    runs = {place.run for place in MEASURED[number].places if place.dataset == dataset}
    found: dict[float | None, list[Record]] = {}
    for record in records:
        if record.run in runs:
            found.setdefault(record.minutes, []).append(record)

    def weight(minutes: float | None) -> tuple[int, str, float]:
        alike = found[minutes]
        rows, last = len({record.run for record in alike}), max(record.date for record in alike)
        return rows, last, float("inf") if minutes is None else minutes

    return max(found, key=weight, default=None)
