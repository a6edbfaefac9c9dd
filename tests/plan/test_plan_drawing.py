"""The picture of a plan: valid SVG, every token and value in it, nothing outside it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from draw_figures import EXAMPLE
from draw_figures import plan_picture as picture
from draw_plan import draw_plan

from pathformer.kg.vocabulary import Vocabulary
from pathformer.plan.build import build_plan
from pathformer.query.picture.text_tree import Labels
from pathformer.query.structures import STRUCTURES

SVG = "{http://www.w3.org/2000/svg}"


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
