"""Pictures: valid SVG, everything in it, nothing outside it, and the documentation's are current."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from draw_figures import figures
from draw_structures import draw_structures
from hypothesis import given, settings
from hypothesis import strategies as st
from support.formula_strategies import NAMES
from support.query_strategies import ENTITIES, RELATIONS, trees

from pathformer.errors import MissingExtraError, QuerySizeError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.picture.draw import draw, draw_query, to_png
from pathformer.query.picture.svg import shorten
from pathformer.query.picture.text_tree import Labels
from pathformer.query.structures import STRUCTURES

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"
EXAMPLE = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"


def texts(svg):
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_example_shows_every_part():
    found = texts(draw_query(EXAMPLE))
    for text in (EXAMPLE, "Fellini", "directed", "Oscar", "won⁻¹", "stars", "?x", "[Negation]", "path query"):
        assert text in found, text
    assert found.count("P1") == 3  # its box, its row, and the row of the fork
    assert found.count("F1") == 3  # its node, its row, and the row of the path that starts there
    assert "P4" not in found
    dashed = re.findall(r'<rect [^>]*fill-opacity="0.1"[^>]*stroke-dasharray="5 4"', draw_query(EXAMPLE))
    assert len(dashed) == 3


def test_a_union_is_drawn_whole_and_then_in_disjuncts():
    found = texts(draw_query("?x : (r(a, ?v) | s(b, ?v)) & t(?v, ?x)"))
    assert [text for text in found if "disjunct" in text or "tree" in text] == [
        "computation tree",
        "disjunct 1 of 2",
        "disjunct 2 of 2",
    ]
    assert "∪" in found
    assert "union" in found
    assert "union" not in texts(draw_query("?x : r(a, ?x)"))


def test_many_disjuncts_are_counted():
    pairs = " & ".join(f"(r(a{i}, ?x) | s(b{i}, ?x))" for i in range(4))
    assert "and 8 disjuncts more" in texts(draw_query(f"?x : {pairs}"))


@settings(max_examples=30)
@given(trees(max_leaves=6), st.lists(NAMES, min_size=ENTITIES, max_size=ENTITIES))
def test_any_tree_is_valid_xml_inside_its_frame(tree, names):
    labels = Labels(Vocabulary.of(names, [f"relation {k}" for k in range(RELATIONS // 2)]))
    picture = ElementTree.fromstring(draw(tree, labels, title="& <title>"))
    width, height = (float(picture.get(side)) for side in ("width", "height"))
    for element in picture:
        for axis, limit in (("x", width), ("y", height), ("cx", width), ("cy", height), ("x2", width)):
            assert 0 <= float(element.get(axis, 0)) <= limit
    assert draw(tree, labels) == draw(tree, labels)


def test_long_names_are_shortened_and_kept_as_tooltips():
    name = "/film/film/distributors./film/film_film_distributor_relationship/film_distribution_medium"
    assert shorten(name) == "/film/film/distri…n_medium"
    picture = draw_query(f"?x : {name}(a, ?x)")
    assert f"<title>{name}</title>" in picture
    assert shorten("short") == "short"


def test_all_fourteen_structures():
    picture = draw_structures([list(STRUCTURES.values())])
    assert set(texts(picture)) >= set(STRUCTURES)


def test_png():
    data = to_png(draw_query(EXAMPLE))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width = int.from_bytes(data[16:20], "big")
    assert width == 2 * int(re.search(r'width="(\d+)"', draw_query(EXAMPLE))[1])


def wide(branches):
    return draw_query("?x : " + " & ".join(f"r(a{number}, ?x)" for number in range(branches)))


def test_the_zoom_of_a_png_follows_the_size_of_the_picture():
    picture = wide(40)
    data = to_png(picture)
    width, height = (int.from_bytes(data[start : start + 4], "big") for start in (16, 20))
    assert 23_000_000 < width * height < 24_100_000
    drawn = int(re.search(r'width="(\d+)"', picture)[1])
    assert drawn < width < 2 * drawn
    assert int.from_bytes(to_png(picture, zoom=0.1)[16:20], "big") == pytest.approx(drawn / 10, abs=1)


def test_a_picture_too_large_for_a_png_is_refused_before_it_is_drawn(monkeypatch):
    drawn = []
    monkeypatch.setattr("resvg_py.svg_to_bytes", lambda **given: drawn.append(given["zoom"]) or b"")
    to_png(wide(100))
    assert 0.5 <= drawn.pop() < 0.6
    with pytest.raises(QuerySizeError, match=r"^the picture is [\d,]+ by [\d,]+ units, .*: use --svg instead$"):
        to_png(wide(1500))
    assert not drawn


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtraError, match=r"drawing a PNG needs resvg_py: pip install 'pathformer\[png\]'"):
        to_png("<svg/>")


def test_the_pictures_of_the_documentation_are_current():
    drawn = figures()
    images = ROOT / "docs" / "images"
    assert set(drawn) <= {path.name for path in images.glob("*.svg")}, "run: python scripts/draw_figures.py"
    for name, text in drawn.items():
        assert (images / name).read_text(encoding="utf-8") == text, "run: python scripts/draw_figures.py"
