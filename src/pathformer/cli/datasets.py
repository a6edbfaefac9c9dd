"""`pathformer datasets`: the graphs that are known by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathformer.kg.datasets import Dataset

__all__ = ["command"]


def command(
    data: Annotated[
        Path | None,
        typer.Option(help="The folder that holds datasets; otherwise $PATHFORMER_DATA.", show_default=False),
    ] = None,
) -> None:
    """List the graphs that are known by name: how large they are, and which are there.

    A name stands for a graph wherever a command wants a DATASET; so does the path of a saved graph, a folder or a
    file; `explain`, `sample` and `verify` also take an engine, for the graph that it holds.

    Examples:

        $ pathformer datasets

        $ pathformer datasets --data ~/graphs
    """
    from rich.console import Console
    from rich.table import Table

    from pathformer.kg.datasets import data_folder, datasets

    folder = data_folder(data)
    table = Table(box=None, pad_edge=False)
    table.add_column("name")
    for column in ("entities", "relations", "triples"):
        table.add_column(column, justify="right")
    table.add_column("what it holds")
    table.add_column("where", no_wrap=True)
    there: dict[str, str] = {}
    absent: dict[str, str] = {}
    for name, dataset in datasets().items():
        found = dataset.find(folder)
        if found is None:
            absent[name] = dataset.home
        elif not dataset.bundled:
            there[name] = str(found)
        where = "bundled" if dataset.bundled else "there" if found else "not there"
        table.add_row(name, *_sizes(name, dataset), dataset.title, where)
    Console().print(table)
    _places("there", there)
    _places("not there; get them from", absent)
    _places("licences of the data, as far as they are stated", {name: d.licence for name, d in datasets().items()})
    looked = f"looked under {folder}" + ("" if folder.is_dir() else ", which is no folder") if folder else ""
    typer.echo(f"\n{looked or 'no data folder: set $PATHFORMER_DATA, or give --data'}")


def _places(title: str, places: dict[str, str]) -> None:
    """A path or an address a line, whole however narrow the terminal is: they are there to be copied."""
    if places:
        typer.echo(f"\n{title}:")
        width = max(map(len, places))
        for name, place in places.items():
            typer.echo(f"  {name:{width}}  {place}")


def _sizes(name: str, dataset: Dataset) -> tuple[str, str, str]:
    """Entities, relations, triples; the bundled graph is counted."""
    if dataset.triples is None:
        graph = dataset.load(name, None)
        counts = graph.vocabulary.entity_count, len(graph.vocabulary.relations), graph.triple_count
    else:
        counts = dataset.entities or 0, dataset.relations or 0, sum(dataset.triples)
    return tuple(f"{count:,}" for count in counts)  # type: ignore[return-value]
