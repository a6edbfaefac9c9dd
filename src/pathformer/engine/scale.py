"""Settings that fit a graph and a machine: how much is held out, drawn, learnt at once, and for how long.

N entities, T triples, d embedding size.

The recipe is that for small graphs (`training.recipes.small`), with what was found on the bundled graph besides
(`docs/fit.md`): almost half of a step are single links, queries of more than a thousand answers are left out (a hundred
in large graphs, for the memory), and tables learn at three times the network's rate. Disjuncts of a union are weighed
by probability, in training's validations as in the engine's search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pathformer.errors import InputError
from pathformer.training.loop import Training
from pathformer.training.options import SoftmaxOptions, StepConfig
from pathformer.training.recipes.small import MIX

__all__ = ["Scale", "scale_for"]

_LOGITS = 1 << 25  # numbers of a batch's softmax over all entities, 128 MiB: beyond it entities are drawn
_RANKED = 1 << 28  # distances that ranking the held-out queries may take


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The settings of a fit."""

    model: Mapping[str, Any]  # of the method `pathformer`
    training: Training
    held_out: float  # share of the triples for each of the two held-out parts
    drawn: int  # training queries of a structure
    limit: int  # most answers of a training query that is drawn
    asked: int  # held-out queries of a structure, for figures and probabilities
    minutes: float | None = None  # of everything; none: as long as it takes


def scale_for(*, entities: int, triples: int, minutes: float | None = None, cuda: bool = False, seed: int = 0) -> Scale:
    """The settings for a graph of this size; minutes: for everything, a box chosen by the size if not given."""
    if minutes is not None and not 0 < minutes < float("inf"):
        raise InputError(f"minutes is a time above 0, got {minutes:g}")
    whole = minutes if minutes is not None else _minutes(triples, cuda)
    dim = _dim(entities, cuda)
    batch = 4096 if cuda else 512
    every = batch * entities <= (_LOGITS << 5 if cuda else _LOGITS)
    return Scale(
        model={
            "dim": dim,
            "layers": 2 if cuda else 1,
            "heads": dim // 16 if dim < 256 else 8,
            "hidden": 2,
            "dropout": 0.0 if whole < 10.0 else 0.1,  # minutes are too short to learn by heart
            "fork": "set",
            "space": "sphere",
            "combine": "probability",
            "temperature": 0.1,  # to start with: it is learnt
        },
        training=Training(
            steps=10**9,  # the box of time ends it
            minutes=0.8 * whole,  # about: what `engine.box` leaves of it
            batch=batch,
            share="step",
            mix=MIX,
            turns=False,
            schedule="linear",
            fresh=2000 if whole >= 2.0 else 0,  # a shorter run hardly sees a question twice
            warmup=0.03,
            validations=4,
            save_minutes=0.5,
            seed=seed,
            update=StepConfig(
                objective="softmax",
                softmax=SoftmaxOptions(entities="all" if every else "drawn"),
                negatives=256,
                average="batch",
                weighted=False,
                ema=0.98 if whole < 10.0 else 0.999,
                rate=2e-2 if dim < 128 else 1e-2,
                table_rate=3.0,  # a row is met far less often than the network
                betas=(0.9, 0.98),  # a short run forgets its first gradients sooner
            ),
        ),
        held_out=min(0.1 if triples < 2000 else 0.05, 20_000 / max(triples, 1)),
        drawn=20_000 if triples < 200_000 else 50_000,
        limit=1000 if triples < 200_000 else 100,
        asked=max(20, min(200, _RANKED // (14 * max(entities, 1)))),
        minutes=whole,
    )


def _minutes(triples: int, cuda: bool) -> float:
    """Half a minute for a hundred triples, five for ten thousand and more, ten from a hundred thousand on."""
    known = ((1_000, 0.5), (5_000, 2.0), (100_000, 5.0))
    whole = next((minutes for count, minutes in known if triples <= count), 10.0)
    return whole / 2 if cuda else whole


def _dim(entities: int, cuda: bool) -> int:
    if cuda:
        return 400 if entities > 5_000 else 256
    return 64 if entities <= 100_000 else 32
