"""`pathformer import`: triples of any format to a saved graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathformer.cli import _reading as reading
from pathformer.cli._stop import in_shell
from pathformer.cli._strange import strange
from pathformer.text import counted, visible

if TYPE_CHECKING:
    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["command", "met", "summary", "unread"]

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
_SHOWN = 5  # files that were not read


def command(
    files: Annotated[
        list[Path], typer.Argument(help="Files of triples, or one folder; - for the input.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to make.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="What the graph is called, if not like its file.")] = None,
    format: reading.Format = None,
    columns: reading.Columns = None,
    header: reading.Header = None,
    delimiter: reading.Delimiter = None,
    quote: reading.Quote = None,
    encoding: reading.Encoding = "utf-8",
    names: reading.Names = None,
    names_columns: reading.NamesColumns = None,
    relation_names: reading.RelationNames = None,
    literals: reading.Literals = False,
    skip_bad: reading.SkipBad = False,
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

        $ zcat dump.nt.gz | grep -v '"' | pathformer import - --format ntriples --out links
    """
    from rich.console import Console

    from pathformer.kg.knowledge import KnowledgeGraph
    from pathformer.kg.storage import check_free

    start = perf_counter()
    check_free(out, force=force)
    options = reading.given(
        format=format,
        columns=columns,
        header=header,
        delimiter=delimiter,
        quote=quote,
        encoding=encoding,
        names=names,
        names_columns=names_columns,
        relation_names=relation_names,
        literals=literals,
        skip_bad=skip_bad,
    )
    graph = KnowledgeGraph.read(files[0] if len(files) == 1 else files, name=name, **options, progress=True)
    with Console(stderr=True).status("indexing and saving"):
        graph.save(out, force=force)
    typer.echo(summary(graph, files, **options))
    if line := unread(graph, files):
        typer.echo(line)
    typer.echo(f"saved to {out} in {perf_counter() - start:.1f} s")


def summary(graph: KnowledgeGraph, paths: Sequence[Path], **given: Any) -> str:
    """What a graph holds and what its reader met, a line each.

    paths: that it was read from; given: the options of reading that were.
    """
    splits = ", ".join(f"{split} {len(triples):,}" for split, triples in graph.splits.items())
    inside = f" ({splits})" if len(graph.splits) > 1 else ""
    labels = f", {graph.report.labels:,} with a label" if graph.report.labels else ""
    lines = [
        f"{graph.name}: {counted(graph.triple_count, 'triple')}{inside}",
        f"  {counted(graph.vocabulary.entity_count, 'entity', 'entities')}{labels}",
        f"  {counted(len(graph.vocabulary.relations), 'relation')}",
    ]
    return "\n".join([*lines, *met(graph), *strange(graph, paths, given)])


def met(graph: KnowledgeGraph) -> list[str]:
    """What the reader of a graph merged and left out, a line each."""
    labels = graph.report.literal_labels
    kept = {"literals": f" but for {counted(labels, 'label')}" if labels else ""}
    counts = ((field, what, getattr(graph.report, field)) for field, *what in _MET)
    lines = [f"  {counted(count, *what)}{kept.get(field, '')}" for field, what, count in counts if count]
    return [*lines, *(f"    for example {in_shell(note)}" for note in graph.report.notes)]


def unread(graph: KnowledgeGraph, paths: Sequence[Path]) -> str:
    """What stands in the folder of a graph without labels beside its triples, in a line: it may be they."""
    from pathformer.kg.read import sources

    if graph.report.labels or len(paths) != 1 or not paths[0].is_dir() or isinstance(found := sources(paths[0]), Path):
        return ""
    read = {path.name for files in found.values() for path in files}
    others = sorted(path.name for path in paths[0].iterdir() if path.is_file() and path.name not in read)
    others = [name for name in others if not name.startswith((".", "README", "LICENSE"))]
    shown = ", ".join(map(visible, others[:_SHOWN])) + (", ..." if len(others) > _SHOWN else "")
    return f"  not read: {shown}; where these are labels, say --names or --relation-names" if others else ""
