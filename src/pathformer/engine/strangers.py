"""What an update may spell otherwise than the engine's graph: a name is the same where it is spelled the same."""

from __future__ import annotations

from collections.abc import Iterator

from pathformer.kg.grow import Grown
from pathformer.kg.names import Names
from pathformer.words import counted

__all__ = ["strangers"]


def strangers(old: Names, labels: Names | None, grown: Grown) -> str:
    """A sentence where new triples know no old entity, or where new entities are called like the labels of old ones.

    old, labels: of the entities of the smaller graph. Either may be meant, and an update goes on; but a file of another
    export, or one that names entities by their labels, would leave the engine with a second graph beside its own.
    """
    ends = grown.triples[:, ::2]
    if not len(ends):
        return ""
    if ends.min() >= len(old):
        new = grown.kg.vocabulary.entity(int(ends[0, 0]))
        return (
            f"no entity of these triples is known to the engine: they have names such as {new!r}, "
            f"its own are such as {old[0]!r}"
        )
    found = list(_labelled(old, labels, grown))
    if not found:
        return ""
    name, owner = found[0]
    these = counted(len(found), "new entity is", "new entities are")
    return (
        f"{these} called like the label of an old one, {name!r} like that of {owner!r}: "
        "triples tell an entity by its name"
    )


def _labelled(old: Names, labels: Names | None, grown: Grown) -> Iterator[tuple[str, str]]:
    """The new entities that are called like the label of an old one, and that one's name."""
    entities = grown.kg.vocabulary.entities
    if labels is None:
        return
    for place in range(len(old), len(entities)):
        name = entities[place]
        if owners := labels.find(name):
            yield name, old[owners[0]]
