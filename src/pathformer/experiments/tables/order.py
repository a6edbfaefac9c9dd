"""Whether methods stand in the same order here as in the paper.

Only rows with one budget are compared: those of the budget that most rows of a dataset have, each alone on its device
or each beside others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from pathformer.experiments.tables.view import Line
from pathformer.words import counted

__all__ = ["Order", "Turn", "kendall", "order_notes", "orders"]

_WIDE = 1.0  # points of MRR: a pair that is turned by less may be chance


@dataclass(frozen=True, slots=True)
class Turn:
    """Two methods that stand the other way round here.

    The one that the paper has above fell: its figure less the paper's is below the other's, whatever both of them are.
    """

    above: str  # in the paper
    below: str
    paper: tuple[float, float]  # figures of the two
    ours: tuple[float, float]

    @property
    def width(self) -> float:
        """By how many points the lower one leads here."""
        return self.ours[1] - self.ours[0]


@dataclass(frozen=True, slots=True)
class Order:
    """The methods of one dataset of a table, in the paper and here."""

    dataset: str
    column: str  # by which they are ordered
    budget: str
    figures: Mapping[str, tuple[float, float]]  # method -> the paper's, ours
    apart: tuple[str, ...]  # methods whose rows have another budget, and are not compared
    seen: Mapping[str, int] = field(default_factory=dict)  # method -> queries that it was trained on, where known

    @property
    def tau(self) -> float:
        """Kendall's tau of the two orders."""
        return kendall(list(self.figures.values()))

    @property
    def pairs(self) -> int:
        """Pairs of methods that the paper does not print as equal."""
        return sum(self.figures[a][0] != self.figures[b][0] for a, b in combinations(self.figures, 2))

    @property
    def kept(self) -> int:
        """Those of them that stand the same way here."""
        return sum((p - r) * (q - s) > 0 for (p, q), (r, s) in combinations(self.figures.values(), 2))

    @property
    def turns(self) -> list[Turn]:
        """The pairs that stand the other way round, the widest first."""
        found = []
        for a, b in combinations(self.figures, 2):
            above, below = (a, b) if self.figures[a][0] >= self.figures[b][0] else (b, a)
            paper, ours = zip(self.figures[above], self.figures[below], strict=True)
            if paper[0] > paper[1] and ours[0] < ours[1]:
                found.append(Turn(above, below, paper, ours))
        return sorted(found, key=lambda turn: -turn.width)

    @property
    def wide(self) -> list[Turn]:
        """Those that are turned by more than a point."""
        return [turn for turn in self.turns if turn.width > _WIDE]

    @property
    def fallen(self) -> dict[str, list[Turn]]:
        """The same by the method that fell, first those that fell below most others."""
        found: dict[str, list[Turn]] = {}
        for turn in self.wide:
            found.setdefault(turn.above, []).append(turn)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    @property
    def starved(self) -> int:
        """How many of them are of a method that was trained on fewer queries than the other: it computes slower."""
        known = [turn for turn in self.wide if {turn.above, turn.below} <= self.seen.keys()]
        return sum(self.seen[turn.above] < self.seen[turn.below] for turn in known)

    def fallen_words(self) -> str:
        """Who fell, from which figure of the paper to which of ours, and below whom."""
        return "; ".join(
            f"{model} ({turns[0].paper[0]:.1f}, here {turns[0].ours[0]:.1f}) below {', '.join(t.below for t in turns)}"
            for model, turns in self.fallen.items()
        )

    def __str__(self) -> str:
        pairs = f"{self.kept} of {counted(self.pairs, 'pair')}"
        words = f"{pairs} as in the paper, Kendall's tau {self.tau:.2f}"
        if self.wide:
            words += f"; turned by more than a point: {self.fallen_words()}"
        elif self.turns:
            words += "; none turned by more than a point"
        if self.apart:
            words += f"; left out, with another budget than {self.budget}: {', '.join(self.apart)}"
        return words


def orders(lines: Sequence[Line], column: str) -> list[Order]:
    """The order of the methods in each dataset that has two of one budget with different figures."""
    found = []
    for dataset in dict.fromkeys(line.dataset for line in lines):
        measured = [line for line in lines if line.dataset == dataset and column in (line.ours or ())]
        budgets = Counter(map(_budget, measured))
        if not budgets:
            continue
        most = max(budgets, key=lambda budget: budgets[budget])
        compared = [line for line in measured if _budget(line) == most]
        figures = {line.model: (line.paper[column], (line.ours or {})[column]) for line in compared}
        if all(len(set(side)) > 1 for side in zip(*figures.values(), strict=True)):  # not all equal, there or here
            apart = tuple(line.model for line in measured if _budget(line) != most)
            seen = {line.model: int(line.about["seen"]) for line in compared if line.about.get("seen") is not None}
            found.append(Order(dataset, column, _words(compared), figures, apart, seen))
    return found


def order_notes(lines: Sequence[Line], column: str) -> list[str]:
    """A sentence for each dataset with two methods or more."""
    return [f"Order by {column}, {order.dataset}: {order}." for order in orders(lines, column)]


def kendall(pairs: Sequence[tuple[float, float]]) -> float:
    """Kendall's tau-b of two rankings of the same things; not a number where one of them is all ties.

    >>> kendall([(3.0, 30.0), (2.0, 10.0), (1.0, 20.0)])
    0.3333333333333333
    """
    signs = [(_sign(a - c), _sign(b - d)) for (a, b), (c, d) in combinations(pairs, 2)]
    left, right = (sum(sign[side] != 0 for sign in signs) for side in (0, 1))
    return sum(a * b for a, b in signs) / math.sqrt(left * right) if left and right else math.nan


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _budget(line: Line) -> tuple[str, bool]:
    """What rows must have in common to be compared; of two numbers of neighbours that differ a little none is wrong."""
    return str(line.about.get("budget", "")), int(line.about.get("beside", 1)) > 1


def _words(lines: Sequence[Line]) -> str:
    """The budget of rows that are compared."""
    beside = sorted({int(line.about.get("beside", 1)) for line in lines})
    many = str(beside[0]) if len(beside) == 1 else f"{beside[0]} to {beside[-1]}"
    return f"{_budget(lines[0])[0]}{f', {many} runs on the card' if beside[-1] > 1 else ''}"
