"""Write the tables of `docs/tables.md` from the records of `benchmarks/records`; a test keeps the page current.

Everything above the marker is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pathformer.experiments.records import Record, read_records
from pathformer.experiments.tables.catalogue import MEASURED
from pathformer.experiments.tables.choice import Choice
from pathformer.experiments.tables.measured import grid
from pathformer.experiments.tables.render import to_markdown
from pathformer.experiments.tables.timed import running_time, speeds
from pathformer.experiments.tables.view import Grid

PAGE = Path(__file__).parents[1] / "docs" / "tables.md"
MARKER = "<!-- Below: made by scripts/make_tables_docs.py from benchmarks/records. -->"


def page() -> str:
    """The whole page."""
    records = read_records()
    head = PAGE.read_text(encoding="utf-8").partition(MARKER)[0]
    empty = [number for number in MEASURED if not _results(number, records)]
    parts = [MARKER, ""]
    for table in shown(records):
        parts += [to_markdown(table), ""]
    parts += [to_markdown(running_time(speeds())), ""]
    if empty:
        parts += [f"Without any run yet: Tables {', '.join(map(str, empty))}.", ""]
    return head + "\n".join(parts)


def shown(records: list[Record]) -> Iterator[Grid]:
    """Every table of runs with a record, by the variant that has most of its rows, with no word of its own if possible.

    Of a variant only rows with a record are shown.
    """
    for number in MEASURED:
        found = _results(number, records)
        sizes = {word: len({one.run for one in found if one.variant == word}) for word in _variants(found)}
        if not sizes:
            continue
        variant = max(sizes, key=lambda word: (sizes[word], not word))
        table = grid(number, records, Choice(variant=variant))
        if variant:
            table = replace(table, lines=tuple(line for line in table.lines if line.ours is not None))
        yield table


def _variants(records: list[Record]) -> list[str]:
    return sorted({record.variant for record in records})


def _results(number: int, records: list[Record]) -> list[Record]:
    runs = {place.run for place in MEASURED[number].places}
    return [record for record in records if record.run in runs]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
