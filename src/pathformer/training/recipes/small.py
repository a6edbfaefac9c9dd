"""Small graphs on a processor, from random numbers (docs/lab/recipe.md).

`pathformer fit` has its shares of structures from here; where it can, it starts from a link predictor (`engine.scale`).

Measured on CoDEx-S, d = 64, at equal processor time: weights that do not disfavour queries of many answers, the
order-free fork, a straight fall of the rate, averaged weights and no dropout each gained over the settings without
them; one answer at a time, label smoothing, relative positions and more dropout lost. The rate is two hundred times the
paper's: a minute has a thousand updates, not half a million.
"""

from __future__ import annotations

from pathformer.training.recipes._base import Recipe
from pathformer.training.settings import StepConfig, Training

__all__ = ["MIX", "RECIPE", "small"]

MIX = {
    "1p": 6.0, "2p": 1.5, "3p": 1.5, "2i": 1.5, "3i": 1.5,
    "2in": 0.5, "3in": 0.5, "inp": 0.5, "pin": 0.5, "pni": 0.5,
}  # fmt: skip


def small(*, minutes: float = 2.0, negation: bool = True, seed: int = 0) -> Recipe:
    """For up to about 20,000 entities; negation: whether ten structures are trained, not five."""
    return Recipe(
        method="pathformer",
        model={
            "dim": 64,
            "layers": 1,
            "heads": 4,
            "hidden": 2,
            "dropout": 0.0,
            "residual_start": 1.0,
            "fork": "set",
            "space": "sphere",
            "combine": "probability",
        },
        training=Training(
            steps=10**9,  # the box of time ends it
            minutes=minutes,
            batch=512,
            batch_per="step",
            mix={name: part for name, part in MIX.items() if negation or "n" not in name},
            update_per_structure=False,
            schedule="linear",
            warmup=0.03,
            validations=4,
            save_minutes=0.5,
            seed=seed,
            update=StepConfig(
                objective="softmax",
                average_over="batch",
                answer_count_exponent=0.25,  # hubs count more
                rate=2e-2,
                betas=(0.9, 0.98),  # a short run forgets its first gradients sooner
                ema=0.98,
            ),
        ),
    )


RECIPE = small
