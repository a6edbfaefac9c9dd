"""What a recipe is: a method, its settings, and how it is trained.

A recipe's file holds one function, named by `RECIPE = ...`, from a box of minutes and a seed to the settings. Figures
behind every choice are in docs/lab/recipe.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pathformer import plugins
from pathformer.training.settings import Training

__all__ = ["Maker", "Recipe", "find"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Settings that go together."""

    method: str
    model: Mapping[str, Any]  # of the method, where they differ from its defaults
    training: Training
    start: str = ""  # the run that is trained first, whose tables it starts from; {dataset} is the dataset's name


Maker = Callable[..., Recipe]  # (minutes=..., negation=..., seed=...)


def find(name: str) -> Maker:
    """A recipe by its file's name."""
    maker: Maker = plugins.load("recipes", name).RECIPE
    return maker
