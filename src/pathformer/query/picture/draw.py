"""A query as a picture, in the manner of the paper's Figure 1.

(A) the computation tree, anchors on the left and the answer on the right, every path query in a dashed box of its own
colour; (B) the token sequence of each path (Eq. 2) and the branches of each fork. A query with unions is drawn as a
whole first, then one disjunct after the other, numbered as `explain` numbers them.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from math import sqrt

from pathformer.errors import MissingExtraError, QuerySizeError
from pathformer.query.compile.bind import bind, own_vocabulary
from pathformer.query.compile.dnf import to_dnf
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.iris import Naming
from pathformer.query.parse import parse, write
from pathformer.query.picture.arrange import Branch, Junction, Measure, arrange, parts_of, place
from pathformer.query.picture.marks import (
    DARK,
    DOT,
    GREY,
    RED,
    RING,
    badge,
    circle,
    curve,
    junction_mark,
    pill,
    pill_width,
    sign_of,
    tag,
)
from pathformer.query.picture.svg import Svg, shorten, text_width
from pathformer.query.picture.text_tree import Labels
from pathformer.query.structures import NEGATION
from pathformer.query.tree import Tree

__all__ = ["draw", "draw_query", "to_png"]

_DRAWN = 8  # disjuncts; the others are counted
_PIXELS = 24_000_000  # of a PNG: about two seconds of drawing and 100 MB for the canvas
_SMALLEST = 0.5  # zoom at which the letters can still be told apart
_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')


def draw(tree: Tree, labels: Labels, answer: str = "?x", title: str = "") -> str:
    """The picture of a query as the text of an SVG file."""
    disjuncts = to_dnf(tree)
    drawing = _Drawing(labels, answer)
    for line in textwrap.wrap(title, 96, break_long_words=False)[:4]:
        drawing.heading(line, 13, "#222")
    if len(disjuncts) > 1:
        drawing.heading("computation tree")
        drawing.tree(tree, in_colour=False)
    for number, disjunct in enumerate(disjuncts[:_DRAWN], start=1):
        if len(disjuncts) > 1:
            drawing.heading(f"disjunct {number} of {len(disjuncts):,}")
        drawing.tree(disjunct, in_colour=True)
    if len(disjuncts) > _DRAWN:
        drawing.heading(f"and {len(disjuncts) - _DRAWN:,} disjuncts more")
    drawing.sequences()
    drawing.legend(unions=len(disjuncts) > 1)
    return drawing.svg.render()


def draw_query(text: str, naming: Naming | None = None, syntax: str | None = None) -> str:
    """The picture of a query in any syntax; without a vocabulary the names of the query itself serve."""
    naming = naming or Naming()
    query = parse(text, syntax, naming)
    vocabulary = naming.vocabulary or own_vocabulary(query)
    tree = to_tree(bind(query, vocabulary), vocabulary)
    return draw(tree, Labels(vocabulary), f"?{query.answer.name}", write(query))


def to_png(svg: str, zoom: float = 2.0) -> bytes:
    """A picture of `draw` as the bytes of a PNG file, `zoom` times as large or, where that is too large, less.

    QuerySizeError for a picture that would be too large or too small to read: the library ends the whole process when
    it runs out of memory.
    """
    try:
        import resvg_py
    except ImportError as error:
        raise MissingExtraError("drawing a PNG", "resvg_py", "png") from error
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=min(zoom, _largest_zoom(svg))))


def _largest_zoom(svg: str) -> float:
    size = _SIZE.match(svg)
    assert size, "a picture says how large it is"
    width, height = map(int, size.groups())
    zoom = sqrt(_PIXELS / (width * height))
    if zoom < _SMALLEST:
        raise QuerySizeError(
            f"the picture is {width:,} by {height:,} units, too large for a PNG that can be read: use --svg instead"
        )
    return zoom


PALETTE = ("#1f6fb4", "#d1601f", "#1b8a6b", "#7b5bb5", "#c2347e", "#5f8f1d", "#9a6a1f", "#3c7f92")
MARGIN, LANE, JOINT = 26.0, 80.0, 54.0


@dataclass(slots=True)
class _Drawing:
    """A picture that grows downwards."""

    labels: Labels
    answer: str
    svg: Svg = field(default_factory=lambda: Svg(2 * MARGIN, MARGIN))
    paths: int = 0
    forks: int = 0
    rows: list[tuple[str, str, list[tuple[str, str]]]] = field(default_factory=list)  # name, colour, tokens in colours

    def heading(self, text: str, size: float = 11.5, colour: str = GREY) -> None:
        """Draws a line of text."""
        self.svg.text(MARGIN, self.svg.height + 4, text, size, longest=110, text_anchor="start", fill=colour)
        self._grow(MARGIN + text_width(shorten(text, 110), size), 26)

    def tree(self, tree: Tree, in_colour: bool) -> None:
        """Draws a tree; in colour, each path has a box, a name and a row of tokens."""
        root = arrange(tree)
        top, end = self.svg.height, JOINT if isinstance(root, Junction) else 0.0
        measure = Measure(LANE, JOINT, self._edge)
        place(root, 0.0, top, measure)
        left = min(self._left(part) for part in parts_of(root))
        bottom = place(root, MARGIN + 14 - left, top, measure)
        width = pill_width(self.answer)
        names: dict[int, str] = {}
        colours: dict[int, str] = {}
        for part in parts_of(root):
            self._name(part, names, colours, in_colour)
        for part in parts_of(root):
            if isinstance(part, Branch) and in_colour and part.operators:
                self._box(part, names[id(part)], colours[id(part)], width if part is root else 0.0)
        for part in parts_of(root):
            if isinstance(part, Branch):
                self._lane(part, colours[id(part)])
            else:
                self._junction(part, names.get(id(part), ""))
        x, y = (root.x, root.y) if isinstance(root, Junction) else (root.xs[-1], root.y)
        if end:
            curve(self.svg, x + RING, y, x + end - DOT, y)
        pill(self.svg, x + end - DOT + width / 2, y, self.answer, DARK, filled=True)
        self._grow(x + end + width + 14, bottom - top + 10)

    def sequences(self) -> None:
        """Draws the rows of tokens of all paths and forks drawn so far."""
        for name, colour, tokens in self.rows:
            y, x = self.svg.height + 8, MARGIN + 18
            tag(self.svg, x, y, name, colour)
            x += 26
            for text, shade in tokens:
                width = 10.0 if shade == "none" else max(text_width(shorten(text), 11.5) + 18, 28)
                pill(self.svg, x + width / 2, y, text, shade, size=11.5, height=22, width=width)
                x += width + 8
            self._grow(x, 30)
        self._grow(0, 10)

    def legend(self, unions: bool) -> None:
        """Draws the legend of all marks."""
        x, y = MARGIN + 4, self.svg.height + 2
        limit = max(self.svg.width, 560)
        for sign, words in (
            ("anchor", "anchor entity"),
            ("variable", "variable"),
            ("answer", "answer"),
            ("path", "path query"),
            ("fork", "intersection (fork query)"),
            *([("union", "union")] if unions else []),
            ("negation", "negation"),
        ):
            if x + text_width(words, 10.5) + 36 > limit:
                x, y = MARGIN + 4, y + 24
                self._grow(0, 24)
            width = sign_of(self.svg, sign, x, y)
            self.svg.text(x + width + 7, y, words, 10.5, text_anchor="start", fill=GREY)
            x += width + 7 + text_width(words, 10.5) + 12
            self._grow(x - 12, 0)
        self._grow(0, 22)

    def _name(self, part: Branch | Junction, names: dict[int, str], colours: dict[int, str], in_colour: bool) -> None:
        """Numbers a part and keeps its row of tokens."""
        colours[id(part)] = GREY
        if not in_colour:
            return
        if isinstance(part, Junction):
            self.forks += 1
            names[id(part)] = f"F{self.forks}"
            branches = [(names[id(branch)], colours[id(branch)]) for branch in part.branches]
            self.rows.append((names[id(part)], DARK, [item for pair in branches for item in (("∩", "none"), pair)][1:]))
            return
        self.paths += 1
        colour = PALETTE[(self.paths - 1) % len(PALETTE)]
        names[id(part)], colours[id(part)] = f"P{self.paths}", colour
        start = (
            (names[id(part.start)], DARK) if isinstance(part.start, Junction) else (self._entity(part.start), colour)
        )
        tokens = [(self.labels.token(o), RED if o == NEGATION else colour) for o in part.operators]
        self.rows.append((names[id(part)], colour, [start, *tokens]))

    def _box(self, branch: Branch, name: str, colour: str, beyond: float) -> None:
        left, right = self._left(branch) - 10, branch.xs[-1] + DOT + 9 + beyond
        top, height = branch.y - 31, 64.0 if isinstance(branch.start, Junction) else 55.0
        line = {"stroke": colour, "stroke_width": 1.3, "stroke_dasharray": "5 4"}
        self.svg.rect(left, top, right - left, height, 12, fill=colour, fill_opacity=0.06, **line)
        tag(self.svg, left + 20, top, name, colour)

    def _lane(self, branch: Branch, colour: str) -> None:
        y = branch.y
        nodes = list(zip(branch.xs, branch.operators, branch.xs[1:], strict=False))
        for number, (x1, operator, x2) in enumerate(nodes):
            radius = RING if number == 0 and isinstance(branch.start, Junction) else DOT
            self.svg.arrow(x1 + radius + 1, y, x2 - DOT - 2, y, colour)
            if operator == NEGATION:
                badge(self.svg, (x1 + radius + x2 - DOT) / 2 - 2, y)
            else:
                self.svg.text((x1 + radius + x2 - DOT) / 2 - 2, y - 13, self.labels.operator(operator), 12)
        for x in branch.xs[1:]:
            circle(self.svg, x, y, DOT, colour)
        if isinstance(branch.start, int):
            name = self._entity(branch.start)
            pill(self.svg, branch.xs[0] + DOT - pill_width(name) / 2, y, name, colour)

    def _junction(self, junction: Junction, name: str) -> None:
        for branch in junction.branches:
            radius = DOT if branch.operators or isinstance(branch.start, int) else RING
            curve(self.svg, branch.xs[-1] + radius, branch.y, junction.x - RING, junction.y)
        junction_mark(self.svg, junction.x, junction.y, junction.union)
        if name:
            self.svg.text(junction.x, junction.y + RING + 9, name, 10, fill=DARK, font_weight="bold")

    def _edge(self, operator: int) -> float:
        if operator == NEGATION:
            return 74.0
        return max(74.0, text_width(shorten(self.labels.operator(operator)), 12) + 42)

    def _left(self, part: Branch | Junction) -> float:
        if isinstance(part, Junction):
            return part.x - RING
        if isinstance(part.start, Junction):
            return part.xs[0] - RING
        return part.xs[0] + DOT - pill_width(self._entity(part.start))

    def _entity(self, entity: int) -> str:
        return self.labels.entity(entity)

    def _grow(self, right: float, down: float) -> None:
        self.svg.width = max(self.svg.width, right + MARGIN)
        self.svg.height += down
