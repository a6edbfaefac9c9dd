"""The options of reading triples, as `import` and `fit` have them, and what those do that have none.

Options that several subcommands have in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathformer.errors import GraphFileError

if TYPE_CHECKING:
    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = [
    "Columns",
    "Data",
    "Delimiter",
    "Device",
    "Encoding",
    "Format",
    "Header",
    "Literals",
    "Names",
    "NamesColumns",
    "Quote",
    "RelationNames",
    "SkipBad",
    "given",
    "is_known",
    "without_options",
]

_ENGINE = "engine.json"  # `engine.storage.HEADER`, which would load torch
_SIGNS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}

Format = Annotated[
    str | None, typer.Option(help="tsv, csv, parquet, ntriples or turtle, where the ending does not tell.")
]
Columns = Annotated[str | None, typer.Option(help="Head, relation and tail: names of a header, or numbers from 1.")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line is one; told by its words if not said."),
]
Delimiter = Annotated[
    str | None, typer.Option(help="Between columns: one sign, or tab, space, comma, semicolon, pipe.")
]
Quote = Annotated[
    str | None, typer.Option(help="Around names that hold the delimiter; '' for none (TSV), '\"' for CSV.")
]
Encoding = Annotated[str, typer.Option(help="Of text files.")]
Names = Annotated[Path | None, typer.Option(help="Labels of entities: a name and a label a line, or JSON.")]
NamesColumns = Annotated[str | None, typer.Option(help="Which two columns of --names.")]
RelationNames = Annotated[Path | None, typer.Option(help="Labels of relations.")]
Literals = Annotated[bool, typer.Option("--literals", help="Keep RDF literals as entities.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave bad lines out and count them.")]


def given(**options: Any) -> dict[str, Any]:
    """The options as `KnowledgeGraph.read` takes them, without those that nobody gave.

    >>> given(format=None, columns="head, 2, tail", delimiter="tab", encoding="utf-8", literals=False, header=False)
    {'columns': ('head', 2, 'tail'), 'delimiter': '\\t', 'header': False}
    """
    return {
        name: _SPELLED[name](value) if name in _SPELLED else value
        for name, value in options.items()
        if value != _UNSAID.get(name)
    }


def is_known(name: str) -> bool:
    """Whether a graph that is known by name is meant, be there a file or folder that is called so or not."""
    from pathformer.kg import datasets

    return datasets.is_known(name)


def without_options(graph: str | Path, data: Path | None) -> KnowledgeGraph:
    """A graph for a command that has none of these options; where one would help, the message says what has it.

    Of an engine it is the one that the engine holds.
    """
    from pathformer.kg.datasets import load

    engine = not is_known(str(graph)) and (Path(graph) / _ENGINE).is_file()
    try:
        return load(Path(graph) / "graph" if engine else graph, data)
    except GraphFileError as error:
        if not (options := re.findall(r"--[a-z-]+", error.problem)):
            raise
        what = f"{options[0]} is an option" if len(options) == 1 else f"{' and '.join(options)} are options"
        way_on = f"{what} of `pathformer import`: name the folder that it makes instead"
        raise GraphFileError(f"{error.problem} ({way_on})", error.path, error.line) from error


def _columns(text: str) -> tuple[str | int, ...]:
    return tuple(int(part) if part.isdecimal() else part for part in map(str.strip, text.split(",")))


def _delimiter(text: str) -> str:
    return _SIGNS.get(text, text)


_UNSAID = {"encoding": "utf-8", "literals": False, "skip_bad": False}  # when nobody gave them; the others are None
_SPELLED: dict[str, Callable[[str], Any]] = {  # otherwise on the command line than in Python
    "columns": _columns,
    "names_columns": _columns,
    "delimiter": _delimiter,
}


Data = Annotated[Path | None, typer.Option(help="The folder that holds datasets.", show_default=False)]
Device = Annotated[str, typer.Option(help="cuda, cuda:1, cpu, or auto.")]
