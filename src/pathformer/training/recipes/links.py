"""A link predictor whose tables another model starts from: ComplEx on single links.

Links of hubs count more; with N3 off, relations are predicted too where there are not many entities.
"""

from __future__ import annotations

from pathformer.training.recipes._base import Recipe
from pathformer.training.settings import StepConfig, Training

__all__ = ["RECIPE", "links"]


def links(
    *, minutes: float | None = None, negation: bool = False, many_entities: bool = False, seed: int = 0
) -> Recipe:
    """For graphs of 10,000 to 100,000 entities on a card; negation means nothing to single links."""
    return Recipe(
        method="complex",
        model={"rank": 1000, "relation": 0.0 if many_entities else 4.0},
        training=Training(
            minutes=0.8 if minutes is None else minutes,
            batch=2000,
            update_per_structure=False,
            schedule="linear",
            warmup=0.02,
            validations=3,
            seed=seed,
            update=StepConfig(answer_count_exponent=0.5, rate=5e-3),
        ),
    )


RECIPE = links
