"""`pathformer verify`: recompute every answer of a benchmark folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathformer.cli._options import Data, load_graph

if TYPE_CHECKING:
    from pathformer.kg.knowledge import KnowledgeGraph
    from pathformer.querysets.queries import StoredQueries
    from pathformer.querysets.query_sets import QuerySets
    from pathformer.querysets.verify import Verdict

__all__ = ["command"]


def command(
    folder: Annotated[Path, typer.Argument(help="Queries in the BetaE or Query2box layout, or ours.")],
    graph: Annotated[
        str | None, typer.Option("--graph", "-g", help="The DATASET they belong to, if the folder does not say.")
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option(help="train, valid or test; may be repeated. All by default.")
    ] = None,
    data: Data = None,
) -> None:
    """Recompute every easy and hard answer of a benchmark folder and report differences, one structure on each line.

    The exit code is 0 only if everything in the folder agrees, and 1 if something differs or nothing can be checked.

    Examples:

        $ pathformer verify wn18rr-qa

        $ pathformer verify FB15k-237-q2b --graph fb15k-237 --split test
    """
    from rich.console import Console

    from pathformer.errors import InputError
    from pathformer.kg.splits import SPLITS
    from pathformer.querysets.query_sets import read_folder
    from pathformer.querysets.verify import verify

    console = Console()
    for name in split or ():
        if name not in SPLITS:
            raise InputError(f"there is no split {name!r}: choose from {', '.join(SPLITS)}")
    found = read_folder(folder, tuple(split) if split else SPLITS)
    if not any(found.splits.values()):
        raise InputError(f"{folder}: holds no queries of {', '.join(split or SPLITS)}")
    kg = _graph(folder, found, graph, data)
    for notice in found.notices:
        console.print(notice, markup=False)
    console.print(f"{found.layout} layout, graph {kg.name}\n", markup=False)
    console.print(f"{'split':6} {'structure':10} {'queries':>9} {'answers':>11}  result")
    verdicts = verify(found, kg, lambda verdict: console.print(_line(verdict), highlight=False))
    _conclude(verdicts)


def _graph(folder: Path, found: QuerySets[StoredQueries], graph: str | None, data: Path | None) -> KnowledgeGraph:
    from pathformer.errors import InputError

    if graph is not None:
        return load_graph(graph, data)
    if found.graph:
        try:
            known = load_graph(found.graph, data)
            found.check_graph(known)
        except InputError as error:  # the name of a saved graph or of an engine's graph is no path
            raise InputError(f"{error}; name the graph that the queries were drawn from with --graph") from error
        return known
    if (folder / "train.txt").is_file():
        return load_graph(folder, data)
    raise InputError(f"{folder}: the folder does not say which graph its queries belong to: name it with --graph")


def _line(verdict: Verdict) -> str:
    head = f"{verdict.split:6} {verdict.structure:10} {verdict.queries:9,} {verdict.answers:11,}  "
    absent = f"; no {' and '.join(verdict.absent)} answers to check" if verdict.absent else ""
    if not verdict.checked:
        return f"{head}[dim]no answer file[/dim]"
    if verdict.agrees:
        return f"{head}[green]agrees[/green] ({', '.join(verdict.checked)}{absent})"
    wrong = ", ".join(f"{n:,} in {what}" for what, n in zip(verdict.checked, verdict.wrong, strict=True) if n)
    return f"{head}[red]differs[/red]: {wrong}{absent}\n{'':39}{verdict.example}"


def _conclude(verdicts: list[Verdict]) -> None:
    checked = [v for v in verdicts if v.checked]
    queries, answers = sum(v.queries for v in checked), sum(v.answers for v in checked)
    typer.echo(f"\n{queries:,} of {sum(v.queries for v in verdicts):,} queries checked, {answers:,} answers")
    for what in ("easy", "hard"):
        absent = [f"{v.split} {v.structure}" for v in verdicts if what in v.absent]
        if absent:
            typer.echo(f"no file of {what} answers, not checked: {', '.join(absent)}")
    if not checked:
        typer.secho("nothing was checked", fg=typer.colors.RED)
        raise typer.Exit(1)
    differing = [v for v in verdicts if not v.agrees]
    if differing:
        typer.secho(f"{sum(max(v.wrong) for v in differing):,} queries differ", fg=typer.colors.RED)
        raise typer.Exit(1)
    typer.secho(
        "all that was checked agrees" if any(v.absent for v in verdicts) else "all agree", fg=typer.colors.GREEN
    )
