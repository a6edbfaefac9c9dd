"""The options of reading triples, as `import` and `fit` have them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Columns",
    "Delimiter",
    "Encoding",
    "Format",
    "Header",
    "Literals",
    "Names",
    "NamesColumns",
    "Quote",
    "RelationNames",
    "SkipBad",
    "chosen_columns",
    "chosen_delimiter",
]

_SIGNS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}

Format = Annotated[
    str | None, typer.Option(help="tsv, csv, parquet, ntriples or turtle, where the ending does not tell.")
]
Columns = Annotated[str | None, typer.Option(help="Head, relation and tail: names of a header, or numbers from 1.")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line is one; told by its words if not said."),
]
Delimiter = Annotated[str | None, typer.Option(help="Between columns: one sign, or tab, space, comma, pipe.")]
Quote = Annotated[
    str | None, typer.Option(help="Around names that hold the delimiter; '' for none (TSV), '\"' for CSV.")
]
Encoding = Annotated[str, typer.Option(help="Of text files.")]
Names = Annotated[Path | None, typer.Option(help="Labels of entities: a name and a label a line, or JSON.")]
NamesColumns = Annotated[str | None, typer.Option(help="Which two columns of --names.")]
RelationNames = Annotated[Path | None, typer.Option(help="Labels of relations.")]
Literals = Annotated[bool, typer.Option("--literals", help="Keep RDF literals as entities.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave bad lines out and count them.")]


def chosen_columns(text: str | None) -> tuple[str | int, ...] | None:
    """Columns as they are written on the command line."""
    if text is None:
        return None
    return tuple(int(part) if part.isdecimal() else part for part in map(str.strip, text.split(",")))


def chosen_delimiter(text: str | None) -> str | None:
    """A delimiter as it is written on the command line: the sign, or its name."""
    return _SIGNS.get(text or "", text)
