"""`pathformer explain`: every stage of a query, as text and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathformer.cli._options import Data, load_graph

if TYPE_CHECKING:
    from pathformer.query.iris import Naming

__all__ = ["command"]


def command(
    query: Annotated[str, typer.Argument(help="A query: a formula, SPARQL, or (with --graph) a tuple of ids.")],
    graph: Annotated[
        str | None, typer.Option("--graph", metavar="DATASET", help="The graph that the names and ids belong to.")
    ] = None,
    data: Data = None,
    syntax: Annotated[
        str | None, typer.Option("--syntax", help="formula, sparql or betae; by default the text decides.")
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw the query into an SVG file.")] = None,
    png: Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Draw the query into a PNG file.")] = None,
) -> None:
    """Show every stage of a query: scope, computation tree, normal form, path and fork queries, other syntaxes.

    Without --graph every name is accepted. A query that cannot be asked is shown up to the stage that refuses it, with
    the reason.

    Examples:

        $ pathformer explain '?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)'

        $ pathformer explain '?c : capital_of(?c, ?n) & borders(?n, Italy)' --graph world --svg query.svg

        $ pathformer explain 'SELECT ?x { :Fellini :directed/:stars ?x MINUS { ?x :won :Oscar } }'
    """
    from pathformer.query.explain import explain
    from pathformer.text import visible

    naming = _naming(graph, data)
    for number, (title, lines) in enumerate(explain(query, naming, syntax)):
        typer.secho(f"{title}" if number == 0 else f"\n{title}", bold=True)
        typer.echo("\n".join(f"  {visible(line)}" for line in lines))
    if svg is not None or png is not None:
        _draw(query, naming, syntax, svg, png)


def _naming(graph: str | None, data: Path | None) -> Naming:
    from pathformer.query.iris import Naming

    if graph is None:
        return Naming()
    return Naming.of(load_graph(graph, data))


def _draw(query: str, naming: Naming, syntax: str | None, svg: Path | None, png: Path | None) -> None:
    from pathformer.query.picture.draw import draw_query, to_png

    picture = draw_query(query, naming, syntax)
    pixels = b"" if png is None else to_png(picture)  # before anything is written: it may be refused
    if svg is not None:
        _save(svg, picture.encode())
    if png is not None:
        _save(png, pixels)


def _save(path: Path, content: bytes) -> None:
    from pathformer.errors import InputError

    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    typer.echo(f"\ndrawn to {path}")
