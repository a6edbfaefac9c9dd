"""What a recipe is: a method, its settings, and how it is trained.

A recipe's file holds one function, named by `RECIPE = ...`. Run files extend a recipe (`recipe = "fast"`), and
`pathformer fit` resizes one to its graph. The figures behind every choice are in the recipe's page of the docs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from pathformer import plugins
from pathformer.training.settings import Training

__all__ = ["Maker", "Recipe", "find"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Settings that go together."""

    method: str
    model: Mapping[str, Any]  # settings of the method, where they differ from its defaults
    training: Training
    start: str = ""  # the run that is trained first, whose tables it starts from; {dataset} is the dataset's name

    def as_run(self, dataset: str) -> dict[str, Any]:
        """Returns the recipe as a run file would write it."""
        start = {"start": self.start.format(dataset=dataset)} if self.start else {}
        return {"method": self.method, **start, "model": dict(self.model), "training": asdict(self.training)}


class Maker(Protocol):
    """Makes a recipe."""

    def __call__(
        self, *, minutes: float | None = None, negation: bool = False, many_entities: bool = False, seed: int = 0
    ) -> Recipe:
        """minutes: its own training time if None; negation: ten structures are trained, not five.

        many_entities: the form for graphs of more than 30,000 entities.
        """


def find(name: str) -> Maker:
    """Finds a recipe by the name of its file."""
    maker: Maker = plugins.load("recipes", name).RECIPE
    return maker
