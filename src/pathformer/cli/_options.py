"""Options that several subcommands share: where datasets lie, the device, and how files of triples are read."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathformer.errors import GraphFileError

if TYPE_CHECKING:
    from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["ENGINE", "Data", "Device", "ReadOptions", "is_known_graph", "load_graph", "takes_read_options"]

Data = Annotated[
    Path | None, typer.Option(help="The folder that holds datasets; otherwise $PATHFORMER_DATA.", show_default=False)
]
Device = Annotated[str, typer.Option(help="cuda, cuda:1, cpu, or auto.")]
ReadOptions = dict[str, Any]  # what was given of the options below, as `KnowledgeGraph.read` takes it

ENGINE = "engine.json"  # `engine.storage.HEADER`; importing it here would load more than help needs
_SIGNS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}


def _read_columns(text: str) -> tuple[str | int, ...]:
    return tuple(int(part) if part.isdecimal() else part for part in map(str.strip, text.split(",")))


def _read_delimiter(text: str) -> str:
    return _SIGNS.get(text, text)


# name: (type, default, option, how its text becomes the value that Python takes)
_READ: dict[str, tuple[Any, Any, Any, Callable[[str], Any] | None]] = {
    "format": (
        str | None,
        None,
        typer.Option(help="tsv, csv, parquet, ntriples or turtle, if the file's ending does not say it."),
        None,
    ),
    "columns": (
        str | None,
        None,
        typer.Option(help="The columns of head, relation and tail: names of a header, or numbers from 1."),
        _read_columns,
    ),
    "header": (
        bool | None,
        None,
        typer.Option(
            "--header/--no-header", help="Whether the first line is a header; if not given, its words decide."
        ),
        None,
    ),
    "delimiter": (
        str | None,
        None,
        typer.Option(help="What separates columns: one sign, or tab, space, comma, semicolon, pipe."),
        _read_delimiter,
    ),
    "quote": (
        str | None,
        None,
        typer.Option(help="The sign around names that hold the delimiter; '' for none (TSV), '\"' for CSV."),
        None,
    ),
    "encoding": (str, "utf-8", typer.Option(help="The encoding of text files."), None),
    "names": (
        Path | None,
        None,
        typer.Option(help="A file of labels of entities: a name and a label on each line, or JSON."),
        None,
    ),
    "names_columns": (str | None, None, typer.Option(help="The two columns of --names to read."), _read_columns),
    "relation_names": (Path | None, None, typer.Option(help="A file of labels of relations."), None),
    "literals": (bool, False, typer.Option("--literals", help="Keep RDF literals as entities."), None),
    "skip_bad": (bool, False, typer.Option("--skip-bad", help="Leave bad lines out and count them."), None),
}


def takes_read_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a subcommand the options of reading files in the place of its parameter `read`."""
    own = inspect.signature(command, eval_str=True)

    @wraps(command)
    def with_options(**given: Any) -> None:
        command(**{name: given[name] for name in given if name not in _READ}, read=_chosen(given))

    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])
        for name, (kind, default, option, _) in _READ.items()
    ]
    parameters = []
    for name, parameter in own.parameters.items():
        place = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        parameters += options if name == "read" else [place]
    vars(with_options)["__signature__"] = own.replace(parameters=parameters)
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_options


def _chosen(given: dict[str, Any]) -> ReadOptions:
    """Returns the options of reading that differ from their defaults, as `KnowledgeGraph.read` takes them.

    >>> _chosen({**{name: default for name, (_, default, *_) in _READ.items()}, "columns": "head, 2", "header": False})
    {'columns': ('head', 2), 'header': False}
    """
    return {
        name: parse(given[name]) if parse else given[name]
        for name, (_, default, _, parse) in _READ.items()
        if given[name] != default
    }


def is_known_graph(name: str) -> bool:
    """Whether this is the name of a known dataset; it then means the dataset even where a file is called the same."""
    from pathformer.kg import datasets

    return datasets.is_known(name)


def load_graph(graph: str | Path, data: Path | None) -> KnowledgeGraph:
    """Loads a graph, or the graph of an engine, for a command without options of reading.

    If such an option would help, the message says to use it with `pathformer import`.
    """
    from pathformer.kg.datasets import load

    engine = not is_known_graph(str(graph)) and (Path(graph) / ENGINE).is_file()
    try:
        return load(Path(graph) / "graph" if engine else graph, data)
    except GraphFileError as error:
        if not (options := re.findall(r"--[a-z-]+", error.problem)):
            raise
        what = f"{options[0]} is an option" if len(options) == 1 else f"{' and '.join(options)} are options"
        way_on = f"{what} of `pathformer import`: name the folder that it makes instead"
        raise GraphFileError(f"{error.problem} ({way_on})", error.path, error.line) from error
