"""Counts of a reading, for its summary."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Counts of one reading."""

    lines: int = 0  # triples as written, before anything is merged or left out
    duplicates: int = 0  # lines that repeat a triple of their own split
    repeated: int = 0  # valid or test triples that an earlier split holds
    unseen: int = 0  # valid or test triples with an entity or relation that train lacks
    literals: int = 0  # RDF statements left out because their object is a literal
    literal_labels: int = 0  # of those, the ones that are the label of an entity
    skipped: int = 0  # bad lines, left out because the reader was asked to
    labels: int = 0  # entities that got a label
    notes: tuple[str, ...] = ()  # a bad line of each kind and file, as an example

    def __add__(self, other: Report) -> Report:
        return Report(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})
