"""`pathformer fit`: from triples to an engine that answers questions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathformer.cli._options import Data, Device, ReadOptions, is_known_graph, takes_read_options
from pathformer.cli._read_report import summarise
from pathformer.errors import InputError

if TYPE_CHECKING:
    from pathformer.engine.engine import Engine
    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["command", "print_result"]

_LABELS = ("names", "names_columns", "relation_names")  # options of reading that say nothing of what is taken away


@takes_read_options
def command(
    triples: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files of triples (- reads the input), a folder, a saved graph, or the name of a dataset.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to make for the engine.", show_default=False)
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option(
            help="An engine that is to learn these triples in addition, without starting over.", show_default=False
        ),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(help="With --update: a file of triples to take away; may be repeated.", show_default=False),
    ] = None,
    no_train: Annotated[
        bool,
        typer.Option(
            "--no-train",
            help="With --update: change known answers, proofs and evidence in seconds; the next update trains.",
        ),
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="About how long the whole command may take; by default the graph's size decides.", show_default=False
        ),
    ] = None,
    index: Annotated[str, typer.Option(help="How the nearest entities are found: exact, lsh, hnsw.")] = "exact",
    *,
    read: ReadOptions,
    data: Data = None,
    device: Device = "auto",
    seed: Annotated[int, typer.Option(help="The seed of everything that is drawn.")] = 0,
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

        $ pathformer fit --update films --remove wrong.tsv --no-train
    """
    named = triples or []
    waits = update is not None and not no_train and _has_untrained(update)
    if not (named or remove or waits):
        raise _no_triples(out, update)
    if update is None and (remove or no_train):
        raise typer.BadParameter("--remove and --no-train change an engine: name it with --update ENGINE")
    if no_train and minutes is not None:
        raise typer.BadParameter("--no-train takes seconds, whatever the graph: leave out --minutes")
    _check_target(out, update, index=index, force=force)
    _check_options(minutes, index, device, seed)
    if out is not None:
        _check_output(out, force=force)
    if update is not None:
        _check_engine(update)
    more = _read_told(named, data, read) if named else None
    if update is None:
        from pathformer.fitting.fit import fit

        assert more is not None
        engine = fit(more, minutes, out=out, index=index, device=device, seed=seed, force=force, fresh=fresh)
        print_result(engine, out)
        return
    from pathformer.fitting.update import update as change

    unlabelled = {option: value for option, value in read.items() if option not in _LABELS}
    less = _read_told(remove, data, unlabelled) if remove else None
    engine = change(update, more, minutes, remove=less, train=not no_train, device=device, seed=seed, fresh=fresh)
    print_result(engine, update, figures=not no_train)


def _read_told(named: list[str], data: Path | None, read: Mapping[str, Any]) -> KnowledgeGraph:
    """Reads a graph, and prints what was read."""
    graph = _read(named, data, read)
    paths = [Path(name) for name in named if not is_known_graph(name)]
    typer.echo(summarise(graph, paths, read))
    return graph


def _has_untrained(engine: Path) -> bool:
    """Whether an engine holds changes that no training has learned."""
    from pathformer.engine.storage import UNTRAINED

    return (engine / UNTRAINED).is_file()


def _no_triples(out: Path | None, update: Path | None) -> InputError:
    """Returns the error of a command without triples."""
    example = f"--update {update} new.tsv" if update is not None else f"films.tsv --out {out or 'films'}"
    return InputError(
        f"there are no triples to learn: name a file, a folder or a dataset, as in `pathformer fit {example}`"
    )


def _check_target(out: Path | None, update: Path | None, *, index: str, force: bool) -> None:
    """Fails unless an engine is either made or updated."""
    if out is None and update is None:
        raise typer.BadParameter(
            "there is no place for the result: give --out FOLDER for a new engine, or --update ENGINE to extend one"
        )
    if out is not None and update is not None:
        raise typer.BadParameter(
            "--out and --update exclude each other: an update changes the engine itself, so leave out --out"
        )
    if update is not None and (index != "exact" or force):
        raise typer.BadParameter(
            "--index and --force go with --out: an update keeps the engine's index, and `pathformer index` changes it"
        )


def _check_options(minutes: float | None, index: str, device: str, seed: int) -> None:
    """Refuses impossible options before the graph is read, which may take minutes."""
    from pathformer.fitting.settings import check_minutes
    from pathformer.index._base import find
    from pathformer.kg.holdout import check_seed
    from pathformer.nn.device import choose_device

    check_minutes(minutes)
    check_seed(seed)
    find(index)
    choose_device(device)


def _check_output(out: Path, *, force: bool) -> None:
    from pathformer.engine.storage import HEADER
    from pathformer.files.atomic import check_target

    check_target(out, HEADER, force=force)


def _check_engine(folder: Path) -> None:
    """Fails if the folder holds no engine; opening one takes no time."""
    from pathformer.engine.engine import load

    load(folder)


def _read(triples: list[str], data: Path | None, given: Mapping[str, Any]) -> KnowledgeGraph:
    """Reads the graph; the name of a dataset stands alone, without options of reading."""
    from pathformer.kg.datasets import load
    from pathformer.kg.knowledge import KnowledgeGraph

    if len(triples) == 1 and not given:
        return load(triples[0], data)
    _refuse_known(triples, given)
    paths = [Path(name) for name in triples]
    return KnowledgeGraph.read(paths[0] if len(paths) == 1 else paths, **given, progress=True)


def _refuse_known(triples: list[str], given: Mapping[str, Any]) -> None:
    """Refuses the name of a dataset beside other triples or options of reading."""
    for name in triples:
        if is_known_graph(name):
            spelled = ", ".join(f"--{option.replace('_', '-')}" for option in given)
            other = f"leave out {spelled}" if given else "fit it alone, then add files with --update ENGINE"
            raise InputError(
                f"{name} is the name of a dataset, which is read as it is stored: {other}. "
                f"For a file or folder of that name write ./{name}"
            )


def print_result(engine: Engine, folder: Path | None, *, figures: bool = True) -> None:
    """Prints the figures of the report, and questions to ask next."""
    from rich.console import Console

    from pathformer.fitting.demo import example_questions
    from pathformer.fitting.report import FitReport
    from pathformer.text import visible

    console = Console(highlight=False)
    report = FitReport.from_json(engine.files["report.json"].decode()) if figures else None
    if report is not None and report.scores is not None:
        console.print(report.table())
    if report is not None and report.links is not None:
        console.print(report.links.sentence(), markup=False, soft_wrap=True)
    told = f", with its report ({folder}/report.md)" if "report.md" in engine.files else ""
    console.print(f"The engine is in {folder}{told}. Ask it:", markup=False, soft_wrap=True)
    for formula in example_questions(engine.kg):
        asked = visible(f"  pathformer ask {shlex.quote(str(folder))} {shlex.quote(formula)}")
        console.print(asked, markup=False, soft_wrap=True)
