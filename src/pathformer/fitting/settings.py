"""Settings that fit a graph and a machine: how much is held out, drawn, learnt at once, and for how long.

N entities, T triples, d embedding size.

Where every hop can look at all entities (`engine.sizes`: up to twenty thousand on a processor, a million on a card),
the recipe is `training.recipes.fast` in its form for negation: a ComplEx learns the links first and the model starts
from it, a path is what the ComplEx makes of it hop by hop, and the transformer adds to answers. Larger graphs have the
recipe of `training.recipes.small`: cosine distances, tables at three times the network's rate, almost half of a step
single links, unions by probability. Queries of more than a thousand answers are left out (a hundred in large graphs,
for the memory). What was tried is in `docs/lab/history.md`.

How wide a model may be, and how much it learns at once, where every hop looks at all entities.

N entities, r rank of a ComplEx, d = 2 r numbers a row, B queries an update.

Three things grow with a graph on a card: the tables, the (rows, N) probabilities that hops are read by, and the time
that a ComplEx needs. A number of a table costs 24 bytes while the ComplEx learns (two models in float32, a copy and a
gradient in bfloat16, padding, Adam's moments); a query of an update costs 8 bytes an entity (0.7 hops in the mean,
float32 and bfloat16, of which one is kept). Both are counted from the code and not measured; the recipe `fast` on
FB15k-237 (d = 2,000, B = 2,560) took 2.6 GiB, of which they explain 1.0 and its network most of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import torch

from pathformer.errors import InputError
from pathformer.training.recipes.fast import fast
from pathformer.training.recipes.small import MIX
from pathformer.training.settings import SoftmaxOptions, StepConfig, Training

__all__ = ["Links", "Scale", "Size", "check_minutes", "memory_of", "scale_for", "size_for"]

_LOGITS = 1 << 25  # numbers of a batch's softmax over all entities, 128 MiB: beyond it entities are drawn
_RANKED = 1 << 28  # distances that ranking the held-out queries may take
_MANY = 30_000  # entities from which on `fast` has its form for many: twice FB15k-237's, half of NELL995's
_DOMAINS = 4.0  # of the rate, on a processor: on validation 0.2, 1 and 16 were all behind it (docs/lab/history.md)
_NEGATED = {"deny_in": "path"}  # not "fork", as `fast` has it: UMLS then denies only what it saw (docs/lab/history.md)
_KNOWN = 1e-3  # part of a step for links that the ComplEx has learned: in that form nothing that moves answers them


@dataclass(frozen=True, kw_only=True)
class Links:
    """A link predictor that is trained first."""

    share: float  # of the time for training
    model: Mapping[str, Any]  # of the method `complex`
    training: Training


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The settings of a fit."""

    method: str
    model: Mapping[str, Any]  # the method's settings
    training: Training
    held_out: float  # share of the triples for each of the two held-out parts
    drawn: int  # training queries of a structure
    limit: int  # most answers of a training query that is drawn
    asked: int  # held-out queries of a structure, for figures and probabilities
    minutes: float | None = None  # of everything; none: as long as it takes
    links: Links | None = None  # what the model starts from; none: from random numbers

    def timed(self, training: Training) -> Scale:
        """The settings with these of training, whose time, if they have one, is shared with the link predictor."""
        if self.links is None or training.minutes is None:
            return replace(self, training=training)
        first = self.links.share * training.minutes
        links = replace(self.links, training=replace(self.links.training, minutes=first))
        return replace(self, training=replace(training, minutes=training.minutes - first), links=links)

    def stepped(self, steps: int) -> Scale:
        """The settings with so many steps, of the link predictor and of the model, and without any time."""
        counted = replace(self.training, steps=steps, minutes=None)
        links = self.links and replace(self.links, training=replace(self.links.training, steps=steps, minutes=None))
        return replace(self, training=counted, links=links, minutes=None)


def check_minutes(minutes: object) -> None:
    """Refuse a time that is none."""
    if minutes is not None and not (isinstance(minutes, Real) and 0 < float(minutes) < float("inf")):
        raise InputError(f"minutes is a time above 0, got {minutes!r}")


def scale_for(
    *,
    entities: int,
    triples: int,
    minutes: float | None = None,
    cuda: bool = False,
    memory: int | None = None,
    seed: int = 0,
    hops: bool | None = None,
) -> Scale:
    """The settings for a graph of this size.

    minutes: for everything, a box chosen by the size if not given; cuda, memory: whether there is a card, and its
    bytes; hops: whether every hop looks at all entities, as a model that is there may do whatever the size now is.
    """
    check_minutes(minutes)
    whole = minutes if minutes is not None else _minutes(triples, cuda)
    plain = _plain(entities, triples, whole, cuda, seed)
    size = size_for(entities=entities, minutes=whole, cuda=cuda, memory=memory)
    chosen = size is not None if hops is None else hops
    return _hops(plain, size or Size(rank=64, batch=512), cuda, entities) if chosen else plain


