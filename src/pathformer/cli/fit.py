"""`pathformer fit`: from triples to an engine that answers questions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathformer.cli._reading import (
    Columns,
    Delimiter,
    Encoding,
    Format,
    Header,
    Literals,
    Names,
    NamesColumns,
    Quote,
    RelationNames,
    SkipBad,
    chosen_columns,
    chosen_delimiter,
)
from pathformer.cli.import_ import summary
from pathformer.errors import InputError

if TYPE_CHECKING:
    from pathformer.engine.engine import Engine
    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["command"]


def command(
    triples: Annotated[
        list[str] | None,
        typer.Argument(help="Files of triples, a folder, a saved graph, or a known name.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to make for the engine.", show_default=False)
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option(
            help="An engine that learns these triples in addition, without starting over.", show_default=False
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="About how long, in all; by the graph's size if not given.", show_default=False)
    ] = None,
    index: Annotated[str, typer.Option(help="How the nearest entities are found: exact, lsh, hnsw.")] = "exact",
    format: Format = None,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    quote: Quote = None,
    encoding: Encoding = "utf-8",
    names: Names = None,
    names_columns: NamesColumns = None,
    relation_names: RelationNames = None,
    literals: Literals = False,
    skip_bad: SkipBad = False,
    data: Annotated[Path | None, typer.Option(help="The folder that holds datasets.", show_default=False)] = None,
    device: Annotated[str, typer.Option(help="cuda, cuda:1, cpu, or auto.")] = "auto",
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the engine that is there.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget an unfinished fit and start anew.")] = False,
) -> None:
    """Learn a graph: hold a part out, train, calibrate, and write an engine that `pathformer ask` opens.

    Reads what `pathformer import` reads, with the same options. The folder holds everything, with a report (report.md)
    of what was learned and how sure the answers are. After Ctrl-C, a kill or a crash the same command goes on where it
    stopped.

    Examples:

        $ pathformer fit films.tsv --out films

        $ pathformer fit facts.csv.gz --columns subject,predicate,object --minutes 10 --out facts

        $ pathformer fit notes.txt --delimiter ';' --skip-bad --out notes

        $ pathformer fit world --out world --minutes 1

        $ pathformer fit --update films new.tsv
    """
    if not triples:
        example = f"--update {update} new.tsv" if update is not None else f"films.tsv --out {out or 'films'}"
        raise InputError(
            f"no triples to learn are named: a file, a folder or a known graph, as in `pathformer fit {example}`"
        )
    if out is None and update is None:
        raise typer.BadParameter(
            "say where to: --out FOLDER for a new engine, or --update ENGINE for one that is there"
        )
    if out is not None and update is not None:
        raise typer.BadParameter("--out and --update exclude each other: an update is written to the engine itself")
    if update is not None and (index != "exact" or force):
        raise typer.BadParameter(
            "--index and --force go with --out: an update keeps the engine's index, and `pathformer index` changes it"
        )
    _check(minutes, index, device)
    graph = _read(
        triples,
        data,
        {
            "format": format,
            "columns": chosen_columns(columns),
            "header": header,
            "delimiter": chosen_delimiter(delimiter),
            "quote": quote,
            "encoding": None if encoding == "utf-8" else encoding,
            "names": names,
            "names_columns": chosen_columns(names_columns),
            "relation_names": relation_names,
            "literals": literals or None,
            "skip_bad": skip_bad or None,
        },
    )
    typer.echo(summary(graph))
    if update is not None:
        from pathformer.engine.update import update_engine

        engine = update_engine(update, graph, minutes, device=device, seed=seed, fresh=fresh)
    else:
        from pathformer.engine.fit import fit

        engine = fit(graph, minutes, out=out, index=index, device=device, seed=seed, force=force, fresh=fresh)
    _tell(engine, update or out)


def _check(minutes: float | None, index: str, device: str) -> None:
    """Refuse what cannot be before a graph is read, which may take minutes."""
    from pathformer.engine.scale import check_minutes
    from pathformer.index import find
    from pathformer.training.device import choose_device

    check_minutes(minutes)
    find(index)
    choose_device(device)


def _read(triples: list[str], data: Path | None, options: Mapping[str, Any]) -> KnowledgeGraph:
    """The graph; None stands for an option that was not given. A known name stands alone, without any of them."""
    from pathformer.kg.datasets import load
    from pathformer.kg.knowledge import KnowledgeGraph

    given = {option: value for option, value in options.items() if value is not None}
    if len(triples) == 1 and not given:
        return load(triples[0], data)
    _refuse_known(triples, given)
    paths = [Path(name) for name in triples]
    return KnowledgeGraph.read(paths[0] if len(paths) == 1 else paths, **given, progress=True)


def _refuse_known(triples: list[str], given: Mapping[str, Any]) -> None:
    """A known graph is read as it is stored, alone: no option says how, and no file can be joined to it."""
    from pathformer import plugins

    for name in triples:
        if name in plugins.names("pathformer.kg.datasets"):
            spelled = ", ".join(f"--{option.replace('_', '-')}" for option in given)
            other = f"leave out {spelled}" if given else "fit it alone, then add files with --update ENGINE"
            raise InputError(
                f"{name} is a known graph, which is read as it is stored: {other}; "
                f"a file or folder of that name is meant by ./{name}"
            )


def _tell(engine: Engine, folder: Path | None) -> None:
    """The report's figures, and what to type next."""
    from rich.console import Console

    from pathformer.engine.examples import example_questions
    from pathformer.engine.report import FitReport

    console = Console(highlight=False)
    report = FitReport.from_json(engine.files["report.json"].decode())
    if report.scores is not None:
        console.print(report.table())
    console.print(f"The engine is in {folder}, with its report ({folder}/report.md). Ask it:", markup=False)
    for formula in example_questions(engine.kg):
        console.print(f"  pathformer ask {folder} {shlex.quote(formula)}", markup=False, soft_wrap=True)
