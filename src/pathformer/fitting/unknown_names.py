"""Warns of names in a file of triples that are strange to the engine."""

from __future__ import annotations

import pyarrow.compute as pc

from pathformer.kg.arrow import array_of
from pathformer.kg.vocabulary import Vocabulary
from pathformer.text import counted

__all__ = ["warn_about_unknown_names"]


def warn_about_unknown_names(old: Vocabulary, more: Vocabulary) -> str:
    """Warns if no entity of new triples is known, or if new entities have the labels of old ones as names.

    Both may be meant, so the update goes on. But a file from another export, or one that names entities by their
    labels, would add a second graph beside the engine's own.
    """
    given = array_of(more.entities)
    new = given.filter(pc.invert(pc.is_in(given, value_set=array_of(old.entities))))
    if len(new) == len(given):
        return (
            f"Warning: the engine knows no entity of these triples. They have names like {more.entity(0)!r}, "
            f"the engine has names like {old.entity(0)!r}. Check that both use the same names."
        )
    if old.labels is None:
        return ""
    owners = pc.index_in(new, value_set=array_of(old.labels))
    found = owners.is_valid()
    names = new.filter(found)
    if not len(names):
        return ""
    these = counted(len(names), "new entity has", "new entities have")
    owner = old.entity(owners.filter(found)[0].as_py())
    return (
        f"Warning: {these} the label of a known entity as name: {names[0].as_py()!r} is the label of {owner!r}. "
        "Triples must use names, not labels."
    )
