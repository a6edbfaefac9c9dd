"""Writes Arrow tables to one file, table by table: Parquet, CSV or TSV, as the file's ending says.

A CSV file is what people open in a spreadsheet, which runs a cell that begins with = + - @ as a formula. There such a
text gets an apostrophe in front, which spreadsheets hide. Parquet and TSV hold every name as it is.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pathformer.errors import InputError
from pathformer.files.atomic import new_file, reason_of

__all__ = ["ENDINGS", "check_out", "write_tables"]

ENDINGS = (".parquet", ".csv", ".tsv")

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the start of a formula


def check_out(out: Path, *, all_pairs: bool = False, force: bool = False) -> None:
    """Refuses a file that cannot be written or would replace another."""
    if out.suffix.lower() not in ENDINGS:
        raise InputError(f"{out}: the ending says what is written, and must be one of {', '.join(ENDINGS)}")
    if all_pairs and out.suffix.lower() != ".parquet":
        raise InputError(f"{out}: the scores of all pairs are written as Parquet: let --out end in .parquet")
    if out.is_dir() or (out.exists() and not force):
        remedy = "choose another name" if out.is_dir() else "choose another name, or replace it with --force"
        raise InputError(f"{out} exists already: {remedy}")


def write_tables(tables: Iterable[Any], out: Path) -> int:
    """Writes tables of one schema; the file is there whole or not at all. Returns the number of rows."""
    write = _write_parquet if out.suffix.lower() == ".parquet" else _write_text
    try:
        with new_file(out) as draft:
            return write(tables, draft)
    except OSError as error:
        raise InputError(f"{out} cannot be written ({reason_of(error)})") from error


def _write_parquet(tables: Iterable[Any], file: Path) -> int:
    from contextlib import ExitStack

    import pyarrow.parquet as pq

    rows, writer = 0, None
    with ExitStack() as open_files:
        for table in tables:
            if writer is None:
                writer = open_files.enter_context(pq.ParquetWriter(file, table.schema))
            writer.write_table(table)
            rows += table.num_rows
    return rows


def _write_text(tables: Iterable[Any], file: Path) -> int:
    rows, tsv = 0, file.suffix.lower() == ".tsv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, delimiter="\t" if tsv else ",", lineterminator="\n")
        for table in tables:
            if not rows:
                writer.writerow(table.column_names)
            columns = [column.to_pylist() for column in table.columns]
            if not tsv:
                columns = [[_harmless(cell) for cell in column] for column in columns]
            writer.writerows(zip(*columns, strict=True))
            rows += table.num_rows
    return rows


def _harmless(cell: Any) -> Any:
    """Returns a cell that no spreadsheet runs."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
