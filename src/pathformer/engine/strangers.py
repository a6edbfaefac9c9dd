"""What an update may spell otherwise than the engine's graph: a name is the same where it is spelled the same."""

from __future__ import annotations

import pyarrow.compute as pc

from pathformer.kg.arrow import array_of
from pathformer.kg.vocab import Vocabulary
from pathformer.words import counted

__all__ = ["strangers"]


def strangers(old: Vocabulary, more: Vocabulary) -> str:
    """A sentence where more triples know no old entity, or where new entities are called like the labels of old ones.

    Either may be meant, and an update goes on; but a file of another export, or one that names entities by their
    labels, would leave the engine with a second graph beside its own.
    """
    given = array_of(more.entities)
    new = given.filter(pc.invert(pc.is_in(given, value_set=array_of(old.entities))))
    if len(new) == len(given):
        return (
            f"no entity of these triples is known to the engine: they have names such as {more.entity(0)!r}, "
            f"its own are such as {old.entity(0)!r}"
        )
    if old.labels is None:
        return ""
    owners = pc.index_in(new, value_set=array_of(old.labels))
    found = owners.is_valid()
    names = new.filter(found)
    if not len(names):
        return ""
    these = counted(len(names), "new entity is", "new entities are")
    owner = old.entity(owners.filter(found)[0].as_py())
    return (
        f"{these} called like the label of an old one, {names[0].as_py()!r} like that of {owner!r}: "
        "triples tell an entity by its name"
    )
