"""Labels, the names that people read: from a file of two columns or from the graph's own file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from pathformer.errors import GraphFileError
from pathformer.files.source import as_file, open_bytes, plain_name
from pathformer.kg.arrow import array_of, names_of_array, strings
from pathformer.kg.formats._cells import OUTER, problem_of
from pathformer.kg.formats._lines import choose_columns, rows
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.names import Names
from pathformer.limits import limit, too_much
from pathformer.text import counted

__all__ = ["Labels", "add_labels", "labels_for", "read_labels"]

Table = list[tuple[int, int, list[str]]]  # first line, last line, cells

_LABEL_WORDS = ("label", "name", "title", "text")


@dataclass(frozen=True, slots=True)
class Labels:
    """Names and the label of each, as two Arrow arrays of large strings; the first label of a name counts."""

    names: Any
    labels: Any

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> Labels:
        """Makes labels of a mapping of names to labels."""
        return cls(strings(pairs.keys()), strings(pairs.values()))


def labels_for(names: Names, given: Labels) -> Names | None:
    """The label of every name, empty where none is given; None when no name has one."""
    positions = pc.index_in(array_of(names), value_set=given.names)
    if positions.null_count == len(names):
        return None
    none = strings("" for _ in range(len(names)))
    return names_of_array(pc.coalesce(given.labels.take(positions), none))


def add_labels(
    graph: KnowledgeGraph,
    *,
    names: Path | None = None,
    columns: tuple[str | int, ...] | None = None,
    relation_names: Path | None = None,
    encoding: str = "utf-8",
) -> KnowledgeGraph:
    """Returns the graph with the labels of these files in place of its own."""
    labels, relation_labels = graph.vocabulary.labels, graph.vocabulary.relation_labels
    if names is not None:
        labels = _labels_of(graph.vocabulary.entities, names, columns, encoding)
    if relation_names is not None:
        relation_labels = _labels_of(graph.vocabulary.relations, relation_names, None, encoding)
    return graph.with_labels(labels, relation_labels) if names or relation_names else graph


def read_labels(
    path: Path, names: Names, columns: tuple[str | int, ...] | None = None, encoding: str = "utf-8"
) -> Labels:
    """A file of names and labels: tab- or comma-separated, packed or not, or JSON (name -> label).

    Which columns: the two that are chosen, else the only two, else by the header: the label is the column called label,
    name, title or text, the name is the column that holds the most names of the graph.
    """
    ending = Path(plain_name(path)).suffix.lower()
    if ending == ".json":
        pairs = _json_pairs(path)
    else:
        delimiter, quote = (",", '"') if ending == ".csv" else ("\t", "")
        pairs = _table_pairs(path, names, columns, list(rows(path, encoding, delimiter, quote)))
    keys, texts = zip(*pairs, strict=True) if pairs else ((), ())
    return Labels(strings(keys), strings(texts))


def _labels_of(names: Names, path: Path, columns: tuple[str | int, ...] | None, encoding: str) -> Names:
    with as_file(path) as file:
        labels = labels_for(names, read_labels(file, names, columns, encoding))
    if labels is None:
        raise GraphFileError(f"none of its names is in the graph, which has names like {names[0]!r}", path)
    return labels


def _json_pairs(path: Path) -> list[tuple[str, str]]:
    most = limit("json")
    with open_bytes(path) as stream:
        content = stream.read(most + 1)
        while len(content) <= most and (more := stream.read(most + 1 - len(content))):
            content += more
    if len(content) > most:
        raise GraphFileError(too_much("json", f"the file has more than {most:,} bytes"), path)
    try:
        entries = json.loads(content)
    except RecursionError:
        raise GraphFileError(
            "too many levels within each other: expected an object of names and labels", path
        ) from None
    except ValueError as error:
        raise GraphFileError(f"not JSON ({error})", path, getattr(error, "lineno", None)) from error
    if not isinstance(entries, dict):
        raise GraphFileError("expected a JSON object of names and labels", path)
    labels = {key: value.get("label") if isinstance(value, dict) else value for key, value in entries.items()}
    wrong = next((key for key, label in labels.items() if not isinstance(label, str | None)), None)
    if wrong is not None:
        raise GraphFileError(f"the label of {wrong!r} is {labels[wrong]!r}, expected text", path)
    return [(key, label) for key, label in labels.items() if label]


def _table_pairs(
    path: Path, names: Names, columns: tuple[str | int, ...] | None, table: Table
) -> list[tuple[str, str]]:
    if not table:
        raise GraphFileError("the file is empty: expected a name and a label on each line", path)
    header = table[0][2]
    name, label, has_header = _pick(path, names, columns, table)
    pairs = []
    for line, _, cells in table[has_header:]:
        if len(cells) != len(header):
            raise GraphFileError(f"{counted(len(cells), 'column')}, expected {len(header)}", path, line)
        if not cells[name]:
            raise GraphFileError("the name is empty: write one, or delete the line", path, line)
        if problem := problem_of(cells[name]) or (cells[label] and problem_of(cells[label])):
            raise GraphFileError(f"the name or label {problem}", path, line)
        if cells[label]:
            pairs.append((_key(cells[name], names), cells[label].strip(OUTER)))
    return pairs


def _key(cell: str, names: Names) -> str:
    """Returns the name in a cell, without the spaces around it unless the graph has the name with them."""
    bare = cell.strip(OUTER)
    return cell if cell == bare or names.find(cell) else bare


def _pick(path: Path, names: Names, columns: tuple[str | int, ...] | None, table: Table) -> tuple[int, int, bool]:
    """The columns of name and label, and whether the first line is a header."""
    line, _, first = table[0]
    if columns is not None:
        name, label = choose_columns(first, columns, path, line, roles=("name", "label"))
        return name, label, any(isinstance(column, str) for column in columns)
    words = [cell.strip().casefold() for cell in first]
    labelled = next((words.index(word) for word in _LABEL_WORDS if word in words), None)
    if len(first) == 2:
        return 0, 1, labelled == 1 and not names.find(first[0])
    if labelled is None or len(first) == 1:
        raise GraphFileError(
            f"{counted(len(first), 'column')}, expected a name and a label: "
            "choose two by name or number with --names-columns (names_columns=...)",
            path,
            line,
        )
    sample = [cells for _, _, cells in table[1:200] if len(cells) == len(first)]
    others = [position for position in range(len(first)) if position != labelled]
    return max(others, key=lambda position: sum(bool(names.find(cells[position])) for cells in sample)), labelled, True
