"""`pathformer import`: triples of any format to a saved graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from pathformer.cli import _reading as reading
from pathformer.words import counted, visible

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
_COMPARED = 200_000  # names up to which those that look alike are looked for, in about a tenth of a second
_SEVERAL = 20  # triples from which on a line that shares nothing with the others is strange


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
    typer.echo(summary(graph, files, format=format, header=header))
    if line := unread(graph, files):
        typer.echo(line)
    typer.echo(f"saved to {out} in {perf_counter() - start:.1f} s")


def summary(
    graph: KnowledgeGraph, paths: Sequence[Path], *, format: str | None = None, header: bool | None = None
) -> str:
    """What a graph holds and what its reader met, a line each.

    paths: that it was read from; format, header: what was said of them, and of their first lines.
    """
    splits = ", ".join(f"{split} {len(triples):,}" for split, triples in graph.splits.items())
    inside = f" ({splits})" if len(graph.splits) > 1 else ""
    labels = f", {graph.report.labels:,} with a label" if graph.report.labels else ""
    lines = [
        f"{graph.name}: {counted(graph.triple_count, 'triple')}{inside}",
        f"  {counted(graph.vocabulary.entity_count, 'entity', 'entities')}{labels}",
        f"  {counted(len(graph.vocabulary.relations), 'relation')}",
    ]
    lines += [*met(graph), *(_first_triple(graph, paths, format) if header is None else ())]
    return "\n".join([*lines, *(_twins(graph) if _files(paths) else ())])


def met(graph: KnowledgeGraph) -> list[str]:
    """What the reader of a graph merged and left out, a line each."""
    labels = graph.report.literal_labels
    kept = {"literals": f" but for {counted(labels, 'label')}" if labels else ""}
    counts = ((field, what, getattr(graph.report, field)) for field, *what in _MET)
    lines = [f"  {counted(count, *what)}{kept.get(field, '')}" for field, what, count in counts if count]
    return [*lines, *(f"    for example {note}" for note in graph.report.notes)]


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


def _twins(graph: KnowledgeGraph) -> Iterator[str]:
    """Names of different things that a person would hardly tell apart, with the first two of them."""
    from pathformer.kg.names import fold

    vocabulary = graph.vocabulary
    for names, *what in ((vocabulary.entities, "entity", "entities"), (vocabulary.relations, "relation", "relations")):
        if len(names) > _COMPARED:
            continue
        first: dict[str, str] = {}
        twins = [(other, name) for name in names if (other := first.setdefault(fold(name), name)) != name]
        if twins:
            one, other = map(visible, twins[0])
            count = f"{counted(len(twins), *what)} {'differs' if len(twins) == 1 else 'differ'} from another"
            yield f"  {count} only in case, or in how accents are encoded: {one} and {other}"


def _first_triple(graph: KnowledgeGraph, paths: Sequence[Path], format: str | None) -> Iterator[str]:
    """Where it may be a header in words of its own: none of its three names stands in another triple."""
    train, names = graph.splits["train"], graph.vocabulary
    if graph.triple_count < _SEVERAL or not ((train == (0, 0, 1)).all(axis=1)).any():
        return  # ids are in the order of reading
    ends, relations = train[:, ::2], train[:, 1] >> 1
    first = names.entity(0), names.relation(0), names.entity(1)
    alone = (ends <= 1).sum() == 2 and (relations == 0).sum() == 1
    if alone and not any("://" in name for name in first) and (advice := _headed(paths, format)):
        told = ", ".join(map(visible, first))
        yield f"  the first triple shares no name with the others: {told}. If it is a header, {advice}"


def _headed(paths: Sequence[Path], format: str | None) -> str:
    """What the format of the first file advises about a header; nothing of a graph that is known by name or saved."""
    from pathformer.kg.formats import file_format

    return file_format(files[0], format).headed if (files := _files(paths)) else ""


def _files(paths: Sequence[Path]) -> list[Path]:
    """The files that train was read from; none of a graph that is known by name or saved."""
    from pathformer.kg.pipes import is_pipe
    from pathformer.kg.read import sources

    if not all(path.exists() or is_pipe(path) for path in paths):
        return []
    found = sources(paths[0] if len(paths) == 1 else paths)
    return [] if isinstance(found, Path) else found["train"]
