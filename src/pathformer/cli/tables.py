"""`pathformer tables`: tables of the paper, paper | ours | difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathformer.cli._options import Data

if TYPE_CHECKING:
    from pathformer.experiments.boxes import Box
    from pathformer.experiments.tables.choice import Choice
    from pathformer.experiments.tables.view import Sheet, View

__all__ = ["command"]


def _number(text: str) -> int:
    """The number of a table."""
    from pathformer.errors import InputError
    from pathformer.experiments.tables.catalogue import TITLES

    if text not in map(str, TITLES):
        raise InputError(f"no table {text}; there are 1 to {max(TITLES)}")
    return int(text)


def command(
    numbers: Annotated[
        list[int] | None, typer.Argument(help="Which tables, 1 to 15; all by default.", parser=_number)
    ] = None,
    format: Annotated[str, typer.Option(help="text, markdown, json or csv.")] = "text",
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="The same as --format csv.")] = False,
    svg: Annotated[
        Path | None,
        typer.Option(help="Draw the one table, of 1 to 8 or 12 to 14, into a file.", show_default=False),
    ] = None,
    weights: Annotated[str, typer.Option(help="last, as the reference code reports, or best on validation.")] = "last",
    minutes: Annotated[
        float | None,
        typer.Option(help="The budget of a row: the one to show (that of most rows by default), or to run."),
    ] = None,
    variant: Annotated[str, typer.Option(help="Runs with other settings that were kept under this word.")] = "",
    results: Annotated[
        Path, typer.Option(help="A folder of results, read beside those of the package; where --run keeps its own.")
    ] = Path("runs/tables"),
    run: Annotated[bool, typer.Option("--run", help="First run the rows that have no result, --minutes each.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="With --run: a row by its model (BetaE) or run file; may be repeated.", show_default=False),
    ] = None,
    total: Annotated[
        float | None, typer.Option(help="With --run: minutes for all rows together; what is cut goes on next time.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="With --run: a setting, key=value; may be repeated.", show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="With --run: rows side by side on the one device.")] = 1,
    device: Annotated[str, typer.Option(help="With --run: cuda, cuda:1, cpu, or auto.")] = "auto",
    add: Annotated[
        Path | None, typer.Option(help="Keep the result of a folder that `train` has finished.", show_default=False)
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option("--dataset", "-d", help="9 to 11: fb15k-237 and nell995 by default.")
    ] = None,
    queries: Annotated[
        Path | None, typer.Option(help="10, 11: a folder of queries of the one dataset; otherwise they are drawn now.")
    ] = None,
    data: Data = None,
) -> None:
    """Print tables of the paper with our figures beside the paper's.

    1 to 8 and 12 to 14 show the results of runs, those that come with the package and those of --results: how long each
    was trained, which queries were ranked, which rows have no run yet, and how far the order of the rows is the paper's
    (Kendall's tau, and who fell below whom) are said below a table. 9 (statistics of the graphs), 10 (numbers of
    queries) and 11 (answers a query) are counted on the data; 10 and 11 draw the benchmark by its protocol with seed 0
    unless --queries names a folder. 15 shows what `pathformer bench train --model all` left, or where it left nothing
    yet the speed of the runs.

    --run trains the rows of the tables that have no result of --minutes yet, one after the other, --minutes each, in
    the order of the tables; Ctrl-C or the end of --total stops it, and the same command goes on. With --jobs several
    share the device, each in a process of its own; the tables say so.

    Examples:

        $ pathformer tables 1 3

        $ pathformer tables 1 --format markdown --weights best --svg table-1.svg

        $ pathformer tables 9 10 11 --dataset fb15k-237 --queries fb-queries

        $ pathformer tables --run 1 --minutes 5 --only BetaE --total 60
    """
    from pathformer.errors import InputError
    from pathformer.experiments.tables import render
    from pathformer.experiments.tables.catalogue import TITLES
    from pathformer.experiments.tables.choice import Choice

    chosen = tuple(dict.fromkeys(numbers or TITLES))
    format = _format(format, json=json, csv=csv)
    _check("weights", weights, ("last", "best"))
    if queries is not None and len(dataset or ()) != 1:
        raise InputError("--queries belongs to one graph: name it with --dataset")
    if svg is not None:
        _check_drawn(chosen)
    if not run:
        _check_unused(only=only, total=total, set=set_, jobs=jobs > 1, device=device != "auto")
    if add is not None:
        _add(add, results, variant)
    if run:
        boxes = _lacking(chosen, minutes, variant, results, only, set_)
        _run(boxes, results, total, data=data, device=device, jobs=jobs)
    choice = Choice(weights=weights, minutes=minutes, variant=variant)
    sheets: list[Sheet] = []
    made_now = run or add is not None  # its variant may be new, and without a result yet
    for sheet in _sheets(chosen, choice, results, dataset, queries, data, made_now):
        if format in ("text", "markdown"):  # as they come: those of the data take a while
            show = render.to_markdown if format == "markdown" else render.to_text
            typer.echo(f"{chr(10) if sheets else ''}{show(sheet)}")
        sheets.append(sheet)
    if svg is not None:
        _draw(sheets, svg)
    if format == "json":
        typer.echo(render.to_json(sheets))
    elif format == "csv":
        typer.echo(render.to_csv(sheets), nl=False)


def _format(format: str, *, json: bool, csv: bool) -> str:
    """The one that is meant, refused where two are."""
    from pathformer.errors import InputError
    from pathformer.experiments.tables.render import FORMATS

    _check("format", format, FORMATS)
    for short, wanted in (("json", json), ("csv", csv)):
        if wanted and format not in ("text", short):
            raise InputError(f"--{short} and --format {format} exclude each other")
    if json and csv:
        raise InputError("--json and --csv exclude each other")
    return "json" if json else "csv" if csv else format


def _check_drawn(chosen: Sequence[int]) -> None:
    """Refuse, before anything is run or counted, to draw what is not one table."""
    from pathformer.errors import InputError
    from pathformer.experiments.tables.catalogue import MEASURED

    found = sum(number in MEASURED for number in chosen)
    if found != 1:
        raise InputError(f"--svg draws one table of MRR, found {found}: name one of 1 to 8 and 12 to 14")


def _check_unused(**given: object) -> None:
    """Refuse options that say how rows are run where none is."""
    from pathformer.errors import InputError

    for name in (name for name, value in given.items() if value):
        raise InputError(f"--{name} says how rows are run: give --run with it")


def _check(what: str, value: str, known: Sequence[str]) -> None:
    from pathformer.errors import InputError

    if value not in known:
        raise InputError(f"{what} {value!r} is not one of {', '.join(known)}")


def _sheets(
    chosen: Sequence[int],
    choice: Choice,
    results: Path,
    dataset: Sequence[str] | None,
    queries: Path | None,
    data: Path | None,
    made_now: bool,
) -> Iterator[Sheet]:
    """The tables in their order."""
    from pathformer.experiments.records import PACKAGED, read_records
    from pathformer.experiments.tables.catalogue import COUNTED, MEASURED
    from pathformer.experiments.tables.data import counted_tables
    from pathformer.experiments.tables.measured import check_variant, grid
    from pathformer.experiments.tables.timed import running_time, speeds, speeds_of_runs

    folders = (PACKAGED, results)
    records = read_records(folders)
    if not made_now:
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
            yield running_time(speeds(folders) or speeds_of_runs(records))


def _add(folder: Path, results: Path, variant: str) -> None:
    from pathformer.experiments.keep import record_of

    typer.echo(f"kept as {record_of(folder, variant=variant).write(results)}", err=True)


def _lacking(
    chosen: Sequence[int],
    minutes: float | None,
    variant: str,
    results: Path,
    only: Sequence[str] | None,
    settings: Sequence[str] | None,
) -> list[Box]:
    """The runs that the tables lack."""
    from pathformer.errors import InputError
    from pathformer.experiments.boxes import Box
    from pathformer.experiments.records import PACKAGED, read_records
    from pathformer.experiments.tables.measured import rows_to_run

    if minutes is None:
        raise InputError("--run needs --minutes: the training time of each row")
    runs = rows_to_run(chosen, read_records((PACKAGED, results)), minutes, variant, only)
    return [Box(run=name, minutes=minutes, settings=tuple(settings or ()), variant=variant) for name in runs]


def _run(
    boxes: Sequence[Box], results: Path, total: float | None, *, data: Path | None, device: str, jobs: int
) -> None:
    from pathformer.errors import InputError
    from pathformer.experiments.box import GRACE
    from pathformer.experiments.boxes import fill

    seconds = None if total is None else 60 * total
    spare = GRACE + 2.0 * jobs
    if seconds is not None and seconds <= spare:
        raise InputError(f"--total {total:g} starts nothing: {spare:.0f} s of it are kept for saving")
    filled = fill(boxes, results, results / "work", seconds=seconds, data=data, device=device, jobs=jobs)
    for name, words in filled.failed.items():
        typer.secho(f"{name} failed: {words}", fg=typer.colors.RED, err=True)
    if filled.left:
        typer.echo(f"{len(filled.left)} rows are left; the same command goes on", err=True)


def _draw(sheets: Sequence[Sheet], path: Path) -> None:
    """The one table of MRR among them."""
    from pathformer.experiments.tables.catalogue import MEASURED
    from pathformer.experiments.tables.chart import chart
    from pathformer.experiments.tables.view import Grid

    [table] = (sheet for sheet in sheets if isinstance(sheet, Grid) and sheet.number in MEASURED)
    path.write_text(chart(table), encoding="utf-8")
