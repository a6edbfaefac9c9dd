"""Take results into the package and write what the docs say of them: `python scripts/take_results.py [FOLDER ...]`.

A FOLDER is what `benchmarks/boxes.py` or `pathformer tables --run` has left: its `RUN@BUDGET.json`. A result of the
same run, budget and variant is replaced. One of another budget stays and is named, since tables show the budget that
most rows have: take it away where it was only an earlier try. Without a FOLDER only the docs are written.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from pathformer.experiments.curves import group_of
from pathformer.experiments.records import PACKAGED, Record, read_records
from pathformer.experiments.settings import run_names

SCRIPTS = ("make_tables_docs.py", "draw_results.py", "make_model_cards.py")


def take(folders: Iterable[Path], into: Path = PACKAGED) -> Iterator[str]:
    """Copy the results of some folders; a line for each says what it replaced, and what else there is of its run."""
    for record in [record for folder in folders for record in _checked(folder)]:  # all are looked at before the first
        there = [old for old in read_records([into]) if (old.run, old.variant) == (record.run, record.variant)]
        before = next((old for old in there if old.minutes == record.minutes), None)
        others = ", ".join(old.budget for old in there if old.minutes != record.minutes)
        record.write(into)
        yield f"{record.file_name}: {_words(record, before)}{f'; also there: {others}' if others else ''}"


def _checked(folder: Path) -> list[Record]:
    """The results of a folder, refused where a table could not show them."""
    found = read_records([folder])
    if not found:
        raise SystemExit(f"{folder}: no results there (RUN@BUDGET.json)")
    for record in found:
        if record.run not in run_names():
            raise SystemExit(f"{folder / record.file_name}: no run file {record.run!r}")
        if record.commit == "unknown":
            raise SystemExit(f"{folder / record.file_name}: of an unknown commit: measure with --commit")
    return found


def _words(record: Record, before: Record | None) -> str:
    told = f"{_average(record)} at {record.commit}"
    return f"new, {told}" if before is None else f"{_average(before)} at {before.commit}, now {told}"


def _average(record: Record) -> str:
    name, figures = group_of(record)[0], record.figures("last")
    return f"{name} {figures[name]:.1f}" if name in figures else "without an average"


def main() -> None:
    """Take them, then write the docs."""
    for line in take(map(Path, sys.argv[1:])):
        print(line)
    for script in SCRIPTS:
        runpy.run_path(str(Path(__file__).with_name(script)), run_name="__main__")


if __name__ == "__main__":
    main()
