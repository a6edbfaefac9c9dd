"""`pathformer import`: triples of any format to a saved graph."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["chosen_columns", "command", "summary"]

_SIGNS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
_MET = (  # counts of the report, what one is called and what several are
    ("duplicates", "repeated line, merged", "repeated lines, merged"),
    (
        "repeated",
        "triple of a later split that an earlier one has, dropped",
        "triples of a later split that an earlier one has, dropped",
    ),
    ("unseen", "triple with a name that train lacks, dropped", "triples with a name that train lacks, dropped"),
    ("literals", "RDF literal, left out", "RDF literals, left out"),
    ("skipped", "bad line, skipped", "bad lines, skipped"),
)


def command(
    files: Annotated[list[Path], typer.Argument(help="Files of triples, or one folder.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to make.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="What the graph is called, if not like its file.")] = None,
    format: Annotated[
        str | None, typer.Option(help="tsv, csv, parquet, ntriples or turtle, where the ending does not tell.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Head, relation and tail: names of a header, or numbers from 1.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line is one; told by its words if not said."),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Between columns: one sign, or tab, space, comma, pipe.")
    ] = None,
    quote: Annotated[
        str | None, typer.Option(help="Around names that hold the delimiter; '' for none (TSV), '\"' for CSV.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of text files.")] = "utf-8",
    names: Annotated[Path | None, typer.Option(help="Labels of entities: a name and a label a line, or JSON.")] = None,
    names_columns: Annotated[str | None, typer.Option(help="Which two columns of --names.")] = None,
    relation_names: Annotated[Path | None, typer.Option(help="Labels of relations.")] = None,
    literals: Annotated[bool, typer.Option("--literals", help="Keep RDF literals as entities.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad lines out and count them.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the graph that is there.")] = False,
) -> None:
    """Read triples of any format into a saved graph, which opens at once.

    TSV, CSV, Parquet, N-Triples and Turtle, plain or packed with gzip, xz, zstd or bzip2, and BetaE folders. Several
    files make one graph; files that are called train, valid and test are its splits.

    Examples:

        $ pathformer import films.tsv --out films

        $ pathformer import facts.csv.gz --columns subject,predicate,object --names labels.tsv --out facts

        $ pathformer import train.txt valid.txt test.txt --out benchmark

        $ pathformer import dump.nt.zst more.ttl --skip-bad --out dump
    """
    from rich.console import Console

    from pathformer.kg.knowledge import KnowledgeGraph
    from pathformer.kg.storage import check_free

    start = perf_counter()
    check_free(out, force=force)
    graph = KnowledgeGraph.read(
        files[0] if len(files) == 1 else files,
        name=name,
        format=format,
        columns=chosen_columns(columns),
        header=header,
        delimiter=_SIGNS.get(delimiter or "", delimiter),
        quote=quote,
        encoding=encoding,
        names=names,
        names_columns=chosen_columns(names_columns),
        relation_names=relation_names,
        literals=literals,
        skip_bad=skip_bad,
        progress=True,
    )
    with Console(stderr=True).status("indexing and saving"):
        graph.save(out, force=force)
    typer.echo(summary(graph))
    typer.echo(f"saved to {out} in {perf_counter() - start:.1f} s")


def summary(graph: KnowledgeGraph) -> str:
    """What a graph holds and what its reader met, a line each."""
    splits = ", ".join(f"{split} {len(triples):,}" for split, triples in graph.splits.items())
    inside = f" ({splits})" if len(graph.splits) > 1 else ""
    labels = f", {graph.report.labels:,} with a label" if graph.report.labels else ""
    lines = [
        f"{graph.name}: {_counted(graph.triple_count, 'triple', 'triples')}{inside}",
        f"  {_counted(graph.vocabulary.entity_count, 'entity', 'entities')}{labels}",
        f"  {_counted(len(graph.vocabulary.relations), 'relation', 'relations')}",
    ]
    lines += [f"  {_counted(count, *what)}" for field, *what in _MET if (count := getattr(graph.report, field))]
    return "\n".join([*lines, *(f"    for example {note}" for note in graph.report.notes)])


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def chosen_columns(text: str | None) -> tuple[str | int, ...] | None:
    """Columns as they are written on the command line."""
    if text is None:
        return None
    return tuple(int(part) if part.isdecimal() else part for part in map(str.strip, text.split(",")))
