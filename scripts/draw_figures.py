"""Draw the pictures of the documentation into docs/images: `python scripts/draw_figures.py`. A test compares them."""

from __future__ import annotations

from pathlib import Path

from pathformer.query.draw import draw_query
from pathformer.query.gallery import draw_structures
from pathformer.query.structures import STRUCTURES

IMAGES = Path(__file__).parents[1] / "docs" / "images"
ROWS = ("1p 2p 3p 2i 3i", "ip pi 2u up", "2in 3in inp pin pni")
EXAMPLE = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"
WITH_UNION = "?x : (directed(Fellini, ?f) | directed(Visconti, ?f)) & stars(?f, ?x)"


def figures() -> dict[str, str]:
    """The text of every picture by the name of its file."""
    return {
        "structures.svg": draw_structures([[STRUCTURES[name] for name in row.split()] for row in ROWS]),
        "fellini.svg": draw_query(EXAMPLE),
        "union.svg": draw_query(WITH_UNION),
    }


def main() -> None:
    """Write them all."""
    IMAGES.mkdir(exist_ok=True)
    for name, text in figures().items():
        (IMAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
