"""`pathformer import`: triples of any format to a saved graph."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from pathformer.cli._options import ReadOptions, takes_read_options
from pathformer.cli._read_report import summarise

__all__ = ["command"]


@takes_read_options
def command(
    files: Annotated[
        list[Path], typer.Argument(help="Files of triples, or one folder; - reads the input.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to make.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="The name of the graph; by default the name of its file.")] = None,
    *,
    read: ReadOptions,
    force: Annotated[bool, typer.Option("--force", help="Replace the graph that is there.")] = False,
) -> None:
    """Read triples of any format into a saved graph, which opens at once.

    Formats are TSV, CSV, Parquet, N-Triples and Turtle, plain or packed with gzip, xz, zstd or bzip2, and BetaE
    folders. Several files make one graph; files that are called train, valid and test are its splits.

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
    graph = KnowledgeGraph.read(files[0] if len(files) == 1 else files, name=name, **read, progress=True)
    with Console(stderr=True).status("indexing and saving"):
        graph.save(out, force=force)
    typer.echo(summarise(graph, files, read))
    typer.echo(f"saved to {out} in {perf_counter() - start:.1f} s")
