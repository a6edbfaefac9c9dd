"""A query as a picture, in the manner of the paper's Figure 1.

(A) the computation tree, anchors on the left and the answer on the right, every path query in a dashed box of its own
colour; (B) the token sequence of each path (Eq. 2) and the branches of each fork. A query with unions is drawn as a
whole first, then one disjunct after the other, numbered as `explain` numbers them.
"""

from __future__ import annotations

import re
import textwrap
from math import sqrt

from pathformer.errors import MissingExtraError, QuerySizeError
from pathformer.query.compile.bind import bind, own_vocabulary
from pathformer.query.compile.dnf import to_dnf
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.naming import Naming
from pathformer.query.parse import parse, write
from pathformer.query.picture.drawing import Drawing
from pathformer.query.picture.text_tree import Labels
from pathformer.query.tree import Tree

__all__ = ["draw", "draw_query", "to_png"]

_DRAWN = 8  # disjuncts; the others are counted
_PIXELS = 24_000_000  # of a PNG: about two seconds of drawing and 100 MB for the canvas
_SMALLEST = 0.5  # zoom at which the letters can still be told apart
_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')


def draw(tree: Tree, labels: Labels, answer: str = "?x", title: str = "") -> str:
    """The picture of a query as the text of an SVG file."""
    disjuncts = to_dnf(tree)
    drawing = Drawing(labels, answer)
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
