"""The settings of a fit: a recipe, resized to a graph, a machine and a time.

N entities, r rank of a link predictor, d = 2 r numbers a row, B queries an update.

Where every hop can look at all entities (up to twenty thousand on a processor, a million on a card), the recipe is
`fast` in its form for negation. Larger graphs have the recipe `small`. Queries of more than a thousand answers are left
out, in large graphs those of more than a hundred, for the memory.

Three things grow with a graph on a card: the tables, the (rows, N) probabilities that hops are read by, and the time
that a link predictor needs. A number of a table costs 24 bytes while it learns (two models in float32, a copy and a
gradient in bfloat16, padding, Adam's moments); a query of an update costs 8 bytes an entity (0.7 hops on average,
float32 and bfloat16, of which one is kept). Both are counted from the code.

The time of a fit is shared among its stages by the clock:

    until 12 %   training questions are drawn
    until 20 %   held-out questions are drawn
    until 85 %   training, a tenth of the time at the least
    15 %         measuring and calibrating

A stage that is late takes its time from training. A card's kernels are compiled before the clock of training starts,
and that comes on top: a short training would have nothing left to learn in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import torch

from pathformer.errors import InputError
from pathformer.training.recipes.fast import fast
from pathformer.training.recipes.links import links
from pathformer.training.recipes.small import small
from pathformer.training.settings import Training

__all__ = [
    "ALL_DRAWN",
    "LEAST_TRAINING",
    "MEASURING",
    "TRAINED",
    "TRAIN_QUERIES_DRAWN",
    "FitSettings",
    "LinkSettings",
    "Size",
    "check_minutes",
    "memory_of",
    "settings_for",
    "size_for",
]

TRAIN_QUERIES_DRAWN, ALL_DRAWN = 0.12, 0.2  # shares of the time at which drawing is over
MEASURING = 0.15  # share of the time for measuring and calibrating
TRAINED, LEAST_TRAINING = 0.85, 0.1  # the share at which training is over, and the least that it takes

_LOGITS = 1 << 25  # numbers of a batch's softmax over all entities, 128 MiB: beyond it entities are drawn
_RANKED = 1 << 28  # distances that ranking the held-out queries may take
_MANY = 30_000  # entities from which on recipes have their form for many
_DOMAIN_RATE = 4.0  # factor of the rate for domains, on a processor
_AGAIN = 0.35  # of a link predictor's time, to learn the held-out links, too
_KNOWN = 1e-3  # part of a step for links, which the link predictor has learned


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """A link predictor that is trained first."""

    share: float  # of the time for training
    again: float  # share of that in which the links are learned once more, the held-out ones too
    model: Mapping[str, Any]  # settings of the method `complex`
    training: Training

    def part(self, share: float) -> LinkSettings:
        """Returns the settings with a share of the training time or steps."""
        minutes, steps = self.training.minutes, self.training.steps
        timed = replace(
            self.training,
            minutes=None if minutes is None else share * minutes,
            steps=steps if minutes is not None else max(1, round(share * steps)),
        )
        return replace(self, training=timed)


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """The settings of a fit."""

    method: str
    model: Mapping[str, Any]  # the method's settings
    training: Training
    held_out: float  # share of the triples for each of the two held-out parts
    trained_per_structure: int  # training queries
    limit: int  # most answers of a training query that is drawn
    held_out_per_structure: int  # held-out queries, for figures and probabilities
    minutes: float | None = None  # for everything; None: as long as it takes
    links: LinkSettings | None = None  # the model starts from it; None: from random numbers

    def with_training(self, training: Training) -> FitSettings:
        """Returns the settings with this training, whose time, if limited, is shared with the link predictor."""
        if self.links is None or training.minutes is None:
            return replace(self, training=training)
        first = self.links.share * training.minutes
        links = replace(self.links, training=replace(self.links.training, minutes=first))
        return replace(self, training=replace(training, minutes=training.minutes - first), links=links)

    def with_steps(self, steps: int) -> FitSettings:
        """Returns the settings with so many steps of the link predictor and of the model, and without a time."""
        counted = replace(self.training, steps=steps, minutes=None)
        links = self.links and replace(self.links, training=replace(self.links.training, steps=steps, minutes=None))
        return replace(self, training=counted, links=links, minutes=None)

    @property
    def link_parts(self) -> tuple[LinkSettings, LinkSettings] | None:
        """The link predictor's settings for the train graph, and for all facts; None without one."""
        if self.links is None:
            return None
        return self.links.part(1.0 - self.links.again), self.links.part(self.links.again)


