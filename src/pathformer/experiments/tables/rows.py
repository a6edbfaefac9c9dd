"""Rows of the tables that compare methods as Markdown: what their budget bought, for the page of the tables and those
of the methods.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pathformer.experiments.records import Record
from pathformer.experiments.tables.measured import changed, setting_words, trained_how
from pathformer.experiments.tables.progress import Progress, common, longer, progress
from pathformer.experiments.tables.shares import BAR, share_words
from pathformer.words import markdown_table

__all__ = ["bought", "of_methods"]

_HEADER = (
    "row", "updates", "queries", "1p: ours, paper", "share of the paper's", "avg: ours, paper",
    "validation avg at each quarter", "settings changed",
)  # fmt: skip
_RULE = ("---", "--:", "--:", "--:", "--:", "--:", "---", "---")
_NEGATION = 3  # the table whose average is that of negation


def bought(records: Sequence[Record]) -> str:
    """A table for each compared table and dataset, and before them who is below the bar."""
    rows = progress(records)
    groups: dict[tuple[int, str], list[Progress]] = {}
    for row in rows:
        groups.setdefault((row.table, row.dataset), []).append(row)
    if not groups:
        return "No row has a run yet."
    parts = [_below(rows)]
    for (number, dataset), members in groups.items():
        head = f"**Table {number}, {dataset}.** {_facts(members, _model)}{_shared_training(members, rows)}"
        parts += [head, _table(members, _model)]
    if more := longer(rows, records):
        parts += [f"**Longer runs of the same rows.** {_facts(more, _dataset, _boxed)}", _table(more, _boxed)]
    return "\n\n".join(parts)


def of_methods(models: Collection[str], records: Sequence[Record]) -> str:
    """All rows of some methods, as one of their pages shows them."""
    rows = [row for row in progress(records) if row.model in models]
    if not rows:
        return "**Measured.** No run yet."
    name = _place if len(models) == 1 else _whole
    return f"**Measured.** {_facts(rows, _dataset, name)}\n\n{_table(rows, name)}"


def _below(rows: Sequence[Progress]) -> str:
    """Who has less of the paper's 1p than the bar, by dataset."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.share is not None:
            told = found.setdefault(row.dataset, [])
            told += [f"{row.model} ({share_words(row.share)})"] if row.is_below else []
    words = "; ".join(f"{dataset}: {', '.join(models) or 'none'}" for dataset, models in found.items())
    return f"Below {share_words(BAR)} of the paper's 1p, in bold: {words}."


def _facts(rows: Sequence[Progress], *labels: Callable[[Progress], str]) -> str:
    """How, where and at which commit the rows were trained, and which settings all of them have changed.

    labels: what to call a row, the shortest first; the first that tells rows of different training apart is taken.
    """
    for label in labels:
        groups: dict[str, dict[str, None]] = {}
        for row in rows:
            how = f"{trained_how(row.record)}, commit `{row.record.commit}`, {row.record.date[:10]}"
            groups.setdefault(how, {})[label(row)] = None
        if sum(map(len, groups.values())) == len({label(row) for row in rows}):
            break
    told = "; ".join(f"{_listed(names)}: {how}" if len(groups) > 1 else how for how, names in groups.items())
    same = [setting_words(key, value) for key, value in common(rows).items()]
    return f"{told}. In all rows {_code(same)}." if same else f"{told}."


def _listed(names: Collection[str]) -> str:
    """Names in a row, told apart where they have commas themselves."""
    return (" and " if any("," in name for name in names) else ", ").join(names)


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


def _table(rows: Sequence[Progress], name: Callable[[Progress], str]) -> str:
    same = common(rows)
    return "\n".join(markdown_table(_HEADER, (_cells(row, name(row), same) for row in rows), _RULE))


def _cells(row: Progress, name: str, same: Collection[str]) -> tuple[str, ...]:
    bold = (lambda text: f"**{text}**") if row.is_below else str
    record = row.record
    return (
        bold(name),
        "" if record.updates is None else f"{record.updates:,}",
        "" if record.seen is None else _millions(record.seen),
        ", ".join(f"{side['1p']:.1f}" for side in (row.ours, row.paper) if "1p" in side),
        "" if row.share is None else bold(share_words(row.share)),
        "" if row.averages is None else ", ".join(f"{value:.1f}" for value in row.averages),
        ", ".join(f"{value:.1f}" for value in row.quarters),
        _code([setting_words(key, record.changes[key]) for key in changed(record) if key not in same]),
    )


def _model(row: Progress) -> str:
    return row.model


def _dataset(row: Progress) -> str:
    return row.dataset


def _place(row: Progress) -> str:
    return f"Table {row.table}{' (negation)' if row.table == _NEGATION else ''}, {row.dataset}"


def _whole(row: Progress) -> str:
    return f"{row.model}, {row.dataset}"


def _boxed(row: Progress) -> str:
    return f"{_place(row)}, {row.model}, {row.record.budget}"


def _code(settings: Sequence[str]) -> str:
    return ", ".join(f"`{words}`" for words in settings)


def _millions(count: int) -> str:
    """In millions, small ones with a decimal.

    >>> _millions(59_123_456), _millions(512_000)
    ('59 M', '0.5 M')
    """
    return f"{count / 1e6:.{0 if count >= 1e7 else 1}f} M"
