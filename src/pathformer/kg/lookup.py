"""Finds the id that a written name means: exact, then case-folded, then by label, then by case-folded label.

Last it may be the end of an IRI or of another name with a prefix: `knows` for `http://xmlns.com/foaf/0.1/knows`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain, islice

import numpy as np

from pathformer.errors import AmbiguousNameError, UnknownNameError
from pathformer.kg.names import Names, fold
from pathformer.text import closest

__all__ = ["Lookup", "end_of"]

_ALL = 20_000  # up to so many names all are compared for a message (0.2 s); beyond it those that share a piece
_SHARED = 2_000  # how many of those
_PIECE = 4  # letters
_TOLD = 3  # names that a message tells
_FEW = 20  # names that it tells where none is close, if these are all
_SIGNS = re.compile("[/#:]")  # before the end of an IRI
_PREFIXED = re.compile(r"([A-Za-z][\w.-]*:|/)\S+")  # http://x.org/knows, GO:0008150, /people/person/nationality


class Lookup:
    """Names with labels beside them (an empty label: none); the case-folded indexes are built when first needed."""

    def __init__(self, kind: str, names: Names, labels: Names | None) -> None:
        self.kind, self.names, self.labels = kind, names, labels

    def label(self, position: int) -> str:
        """The label, or the name where there is none."""
        return (self.labels[position] if self.labels is not None else "") or self.names[position]

    def distinct(self, position: int) -> str:
        """The label if a look-up of it finds this one alone, else the name: two never look alike."""
        name, label = self.names[position], self.label(position)
        try:
            return label if label == name or self.find_named(label) == position else name
        except AmbiguousNameError:
            return name

    def find(self, name: str) -> int | None:
        """Returns the position that `name` means, or None; several at the first step that finds any are an error."""
        found = self.find_named(name)
        return self.ending(name) if found is None else found

    def find_named(self, name: str) -> int | None:
        """Returns the position with this name or label."""
        folded = fold(name)
        steps: tuple[Callable[[], list[int]], ...] = (
            lambda: self.names.find(name),
            lambda: self._folded_names.find(folded),
            lambda: self.labels.find(name) if self.labels is not None else [],
            lambda: self._folded_labels.find(folded),
        )
        return next((self._only(name, found) for step in steps if name and (found := step())), None)

    def ending(self, name: str) -> int | None:
        """Returns the position of the name that has a prefix and ends in this."""
        found = [position for position in self._ending_in(fold(name)) if _PREFIXED.fullmatch(self.names[position])]
        return self._only(name, found) if found else None

    def _only(self, name: str, found: list[int]) -> int:
        if len(found) > 1:
            raise AmbiguousNameError(self.kind, name, [self.names[position] for position in found])
        return found[0]

    def unknown(self, name: str, spelled: Callable[[int], str] | None = None) -> UnknownNameError:
        """Returns the error for an unknown name, with the closest names, labels and ends of IRIs.

        Where none is close and there are few in all, as of relations, all are named; spelled: how each is.
        """
        if local := [self.names[position] for position in islice(self._ending_in(fold(name)), _TOLD)]:
            return UnknownNameError(self.kind, name, local)
        candidates = _candidates(name, self.names, self._folded_names)
        if self.labels is not None:
            candidates = chain(candidates, _candidates(name, self.labels, self._folded_labels))
        known = [candidate for candidate in candidates if candidate]
        near = closest(name, chain(known, filter(None, map(end_of, known))))
        few = len(self.names) if len(self.names) <= _FEW else 0
        return UnknownNameError(self.kind, name, near, [*map(spelled or self.distinct, range(few))])

    def _ending_in(self, folded: str) -> Iterator[int]:
        """Yields the positions of names that end in this after a slash, a hash or a colon, in any case."""
        for sign in ("/", "#", ":") if folded else ():
            yield from _ending(f"{sign}{folded}", self._folded_names)

    @cached_property
    def _folded_names(self) -> Names:
        return self.names.fold_all()

    @cached_property
    def _folded_labels(self) -> Names:
        return Names.of(()) if self.labels is None else self.labels.fold_all()


def end_of(name: str) -> str:
    """Returns the end of an IRI or of another name with a prefix; "" for any other name.

    >>> end_of("http://xmlns.com/foaf/0.1/knows"), end_of("GO:0008150"), end_of("AC/DC")
    ('knows', '0008150', '')
    """
    return _SIGNS.split(name)[-1] if _PREFIXED.fullmatch(name) else ""


def _ending(text: str, names: Names) -> list[int]:
    """Yields the positions of the names that end in `text`, by their last bytes."""
    offsets, data = names.buffers
    try:
        wanted = text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no name holds
        return []
    positions = np.flatnonzero(np.diff(offsets) >= len(wanted))
    for back, byte in enumerate(reversed(wanted), 1):
        positions = positions[data[offsets[positions + 1] - back] == byte]
        if not len(positions):
            break
    return positions.tolist()


def _candidates(name: str, names: Names, folded: Names) -> Iterator[str]:
    if len(names) <= _ALL:
        yield from names
        return
    text = fold(name)
    for piece in filter(None, dict.fromkeys((text[:_PIECE], text[-_PIECE:]))):
        yield from (names[position] for position in islice(_holding(piece, folded), _SHARED))


def _holding(piece: str, names: Names) -> Iterator[int]:
    """Yields the positions of the names that contain `piece`, by one scan of their bytes."""
    offsets, data = names.buffers
    start, last = int(offsets[0]), -1
    for match in re.finditer(re.escape(piece.encode(errors="replace")), data[start : offsets[-1]].data):
        position = int(np.searchsorted(offsets, start + match.start(), "right")) - 1
        if (
            position != last and start + match.end() <= offsets[position + 1]
        ):  # not half of one name and half of the next
            last = position
            yield position
