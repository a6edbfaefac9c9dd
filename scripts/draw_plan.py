"""Draws a plan as in the paper's Figure 2: the inputs of every encoder, step by step.

From left to right every step is one box: path steps take token sequences, a start followed by operators (Eq. 2), fork
steps take the values of branches, and so do the unions of a method that has its own. A round mark behind a box is a
value; the roots are compared with every entity.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from pathformer.plan.build import Plan
from pathformer.plan.layout import ForkStep, PathStep, Token
from pathformer.query.picture.svg import Svg, shorten, text_width
from pathformer.query.picture.text_tree import Labels
from pathformer.query.structures import NEGATION

__all__ = ["draw_plan"]

_BLUE, _ORANGE, _GREEN, _GREY, _DARK = "#1f6fb4", "#d1601f", "#1b8a6b", "#888888", "#222222"
_TINT = {_BLUE: "#e9f1f8", _ORANGE: "#fbefe8", _GREEN: "#e8f4f0"}
_MARGIN, _LANE, _PILL, _GAP, _BOX, _RADIUS, _SIZE = 24.0, 54.0, 26.0, 8.0, 118.0, 17.0, 12.0


def draw_plan(plan: Plan, labels: Labels, answer: str = "?x") -> str:
    """Returns the picture of a plan as the text of an SVG file; each path takes a line, so plans must be small."""
    return _Picture(plan, labels).draw(answer)


@dataclass(slots=True)
class _Picture:
    plan: Plan
    labels: Labels
    svg: Svg = field(default_factory=lambda: Svg(2 * _MARGIN, 0.0))
    heights: dict[int, float] = field(default_factory=dict)  # of each value
    ends: dict[int, float] = field(default_factory=dict)  # right edge of each value's mark
    marks: Counter[str] = field(default_factory=Counter)  # how many of each letter were drawn

    def draw(self, answer: str) -> str:
        layout = self.plan.layout
        self._place()
        x = _MARGIN
        for step in layout.steps:
            x = self._path_step(step, x) if isinstance(step, PathStep) else self._fork_step(step, x)
        width = max(150.0, text_width(answer, _SIZE) + 24)
        middle = float(np.mean([self.heights[root] for root in layout.roots]))
        for root in layout.roots:
            self.svg.arrow(self.ends[root] + 3, self.heights[root], x - 4, self.heights[root], _DARK)
        low, high = (f([self.heights[root] for root in layout.roots]) for f in (min, max))
        self.svg.rect(x, low - 30, width, high - low + 60, 8, fill="#fff", stroke=_DARK, stroke_width=1.4)
        self.svg.text(x + width / 2, middle - 10, "nearest entities", _SIZE)
        self.svg.text(x + width / 2, middle + 10, "Dist(e, q) = |v_e - v_q|", 11, longest=40, fill=_GREY)
        self.svg.arrow(x + width + 2, middle, x + width + 34, middle, _DARK)
        self.svg.text(x + width + 42, middle, answer, 13, text_anchor="start", font_weight="bold")
        self.svg.width = x + width + 54 + text_width(shorten(answer), 13) + _MARGIN
        self.svg.parts.sort(key=lambda part: not part.startswith("<line"))  # arrows pass behind boxes
        return self.svg.render()

    def _place(self) -> None:
        """Places a line for every path from an anchor, in the order of the tree; other values between their sources."""
        sources: dict[int, list[int]] = {}
        for step in self.plan.layout.steps:
            for place in range(len(step)):
                sources[step.first + place] = self._sources(step, place)

        def height(value: int) -> float:
            below = [height(source) for source in sources[value]]
            if not below:
                self.svg.height += _LANE
            self.heights[value] = sum(below) / len(below) if below else self.svg.height
            return self.heights[value]

        self.svg.height = _MARGIN
        for root in self.plan.layout.roots.tolist():
            height(root)
        self.svg.height += _LANE + _MARGIN

    @staticmethod
    def _sources(step: PathStep | ForkStep, place: int) -> list[int]:
        if isinstance(step, ForkStep):
            return [int(branch[place]) for branch in step.branches if place < len(branch)]
        start = step.offsets[place]
        return [int(step.sources[start])] if step.kinds[start] == Token.VARIABLE else []

    def _path_step(self, step: PathStep, x: float) -> float:
        rows = [self._tokens(step, place) for place in range(len(step))]
        widest = max(sum(_width(text) + _GAP for text, _ in row) for row in rows)
        values = range(step.first, step.first + len(step))
        for value, row, place in zip(values, rows, range(len(step)), strict=True):
            at, y = x + widest - sum(_width(text) + _GAP for text, _ in row), self.heights[value]
            for source in self._sources(step, place):
                self.svg.arrow(self.ends[source] + 3, y, at - 3, y, _GREEN)
            for text, colour in row:
                self._pill(at, y, text, colour)
                at += _width(text) + _GAP
            self.svg.arrow(at - _GAP + 2, y, x + widest + 16, y, _BLUE)
        return self._box(list(values), x + widest + 18, "path query encoder", "MP(TrmE(E_in)), Eq. 3", _BLUE, "P")

    def _fork_step(self, step: ForkStep, x: float) -> float:
        colour = _GREEN if step.united else _ORANGE
        values = range(step.first, step.first + len(step))
        for value, place in zip(values, range(len(step)), strict=True):
            for source in self._sources(step, place):
                end = self.heights[value] + (self.heights[source] - self.heights[value]) * 0.25
                self.svg.arrow(self.ends[source] + 3, self.heights[source], x + 26, end, colour)
        if step.united:
            return self._box(list(values), x + 28, "union", "the method's own", colour, "U")
        return self._box(list(values), x + 28, "fork query encoder", "MLP(E_i ⊗ E_j), Eq. 4", colour, "F")

    def _box(self, values: list[int], x: float, title: str, formula: str, colour: str, letter: str) -> float:
        """Draws an encoder as one box over all its lines, with a mark for every output; returns the next x."""
        low, high = (f([self.heights[value] for value in values]) for f in (min, max))
        width = max(_BOX, text_width(title, _SIZE) + 20, text_width(formula, 10.5) + 20)
        self.svg.rect(x, low - 26, width, high - low + 52, 8, fill=_TINT[colour], stroke=colour, stroke_width=1.4)
        self.svg.text(x + width / 2, (low + high) / 2 - 9, title, _SIZE, longest=40)
        self.svg.text(x + width / 2, (low + high) / 2 + 9, formula, 10.5, longest=60, fill=_GREY)
        for value in sorted(values, key=lambda value: self.heights[value]):
            centre, y = x + width + 26 + _RADIUS, self.heights[value]
            self.svg.arrow(x + width + 2, y, centre - _RADIUS - 3, y, colour)
            self.svg.add("circle", cx=centre, cy=y, r=_RADIUS, fill="#fff", stroke=colour, stroke_width=1.6)
            self.svg.text(centre, y, self._name(letter), 11)
            self.ends[value] = centre + _RADIUS
        return x + width + 26 + 2 * _RADIUS + 40

    def _name(self, letter: str) -> str:
        self.marks[letter] += 1
        return f"{letter}{self.marks[letter]}"

    def _tokens(self, step: PathStep, place: int) -> list[tuple[str, str]]:
        """Returns text and colour of a path's tokens; a variable at the start is shown by the mark of its source."""
        found = []
        for at in range(step.offsets[place], step.offsets[place + 1]):
            match Token(step.kinds[at]):
                case Token.ENTITY:
                    found.append((self.labels.entity(int(self.plan.ids[step.sources[at]])), _DARK))
                case Token.RELATION:
                    found.append((self.labels.token(int(self.plan.ids[step.sources[at]])), _BLUE))
                case Token.NEGATION:
                    found.append((self.labels.token(NEGATION), _ORANGE))
                case Token.VARIABLE:
                    found.append(("V", _GREEN))
        return found

    def _pill(self, x: float, y: float, text: str, colour: str) -> None:
        self.svg.rect(x, y - _PILL / 2, _width(text), _PILL, 5, fill="#fff", stroke=colour, stroke_width=1.3)
        self.svg.text(x + _width(text) / 2, y, text, _SIZE)


def _width(text: str) -> float:
    return text_width(shorten(text), _SIZE) + 16
