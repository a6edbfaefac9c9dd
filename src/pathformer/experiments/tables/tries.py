"""Rows that were measured twice with other settings: both tries beside each other, and which one is kept.

The one is kept whose last validation has the higher mean over all structures of the run; test figures have no part in
it. The other lies apart, so that what was tried can be read.
"""

from __future__ import annotations

from collections.abc import Sequence

from pathformer.experiments.records import Record
from pathformer.experiments.tables.captions import changed
from pathformer.experiments.tables.progress import Progress, progress
from pathformer.words import markdown_table

__all__ = ["last_validation", "tries"]

_TRY = ("runs on the card", "updates", "validation")
_HEADER = ("row", *(f"first: {_TRY[0]}", *_TRY[1:]), *(f"second: {_TRY[0]}", *_TRY[1:]), "what it changed", "kept")
_RULE = ("---", *["--:"] * 6, "---", "---")
_NEGATION = 3  # the table whose rows are trained with negation


def tries(kept: Sequence[Record], others: Sequence[Record]) -> str:
    """A line for each training that has two records, as Markdown; others: those that were not kept.

    A training that serves two tables is told once, with the names of both.
    """
    lost = {record.file_name: record for record in others}
    rows: dict[str, list[Progress]] = {}
    for row in progress(kept):
        if row.record.file_name in lost:
            rows.setdefault(str(row.record.curve), []).append(row)
    if not rows:
        return "No row was measured twice."
    lines = (_cells(same, lost[same[0].record.file_name]) for same in rows.values())
    return "\n".join(markdown_table(_HEADER, lines, _RULE))


def last_validation(record: Record) -> float:
    """The mean over all structures that the last validation looked at, in percent."""
    look = {name: value for name, value in record.curve[-1].items() if name != "seconds"}
    return sum(look.values()) / len(look)


def _cells(rows: Sequence[Progress], other: Record) -> tuple[str, ...]:
    record = rows[0].record
    first, second = sorted((record, other), key=lambda one: one.date)
    datasets = " and ".join(row.dataset for row in rows)
    return (
        f"{rows[0].model}, {datasets}{', negation' if rows[0].table == _NEGATION else ''}",
        *_figures(first),
        *_figures(second),
        ", ".join(_change(key, first, second) for key in _differing(first, second)),
        "first" if record is first else "second",
    )


def _figures(record: Record) -> tuple[str, str, str]:
    return str(record.beside), f"{record.updates or 0:,}", f"{last_validation(record):.1f}"


def _differing(first: Record, second: Record) -> list[str]:
    """Settings that one of two changed and that are not alike."""
    keys = sorted({*changed(first), *changed(second)})
    return [key for key in keys if first.settings.get(key) != second.settings.get(key)]


def _change(key: str, first: Record, second: Record) -> str:
    return f"`{key.removeprefix('training.')}` {first.settings.get(key)} → {second.settings.get(key)}"
