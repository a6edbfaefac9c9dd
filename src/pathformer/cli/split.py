"""`pathformer split`: divides a graph into train, valid and test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["command"]


def command(
    folder: Annotated[Path, typer.Argument(help="A saved graph, as `pathformer import` makes it.", show_default=False)],
    valid: Annotated[float, typer.Option(help="The fraction of the triples for valid.")] = 0.1,
    test: Annotated[float, typer.Option(help="The fraction of the triples for test.")] = 0.1,
    seed: Annotated[int, typer.Option(help="The same seed draws the same triples.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new folder to write, instead of changing this one.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Divide a graph that has splits already; replace an existing --out.")
    ] = False,
) -> None:
    """Divide the triples of a saved graph into train, valid and test.

    Triples are drawn at random, but train keeps every entity and every relation; if the graph cannot spare as many
    triples as you ask for, fewer are taken, and the summary says so. Triples that state the same, as those of a
    relation and its inverse, go to the same part.

    Examples:

        $ pathformer split films

        $ pathformer split films --valid 0.05 --test 0.05 --seed 7 --out films-split
    """
    from pathformer.errors import InputError
    from pathformer.kg.holdout import count_restated
    from pathformer.kg.knowledge import KnowledgeGraph
    from pathformer.kg.restatements import describe
    from pathformer.kg.storage import check_free
    from pathformer.text import counted, visible

    if out is not None:
        check_free(out, force=force)
    graph = KnowledgeGraph.open(folder)
    if len(graph.splits) > 1 and not force:
        raise InputError(f"{folder} has splits already ({', '.join(graph.splits)}): add --force to divide it again")
    divided = graph.split(valid, test, seed=seed)
    divided.save(out or folder, force=out is None or force)
    typer.echo(f"{divided.name}: {divided.triple_count:,} triples, seed {seed}")
    for split, wanted in (("train", None), ("valid", valid), ("test", test)):
        if split in divided.splits:
            typer.echo(_line(split, len(divided.splits[split]), divided.triple_count, wanted))
    if restatements := divided.restatements():
        together, _ = count_restated(divided)
        typer.echo(f"  {visible(describe(restatements, divided.vocabulary))}:")
        typer.echo(f"  {counted(together, 'triple')} left train together with those that state the same")
    typer.echo(f"saved to {out or folder}")


def _line(split: str, count: int, total: int, wanted: float | None) -> str:
    line = f"  {split:<5} {count:>12,}  {100 * count / total:5.1f} %"
    short = wanted is not None and count < int(wanted * total)
    return (
        f"{line}  (fewer than you asked for: train needs the other triples, so that it keeps every name)"
        if short
        else line
    )
