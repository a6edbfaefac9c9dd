"""The benchmarks in minutes on one card: a link predictor as the base, a path transformer that adds to it.

ComplEx (`links`) is trained for 48 seconds on single links and kept as it is; paths are its products hop by hop,
between two of which stands an entity that is to have the second one; forks weigh what they add, and one layer of a
transformer adds to whole paths what links cannot know.
"""

from __future__ import annotations

from pathformer.training.recipes._base import Recipe
from pathformer.training.settings import SoftmaxOptions, StepConfig, Training

__all__ = ["RECIPE", "fast"]

_NETWORK = {"fork": "network", "fork_dropout": 0.3}  # to deny a branch, a fork must see what it is denied to
_DENIED = {**_NETWORK, "deny_in": "fork"}

_MINUTES = {(False, False): 0.4, (True, False): 0.9, (False, True): 0.6, (True, True): 1.2}  # negation, many entities


def fast(*, minutes: float | None = None, negation: bool = False, many_entities: bool = False, seed: int = 0) -> Recipe:
    """For graphs of 10,000 to 100,000 entities on a card.

    minutes: besides those of the link predictor; without, as long as an H200 to itself needs. many_entities: as NELL995
    has; entities between two links are then read less sharply, domains learn at twice the rate, forks have a network.
    """
    sharpness = {"sharpness": 1.5} if many_entities else {}
    return Recipe(
        method="composed",
        model={**(_DENIED if negation else _NETWORK if many_entities else {}), **sharpness},
        start="complex-{dataset}",
        training=Training(
            minutes=_MINUTES[negation, many_entities] if minutes is None else minutes,
            batch=256 if negation else 512,  # 2,560 queries an update either way
            update_per_structure=False,
            redraw_every=2000,  # steps: seven passes over FB15k-237's queries
            walk_from_answer=True,  # as the benchmark's queries are
            weigh_by_removed=20 if negation else 0,  # benchmark queries remove 19 answers, walked ones 2
            schedule="linear",
            warmup=0.02,
            validations=3 if negation else 2,
            seed=seed,
            update=StepConfig(
                objective="softmax",
                softmax=SoftmaxOptions(removed=128 if negation else 0),  # what negations remove counts ten times more
                answer_count_exponent=0.25,
                rate=5e-4,
                table_rate=0.0,
                domain_rate=4.0 if many_entities else 2.0,  # of the domains
                weight_decay=0.01,
                ema=0.999,
            ),
        ),
    )


RECIPE = fast
