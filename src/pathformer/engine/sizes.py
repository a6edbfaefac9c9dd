"""How wide a model may be, and how much it learns at once, where every hop looks at all entities.

N entities, r rank of a ComplEx, d = 2 r numbers a row, B queries an update.

Three things grow with a graph on a card: the tables, the (rows, N) probabilities that hops are read by, and the time
that a ComplEx needs. A number of a table costs 24 bytes while the ComplEx learns (two models in float32, a copy and a
gradient in bfloat16, padding, Adam's moments); a query of an update costs 8 bytes an entity (0.7 hops in the mean,
float32 and bfloat16, of which one is kept). Both are counted from the code and not measured; the recipe `fast` on
FB15k-237 (d = 2,000, B = 2,560) took 2.6 GiB, of which they explain 1.0 and its network most of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

__all__ = ["Size", "memory_of", "size_for"]

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
