"""Tables of MRR (1 to 8, 12 to 14): the paper's figures from the run files, ours from the records of runs.

A row without any has no run yet, and where it has one of another variant that
is said. Rows of our own recipe stand below the paper's.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pathformer.errors import InputError
from pathformer.experiments.records import NO_RECORDS, Record
from pathformer.experiments.tables.captions import budget_notes, settings_notes
from pathformer.experiments.tables.catalogue import EXTRAS, MEASURED, TITLES, Place, TableOptions
from pathformer.experiments.tables.view import Grid, Line

__all__ = ["check_variant", "choose_records", "figures_of_paper", "grid"]

_RUNS = Path(__file__).parents[1] / "runs"


@cache
def figures_of_paper(run: str) -> Mapping[str, float]:
    """Returns the paper's figures for a run: structure, "avg", "avg negation" or "Parameters" -> figure.

    Read from the run file as it stands, so that a table prints without loading any method.
    """
    paper = tomllib.loads((_RUNS / f"{run}.toml").read_text(encoding="utf-8"))["paper"]
    size = {"Parameters": paper["parameters"]} if "parameters" in paper else {}
    return {**paper["mrr"], **size}


def grid(number: int, records: Sequence[Record], options: TableOptions | None = None) -> Grid:
    """Makes a table of MRR from whatever records there are."""
    table, options = MEASURED[number], options or TableOptions()
    found = choose_records(number, records, options)
    lines = tuple(_line(place, table.columns, record, options) for place, record in found.items())
    extra = _recipe_rows(number, records, options.variant)
    ours = {place: record for place, record in found.items() if record is not None}
    own = {place: record for place, (record, _) in extra.items()}
    notes = [
        *budget_notes(ours, options),
        *settings_notes(ours),
        *budget_notes(own, options, named=True),
        *settings_notes(own),
        *(_gaps(found, records, options) if records else [NO_RECORDS]),
    ]
    lines += tuple(_line(place, table.columns, record, options, like) for place, (record, like) in extra.items())
    title = TITLES[number] + (f"; variant {options.variant}" if options.variant else "")
    return Grid(number=number, title=title, columns=table.columns, lines=lines, notes=tuple(notes))


def _recipe_rows(number: int, records: Sequence[Record], variant: str) -> dict[Place, tuple[Record, str]]:
    """Finds the rows of our recipes: a record each, and the run whose figures it is compared with.

    Of several the longest; seeds are kept as variants of their own, so the run file's own seed is the one shown.
    """
    found = {}
    for place, like in EXTRAS.get(number, ()):
        own = [record for record in records if (record.run, record.variant) == (place.run, variant)]
        if own:
            found[place] = max(own, key=lambda record: record.seconds), like
    return found


def check_variant(variant: str, records: Sequence[Record]) -> None:
    """Refuses a variant that no record has."""
    known = sorted({record.variant for record in records} - {""})
    if variant and variant not in known:
        raise InputError(f"no result of variant {variant!r}; there are: {', '.join(known) or 'none'}")


def _line(
    place: Place, columns: Sequence[str], record: Record | None, options: TableOptions, like: str | None = None
) -> Line:
    """like: the run whose figures of the paper a row is compared with, if not its own."""
    paper = {column: value for column, value in figures_of_paper(like or place.run).items() if column in columns}
    if record is None:
        return Line(dataset=place.dataset, model=place.model, run=place.run, paper=paper)
    kind = record.kind(options.weights)
    about: dict[str, Any] = {
        "budget": record.budget,
        "minutes": record.minutes,
        "weights": kind,
        "queries": record.queries,
        "runs_on_device": record.runs_on_device,
        "updates": record.updates,
        "seen": record.seen,
        "device": record.machine.get("device", "unknown"),
        "commit": record.commit,
    }
    ours = {column: value for column, value in record.figures(kind).items() if column in columns}
    return Line(dataset=place.dataset, model=place.model, run=place.run, paper=paper, ours=ours, about=about)


def _gaps(found: Mapping[Place, Record | None], records: Sequence[Record], options: TableOptions) -> list[str]:
    """Names the rows without a record; those with a record of another variant apart."""
    gaps: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for place in (place for place, record in found.items() if record is None):
        others = tuple(sorted({record.variant for record in records if record.run == place.run}))
        gaps.setdefault(others, {}).setdefault(place.dataset, []).append(place.model)
    return [_gap(others, rows, options) for others, rows in sorted(gaps.items())]


def _gap(others: Sequence[str], rows: Mapping[str, Sequence[str]], options: TableOptions) -> str:
    words = "; ".join(f"{dataset}: {', '.join(models)}" for dataset, models in rows.items())
    if not others:
        return f"No run yet: {words}."
    here = f"of variant {options.variant}" if options.variant else "with the settings of the run file"
    there = " or ".join(f"with --variant {other}" if other else "without --variant" for other in others)
    return f"No run yet {here}, but {there}: {words}."


def choose_records(number: int, records: Sequence[Record], options: TableOptions) -> dict[Place, Record | None]:
    """Returns the record that each row of a table shows, in their order; None where there is none.

    1. Only records of the asked variant count; those without a variant stand for the paper's rows.
    2. Methods are compared at one budget of time: the asked one, else the one that most rows of the dataset have. Where
       several budgets have as many rows, the one that was measured last counts, then the longest.
    3. A row without that budget shows its longest record, and the table says so.
    4. Of two records of one budget the newer counts.
    """
    own = [record for record in records if record.variant == options.variant]
    return {place: _choose(place, number, own, options.minutes) for place in MEASURED[number].places}


def _choose(place: Place, number: int, records: Sequence[Record], minutes: float | None) -> Record | None:
    own = [record for record in records if record.run == place.run]
    shared = minutes if minutes is not None else _common_budget(place.dataset, number, records)
    alike = [record for record in own if record.minutes == shared]
    if alike:
        return max(alike, key=lambda record: record.date)
    return max(own, key=lambda record: record.seconds, default=None)


def _common_budget(dataset: str, number: int, records: Sequence[Record]) -> float | None:
    """Returns the budget that most rows of a dataset have."""
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
