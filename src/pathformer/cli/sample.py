"""`pathformer sample`: benchmark queries with easy and hard answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathformer.cli._options import Data, load_graph

if TYPE_CHECKING:
    from rich.console import Console

    from pathformer.kg.knowledge import KnowledgeGraph
    from pathformer.query.structures import Structure
    from pathformer.querysets.protocol import Protocol
    from pathformer.querysets.queries import Queries
    from pathformer.querysets.query_sets import QuerySets

__all__ = ["command"]


def command(
    dataset: Annotated[
        str, typer.Argument(help="The name of a dataset, a saved graph, an engine, or a folder of splits.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to make.", show_default=False)],
    structure: Annotated[
        list[str] | None,
        typer.Option("--structure", "-s", help="A structure (2in) or a shape of your own; may be repeated."),
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option(help="train, valid or test; may be repeated. All by default.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="How many valid and test queries of each structure except 1p.", min=1)
    ] = None,
    train_count: Annotated[int | None, typer.Option(help="How many training queries of each structure.", min=1)] = None,
    limit: Annotated[
        int | None,
        typer.Option(help="Most hard (or vanished) answers of a valid or test query; 0 for no limit.", min=0),
    ] = None,
    train_limit: Annotated[
        int | None, typer.Option(help="Most answers of a training query; no limit by default.", min=1)
    ] = None,
    backward: Annotated[
        bool, typer.Option("--backward", help="Walk training chains from the answer, not from the anchor.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The seed of everything that is drawn.")] = 0,
    layout: Annotated[str, typer.Option(help="columns (ours) or betae (pickles for other people's code).")] = "columns",
    data: Data = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing folder.")] = False,
) -> None:
    """Draw queries of the fourteen structures, or of any shape, with all their answers.

    The published protocol is followed: random walks backwards from an answer, no duplicates, hard answers up to a
    limit; all one-hop queries (1p) are taken. The same seed draws the same queries on any number of cores
    (PATHFORMER_THREADS).

    Examples:

        $ pathformer sample fb15k-237 --out fb-queries

        $ pathformer sample mygraph --split test --structure 2p --structure "((e,(r,r)),(e,(r,n)))" --out q

        $ pathformer sample nell995 --layout betae --out nell-betae
    """
    from rich.console import Console

    from pathformer.files.scratch import scratch_folder
    from pathformer.query.structures import structure as read_structure
    from pathformer.querysets.query_sets import check_output

    console = Console(stderr=True)
    check_output(out, layout, force=force)
    structures = tuple(map(read_structure, structure)) if structure else None
    kg = load_graph(dataset, data)
    protocol = _protocol(kg, seed, count, train_count, limit, train_limit, backward)
    splits = _splits(kg, split)
    with scratch_folder(beside=out) as spool:
        benchmark = _draw(kg, protocol, splits, structures, console, spool)
        benchmark.save(out, layout, kg=kg, force=force)
        _summary(benchmark, out)


def _protocol(
    kg: KnowledgeGraph,
    seed: int,
    count: int | None,
    train_count: int | None,
    limit: int | None,
    train_limit: int | None,
    backward: bool,
) -> Protocol:
    from pathformer.querysets.protocol import protocol_for

    chosen = replace(protocol_for(kg), seed=seed, train_limit=train_limit, backward=backward)
    if count is not None:
        chosen = replace(chosen, evaluated=count)
    if train_count is not None:
        chosen = replace(chosen, train=train_count, train_negated=train_count)
    if limit is not None:
        chosen = replace(chosen, limit=limit or None)
    return chosen


def _splits(kg: KnowledgeGraph, chosen: list[str] | None) -> tuple[str, ...]:
    from pathformer.errors import InputError

    for split in chosen or ():
        if split not in kg.splits:
            raise InputError(
                f"the graph {kg.name!r} has no {split!r} split, only {', '.join(kg.splits)}: "
                "make more with `pathformer split`"
            )
    if not chosen and tuple(kg.splits) == ("train",):
        typer.echo(
            "the graph has no valid and test splits, so only training queries are drawn; "
            "make the splits with `pathformer split`",
            err=True,
        )
    return tuple(chosen or kg.splits)


def _draw(
    kg: KnowledgeGraph,
    protocol: Protocol,
    splits: tuple[str, ...],
    structures: tuple[Structure, ...] | None,
    console: Console,
    spool: Path,
) -> QuerySets[Queries]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    from pathformer.querysets.protocol import sample_benchmark

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        tasks: dict[tuple[str, str], TaskID] = {}

        def show(split: str, structure: Structure, drawn: int, wanted: int) -> None:
            key = (split, structure.name)
            if key not in tasks:
                tasks[key] = progress.add_task(f"{split} {structure}", total=wanted, rate="")
            progress.update(tasks[key], completed=drawn)
            speed = progress.tasks[tasks[key]].speed
            progress.update(tasks[key], rate=f"{speed:,.0f}/s" if speed else "", visible=drawn < wanted)

        chosen = dict.fromkeys(splits, structures) if structures else None
        return sample_benchmark(kg, protocol, splits=splits, structures=chosen, progress=show, spool=spool)


def _summary(benchmark: QuerySets[Queries], out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("split")
    table.add_column("structure")
    for column in ("queries", "easy answers", "hard answers"):
        table.add_column(column, justify="right")
    for split, queries_of in benchmark.splits.items():
        for name, queries in queries_of.items():
            easy, hard = (f"{r.counts.mean():.1f}" if len(queries) else "-" for r in (queries.easy, queries.hard))
            table.add_row(split, name, f"{len(queries):,}", easy, hard if split != "train" else "")
    console = Console()
    console.print(table)
    total = sum(len(q) for queries_of in benchmark.splits.values() for q in queries_of.values())
    console.print(f"\n{total:,} queries of {benchmark.graph} in {out}; answers are means of a query", markup=False)
    wanted = benchmark.origin["drawn"]["evaluated"]
    short = [
        f"{split} {name} ({len(queries):,})"
        for split, queries_of in benchmark.splits.items()
        for name, queries in queries_of.items()
        if split != "train" and name != "1p" and wanted and len(queries) < wanted
    ]
    if short:
        console.print(f"the graph seems to hold no more queries of {', '.join(short)}")
