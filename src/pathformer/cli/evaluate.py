"""`pathformer evaluate`: how good an engine or a trained model is, on questions whose answers it does not know."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathformer.cli._options import ENGINE, Data, Device
from pathformer.cli._score_engine import score_engine
from pathformer.errors import InputError

if TYPE_CHECKING:
    from pathformer.evaluation.engine_report import EngineReport
    from pathformer.evaluation.report import Report

__all__ = ["command"]


def command(
    model: Annotated[Path, typer.Argument(help="An engine, the folder of a run, or one of its .safetensors files.")],
    facts: Annotated[
        str | None,
        typer.Option(
            help="Facts that the engine was not fitted on: a file, or a folder or DATASET, of which the test part is "
            "asked for and the others count as known.",
            show_default=False,
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            help="A folder of queries; of a run also betae, q2b or drawn, by default its own queries.",
            show_default=False,
        ),
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            help="The DATASET that the folder of queries was drawn from; of a run, if its own is not found.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Which part is asked for: valid or test; by default test.", show_default=False)
    ] = None,
    structure: Annotated[
        list[str] | None,
        typer.Option("--structure", "-s", help="A structure (2in); may be repeated. By default all that there are."),
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
    """Score an engine or a trained model on answers that it does not know.

    Of an engine: MRR and Hits@1, 3 and 10 among all entities, beside counting and each source of evidence alone, and
    how far the probabilities hold that `pathformer ask` gives. Facts are asked for in both directions. What the engine
    knows already is left out and counted.

    Of a run: MRR and Hits@1, 3 and 10 of benchmark queries. In a folder, the weights that were best on validation are
    taken if there are any, else the last ones. A checkpoint of another graph is refused.

    Ranks are exact and filtered.

    Examples:

        $ pathformer evaluate films --facts kept-back.tsv

        $ pathformer evaluate films --queries film-queries --graph all-films --format json

        $ pathformer evaluate runs/fb15k-237-epfo

        $ pathformer evaluate runs/fb15k-237-epfo/last.safetensors --queries q2b --format markdown

        $ pathformer evaluate runs/fb15k-237-efol --strict -s 2in -s 3in
    """
    if format not in ("table", "json", "markdown"):
        raise typer.BadParameter(f"--format {format} is not one of table, json, markdown")
    report: Report | EngineReport
    if (model / ENGINE).is_file():
        if (answers, ties, strict, union) != ("hard", "expected", False, None):
            raise InputError("--answers, --ties, --strict and --union are for runs: leave them out to score an engine")
        report = score_engine(model, facts, queries, graph=graph, split=split, structures=structure or (), data=data)
    elif facts is not None:
        raise InputError(f"--facts scores an engine, and {model} is none: `pathformer fit TRIPLES --out DIR` makes one")
    else:
        report = _evaluate_run(
            model,
            queries=queries,
            graph=graph,
            split=split or "test",
            structures=structure,
            answers=answers,
            ties=ties,
            strict=strict,
            union=union,
            data=data,
            device=device,
        )
    _print(report, format)


def _evaluate_run(path: Path, **options: Any) -> Report:
    from rich.console import Console

    from pathformer.experiments.evaluate_run import evaluate_run

    with Console(stderr=True).status("reading") as status:
        return evaluate_run(
            path, progress=lambda name, count: status.update(f"ranked {count:,} queries of {name}"), **options
        )


def _print(report: Report | EngineReport, format: str) -> None:
    from rich.console import Console

    match format:
        case "json":
            typer.echo(report.json())
        case "markdown":
            typer.echo(report.markdown(), nl=False)
        case _:
            Console().print(report.table())
