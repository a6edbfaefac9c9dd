"""`pathformer tables`: tables of the paper, with columns paper | ours | difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathformer.cli._options import Data

if TYPE_CHECKING:
    from pathformer.experiments.tables.catalogue import TableOptions
    from pathformer.experiments.tables.view import Sheet, View

__all__ = ["command"]


def _number(text: str) -> int:
    """Reads the number of a table."""
    from pathformer.errors import InputError
    from pathformer.experiments.tables.catalogue import TITLES

    if text not in map(str, TITLES):
        raise InputError(f"there is no table {text}: choose from 1 to {max(TITLES)}")
    return int(text)


def command(
    numbers: Annotated[
        list[int] | None, typer.Argument(help="Which tables, 1 to 15; all by default.", parser=_number)
    ] = None,
    format: Annotated[str, typer.Option(help="text, markdown, json or csv.")] = "text",
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="The same as --format csv.")] = False,
    weights: Annotated[str, typer.Option(help="last, as the reference code reports, or best on validation.")] = "last",
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Show runs that were trained for this long; by default the time of most rows.", show_default=False
        ),
    ] = None,
    variant: Annotated[
        str, typer.Option(help="Show runs with other settings, by the word they are recorded under.")
    ] = "",
    records: Annotated[
        Path | None,
        typer.Option(help="A folder of records of runs; by default benchmarks/records.", show_default=False),
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option("--dataset", "-d", help="For tables 9 to 11; by default fb15k-237 and nell995.")
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(help="For tables 10 and 11: a folder of queries of the dataset; by default they are drawn now."),
    ] = None,
    data: Data = None,
) -> None:
    """Print tables of the paper with our figures beside the paper's.

    Tables 1 to 8 and 12 to 14 show records of runs, from --records or from `benchmarks/records` of a checkout; an
    installed package has only the paper's figures. The notes below a table say how long its rows were trained, which
    settings were changed, which queries were ranked, and which rows have no run yet. Tables 9 (statistics of the
    graphs), 10 (numbers of queries) and 11 (answers of a query) are counted on the data; 10 and 11 draw the benchmark
    by its protocol with seed 0 unless --queries names a folder. Table 15 shows the figures of `pathformer bench speed`.

    Examples:

        $ pathformer tables 1 3

        $ pathformer tables 1 --format markdown --weights best

        $ pathformer tables 9 10 11 --dataset fb15k-237 --queries fb-queries
    """
    from pathformer.errors import InputError
    from pathformer.experiments.tables import render
    from pathformer.experiments.tables.catalogue import TITLES, TableOptions

    chosen = tuple(dict.fromkeys(numbers or TITLES))
    format = _format(format, json=json, csv=csv)
    _check("weights", weights, ("last", "best"))
    if queries is not None and len(dataset or ()) != 1:
        raise InputError("--queries belongs to one dataset: name it with --dataset")
    folder = _folder(records)
    choice = TableOptions(weights=weights, minutes=minutes, variant=variant)
    sheets: list[Sheet] = []
    for sheet in _sheets(chosen, choice, folder, dataset, queries, data):
        if format in ("text", "markdown"):  # as they come: those of the data take a while
            show = render.to_markdown if format == "markdown" else render.to_text
            typer.echo(f"{chr(10) if sheets else ''}{show(sheet)}")
        sheets.append(sheet)
    if format == "json":
        typer.echo(render.to_json(sheets))
    elif format == "csv":
        typer.echo(render.to_csv(sheets), nl=False)


def _format(format: str, *, json: bool, csv: bool) -> str:
    """Returns the chosen format; fails if two are given."""
    from pathformer.errors import InputError
    from pathformer.experiments.tables.render import FORMATS

    _check("format", format, FORMATS)
    for short, wanted in (("json", json), ("csv", csv)):
        if wanted and format not in ("text", short):
            raise InputError(f"--{short} and --format {format} exclude each other: leave one out")
    if json and csv:
        raise InputError("--json and --csv exclude each other: leave one out")
    return "json" if json else "csv" if csv else format


def _folder(records: Path | None) -> Path:
    """Returns the folder of records to read; fails if --records names none."""
    from pathformer.errors import InputError
    from pathformer.experiments.records import RECORDS

    if records is not None and not records.is_dir():
        raise InputError(f"--records names {records}, which is not a folder: name one, such as benchmarks/records")
    return records or RECORDS


def _check(what: str, value: str, known: Sequence[str]) -> None:
    from pathformer.errors import InputError

    if value not in known:
        raise InputError(f"{what} {value!r} is not one of {', '.join(known)}")


def _sheets(
    chosen: Sequence[int],
    choice: TableOptions,
    folder: Path,
    dataset: Sequence[str] | None,
    queries: Path | None,
    data: Path | None,
) -> Iterator[Sheet]:
    """Makes the tables in their order."""
    from pathformer.experiments.records import read_records
    from pathformer.experiments.tables.catalogue import COUNTED, MEASURED
    from pathformer.experiments.tables.counted import counted_tables
    from pathformer.experiments.tables.measured import check_variant, grid
    from pathformer.experiments.tables.timed import running_time, speeds

    records = read_records(folder)
    check_variant(choice.variant, records)
    counted: list[View] | None = None
    for number in chosen:
        if number in MEASURED:
            yield grid(number, records, choice)
        elif number in COUNTED:
            if counted is None:  # all of them at once: 10 and 11 share what is drawn
                counted = counted_tables([n for n in chosen if n in COUNTED], dataset, queries, data)
            yield from (view for view in counted if view.number == number)
        else:
            yield running_time(speeds(folder))
