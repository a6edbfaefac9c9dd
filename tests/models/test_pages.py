"""The page of each method gives the sizes and the defaults of the code."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import torch

from pathformer.models._base import build, find

PAGES = Path(__file__).parents[2] / "docs" / "methods"
METHODS = ("gqe", "q2b", "betae", "cone", "gammae", "mlp", "mlp-mixer", "fuzzqe", "q2p", "biqe")


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", METHODS)
def test_a_page_gives_the_size_of_the_networks(name: str) -> None:
    with torch.device("meta"):
        millions = build(name, {}, entities=14_505, relations=474).sizes()["network"] / 1e6
    shown = re.search(r"\*\*Size\*\* at d = (\d+)[^:]*:.*?(\d+\.\d+) M numbers ", page(name))
    assert shown is not None
    assert int(shown[1]) == find(name).config_type().dim
    assert shown[2] == f"{millions:.{len(shown[2].split('.')[1])}f}"


@pytest.mark.parametrize("space", ["box", "beta"])
def test_the_page_of_the_spaces_gives_their_sizes(space: str) -> None:
    with torch.device("meta"):
        model = build("pathformer", {"space": space, "dim": 400, "layers": 1}, entities=14_505, relations=474)
    assert f"{model.sizes()['network'] / 1e6:.2f} M ({space})" in page("pathformer-spaces")


@pytest.mark.parametrize("name", [*METHODS, "composed"])
def test_a_page_gives_the_defaults_of_the_code(name: str) -> None:
    """Rows of the table of settings: `names` | their defaults, in this order, then words | source."""
    defaults = {field.name: field.default for field in dataclasses.fields(find(name).config_type)}
    shown = set()
    for names, values in re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \| ([^|]*) \|", page(name), re.M):
        keys = re.findall(r"`([a-z_]+)`", names)
        if set(keys) <= defaults.keys():
            shown |= set(keys)
            found = re.findall(r"[a-z]+|\d+(?:\.\d+)?", values.replace("4 d", "4"))  # a width in units of d
            assert [plain(word) for word in found[: len(keys)]] == [defaults[key] for key in keys]
    assert shown == defaults.keys(), f"not in the table of settings: {defaults.keys() - shown}"


def plain(word: str) -> str | float:
    return float(word) if word[0].isdigit() else word == "true" if word in ("true", "false") else word
