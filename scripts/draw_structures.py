"""Draws query structures as a table of small pictures, as in the paper's Figure 3."""

from __future__ import annotations

from collections.abc import Sequence

from pathformer.query.picture.arrange import Branch, Junction, Measure, arrange, parts_of, place
from pathformer.query.picture.marks import DARK, GREY, badge, circle, curve, junction_mark
from pathformer.query.picture.svg import Svg, text_width
from pathformer.query.structures import NEGATION, Structure

__all__ = ["draw_structures"]

_DOT, _RING = 7.0, 10.0
_MEASURE = Measure(lane=34.0, joint=27.0, edge=lambda _: 44.0)
_CELL, _TITLE, _MARGIN = 222.0, 32.0, 18.0
_BLUE = "#1f6fb4"
_WORDS = ("anchor entity", "projection (p)", "variable", "intersection (i)", "union (u)", "negation (n)", "answer")


def draw_structures(rows: Sequence[Sequence[Structure]]) -> str:
    """Returns rows of pictures, one below the other, as the text of an SVG file."""
    svg = Svg(2 * _MARGIN + _CELL * max(map(len, rows)), _MARGIN)
    for row in rows:
        height = max(_bottom(structure) for structure in row)
        left = (svg.width - _CELL * len(row)) / 2
        for number, structure in enumerate(row):
            _cell(svg, structure, left + _CELL * number, svg.height, height)
        svg.height += height + _TITLE + 12
    _legend(svg)
    return svg.render()


def _bottom(structure: Structure) -> float:
    return place(_root(structure), 0.0, 0.0, _MEASURE)


def _root(structure: Structure) -> Branch | Junction:
    return arrange(structure.tree(range(len(structure.columns))))


def _cell(svg: Svg, structure: Structure, left: float, top: float, height: float) -> None:
    svg.rect(left + 5, top, _CELL - 10, height + _TITLE + 2, 10, fill="#f6f7f9", stroke="#e1e4e9")
    svg.text(left + 22, top + 18, structure.name, 14, text_anchor="start", font_weight="bold")
    root = _root(structure)
    own = place(root, 0.0, 0.0, _MEASURE)
    leftmost = min(part.xs[0] for part in parts_of(root) if isinstance(part, Branch))
    end = _MEASURE.joint if isinstance(root, Junction) else 0.0
    right = left + (_CELL - leftmost - end) / 2  # the middle of the picture in the middle of the cell
    place(root, right, top + _TITLE - 6 + (height - own) / 2, _MEASURE)
    for part in parts_of(root):
        _lane(svg, part) if isinstance(part, Branch) else _junction(svg, part)
    x, y = (root.x, root.y) if isinstance(root, Junction) else (root.xs[-1], root.y)
    if end:
        svg.add("line", x1=x + _RING, y1=y, x2=x + end - _DOT, y2=y, stroke=GREY, stroke_width=1.6)
    _answer(svg, x + end, y)


def _lane(svg: Svg, branch: Branch) -> None:
    for number, operator in enumerate(branch.operators):
        x1, x2 = branch.xs[number], branch.xs[number + 1]
        radius = _RING if number == 0 and isinstance(branch.start, Junction) else _DOT
        svg.arrow(x1 + radius, branch.y, x2 - _DOT - 1, branch.y, _BLUE)
        if operator == NEGATION:
            badge(svg, (x1 + radius + x2 - _DOT) / 2 - 3, branch.y, 7.5)
    for x in branch.xs[1:]:
        circle(svg, x, branch.y, _DOT - 1, _BLUE)
    if isinstance(branch.start, int):
        circle(svg, branch.xs[0], branch.y, _DOT, _BLUE, _BLUE)


def _junction(svg: Svg, junction: Junction) -> None:
    for branch in junction.branches:
        curve(svg, branch.xs[-1] + _DOT - 1, branch.y, junction.x - _RING, junction.y)
    junction_mark(svg, junction.x, junction.y, junction.union, _RING)


def _answer(svg: Svg, x: float, y: float) -> None:
    circle(svg, x, y, _DOT + 1, DARK, DARK)
    svg.text(x, y, "?", 11, fill="#fff", font_weight="bold")


def _legend(svg: Svg) -> None:
    y = svg.height + 6
    xs = [_MARGIN + 40.0]
    for words in _WORDS:
        svg.text(xs[-1] + 16, y, words, 11, text_anchor="start", fill=GREY)
        xs.append(xs[-1] + text_width(words, 11) + 52)
    circle(svg, xs[0], y, _DOT, _BLUE, _BLUE)
    svg.arrow(xs[1] - 12, y, xs[1] + 9, y, _BLUE)
    circle(svg, xs[2], y, _DOT - 1, _BLUE)
    junction_mark(svg, xs[3], y, False, _RING)
    junction_mark(svg, xs[4], y, True, _RING)
    badge(svg, xs[5], y, 7.5)
    _answer(svg, xs[6], y)
    svg.height += 28
