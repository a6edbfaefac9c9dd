"""A small SVG writer: shapes and text to one self-contained file, the same bytes for the same picture."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from math import ceil
from typing import Any
from xml.sax.saxutils import escape, quoteattr

__all__ = ["Svg", "shorten", "text_width"]

FONT = "'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif"


def text_width(text: str, size: float) -> float:
    """The width of a text, rather too wide than too narrow, since fonts differ."""
    return size * sum(_em(sign) for sign in text)


def _em(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    if unicodedata.combining(sign):
        return 0.0
    if sign in "iIjl.,:;|!'()[] ":
        return 0.38
    return 0.92 if sign in "mwMW@" else 0.64


def shorten(text: str, longest: int = 26) -> str:
    """Leaves out the middle of a long name: both ends tell names apart."""
    if len(text) <= longest:
        return text
    tail = longest // 3
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"


@dataclass(slots=True)
class Svg:
    """A picture in the making."""

    width: float
    height: float
    parts: list[str] = field(default_factory=list)
    colours: set[str] = field(default_factory=set)  # of arrow heads

    def add(self, tag: str, content: str = "", **attributes: Any) -> None:
        """Adds an element; an underscore in an attribute's name is a hyphen."""
        listed = "".join(f" {name.strip('_').replace('_', '-')}={_value(value)}" for name, value in attributes.items())
        self.parts.append(f"<{tag}{listed}>{content}</{tag}>" if content else f"<{tag}{listed}/>")

    def text(self, x: float, y: float, text: str, size: float = 12, longest: int = 26, **attributes: Any) -> None:
        """Adds text around (x, y), shortened, with all of it as a tooltip."""
        short = shorten(text, longest)
        tooltip = f"<title>{_escape(text)}</title>" if short != text else ""
        defaults: dict[str, Any] = {"text_anchor": "middle", "dominant_baseline": "central", "fill": "#222"}
        self.add("text", tooltip + _escape(short), x=x, y=y, font_size=size, **(defaults | attributes))

    def rect(self, x: float, y: float, width: float, height: float, corner: float, **attributes: Any) -> None:
        """Adds a rectangle with round corners."""
        self.add("rect", x=x, y=y, width=width, height=height, rx=corner, **attributes)

    def arrow(self, x1: float, y1: float, x2: float, y2: float, colour: str, **attributes: Any) -> None:
        """Adds a line with an arrow head."""
        self.colours.add(colour)
        marker = f"url(#arrow-{colour.strip('#')})"
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=1.8, marker_end=marker, **attributes)

    def render(self) -> str:
        """Returns the text of the file."""
        heads = "".join(
            f'<marker id="arrow-{colour.strip("#")}" viewBox="0 0 10 10" refX="8.5" refY="5" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0.8 L9.5 5 L0 9.2 z" fill="{colour}"/></marker>'
            for colour in sorted(self.colours)
        )
        width, height = ceil(self.width), ceil(self.height)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}" font-family="{FONT}">',
                f"<defs>{heads}</defs>",
                f'<rect width="{width}" height="{height}" fill="#fff"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


def _escape(text: str) -> str:
    """Text for XML, which has no way to write control signs."""
    return escape(re.sub(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text))


def _value(value: object) -> str:
    return quoteattr(_number(value) if isinstance(value, float) else str(value))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
