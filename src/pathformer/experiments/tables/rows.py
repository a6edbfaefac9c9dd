"""Rows of the tables that compare methods as Markdown: what their budget bought, for the page of the tables and those
of the methods.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pathformer.experiments.records import Record
from pathformer.experiments.tables.captions import changed, common_settings, setting_words
from pathformer.experiments.tables.progress import Progress, longer, progress
from pathformer.experiments.tables.shares import BAR, share_words
from pathformer.words import markdown_table

__all__ = ["bought", "of_methods"]

_HEADER = (
    "row", "time", "runs on the card", "updates", "queries", "1p: ours, paper", "share", "avg: ours, paper",
    "validation avg at each quarter", "settings changed", "commit",
)  # fmt: skip
_RULE = ("---", "--:", "--:", "--:", "--:", "--:", "--:", "--:", "---", "---", "---")
_GROUP = "training."  # where the changed settings of rows stand: said once
_NEGATION = 3  # the table whose average is that of negation


def bought(records: Sequence[Record]) -> str:
    """A table for each compared table and dataset, and before them who is below the bar."""
    rows = progress(records)
    groups: dict[tuple[int, str], list[Progress]] = {}
    for row in rows:
        groups.setdefault((row.table, row.dataset), []).append(row)
    if not groups:
        return "No row has a run yet."
    same = common_settings(row.record for row in rows)
    parts = [_facts(rows, same), _below(rows)]
    for (number, dataset), members in groups.items():
        parts += [f"**Table {number}, {dataset}.**{_shared_training(members, rows)}", _table(members, _model, same)]
    if more := longer(rows, records):
        parts += ["**Longer runs of the same rows.**", _table(more, _placed, {})]
    return "\n\n".join(parts)


def of_methods(models: Collection[str], records: Sequence[Record]) -> str:
    """All rows of some methods, as one of their pages shows them."""
    rows = [row for row in progress(records) if row.model in models]
    if not rows:
        return "**Measured.** No run yet."
    same = common_settings(row.record for row in rows)
    return f"**Measured.** {_facts(rows, same)}\n\n{_table(rows, _place if len(models) == 1 else _whole, same)}"


def _below(rows: Sequence[Progress]) -> str:
    """Who has less of the paper's 1p than the bar, by dataset."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.share is not None:
            told = found.setdefault(row.dataset, [])
            told += [f"{row.model} ({share_words(row.share)})"] if row.is_below else []
    words = "; ".join(f"{dataset}: {', '.join(models) or 'none'}" for dataset, models in found.items())
    return f"Below {share_words(BAR)} of the paper's 1p, in bold: {words}."


def _facts(rows: Sequence[Progress], same: Mapping[str, Any]) -> str:
    """Where and when the rows were trained, and which settings all of them have changed."""
    devices = dict.fromkeys(str(row.record.machine.get("device", "unknown device")) for row in rows)
    days = sorted({row.record.date[:10] for row in rows} - {""})
    when = f", {days[0]}" + (f" to {days[-1]}" if len(days) > 1 else "") if days else ""
    told = _code([_short(*item) for item in same.items()])
    return (
        f"Time by the clock on one {' or '.join(devices)}{when}; the runs on it are all that shared it at most, the "
        f"row itself among them. Settings that are not the run file's are named without their group `{_GROUP[:-1]}`"
        f"{f'; in all rows {told}' if told else ''}."
    )


def _shared_training(members: Sequence[Progress], rows: Sequence[Progress]) -> str:
    """Of rows whose weights are those of an earlier table's row: that validation was on the queries of that one."""
    earlier = {
        row.model: other.table
        for row in members
        for other in rows
        if other.table < row.table and row.record.curve and other.record.curve == row.record.curve
    }
    return "".join(
        f" {model} is the training of Table {number}, whose queries its validation has."
        for model, number in earlier.items()
    )


def _table(rows: Sequence[Progress], name: Callable[[Progress], str], same: Mapping[str, Any]) -> str:
    return "\n".join(markdown_table(_HEADER, (_cells(row, name(row), same) for row in rows), _RULE))


def _cells(row: Progress, name: str, same: Collection[str]) -> tuple[str, ...]:
    bold = (lambda text: f"**{text}**") if row.is_below else str
    record = row.record
    best = "" if record.kind("last") == "last" else ", best weights"  # where the last ones were not ranked
    return (
        bold(f"{name}{best}"),
        record.budget,
        str(record.beside),
        "" if record.updates is None else f"{record.updates:,}",
        "" if record.seen is None else _millions(record.seen),
        ", ".join(f"{side['1p']:.1f}" for side in (row.ours, row.paper) if "1p" in side),
        "" if row.share is None else bold(share_words(row.share)),
        "" if row.averages is None else ", ".join(f"{value:.1f}" for value in row.averages),
        ", ".join(f"{value:.1f}" for value in row.quarters),
        _code([_short(key, record.changes[key]) for key in changed(record) if key not in same]),
        f"`{record.commit}`",
    )


def _model(row: Progress) -> str:
    return row.model


def _place(row: Progress) -> str:
    return f"Table {row.table}{' (negation)' if row.table == _NEGATION else ''}, {row.dataset}"


def _whole(row: Progress) -> str:
    return f"{row.model}, {row.dataset}"


def _placed(row: Progress) -> str:
    return f"{_place(row)}, {row.model}"


def _short(key: str, value: object) -> str:
    """A setting without the group that nearly all of them stand in.

    >>> _short("training.update.rate", 0.001), _short("model.dim", 400)
    ('update.rate=0.001', 'model.dim=400')
    """
    return setting_words(key.removeprefix(_GROUP), value)


def _code(settings: Sequence[str]) -> str:
    return ", ".join(f"`{words}`" for words in settings)


def _millions(count: int) -> str:
    """In millions, small ones with a decimal.

    >>> _millions(59_123_456), _millions(512_000)
    ('59 M', '0.5 M')
    """
    return f"{count / 1e6:.{0 if count >= 1e7 else 1}f} M"
