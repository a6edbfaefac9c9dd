"""`pathformer datasets`: lists the graphs that are known by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pathformer.cli._options import Data

if TYPE_CHECKING:
    from pathformer.kg.datasets import Dataset

__all__ = ["command"]


def command(
    data: Data = None,
) -> None:
    """List the graphs that are known by name: how large they are, and which ones are on this machine.

    A DATASET in other commands is one of these names, or the path of a saved graph, a folder or a file; `explain`,
    `sample` and `verify` also take an engine and use its graph.

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
        where = "bundled" if dataset.bundled else "here" if found else "not here"
        table.add_row(name, *_sizes(name, dataset), dataset.title, where)
    Console().print(table)
    _print_places("on this machine", there)
    _print_places("not on this machine; get them from", absent)
    _print_places(
        "licences of the data, as far as they are stated", {name: d.licence for name, d in datasets().items()}
    )
    looked = f"looked under {folder}" + ("" if folder.is_dir() else ", which does not exist") if folder else ""
    typer.echo(f"\n{looked or 'no data folder is known: set $PATHFORMER_DATA, or give --data'}")


def _print_places(title: str, places: dict[str, str]) -> None:
    """Prints one path or address on each line, never shortened, so that it can be copied."""
    if places:
        typer.echo(f"\n{title}:")
        width = max(map(len, places))
        for name, place in places.items():
            typer.echo(f"  {name:{width}}  {place}")


def _sizes(name: str, dataset: Dataset) -> tuple[str, str, str]:
    """Returns the numbers of entities, relations and triples; the bundled graph is counted."""
    if dataset.triples is None:
        graph = dataset.load(name, None)
        counts = graph.vocabulary.entity_count, len(graph.vocabulary.relations), graph.triple_count
    else:
        counts = dataset.entities or 0, dataset.relations or 0, sum(dataset.triples)
    return tuple(f"{count:,}" for count in counts)  # type: ignore[return-value]