def check_minutes(minutes: object) -> None:
    """Refuses minutes that are no amount of time."""
    if minutes is not None and not (isinstance(minutes, Real) and 0 < float(minutes) < float("inf")):
        raise InputError(f"minutes must be a positive finite number, got {minutes!r}")


def settings_for(
    *,
    entities: int,
    triples: int,
    minutes: float | None = None,
    cuda: bool = False,
    memory: int | None = None,
    seed: int = 0,
    hops: bool | None = None,
) -> FitSettings:
    """Returns the settings for a graph of this size.

    minutes: for everything, chosen by the size if not given; cuda, memory: whether there is a card, and its bytes;
    hops: whether every hop looks at all entities, where a model is there already, whatever the size now is.
    """
    check_minutes(minutes)
    whole = minutes if minutes is not None else _minutes(triples, cuda)
    plain = _small(entities, triples, whole, cuda, seed)
    size = size_for(entities=entities, minutes=whole, cuda=cuda, memory=memory)
    chosen = size is not None if hops is None else hops
    return _fast(plain, size or Size(rank=64, batch=512), cuda, entities) if chosen else plain


def _small(entities: int, triples: int, minutes: float, cuda: bool, seed: int) -> FitSettings:
    """The recipe `small`, resized to graphs of any size."""
    recipe = small(minutes=0.8 * minutes, seed=seed)  # about as long as the other stages leave
    dim, batch, short = _dim(entities, cuda), 4096 if cuda else 512, minutes < 10.0
    every = batch * entities <= (_LOGITS << 5 if cuda else _LOGITS)  # the softmax goes over all entities
    shape = {"dim": dim, "layers": 2 if cuda else 1, "heads": dim // 16 if dim < 256 else 8}
    usual = recipe.training.update
    update = replace(
        usual,
        softmax=replace(usual.softmax, entities="all" if every else "drawn"),
        ema=usual.ema if short else 0.999,
        rate=usual.rate if dim < 128 else usual.rate / 2,
    )
    redraw_every = 2000 if minutes >= 2.0 else 0  # a shorter run hardly sees a question twice
    return FitSettings(
        method=recipe.method,
        model={**recipe.model, **shape, "dropout": 0.0 if short else 0.1},  # minutes are too short to learn by heart
        training=replace(recipe.training, batch=batch, redraw_every=redraw_every, update=update),
        held_out=min(0.1 if triples < 2000 else 0.05, 20_000 / max(triples, 1)),
        trained_per_structure=20_000 if triples < 200_000 else 50_000,
        limit=1000 if triples < 200_000 else 100,
        held_out_per_structure=max(20, min(200, _RANKED // (14 * max(entities, 1)))),
        minutes=minutes,
    )


def _fast(plain: FitSettings, size: Size, cuda: bool, entities: int) -> FitSettings:
    """The recipe `fast` in that size: its own updates on a card, on a processor a smaller network at a higher rate."""
    many, known = entities > _MANY, plain.training
    recipe = fast(negation=True, many_entities=many)
    model = {**recipe.model, "dim": 2 * size.rank, "deny_in": "path"}  # a small graph then denies more than it saw
    update = recipe.training.update
    mix = dict.fromkeys(known.mix, 1.0) if cuda else dict(known.mix)
    if not cuda:
        model["hidden"] = 2
        drawn = known.update.softmax.entities == "drawn"  # an update of an engine that a card has fitted
        update = replace(
            known.update,
            softmax=known.update.softmax if drawn else update.softmax,
            weighted=True,
            answer_count_exponent=update.answer_count_exponent,
            rate=5e-3,
            table_rate=0.0,
            domain_rate=_DOMAIN_RATE,
        )
    training = replace(known, batch=size.batch, mix={**mix, "1p": _KNOWN}, update=update)
    found = _links(known, size.rank, cuda, many)
    return replace(plain, method=recipe.method, model=model, training=training, links=found)


def _links(usual: Training, rank: int, cuda: bool, many_entities: bool) -> LinkSettings:
    """The recipe `links` in that size, trained as long and looked at as often as the model."""
    recipe = links(many_entities=many_entities)
    usual, update = replace(usual, mix={}, redraw_every=0), replace(recipe.training.update, objective="links")
    if cuda:  # hundreds of updates a second
        training = replace(usual, batch=recipe.training.batch, warmup=recipe.training.warmup, update=update)
        model = {"rank": rank, "relation": 0.0 if many_entities else 1.0}
        return LinkSettings(share=0.5, again=_AGAIN, model=model, training=training)
    update = replace(update, average_over="batch", rate=0.1)  # links bear ten times the usual
    model = {"rank": rank, "n3": 0.01, "relation": 0.5}
    return LinkSettings(share=0.7, again=_AGAIN, model=model, training=replace(usual, schedule="cosine", update=update))


def _minutes(triples: int, cuda: bool) -> float:
    """Chooses half a minute for a hundred triples, five for ten thousand and more, ten from a hundred thousand on."""
    known = ((1_000, 0.5), (5_000, 2.0), (100_000, 5.0))
    whole = next((minutes for count, minutes in known if triples <= count), 10.0)
    return whole / 2 if cuda else whole


def _dim(entities: int, cuda: bool) -> int:
    if cuda:
        return 400 if entities > 5_000 else 256
    return 64 if entities <= 100_000 else 32


_CARD = 16 << 30  # bytes of a card of which nobody says how much it has
_ENTITIES = {"cpu": 20_000, "cuda": 1_000_000}  # up to which every hop may look at all of them
_RANKS = {"cpu": (128, 64), "cuda": (1000, 400, 200, 128, 64)}  # the largest is the recipe's
_BATCHES = (2560, 1280, 640)  # on a card
_NUMBERS = 1 << 28  # of a table at most: a gibibyte of the engine's folder
_LEARNED = {"cpu": 1 << 18, "cuda": 1 << 26}  # of a table, for a minute: on a card FB15k-237's take half of one
_TABLES, _READ = 24, 8  # bytes of a number and of a query's entity, as above
_PER_RANK = 5  # entities: a table much wider than it is long is mostly a larger network


@dataclass(frozen=True)
class Size:
    """The size of a model that fits a graph and a machine."""

    rank: int  # r
    batch: int  # B


def size_for(*, entities: int, minutes: float, cuda: bool, memory: int | None = None) -> Size | None:
    """Returns the largest that fits; None where hops over all entities do not pay or do not fit.

    minutes: for everything; memory: bytes of the card, 16 GiB if not given.
    """
    device = "cuda" if cuda else "cpu"
    if entities > _ENTITIES[device]:
        return None
    narrow = [rank for rank in _RANKS[device] if rank * _PER_RANK <= entities] or _RANKS[device][-1:]
    numbers = int(_LEARNED[device] * minutes)
    if not cuda:
        return Size(next((rank for rank in narrow if 2 * rank * entities <= numbers), narrow[-1]), 512)
    memory = memory or _CARD
    numbers = min(numbers, _NUMBERS, memory // (2 * _TABLES))
    rank = next((rank for rank in narrow if 2 * rank * entities <= numbers), None)
    batch = next((batch for batch in _BATCHES if _READ * batch * entities <= memory // 4), None)
    return None if rank is None or batch is None else Size(rank, batch)


def memory_of(device: torch.device) -> int | None:
    """Returns all bytes of a card: the free ones would give other settings to a fit that is continued."""
    return int(torch.cuda.get_device_properties(device).total_memory) if device.type == "cuda" else None
