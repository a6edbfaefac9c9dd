"""The benchmarks in minutes without a link predictor: cosine, softmax over all entities, redrawn queries."""

from __future__ import annotations

from pathformer.training.recipes._base import Recipe
from pathformer.training.settings import StepConfig, Training

__all__ = ["RECIPE", "scratch"]


def scratch(
    *, minutes: float | None = None, negation: bool = False, many_entities: bool = False, seed: int = 0
) -> Recipe:
    """For graphs of 10,000 to 100,000 entities on a card; many of them change nothing."""
    return Recipe(
        method="pathformer",
        model={
            "space": "sphere",
            "space_settings": {"learn_temperature": False},
            "combine": "probability",
            "layers": 2,
            "residual_start": 1.0,
            "fork": "set",
        },
        training=Training(
            minutes=9.0 if minutes is None else minutes,
            batch=256 if negation else 512,  # 2,560 queries an update either way
            update_per_structure=False,
            redraw_every=2000,  # steps: seven passes over FB15k-237's queries
            schedule="linear",
            warmup=0.02,
            validations=6,
            seed=seed,
            update=StepConfig(
                objective="softmax", answer_count_exponent=0.25, rate=5e-4, table_rate=2.0, weight_decay=0.01, ema=0.999
            ),
        ),
    )


RECIPE = scratch
