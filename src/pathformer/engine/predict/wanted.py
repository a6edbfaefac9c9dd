"""What a list of links is asked for: relations, the entities at both ends, and how much of the list is wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from pathformer.errors import GraphFileError, InputError, UnknownNameError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.schema import RelationSchema
from pathformer.links.evidence._base import Ids

__all__ = ["TOP", "End", "Ends", "Wanted", "read_wanted"]

End = str | Path | Sequence[str] | None  # a file of names, a relation, names, or all that stand at that end

TOP = 1000  # links that are listed if nothing says how many


@dataclass(frozen=True, eq=False, slots=True)
class Ends:
    """A relation and the entities that are asked for at both ends of it."""

    relation: int  # directed
    heads: Ids  # ascending
    tails: Ids  # ascending
    itself: bool  # whether a link may lead from an entity to itself
    without: int  # heads that have no fact of the relation

    @property
    def pairs(self) -> int:
        """How many pairs of a head and a tail there are."""
        return len(self.heads) * len(self.tails)


@dataclass(frozen=True, eq=False, slots=True)
class Wanted:
    """A list of missing links, or the scores of all pairs."""

    ends: tuple[Ends, ...]
    top: int | None  # links at most; None: as many as are likely enough
    min_probability: float
    why: bool
    all_pairs: bool

    def digest(self) -> str:
        """Returns the same text for the same wish on the same ids."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(repr((self.top, self.min_probability, self.why, self.all_pairs)).encode())
        for own in self.ends:
            digest.update(f"{own.relation} {len(own.heads)} {len(own.tails)}".encode())
            digest.update(own.heads.astype("<i8").tobytes() + own.tails.astype("<i8").tobytes())
        return digest.hexdigest()


def read_wanted(
    relations: str | Sequence[str],
    kg: KnowledgeGraph,
    schema: RelationSchema,
    *,
    heads: End = None,
    tails: End = None,
    top: int | None = None,
    min_probability: float | None = None,
    why: bool = True,
    all_pairs: bool = False,
) -> Wanted:
    """Reads what is wanted; the arguments are those of `Engine.predict`."""
    names = list(dict.fromkeys([relations] if isinstance(relations, str) else relations))
    if not names:
        raise InputError("no relation is given: name one whose missing links you want")
    if top is not None and top < 1:
        raise InputError(f"--top must be at least 1, got {top}")
    if min_probability is not None and not 0 <= min_probability <= 1:
        raise InputError(f"--min-probability must be a number from 0 to 1, got {min_probability:g}")
    if all_pairs and (top is not None or min_probability is not None):
        raise InputError("--all-pairs scores every pair: leave --top and --min-probability out")
    if top is None and min_probability is None:
        top = TOP
    ends = tuple(_ends(kg.vocabulary.relation_id(name), heads, tails, kg, schema) for name in names)
    return Wanted(ends, top, min_probability or 0.0, why, all_pairs)


def _ends(relation: int, heads: End, tails: End, kg: KnowledgeGraph, schema: RelationSchema) -> Ends:
    at = {"heads": heads, "tails": tails}
    found = {side: _entities(given, side, relation, kg, schema) for side, given in at.items()}  # type: ignore[arg-type]
    without = int((~np.isin(found["heads"], schema.starts(relation))).sum())
    return Ends(relation, found["heads"], found["tails"], schema.may_link_to_itself(relation), without)


def _entities(
    given: End, side: Literal["heads", "tails"], relation: int, kg: KnowledgeGraph, schema: RelationSchema
) -> Ids:
    """Returns the entities that are asked for at one end of a relation, ascending."""
    back = side == "tails"
    if given is None:
        return schema.starts(relation ^ back).astype(np.int64)
    if isinstance(given, str | Path):
        if not Path(given).is_file():
            return schema.starts(_relation(str(given), side, kg) ^ back).astype(np.int64)
        ids = [*_read_names(Path(given), kg)]
    else:
        ids = [kg.vocabulary.entity_id(name) for name in given]
    if not ids:
        held = f"{given} holds no entity" if isinstance(given, str | Path) else "the list is empty"
        raise InputError(f"--{side}: {held}: write the name or the label of one on each line")
    return np.unique(np.array(ids, np.int64))


def _relation(name: str, side: str, kg: KnowledgeGraph) -> int:
    try:
        return kg.vocabulary.relation_id(name)
    except UnknownNameError as error:
        raise InputError(f"--{side}: there is no file {name!r}, and {error}") from error


def _read_names(file: Path, kg: KnowledgeGraph) -> Iterator[int]:
    """Yields the entity of each line of a file; empty lines count for nothing."""
    try:
        lines = file.read_text("utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text: save it as UTF-8") from error
    for number, line in enumerate(lines, 1):
        if name := line.strip():
            try:
                yield kg.vocabulary.entity_id(name)
            except UnknownNameError as error:
                raise GraphFileError(str(error), file, number) from error
