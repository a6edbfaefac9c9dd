"""The pages of the methods say what the code and the stored figures say."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from pathformer.models._base import build, find
from pathformer.query.structures import EPFO

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "methods"
METHODS = ("gqe", "q2b", "betae", "cone", "gammae", "mlp", "mlp-mixer", "fuzzqe", "q2p", "biqe")
NAMES = {
    "counting": "*counting*", "pathformer": "Pathformer, 1 layer", "pathformer + box": "Pathformer + Box",
    "pathformer + beta": "Pathformer + Beta", "gqe": "GQE", "q2b": "Query2box", "betae": "BetaE", "cone": "ConE",
    "gammae": "GammaE", "mlp": "MLP", "mlp-mixer": "MLP-Mixer", "fuzzqe": "FuzzQE", "q2p": "Query2Particles",
    "biqe": "BIQE",
}  # fmt: skip


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def stored(dataset: str) -> dict[str, Any]:
    text = (ROOT / "benchmarks" / "results" / f"methods-{dataset}.json").read_text(encoding="utf-8")
    figures: dict[str, Any] = json.loads(text)["figures"]
    return figures


@pytest.mark.parametrize("name", METHODS)
def test_a_page_gives_the_size_of_the_networks(name: str) -> None:
    with torch.device("meta"):
        millions = build(name, {}, entities=14_505, relations=474).sizes()["network"] / 1e6
    told = re.search(r"\*\*Size\*\* at d = (\d+)[^:]*:.*?(\d+\.\d+) M numbers ", page(name))
    assert told is not None
    assert int(told[1]) == find(name).config_type().dim
    assert told[2] == f"{millions:.{len(told[2].split('.')[1])}f}"


def test_the_page_of_the_spaces_gives_their_sizes() -> None:
    for space, words in (("box", "4.49 M (box)"), ("beta", "4.81 M (beta)")):
        with torch.device("meta"):
            model = build("pathformer", {"space": space, "dim": 400, "layers": 1}, entities=14_505, relations=474)
        assert f"{model.sizes()['network'] / 1e6:.2f} M ({space})" == words
        assert words in page("pathformer-spaces")


@pytest.mark.parametrize("name", METHODS)
def test_a_page_gives_the_defaults_of_the_code(name: str) -> None:
    """Rows of the table of settings: `names` | their defaults, in this order, then words | source."""
    defaults = {field.name: field.default for field in dataclasses.fields(find(name).config_type)}
    told = set()
    for names, values in re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \| ([^|]*) \|", page(name), re.M):
        keys = re.findall(r"`([a-z_]+)`", names)
        if set(keys) <= defaults.keys():
            told |= set(keys)
            found = re.findall(r"[a-z]+|\d+(?:\.\d+)?", values.replace("4 d", "4"))  # a width in units of d
            assert [_plain(word) for word in found[: len(keys)]] == [defaults[key] for key in keys]
    assert told == defaults.keys(), f"not in the table of settings: {defaults.keys() - told}"


def _plain(word: str) -> str | float:
    return float(word) if word[0].isdigit() else word


def rows(text: str, title: str) -> list[list[str]]:
    """The lines of all tables whose first line has these words, cell by cell; an empty first cell is the one above."""
    found: list[list[str]] = []
    for table in re.findall(rf"^\|[^\n]*{re.escape(title)}[^\n]*\n\|[-:| ]+\n((?:\|.*\n)+)", text, re.M):
        found += [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return found


def test_the_small_comparison_is_the_one_that_is_stored() -> None:
    figures, made = stored("umls"), []
    for key, name in NAMES.items():
        first, second = figures["epfo"][key], figures["efol"].get(key, {"mrr": {}})
        updates = f"{first['updates']:,}" if "updates" in first else ""
        negation = [f"{second['mrr']['avg negation']:.1f}" if "avg negation" in second["mrr"] else ""]
        made.append([name, updates, *(f"{first['mrr'][column]:.1f}" for column in (*EPFO, "avg")), *negation])
    assert sorted(rows(page("index"), "negation avg |")) == sorted(made)


def test_the_comparison_on_codex_is_the_one_that_is_stored() -> None:
    figures = stored("codex-s")["epfo"]
    made = {
        (
            NAMES[key],
            f"{one['updates']:,}" if "updates" in one else "",
            *(str(one["mrr"][s]) for s in ("1p", "2i", "3i")),
        )
        for key, one in figures.items()
    }
    told = {(name, *rest) for name, _, *rest in rows(page("index"), "processor time")}
    assert told - made == {("BetaE", "3,136", "25.2", "9.1", "9.5")}, "but for the one that was not stored"
    assert made <= told
