"""`pathformer tables`: tables of the paper, paper | ours | difference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from pathformer.experiments.tables.view import View
    from pathformer.kg import KnowledgeGraph

__all__ = ["command"]

AVAILABLE = (9, 10, 11)


def command(
    numbers: Annotated[list[int] | None, typer.Argument(help="Which tables; all that there are by default.")] = None,
    dataset: Annotated[
        list[str] | None, typer.Option("--dataset", "-d", help="fb15k-237 and nell995 by default; may be repeated.")
    ] = None,
    queries: Annotated[
        Path | None, typer.Option(help="A folder of queries of the one dataset; otherwise they are drawn now.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    data: Annotated[Path | None, typer.Option(help="The folder that holds datasets.", show_default=False)] = None,
) -> None:
    """Print tables of the paper from the data at hand, with the paper's figures beside them.

    9: statistics of the graphs, 10: numbers of queries, 11: answers a query. 10 and 11 draw the benchmark by its
    protocol with seed 0 unless --queries names a folder.

    Examples:

        $ pathformer tables 9

        $ pathformer tables 10 11 --dataset fb15k-237 --queries fb-queries
    """
    from rich.console import Console

    from pathformer.errors import InputError
    from pathformer.kg.datasets import load

    chosen = tuple(numbers or AVAILABLE)
    if unknown := [n for n in chosen if n not in AVAILABLE]:
        raise InputError(f"no table {unknown[0]}; there are {', '.join(map(str, AVAILABLE))}")
    names = dataset or ["fb15k-237", "nell995"]
    if queries is not None and len(names) != 1:
        raise InputError("--queries belongs to one graph: name it with --dataset")
    console = Console()
    for name in names:
        for view in _views(chosen, load(name, data), queries):
            _print(console, view, markdown)


def _views(chosen: tuple[int, ...], kg: KnowledgeGraph, queries: Path | None) -> list[View]:
    from pathformer.experiments.tables.data import answers, counts, statistics
    from pathformer.symbolic import Benchmark, sample_benchmark

    views = [statistics(kg)] if 9 in chosen else []
    if {10, 11} & set(chosen):
        splits = ("train", "valid", "test") if 10 in chosen else ("test",)
        drawn = Benchmark.read(queries, kg, splits) if queries else sample_benchmark(kg, splits=splits)
        views += [counts(drawn)] if 10 in chosen else []
        views += [answers(drawn)] if 11 in chosen else []
    return views


def _print(console: Console, view: View, markdown: bool) -> None:
    from rich.table import Table

    if markdown:
        typer.echo(f"{view.to_markdown()}\n")
        return
    table = Table("", box=None, pad_edge=False)
    for column in ("paper", "ours", "difference"):
        table.add_column(column, justify="right")
    for row in view.rows:
        table.add_row(*row.cells())
    console.print(f"[bold]Table {view.number}: {view.title}[/bold]", table, "", sep="\n")
