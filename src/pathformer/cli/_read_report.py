"""Lines about a graph that was read from files: its size, what was left out, and names that look like mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathformer.cli._shell import without_python
from pathformer.text import counted, visible

if TYPE_CHECKING:
    from pathformer.kg.formats._registry import FileFormat
    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["summarise"]

_COUNTS = (  # counts of the reader's report, and what one and several are called
    ("duplicates", "repeated line, merged", "repeated lines, merged"),
    (
        "repeated",
        "triple of a later split is in an earlier split, dropped",
        "triples of a later split are in an earlier split, dropped",
    ),
    ("unseen", "triple has a name that train lacks, dropped", "triples have a name that train lacks, dropped"),
    ("literals", "RDF literal, left out", "RDF literals, left out"),
    ("skipped", "bad line, skipped", "bad lines, skipped"),
)
_SHOWN = 5  # files that were not read
_COMPARED = 200_000  # names up to which they are looked at, in about a tenth of a second
_SEVERAL = 20  # triples from which on a line that shares nothing with the others is strange
_ENDS = 100  # letters that are shown of a long name's beginning, and of its end
_FIRST = (0, 0, 1)  # ids are in the order of reading


def summarise(graph: KnowledgeGraph, paths: Sequence[Path], read: Mapping[str, Any]) -> str:
    """Says what a graph holds, what its reader left out, and which names look like mistakes.

    paths: the files that it was read from; read: the options of reading that were given.
    """
    splits = ", ".join(f"{split} {len(triples):,}" for split, triples in graph.splits.items())
    inside = f" ({splits})" if len(graph.splits) > 1 else ""
    labels = f", {graph.report.labels:,} with a label" if graph.report.labels else ""
    lines = [
        f"{graph.name}: {counted(graph.triple_count, 'triple')}{inside}",
        f"  {counted(graph.vocabulary.entity_count, 'entity', 'entities')}{labels}",
        f"  {counted(len(graph.vocabulary.relations), 'relation')}",
    ]
    lines += [*_left_out(graph), *_find_suspicious_names(graph, paths, read), *_unread_files(graph, paths)]
    return "\n".join(lines)


def _left_out(graph: KnowledgeGraph) -> list[str]:
    """Says what the reader merged and left out."""
    labels = graph.report.literal_labels
    kept = {"literals": f" but for {counted(labels, 'label')}" if labels else ""}
    counts = ((field, what, getattr(graph.report, field)) for field, *what in _COUNTS)
    lines = [f"  {counted(count, *what)}{kept.get(field, '')}" for field, what, count in counts if count]
    return [*lines, *(f"    for example {without_python(note)}" for note in graph.report.notes)]


def _unread_files(graph: KnowledgeGraph, paths: Sequence[Path]) -> Iterator[str]:
    """Names files beside the triples of a folder without labels: they may hold them."""
    from pathformer.kg.read import sources

    if graph.report.labels or len(paths) != 1 or not paths[0].is_dir() or isinstance(found := sources(paths[0]), Path):
        return
    read = {path.name for files in found.values() for path in files}
    others = sorted(path.name for path in paths[0].iterdir() if path.is_file() and path.name not in read)
    others = [name for name in others if not name.startswith((".", "README", "LICENSE"))]
    if others:
        shown = ", ".join(map(visible, others[:_SHOWN])) + (", ..." if len(others) > _SHOWN else "")
        yield f"  not read: {shown}. If these are labels, give them with --names or --relation-names"


def _find_suspicious_names(graph: KnowledgeGraph, paths: Sequence[Path], given: Mapping[str, Any]) -> Iterator[str]:
    """Warns of names that were perhaps meant otherwise; a saved graph or a dataset gives no warning.

    given: the options of reading that were given; what they settle is not warned of.
    """
    layout = _format_of(paths, given.get("format"))
    if layout is None:
        return
    numbered = all(isinstance(column, int) for column in given.get("columns", ("",)))  # no header is looked for then
    if layout.headed and "header" not in given:
        yield from _warn_of_header(graph, layout, numbered=numbered)
    yield from _warn_of_later_headers(graph, first=given.get("header", not numbered))
    if layout.quoted and "quote" not in given:
        yield from _warn_of_quotes(graph, layout)
    yield from _warn_of_similar_names(graph)


def _warn_of_header(graph: KnowledgeGraph, layout: FileFormat, *, numbered: bool) -> Iterator[str]:
    """Warns if the first triple may be a header: no other triple has its words, or they are well known."""
    train = graph.splits["train"]
    if not (train == _FIRST).all(axis=1).any():
        return
    first = _words(graph, _FIRST)
    sentence = f"{', '.join(map(_shown, first))}. If it is a header, {layout.headed}"
    alone = (train[:, ::2] <= 1).sum() == 2 and (train[:, 1] >> 1 == 0).sum() == 1
    if _is_header(first):
        yield from (f"  the first triple looks like a header: {sentence}",) if numbered else ()
    elif alone and graph.triple_count >= _SEVERAL and not any("://" in name for name in first):
        yield f"  the first triple shares no name with the others: {sentence}"


def _warn_of_later_headers(graph: KnowledgeGraph, *, first: bool) -> Iterator[str]:
    """Warns of headers below the first line, which files have that were joined.

    first: whether the first triple, too, stands below the first line.
    """
    import numpy as np

    from pathformer.kg.formats._lines import is_relation

    train, relations = graph.splits["train"], graph.vocabulary.relations
    if len(relations) > _COMPARED:
        return
    called_so = [position for position, name in enumerate(relations) if is_relation(name)]
    alone = np.bincount(train[:, 1] >> 1, minlength=len(relations))[called_so] == 1  # such lines are merged
    for triple in train[np.isin(train[:, 1] >> 1, np.array(called_so, int)[alone])].tolist():
        if _is_header(words := _words(graph, triple)) and (first or tuple(triple) != _FIRST):
            yield f"  a triple looks like the header of another file: {', '.join(map(visible, words))}"


def _words(graph: KnowledgeGraph, triple: Sequence[int]) -> tuple[str, str, str]:
    head, relation, tail = triple
    return graph.vocabulary.entity(head), graph.vocabulary.relation(relation), graph.vocabulary.entity(tail)


def _is_header(words: Sequence[str]) -> bool:
    from pathformer.kg.formats._lines import well_known

    return well_known(words) == (0, 1, 2)


def _warn_of_quotes(graph: KnowledgeGraph, layout: FileFormat) -> Iterator[str]:
    """Warns if quote signs may be no part of names: most names have them, or some hold a doubled quote sign."""
    vocabulary = graph.vocabulary
    if len(vocabulary.entities) > _COMPARED:
        return
    quoted = [name for name in vocabulary.entities if len(name) > 2 and name[0] == name[-1] == '"']
    doubled = [name for name in quoted if _is_doubled(name)]
    if shown := quoted if 2 * len(quoted) > len(vocabulary.entities) else doubled:
        count = counted(len(quoted), "entity stands", "entities stand")
        example = f"in quote signs, as {_shown(shown[0])} does"
        yield f"  {count} {example}. If they are no part of the names, {layout.quoted}"


def _is_doubled(name: str) -> bool:
    """Whether there are quote signs within the outer ones and each is doubled."""
    return '""' in name[1:-1] and '"' not in name[1:-1].replace('""', "")


def _warn_of_similar_names(graph: KnowledgeGraph) -> Iterator[str]:
    """Warns of different names that look the same to a person."""
    from pathformer.kg.names import fold

    vocabulary = graph.vocabulary
    for names, *what in ((vocabulary.entities, "entity", "entities"), (vocabulary.relations, "relation", "relations")):
        if len(names) > _COMPARED:
            continue
        first: dict[str, str] = {}
        folded = ((first.setdefault(fold(name), name), name) for name in names)
        if twins := [(one, other) for one, other in folded if one != other and not _is_class_of(one, other)]:
            one, other = map(_shown, twins[0])
            count = f"{counted(len(twins), *what)} {'differs' if len(twins) == 1 else 'differ'} from another"
            yield f"  {count} only in case, or in how accents are encoded: {one} and {other}"


def _shown(name: str) -> str:
    """Shortens a name, which may be a literal of many pages."""
    return visible(name if len(name) <= 2 * _ENDS else f"{name[:_ENDS]}...{name[-_ENDS:]}")


def _is_class_of(one: str, other: str) -> bool:
    """Whether one is a class and the other a property of an ontology: http://x.org/Author and http://x.org/author."""
    end = max(map(one.rfind, "/#")) + 1
    return "://" in one and (one[:end], one[end + 1 :]) == (other[:end], other[end + 1 :])


def _format_of(paths: Sequence[Path], format: str | None) -> FileFormat | None:
    """Returns the format of the first file; None for a dataset or a saved graph."""
    from pathformer.files.source import is_pipe
    from pathformer.kg.formats._registry import file_format
    from pathformer.kg.read import sources

    if not paths or not all(path.exists() or is_pipe(path) for path in paths):
        return None
    found = sources(paths[0] if len(paths) == 1 else paths)
    return None if isinstance(found, Path) else file_format(found["train"][0], format)
