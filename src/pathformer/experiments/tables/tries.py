"""Rows that were measured several times: which try a row shows, and all of them beside each other.

Only tries that had an equal share of the card are compared: ten runs on it. Of those the one is shown whose last
validation has the higher mean over all structures of the run; test figures have no part in it. The others lie apart,
a folder for each measurement, so that what was tried can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pathformer.experiments.records import Record, read_records
from pathformer.experiments.tables.captions import changed, setting_words
from pathformer.experiments.tables.progress import Progress, progress
from pathformer.words import markdown_table

__all__ = ["SHARING", "last_validation", "read_tries", "to_show", "tries"]

SHARING = 10  # runs on the card, the row itself among them
_HEADER = ("row", "shown", "other tries")
_RULE = ("---", "---", "---")
_NEGATION = 3  # the table whose rows are trained with negation


def read_tries(folder: Path) -> list[Record]:
    """The records of all measurements in a folder, each in one of its own."""
    return [record for inner in sorted(folder.iterdir()) for record in read_records([inner])]


def to_show(records: Iterable[Record]) -> Record | None:
    """Of all tries of a row the one that it shows; none: no try had that share of the card and was validated."""
    candidates = (one for one in records if one.beside == SHARING and one.curve)
    return max(candidates, key=last_validation, default=None)


def last_validation(record: Record) -> float:
    """The mean over all structures that the last validation looked at, in percent; the record has one."""
    look = {name: value for name, value in record.curve[-1].items() if name != "seconds"}
    return sum(look.values()) / len(look)


def tries(shown: Sequence[Record], others: Sequence[Record]) -> str:
    """A line for each training that has several records, as Markdown; others: those that are not shown.

    A training that serves two tables is told once, with the names of both.
    """
    rows: dict[str, list[Progress]] = {}
    for row in progress(shown):
        rows.setdefault(str(row.record.curve or row.record.run), []).append(row)
    lines = [_cells(same, apart) for same in rows.values() if (apart := _same_row(same[0].record, others))]
    return "\n".join(markdown_table(_HEADER, lines, _RULE)) if lines else "No row was measured twice."


def _same_row(record: Record, others: Sequence[Record]) -> list[Record]:
    """The other tries of its row, the newest first."""
    found = [other for other in others if other.file_name == record.file_name]
    return sorted(found, key=lambda other: other.date, reverse=True)


def _cells(rows: Sequence[Progress], others: Sequence[Record]) -> tuple[str, ...]:
    shown, datasets = rows[0].record, " and ".join(row.dataset for row in rows)
    name = f"{rows[0].model}, {datasets}{', negation' if rows[0].table == _NEGATION else ''}"
    return name, _words(shown, shown), "; ".join(_words(other, shown) for other in others)


def _words(record: Record, shown: Record) -> str:
    """A try: its validation if any, then updates, commit, runs on the card and settings, both where they are others."""
    keys = sorted({*changed(record), *changed(shown)})
    told = [
        f"{record.updates or 0:,}",
        f"`{record.commit}`",
        *([f"{record.beside} runs"] if record.beside != SHARING else []),
        *(_setting(key, record) for key in keys if record.settings.get(key) != shown.settings.get(key)),
    ]
    validated = f"{last_validation(record):.1f}" if record.curve else "not validated"
    return f"{validated} ({', '.join(told)})"


def _setting(key: str, record: Record) -> str:
    return f"`{setting_words(key.removeprefix('training.'), record.settings.get(key))}`"
