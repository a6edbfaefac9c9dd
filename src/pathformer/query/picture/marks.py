"""The marks that pictures of queries are made of."""

from __future__ import annotations

from pathformer.query.picture.svg import Svg, shorten, text_width

__all__ = [
    "DARK",
    "DOT",
    "GREY",
    "RED",
    "RING",
    "badge",
    "circle",
    "curve",
    "junction_mark",
    "pill",
    "pill_width",
    "sign_of",
    "tag",
]

GREY, DARK, RED = "#7b818b", "#2b2f36", "#c0392b"
DOT, RING = 5.5, 14.0  # radius of a variable, and of a junction


def pill_width(text: str, size: float = 12) -> float:
    """The width of a pill with this text."""
    return max(text_width(shorten(text), size) + 22, 34.0)


def pill(
    svg: Svg,
    x: float,
    y: float,
    text: str,
    colour: str,
    filled: bool = False,
    size: float = 12,
    height: float = 28,
    width: float = 0,
) -> None:
    """Draws a name in a frame with round ends: an anchor, the answer or a token."""
    width = width or pill_width(text, size)
    ink = "#fff" if filled else DARK
    if colour != "none":
        shade = {"fill": colour, "fill_opacity": 1.0 if filled else 0.14, "stroke": colour, "stroke_width": 1.3}
        svg.rect(x - width / 2, y - height / 2, width, height, height / 2, **shade)
    svg.text(x, y, text, size, fill=ink)


def tag(svg: Svg, x: float, y: float, text: str, colour: str) -> None:
    """Draws the name of a path or fork on its colour."""
    width = text_width(text, 10.5) + 14
    svg.rect(x - width / 2, y - 9, width, 18, 5, fill=colour)
    svg.text(x, y, text, 10.5, fill="#fff", font_weight="bold")


def circle(svg: Svg, x: float, y: float, radius: float, colour: str, fill: str = "#fff") -> None:
    """Draws a variable."""
    svg.add("circle", cx=x, cy=y, r=radius, fill=fill, stroke=colour, stroke_width=1.8)


def junction_mark(svg: Svg, x: float, y: float, union: bool, radius: float = RING) -> None:
    """Draws an intersection or a union."""
    circle(svg, x, y, radius, DARK)
    svg.text(x, y, "∪" if union else "∩", 1.07 * radius)


def curve(svg: Svg, x1: float, y1: float, x2: float, y2: float) -> None:
    """Draws a line from a branch to its junction."""
    middle = (x1 + x2) / 2
    route = " ".join(f"{value:.1f}" for value in (middle, y1, middle, y2, x2, y2))
    svg.add("path", d=f"M {x1:.1f} {y1:.1f} C {route}", fill="none", stroke=GREY, stroke_width=1.6)


def badge(svg: Svg, x: float, y: float, radius: float = 9.5) -> None:
    """Draws a negation."""
    svg.add("circle", cx=x, cy=y, r=radius, fill=RED, stroke="#fff", stroke_width=1.5)
    svg.text(x, y, "¬", 1.4 * radius, fill="#fff", font_weight="bold")


def sign_of(svg: Svg, sign: str, x: float, y: float) -> float:
    """Draws a mark of the legend from x to the right and returns its width."""
    match sign:
        case "anchor":
            svg.rect(x, y - 7, 22, 14, 7, fill=GREY, fill_opacity=0.16, stroke=GREY)
        case "answer":
            svg.rect(x, y - 7, 22, 14, 7, fill=DARK)
        case "path":
            svg.rect(x, y - 7, 22, 14, 4, fill="none", stroke=GREY, stroke_dasharray="4 3")
        case "variable":
            circle(svg, x + DOT, y, DOT, GREY)
            return 2 * DOT
        case "negation":
            badge(svg, x + 8, y, 8)
            return 16
        case _:
            junction_mark(svg, x + 9, y, sign == "union", 9)
            return 18
    return 22
