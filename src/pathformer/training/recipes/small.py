"""Small graphs on a processor, from random numbers: `pathformer fit` resizes it to its graph.

The rate is two hundred times the paper's: a minute has a thousand updates, not half a million. An order-free fork, a
straight fall of the rate, averaged weights and no dropout each gained on CoDEx-S at equal time.
"""

from __future__ import annotations

from pathformer.training.recipes._base import Recipe
from pathformer.training.settings import StepConfig, Training

__all__ = ["RECIPE", "small"]

_MIX = {
    "1p": 6.0, "2p": 1.5, "3p": 1.5, "2i": 1.5, "3i": 1.5,
    "2in": 0.5, "3in": 0.5, "inp": 0.5, "pin": 0.5, "pni": 0.5,
}  # fmt: skip


def small(*, minutes: float | None = None, negation: bool = True, many_entities: bool = False, seed: int = 0) -> Recipe:
    """For up to about 20,000 entities; more of them change nothing but what a fit resizes."""
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
            "space_settings": {"temperature": 0.1},  # to start with: it is learned
        },
        training=Training(
            steps=10**9,  # the time ends it
            minutes=2.0 if minutes is None else minutes,
            batch=512,
            batch_per="step",
            mix={name: part for name, part in _MIX.items() if negation or "n" not in name},
            update_per_structure=False,
            schedule="linear",
            warmup=0.03,
            validations=4,
            save_minutes=0.5,
            seed=seed,
            update=StepConfig(
                objective="softmax",
                negatives=256,  # where entities are drawn
                average_over="batch",
                weighted=False,
                rate=2e-2,
                table_rate=3.0,  # a row is met far less often than the network
                betas=(0.9, 0.98),  # a short run forgets its first gradients sooner
                ema=0.98,
            ),
        ),
    )


RECIPE = small
