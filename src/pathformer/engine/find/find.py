"""Finds the candidates of questions: known answers, the nearest other entities, and which of these are plausible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.nearest import search
from pathformer.index._base import Index
from pathformer.kg.schema import Kinds
from pathformer.models._encoder import Encoder
from pathformer.query.compile.parts import contradicts_itself
from pathformer.query.tree import Tree

__all__ = ["find", "search_depth"]

_DEEPER, _DEEPEST = 4, 1000  # the search looks at `top` times the first, at `top` plus the second at most


def find(trees: Sequence[Tree], kinds: Kinds, encoder: Encoder, index: Index, top: int) -> list[Candidates]:
    """Returns the candidates of each tree: known answers on the graph of `kinds`, and predictions.

    The search goes deeper than `top`, so that `top` plausible predictions are among the others in most cases.
    """
    found = search(trees, kinds, encoder, index, search_depth(top))
    return [_judge(candidates, kinds, top) for candidates in found]


def search_depth(top: int) -> int:
    """Returns how many of the nearest other entities are looked at for `top` plausible ones."""
    return min(_DEEPER * top, top + _DEEPEST)


def _judge(candidates: Candidates, kinds: Kinds, top: int) -> Candidates:
    """Decides which candidates are plausible; a question that contradicts itself has no predictions."""
    if contradicts_itself(candidates.tree):
        return replace(candidates.where(candidates.known), contradictory=True)
    return mark_implausible(candidates, kinds, top)


def mark_implausible(candidates: Candidates, kinds: Kinds, top: int) -> Candidates:
    """Marks the predictions that do not fit the question, up to the `top`-th that does; the rest is never shown."""
    return replace(candidates, implausible=kinds.odd(candidates, top))
