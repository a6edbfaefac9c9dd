"""The vocabulary of a graph: names and labels of its entities and relations, and the id that a name means.

Entity ids are 0 .. N - 1. Relation ids are directed: relation k of the file is 2k, its inverse 2k + 1, and both carry
the one base name. A label is what people read ("Dominican Republic") beside a name that files use ("/m/027rn").
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from pathformer.errors import AmbiguousNameError
from pathformer.kg.lookup import Lookup, end_of
from pathformer.kg.names import Names

__all__ = ["Vocabulary"]

_MARKS: tuple[tuple[str, str, int], ...] = (  # prefix, suffix, direction: how released files mark a direction
    ("", "", 0),
    ("+", "", 0),
    ("-", "", 1),
    ("", "_reverse", 1),
)


class Vocabulary:
    """The names and labels of entities and relations, with look-up in both directions."""

    def __init__(
        self,
        entities: Names,
        relations: Names,
        labels: Names | None = None,
        relation_labels: Names | None = None,
        *,
        fingerprint: str | None = None,
    ) -> None:
        self._entities = Lookup("entity", entities, labels)
        self._relations = Lookup("relation", relations, relation_labels)
        self._fingerprint = fingerprint
        self._short: dict[int, str] = {}  # by forward relation: each is a scan of the names, and reasons ask again

    @classmethod
    def of(
        cls,
        entities: Iterable[str],
        relations: Iterable[str],
        labels: Sequence[str | None] | None = None,
        relation_labels: Sequence[str | None] | None = None,
    ) -> Vocabulary:
        """A vocabulary from Python strings; relations are base names, one for both directions."""
        return cls(Names.of(entities), Names.of(relations), _labels(labels), _labels(relation_labels))

    @property
    def entities(self) -> Names:
        """The name of every entity, in order of ids."""
        return self._entities.names

    @property
    def relations(self) -> Names:
        """The base name of every relation; the k-th belongs to the directed ids 2k and 2k + 1."""
        return self._relations.names

    @property
    def labels(self) -> Names | None:
        """The label of every entity, empty where it has none; None where no entity has one."""
        return self._entities.labels

    @property
    def relation_labels(self) -> Names | None:
        """The labels of relations, in the same way."""
        return self._relations.labels

    @property
    def labelled(self) -> int:
        """The numbers of entities and relations that have a label."""
        given = filter(None, (self.labels, self.relation_labels))
        return sum(int(np.count_nonzero(np.diff(labels.buffers[0]))) for labels in given)

    @property
    def entity_count(self) -> int:
        """N."""
        return len(self.entities)

    @property
    def relation_count(self) -> int:
        """R, both directions counted."""
        return 2 * len(self.relations)

    def entity(self, entity: int) -> str:
        """The name of an entity."""
        return self.entities[entity]

    def label(self, entity: int) -> str:
        """The label of an entity, or its name where it has none."""
        return self._entities.label(entity)

    def distinct_label(self, entity: int) -> str:
        """The label of an entity if a look-up of it finds this entity alone, else its name."""
        return self._entities.distinct(entity)

    def relation(self, relation: int) -> str:
        """The base name of a directed relation; its direction is `relation & 1`."""
        return self.relations[relation >> 1]

    def relation_label(self, relation: int) -> str:
        """The label of a directed relation, or its base name where it has none."""
        return self._relations.label(relation >> 1)

    def distinct_relation_label(self, relation: int) -> str:
        """The label of a directed relation if a look-up of it finds this relation alone, else its base name."""
        return self._relations.distinct(relation >> 1)

    def short_relation_label(self, relation: int) -> str:
        """A relation's label for people; of an IRI its end, if that names this relation alone."""
        forward = relation & ~1
        if forward not in self._short:
            self._short[forward] = self._shortened(forward)
        return self._short[forward]

    def entity_id(self, name: str) -> int:
        """The entity of that name: exact, then case-folded, by label, by case-folded label, by the end of an IRI."""
        found = self._entities.find(name)
        if found is None:
            raise self._entities.unknown(name)
        return found

    def relation_id(self, name: str) -> int:
        """The directed relation of that name, looked up as entities are.

        Odd where the name is an inverse's own in a released file: "-r" or "r_reverse" (and "+r" is r), unless the graph
        has a relation that is called just so. A relation that only ends so comes last.
        """
        for find in (self._relations.find_named, self._relations.ending):
            for prefix, suffix, direction in _MARKS:
                if name.startswith(prefix) and name.endswith(suffix):
                    found = find(name[len(prefix) : len(name) - len(suffix)])
                    if found is not None:
                        return 2 * found + direction
        raise self._relations.unknown(name, lambda place: self.short_relation_label(2 * place))

    def hold(self) -> None:
        """Opens the names now, if they are in files, and keeps them open."""
        self.entities.hold(indexed=True)
        for names in filter(None, (self.relations, self.labels, self.relation_labels)):
            names.hold()

    def fingerprint(self) -> str:
        """A digest of all names in order: two vocabularies with the same one give every id the same meaning.

        Labels are left out, since they do not change what an id means.
        """
        if self._fingerprint is None:
            digest = hashlib.blake2b(digest_size=16)
            for names in (self.entities, self.relations):
                offsets, data = names.buffers
                digest.update(len(names).to_bytes(8, "little"))
                digest.update((offsets - offsets[0]).astype("<i8").data)
                digest.update(data[offsets[0] : offsets[-1]].data)
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def _shortened(self, relation: int) -> str:
        text = self.distinct_relation_label(relation)
        end = end_of(text) if text == self.relation(relation) else ""
        try:
            return end if end and self.relation_id(end) == relation else text
        except AmbiguousNameError:
            return text


def _labels(labels: Sequence[str | None] | None) -> Names | None:
    return None if labels is None else Names.of(label or "" for label in labels)
