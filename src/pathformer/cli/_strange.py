"""What is strange about a graph that was read from files: names that were perhaps meant otherwise, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pathformer.words import counted, visible

if TYPE_CHECKING:
    from pathformer.kg.formats import FileFormat
    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["strange"]

_COMPARED = 200_000  # names up to which they are looked at, in about a tenth of a second
_SEVERAL = 20  # triples from which on a line that shares nothing with the others is strange


def strange(graph: KnowledgeGraph, paths: Sequence[Path], format: str | None, header: bool | None) -> Iterator[str]:
    """Nothing of a graph that is known by name or saved.

    paths: that it was read from; format, header: what was said of them, and of their first lines.
    """
    layout = _format_of(paths, format)
    if layout is None:
        return
    if layout.headed and header is None:
        yield from _first_triple(graph, layout)
    yield from _later_headers(graph)
    if layout.quoted:
        yield from _quoted(graph, layout)
    yield from _twins(graph)


def _first_triple(graph: KnowledgeGraph, layout: FileFormat) -> Iterator[str]:
    """Where it may be a header in words of its own: none of its three names stands in another triple."""
    train, names = graph.splits["train"], graph.vocabulary
    if graph.triple_count < _SEVERAL or not ((train == (0, 0, 1)).all(axis=1)).any():
        return  # ids are in the order of reading
    ends, relations = train[:, ::2], train[:, 1] >> 1
    first = names.entity(0), names.relation(0), names.entity(1)
    alone = (ends <= 1).sum() == 2 and (relations == 0).sum() == 1
    if alone and not any("://" in name for name in first):
        told = ", ".join(map(visible, first))
        yield f"  the first triple shares no name with the others: {told}. If it is a header, {layout.headed}"


def _later_headers(graph: KnowledgeGraph) -> Iterator[str]:
    """A header below the first line, as of files that were put one behind the other, is a triple of its words."""
    import numpy as np

    from pathformer.kg.formats._lines import well_known

    train, names = graph.splits["train"], graph.vocabulary
    alone = np.flatnonzero(np.bincount(train[:, 1] >> 1, minlength=len(names.relations)) == 1)  # such lines are merged
    for head, relation, tail in train[np.isin(train[:, 1] >> 1, alone)].tolist():
        words = names.entity(head), names.relation(relation), names.entity(tail)
        if well_known(words) == (0, 1, 2):
            yield f"  a triple looks like the header of another file: {', '.join(map(visible, words))}"


def _quoted(graph: KnowledgeGraph, layout: FileFormat) -> Iterator[str]:
    """Where names stand in quote signs as programs write them: most of them, or such as hold a quote written twice."""
    vocabulary = graph.vocabulary
    if len(vocabulary.entities) > _COMPARED:
        return
    quoted = [name for name in vocabulary.entities if len(name) > 2 and name[0] == name[-1] == '"']
    doubled = [name for name in quoted if _is_doubled(name)]
    if shown := quoted if 2 * len(quoted) > len(vocabulary.entities) else doubled:
        count = counted(len(quoted), "entity stands", "entities stand")
        example = f"in quote signs, as {visible(shown[0])} does"
        yield f"  {count} {example}. If they are no part of the names, {layout.quoted}"


def _is_doubled(name: str) -> bool:
    """Whether every quote sign within the outer ones is there twice, and there are such."""
    return '""' in name[1:-1] and '"' not in name[1:-1].replace('""', "")


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


def _format_of(paths: Sequence[Path], format: str | None) -> FileFormat | None:
    """The format of the first file; none of a graph that is known by name or saved."""
    from pathformer.kg.formats import file_format
    from pathformer.kg.pipes import is_pipe
    from pathformer.kg.read import sources

    if not paths or not all(path.exists() or is_pipe(path) for path in paths):
        return None
    found = sources(paths[0] if len(paths) == 1 else paths)
    return None if isinstance(found, Path) else file_format(found["train"][0], format)
