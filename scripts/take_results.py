"""Take results into the package and write what the docs say of them: `python scripts/take_results.py [FOLDER ...]`.

A FOLDER is what `benchmarks/boxes.py` or `pathformer tables --run` has left: its `RUN@BUDGET.json`. A result of the
same run, budget and variant is replaced; of a row that compares methods only if the rule of `tables/tries.py` says so,
or names neither, and the other try is laid apart. One of another budget stays and is named, since tables show the
budget that most rows have: take it away where it was only an earlier try. Without a FOLDER only the docs are written.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from pathformer.experiments.curves import group_of
from pathformer.experiments.records import PACKAGED, Record, read_records
from pathformer.experiments.settings import run_names
from pathformer.experiments.tables.catalogue import COMPARED, MEASURED
from pathformer.experiments.tables.tries import to_show

APART = Path(__file__).parents[1] / "benchmarks" / "runs" / "rows-not-kept"
ROWS = {place.run for number in COMPARED for place in MEASURED[number].places}
SCRIPTS = ("make_tables_docs.py", "draw_results.py", "make_model_cards.py")


def take(folders: Iterable[Path], into: Path = PACKAGED, apart: Path = APART) -> Iterator[str]:
    """Copy the results of some folders; a line for each says what it replaced, and what else there is of its run."""
    for record in [record for folder in folders for record in _checked(folder)]:  # all are looked at before the first
        there = [old for old in read_records([into]) if (old.run, old.variant) == (record.run, record.variant)]
        before = next((old for old in there if old.minutes == record.minutes), None)
        others = ", ".join(old.budget for old in there if old.minutes != record.minutes)
        shown, other = _tried(record, before)
        if other is not None:  # first: what is replaced is not lost, whenever this ends
            other.write(_free(apart, other))
        shown.write(into)
        yield f"{record.file_name}: {_words(record, before, shown)}{f'; also there: {others}' if others else ''}"


def _tried(record: Record, before: Record | None) -> tuple[Record, Record | None]:
    """Which of two results of a name is shown, and which one is laid apart.

    None: it is no row, or they are the same. Where the rule names neither, the newer one is shown, and the older kept.
    """
    if before is None or before == record or record.run not in ROWS or record.variant:
        return record, None
    shown = to_show([before, record]) or record
    return shown, before if shown is record else record


def _free(apart: Path, record: Record) -> Path:
    """The folder of its commit, or one more of that name where another try of the row lies there."""
    folder, number = apart / record.commit, 1
    while (file := folder / record.file_name).is_file() and Record.read(file) != record:
        number += 1
        folder = apart / f"{record.commit}-{number}"
    return folder


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


def _words(record: Record, before: Record | None, shown: Record) -> str:
    told = f"{_average(record)} at {record.commit}"
    if before is None or before == record:
        return f"{'new' if before is None else 'there already'}, {told}"
    old = f"{_average(before)} at {before.commit}"
    return f"{old}, now {told}" if shown is record else f"{old} stays, laid apart: {told}"


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
