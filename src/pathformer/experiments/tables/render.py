"""Prints tables as text for a terminal, Markdown for documents, JSON and CSV for programs."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Sequence

from pathformer.experiments.tables.view import Sheet
from pathformer.text import markdown_table

__all__ = ["FORMATS", "to_csv", "to_json", "to_markdown", "to_text"]

FORMATS = ("text", "markdown", "json", "csv")
_NOTES = 100  # columns that a note in text may take at least; below a wider table it takes the table's


def to_text(sheet: Sheet) -> str:
    """Prints columns padded with blanks, words to the left, figures to the right, and the notes below."""
    lines = [sheet.header, *sheet.cells()]
    words = _word_columns(sheet)
    widths = [max(len(line[place]) for line in lines) for place in range(len(sheet.header))]
    shown = [
        "  ".join(f"{cell:<{w}}" if n < words else f"{cell:>{w}}" for n, (cell, w) in enumerate(zip(line, widths)))  # noqa: B905
        for line in lines
    ]
    notes = "".join(f"\n\n{_wrap(note, max(map(len, shown)))}" for note in sheet.notes)
    return "\n".join([f"Table {sheet.number}: {sheet.title}", *(line.rstrip() for line in shown)]) + notes


def to_markdown(sheet: Sheet) -> str:
    """Prints a pipe table, its title before it and its notes after it."""
    words = _word_columns(sheet)
    rule = ["---" if place < words else "--:" for place in range(len(sheet.header))]
    rows = markdown_table(sheet.header, sheet.cells(), rule)
    title = f"**Table {sheet.number}: {sheet.title}**"
    return "\n".join([title, "", *rows, *(f"\n{note}" for note in sheet.notes)])


def to_json(sheets: Sequence[Sheet]) -> str:
    """Prints a list of tables, each with its figures and notes."""
    return json.dumps(
        [
            {"table": sheet.number, "title": sheet.title, "notes": list(sheet.notes), "figures": sheet.records()}
            for sheet in sheets
        ],
        indent=2,
        ensure_ascii=False,
    )


def to_csv(sheets: Sequence[Sheet]) -> str:
    """Prints one line for each figure of all tables."""
    records = [record for sheet in sheets for record in sheet.records()]
    columns = list(dict.fromkeys(name for record in records for name in record))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _wrap(note: str, width: int) -> str:
    """Wraps a note to the width of the table; words, settings and addresses stay whole."""
    return textwrap.fill(note, max(_NOTES, width), break_long_words=False, break_on_hyphens=False)


def _word_columns(sheet: Sheet) -> int:
    """Counts the columns of words: all up to the unnamed one."""
    return sheet.header.index("") + 1
