"""Whether methods stand in the same order here as in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from pathformer.experiments.tables.view import Line

__all__ = ["order_notes"]


def order_notes(lines: Sequence[Line], column: str) -> list[str]:
    """For each dataset with three methods or more: how many pairs stand in the paper's order, and which do not.

    A pair that the paper prints as equal is left out.
    """
    notes = []
    for dataset in dict.fromkeys(line.dataset for line in lines):
        ours = {
            line.model: (line.paper[column], line.ours[column])
            for line in lines
            if line.dataset == dataset and line.ours is not None and column in line.ours
        }
        if len(ours) >= 3:
            notes.append(f"Order by {column}, {dataset}: {_words(ours)}.")
    return notes


def _words(figures: dict[str, tuple[float, float]]) -> str:
    pairs = [(a, b) for a, b in combinations(figures, 2) if figures[a][0] != figures[b][0]]
    turned = [
        (a, b) if figures[a][0] > figures[b][0] else (b, a)
        for a, b in pairs
        if (figures[a][0] - figures[b][0]) * (figures[a][1] - figures[b][1]) < 0
    ]
    said = f"{len(pairs) - len(turned)} of {len(pairs)} pairs as in the paper"
    # The widest turns first: a narrow one may be chance.
    turned.sort(key=lambda pair: figures[pair[0]][1] - figures[pair[1]][1])
    shown = ", ".join(f"{a} above {b}" for a, b in turned[:6])
    more = f" and {len(turned) - 6} more" if len(turned) > 6 else ""
    return f"{said}; the paper has {shown}{more}, here it is the other way round" if turned else said
