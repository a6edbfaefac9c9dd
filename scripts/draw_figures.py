"""Draw the pictures of the documentation into docs/images: `python scripts/draw_figures.py`. A test compares them."""

from __future__ import annotations

from pathlib import Path

from draw_plan import draw_plan
from draw_structures import draw_structures

from pathformer.plan.build import plan_trees
from pathformer.query.compile.bind import bind, own_vocabulary
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.iris import Naming
from pathformer.query.parse import parse
from pathformer.query.picture.draw import draw_query
from pathformer.query.picture.text_tree import Labels
from pathformer.query.structures import STRUCTURES

IMAGES = Path(__file__).parents[1] / "docs" / "images"
ROWS = ("1p 2p 3p 2i 3i", "ip pi 2u up", "2in 3in inp pin pni")
EXAMPLE = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"
WITH_UNION = "?x : (directed(Fellini, ?f) | directed(Visconti, ?f)) & stars(?f, ?x)"


def figures() -> dict[str, str]:
    """Returns the text of every picture by the name of its file."""
    return {
        "structures.svg": draw_structures([[STRUCTURES[name] for name in row.split()] for row in ROWS]),
        "fellini.svg": draw_query(EXAMPLE),
        "union.svg": draw_query(WITH_UNION),
        "architecture.svg": plan_picture(EXAMPLE),
    }


def plan_picture(text: str) -> str:
    """Draws the paths and forks that a model reads of a query, as in the paper's Figure 2."""
    query = parse(text, None, Naming())
    vocabulary = own_vocabulary(query)
    return draw_plan(plan_trees([to_tree(bind(query, vocabulary), vocabulary)]), Labels(vocabulary))


def write_images(figures: dict[str, str]) -> None:
    """Writes pictures into the images of the documentation."""
    IMAGES.mkdir(exist_ok=True)
    for name, text in figures.items():
        (IMAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_images(figures())
