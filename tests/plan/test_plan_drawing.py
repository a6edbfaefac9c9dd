"""The picture of a plan: valid SVG, every token and value in it, nothing outside it; the documentation's is current."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from pathformer.kg.vocab import Vocabulary
from pathformer.plan import build_plan, plan_trees
from pathformer.plan.draw import draw_plan
from pathformer.query.bind import bind, own_vocabulary
from pathformer.query.naming import Naming
from pathformer.query.parse import parse
from pathformer.query.structures import STRUCTURES
from pathformer.query.text_tree import Labels
from pathformer.query.tree import to_tree

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLE = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"
DRAWN = Path(__file__).parents[2] / "docs" / "images" / "architecture.svg"


def picture(text: str) -> str:
    query = parse(text, None, Naming())
    vocabulary = own_vocabulary(query)
    return draw_plan(plan_trees([to_tree(bind(query, vocabulary), vocabulary)]), Labels(vocabulary))


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_papers_example_has_three_paths_and_a_fork() -> None:
    found = texts(picture(EXAMPLE))
    for text in ("Fellini", "directed", "Oscar", "won⁻¹", "[Negation]", "stars", "V", "P1", "P2", "P3", "F1", "?x"):
        assert found.count(text) == 1, text
    assert found.count("path query encoder") == 2
    assert found.count("fork query encoder") == 1
    assert "P4" not in found


def test_a_union_has_a_point_for_every_disjunct() -> None:
    svg = picture("?x : (r(a, ?v) | s(b, ?v)) & t(?v, ?x)")
    found = texts(svg)
    assert found.count("t") == 2
    assert {"P1", "P2"} <= set(found)
    assert found.count("nearest entities") == 1


@pytest.mark.parametrize("name", STRUCTURES)
def test_everything_lies_inside(name: str) -> None:
    shape = STRUCTURES[name]
    vocabulary = Vocabulary.of([f"e{i}" for i in range(9)], [f"r{i}" for i in range(5)])
    plan = build_plan([(shape, np.array([range(len(shape.columns)), range(len(shape.columns))]))])
    root = ElementTree.fromstring(draw_plan(plan, Labels(vocabulary)))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for element in root.iter():
        for key, limit in (("x", width), ("cx", width), ("x1", width), ("x2", width), ("y", height), ("cy", height)):
            if key in element.attrib:
                assert 0 <= float(element.attrib[key]) <= limit
        if element.tag == f"{SVG}rect" and "x" in element.attrib:
            assert float(element.attrib["x"]) + float(element.attrib["width"]) <= width
            assert float(element.attrib["y"]) + float(element.attrib["height"]) <= height
    marks = re.findall(r"[PF]\d+", " ".join(texts(draw_plan(plan, Labels(vocabulary)))))
    assert len(marks) == len(set(marks)) == plan.layout.values


def test_the_documentations_picture_is_current() -> None:
    assert DRAWN.read_text(encoding="utf-8") == picture(EXAMPLE)