def _plain(entities: int, triples: int, minutes: float, cuda: bool, seed: int) -> Scale:
    """The recipe `small` for graphs of any size: from random numbers, on cosine distances."""
    dim, batch = _dim(entities, cuda), 4096 if cuda else 512
    every = batch * entities <= (_LOGITS << 5 if cuda else _LOGITS)
    return Scale(
        method="pathformer",
        model=_plain_model(dim, minutes, cuda),
        training=_plain_training(batch, minutes, seed, _plain_update(dim, minutes, every)),
        held_out=min(0.1 if triples < 2000 else 0.05, 20_000 / max(triples, 1)),
        drawn=20_000 if triples < 200_000 else 50_000,
        limit=1000 if triples < 200_000 else 100,
        asked=max(20, min(200, _RANKED // (14 * max(entities, 1)))),
        minutes=minutes,
    )


def _plain_model(dim: int, minutes: float, cuda: bool) -> dict[str, Any]:
    return {
        "dim": dim,
        "layers": 2 if cuda else 1,
        "heads": dim // 16 if dim < 256 else 8,
        "hidden": 2,
        "dropout": 0.0 if minutes < 10.0 else 0.1,  # minutes are too short to learn by heart
        "residual_start": 1.0,
        "fork": "set",
        "space": "sphere",
        "combine": "probability",
        "space_settings": {"temperature": 0.1},  # at first: it is learnt
    }


def _plain_training(batch: int, minutes: float, seed: int, update: StepConfig) -> Training:
    return Training(
        steps=10**9,  # the box of time ends it
        minutes=0.8 * minutes,  # about: what `engine.box` leaves of it
        batch=batch,
        batch_per="step",
        mix=MIX,
        update_per_structure=False,
        schedule="linear",
        redraw_every=2000 if minutes >= 2.0 else 0,  # a shorter run hardly sees a question twice
        warmup=0.03,
        validations=4,
        save_minutes=0.5,
        seed=seed,
        update=update,
    )


def _plain_update(dim: int, minutes: float, every: bool) -> StepConfig:
    """every: whether the softmax goes over all entities."""
    return StepConfig(
        objective="softmax",
        softmax=SoftmaxOptions(entities="all" if every else "drawn"),
        negatives=256,
        average_over="batch",
        weighted=False,
        ema=0.98 if minutes < 10.0 else 0.999,
        rate=2e-2 if dim < 128 else 1e-2,
        table_rate=3.0,  # a row is met far less often than the network
        betas=(0.9, 0.98),  # a short run forgets its first gradients sooner
    )


def _hops(plain: Scale, size: Size, cuda: bool, entities: int) -> Scale:
    """The recipe `fast` in that size: its own settings on a card, on a processor a smaller network at a higher rate."""
    many, known = entities > _MANY, plain.training
    recipe = fast(negation=True, many_entities=many)
    model = {**recipe.model, "dim": 2 * size.rank, **_NEGATED}
    update = recipe.training.update
    mix = dict.fromkeys(known.mix, 1.0) if cuda else dict(known.mix)
    if not cuda:
        model["hidden"] = 2
        update = replace(
            known.update,
            softmax=update.softmax,
            weighted=True,
            answer_count_exponent=update.answer_count_exponent,
            rate=5e-3,
            table_rate=0.0,
            domain_rate=_DOMAINS,
        )
        if known.update.softmax.entities == "drawn":  # an update of what a card has fitted
            update = replace(update, softmax=known.update.softmax)
    training = replace(known, batch=size.batch, mix={**mix, "1p": _KNOWN}, update=update)
    links = _links_on_card(known, size.rank, many) if cuda else _links(known, size.rank)
    return replace(plain, method=recipe.method, model=model, training=training, links=links)


def _links(usual: Training, rank: int) -> Links:
    update = StepConfig(
        objective="links", average_over="batch", weighted=False, rate=0.1
    )  # links bear ten times the usual
    training = replace(usual, mix={}, redraw_every=0, schedule="cosine", update=update)
    return Links(share=0.7, model={"rank": rank, "n3": 0.01, "relation": 0.5}, training=training)


def _links_on_card(usual: Training, rank: int, many_entities: bool) -> Links:
    """As in the run files `complex-...`: hundreds of updates a second, so a lower rate; links of hubs count more.

    NELL995, of many entities, has better answers where relations are not predicted, FB15k-237 worse.
    """
    update = StepConfig(objective="links", answer_count_exponent=0.5, rate=5e-3)
    training = replace(usual, batch=2000, mix={}, redraw_every=0, warmup=0.02, update=update)
    return Links(share=0.5, model={"rank": rank, "relation": 0.0 if many_entities else 1.0}, training=training)


def _minutes(triples: int, cuda: bool) -> float:
    """Half a minute for a hundred triples, five for ten thousand and more, ten from a hundred thousand on."""
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
    """What fits a graph and a machine."""

    rank: int  # r
    batch: int  # B


def size_for(*, entities: int, minutes: float, cuda: bool, memory: int | None = None) -> Size | None:
    """The largest that fits; none where hops over all entities do not pay or do not fit.

    minutes: of everything; memory: bytes of the card, 16 GiB if not given.
    """
    place = "cuda" if cuda else "cpu"
    if entities > _ENTITIES[place]:
        return None
    narrow = [rank for rank in _RANKS[place] if rank * _PER_RANK <= entities] or _RANKS[place][-1:]
    numbers = int(_LEARNED[place] * minutes)
    if not cuda:
        return Size(next((rank for rank in narrow if 2 * rank * entities <= numbers), narrow[-1]), 512)
    memory = memory or _CARD
    numbers = min(numbers, _NUMBERS, memory // (2 * _TABLES))
    rank = next((rank for rank in narrow if 2 * rank * entities <= numbers), None)
    batch = next((batch for batch in _BATCHES if _READ * batch * entities <= memory // 4), None)
    return None if rank is None or batch is None else Size(rank, batch)


def memory_of(device: torch.device) -> int | None:
    """Bytes of a card, all of them: what is free just now would make other settings of a fit that is continued."""
    return int(torch.cuda.get_device_properties(device).total_memory) if device.type == "cuda" else None
