"""Every stage of a query as text: as written, scope, tree, disjunctive normal form, paths and forks, other syntaxes."""

from __future__ import annotations

from collections.abc import Iterator

from pathformer.errors import UnsupportedQueryError
from pathformer.query.ast import Query, Request
from pathformer.query.compile.bind import bind, own_vocabulary
from pathformer.query.compile.dnf import to_dnf
from pathformer.query.compile.paths import to_paths
from pathformer.query.compile.scope import write_scopes
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.iris import Naming
from pathformer.query.parse import detect, request, syntaxes, write
from pathformer.query.picture.text_tree import Labels, Listing, tree_lines
from pathformer.query.print import to_query
from pathformer.query.structures import benchmark_structure, structure_of
from pathformer.query.tree import Tree
from pathformer.text import counted

__all__ = ["Stage", "explain"]

Stage = tuple[str, list[str]]  # title, lines

_SHOWN = 12  # disjuncts that are written out; the others are counted
_WIDTH = 60  # of a structure's text


def explain(text: str, naming: Naming | None = None, syntax: str | None = None) -> Iterator[Stage]:
    """Title and lines of every stage, each made when it is asked for: what fails has shown all that came before it.

    Without a vocabulary the names of the query itself serve.
    """
    naming, syntax = naming or Naming(), syntax or detect(text)
    asked = request(text, syntax, naming)
    query, answer = asked.query, f"?{asked.query.answer.name}"
    yield f"query, read as {syntax}", [write(query), *_asking(asked)]
    yield "scope", [write_scopes(query)]
    vocabulary = naming.vocabulary or own_vocabulary(query)
    labels = Labels(vocabulary)
    tree = to_tree(bind(query, vocabulary), vocabulary)
    yield f"computation tree: {_structure(tree)}", list(tree_lines(tree, labels, answer))
    disjuncts = to_dnf(tree)
    written = [write(to_query(disjunct, vocabulary, query.answer.name)) for disjunct in disjuncts[:_SHOWN]]
    yield f"disjunctive normal form: {counted(len(disjuncts), 'disjunct')}", [*written, *_more(len(disjuncts))]
    listing = Listing(labels)
    for disjunct in disjuncts[:_SHOWN]:
        listing.add(to_paths(disjunct), answer)
    parts = f"{counted(listing.paths, 'path')}, {counted(listing.forks, 'fork')}"
    yield f"path and fork queries: {parts}", [*listing.lines(), *_more(len(disjuncts))]
    yield from _other_syntaxes(query, naming)


def _asking(asked: Request) -> list[str]:
    words = [f"limit {asked.limit}"] * (asked.limit is not None) + ["distinct"] * asked.distinct
    return [f"asked with: {', '.join(words)}"] if words else []


def _structure(tree: Tree) -> str:
    shape = structure_of(tree)
    known = benchmark_structure(tree)
    text = str(shape) if known is None else known.name
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _other_syntaxes(query: Query, naming: Naming) -> Iterator[Stage]:
    for name in syntaxes():
        if name != "formula":
            try:
                yield f"as {name}", write(query, name, naming).splitlines()
            except UnsupportedQueryError:  # ids without a graph
                continue


def _more(count: int) -> list[str]:
    return [f"... and {counted(count - _SHOWN, 'disjunct')} more"] if count > _SHOWN else []
