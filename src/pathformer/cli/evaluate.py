"""`pathformer evaluate`: filtered MRR and Hits@k of a trained model, one structure on each line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathformer.cli._options import Data, Device

__all__ = ["command"]


def command(
    checkpoint: Annotated[Path, typer.Argument(help="A run's folder, or one of its .safetensors files.")],
    queries: Annotated[
        str | None,
        typer.Option(help="A folder of queries, or betae, q2b, drawn; by default the queries of the run."),
    ] = None,
    graph: Annotated[
        str | None, typer.Option(help="The dataset to use if the checkpoint's own is not found.", show_default=False)
    ] = None,
    split: Annotated[str, typer.Option(help="valid or test.")] = "test",
    structure: Annotated[
        list[str] | None,
        typer.Option(
            "--structure", "-s", help="A structure (2in); may be repeated. By default the structures of the run."
        ),
    ] = None,
    answers: Annotated[
        str, typer.Option(help="hard: answers that need a missing link; easy: answers that the smaller graph gives.")
    ] = "hard",
    ties: Annotated[
        str, typer.Option(help="How equal distances are ranked: expected, optimistic, mean or pessimistic.")
    ] = "expected",
    strict: Annotated[
        bool, typer.Option("--strict", help="Rank negation against all entities outside the larger graph's answers.")
    ] = False,
    union: Annotated[
        str | None,
        typer.Option(help="How unions are answered: dnf, native or demorgan; by default as the method says."),
    ] = None,
    format: Annotated[str, typer.Option(help="table, json or markdown.")] = "table",
    data: Data = None,
    device: Device = "auto",
) -> None:
    """Rank the answers of benchmark queries among all entities and print MRR and Hits@1, 3 and 10.

    Ranks are exact and filtered. In a folder, the weights that were best on validation are taken if there are any, else
    the last ones. A checkpoint of another graph is refused.

    Examples:

        $ pathformer evaluate runs/fb15k-237-epfo

        $ pathformer evaluate runs/fb15k-237-epfo/last.safetensors --queries q2b --format markdown

        $ pathformer evaluate runs/fb15k-237-efol --strict -s 2in -s 3in
    """
    from rich.console import Console

    from pathformer.experiments.evaluate_run import evaluate_run

    if format not in ("table", "json", "markdown"):
        raise typer.BadParameter(f"--format {format} is not one of table, json, markdown")

    with Console(stderr=True).status("reading") as status:
        report = evaluate_run(
            checkpoint,
            queries=queries,
            graph=graph,
            split=split,
            structures=structure,
            answers=answers,
            ties=ties,
            strict=strict,
            union=union,
            data=data,
            device=device,
            progress=lambda name, count: status.update(f"ranked {count:,} queries of {name}"),
        )
    match format:
        case "json":
            typer.echo(report.json())
        case "markdown":
            typer.echo(report.markdown(), nl=False)
        case _:
            Console().print(report.table())
