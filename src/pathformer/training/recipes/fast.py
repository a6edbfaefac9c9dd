"""The benchmarks in minutes on one card: cosine, softmax over all entities, fresh queries (docs/recipe.md).

Chosen from what small graphs showed on a processor and one run of 45 seconds on a card, which learned its training
queries by heart with six layers: two layers, an order-free fork, queries that are drawn anew. The run files
`fast-fb15k-237`, `fast-nell995` and their `-efol` forms are this recipe.
"""

from __future__ import annotations

from pathformer.training.options import StepConfig
from pathformer.training.recipes._base import Recipe
from pathformer.training.task import Training

__all__ = ["RECIPE", "fast"]


def fast(*, minutes: float = 9.0, negation: bool = False, seed: int = 0) -> Recipe:
    """For graphs of 10,000 to 100,000 entities on a card; negation: whether ten structures are trained, not five."""
    return Recipe(
        method="pathformer",
        model={"space": "sphere", "combine": "probability", "layers": 2, "fork": "set"},
        training=Training(
            minutes=minutes,
            batch=256 if negation else 512,  # 2,560 queries an update either way
            turns=False,
            fresh=2000,  # steps: seven passes over FB15k-237's queries
            schedule="linear",
            warmup=0.02,
            validations=6,
            seed=seed,
            update=StepConfig(objective="softmax", power=0.25, rate=5e-4, table_rate=2.0, decay=0.01, ema=0.999),
        ),
    )


RECIPE = fast
