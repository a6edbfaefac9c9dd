"""`pathformer fit`: from triples to an engine that answers questions."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathformer.engine.engine import Engine
    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["command"]


def command(
    triples: Annotated[
        list[str],
        typer.Argument(help="Files of triples, a folder, a saved graph, or a known name.", show_default=False),
    ],
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
    names: Annotated[Path | None, typer.Option(help="Labels of entities: a name and a label a line, or JSON.")] = None,
    columns: Annotated[
        str | None, typer.Option(help="Head, relation and tail: names of a header, or numbers from 1.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The folder that holds datasets.", show_default=False)] = None,
    device: Annotated[str, typer.Option(help="cuda, cuda:1, cpu, or auto.")] = "auto",
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the engine that is there.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget an unfinished fit and start anew.")] = False,
) -> None:
    """Learn a graph: hold a part out, train, calibrate, and write an engine that `pathformer ask` opens.

    Reads what `pathformer import` reads. The folder holds everything, with a report (report.md) of what was learned
    and how sure the answers are. After Ctrl-C, a kill or a crash the same command goes on where it stopped.

    Examples:

        $ pathformer fit films.tsv --out films

        $ pathformer fit facts.csv.gz --columns subject,predicate,object --minutes 10 --out facts

        $ pathformer fit world --out world --minutes 1

        $ pathformer fit --update films new.tsv
    """
    if (out is None) == (update is None):
        raise typer.BadParameter(
            "say where to: --out FOLDER for a new engine, or --update ENGINE for one that is there"
        )
    graph = _read(triples, names, columns, data)
    if update is not None:
        from pathformer.engine.update import update_engine

        engine = update_engine(update, graph, minutes, device=device, seed=seed, fresh=fresh)
    else:
        from pathformer.engine.fit import fit

        engine = fit(graph, minutes, out=out, index=index, device=device, seed=seed, force=force, fresh=fresh)
    _tell(engine, update or out)


def _read(triples: list[str], names: Path | None, columns: str | None, data: Path | None) -> KnowledgeGraph:
    from pathformer.cli.import_ import chosen_columns
    from pathformer.kg.datasets import load
    from pathformer.kg.knowledge import KnowledgeGraph

    if len(triples) == 1 and names is None and columns is None:
        return load(triples[0], data)
    paths = [Path(name) for name in triples]
    return KnowledgeGraph.read(
        paths[0] if len(paths) == 1 else paths, names=names, columns=chosen_columns(columns), progress=True
    )


def _tell(engine: Engine, folder: Path | None) -> None:
    """The report's figures, and what to type next."""
    from rich.console import Console

    from pathformer.engine.report import FitReport

    console = Console(highlight=False)
    report = FitReport.from_json(engine.files["report.json"].decode())
    if report.scores is not None:
        console.print(report.table())
    console.print(f"The engine is in {folder}, with its report ({folder}/report.md). Ask it:", markup=False)
    for formula in _examples(engine.kg):
        console.print(f"  pathformer ask {folder} {shlex.quote(formula)}", markup=False, soft_wrap=True)


def _examples(kg: KnowledgeGraph) -> tuple[str, str]:
    """Two questions about a triple of the graph, one in each direction."""
    from pathformer.query.ast import Atom, Constant, Query, Variable
    from pathformer.query.parse import write

    names, answer = kg.vocabulary, Variable("x")
    head, relation, tail = map(int, kg.splits["train"][0])
    atoms = (
        Atom(names.relation(relation), Constant(names.entity(head)), answer),
        Atom(names.relation(relation), answer, Constant(names.entity(tail))),
    )
    first, second = (write(Query(answer, atom)) for atom in atoms)
    return first, second
