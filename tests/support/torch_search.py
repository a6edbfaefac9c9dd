"""Search by another array library: torch, without compiled loops."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import torch
from torch import Tensor

from pathformer.links.table import LinkTable
from pathformer.search.library import Hop
from pathformer.search.norms import Norm


class Torch:
    xp: ModuleType = torch

    def anchors(self, entities: np.ndarray, size: int) -> Tensor:
        return torch.nn.functional.one_hot(torch.from_numpy(entities), size).float()

    def best(self, beliefs: Tensor, width: int | None) -> tuple[Tensor, Tensor]:
        values, heads = beliefs.topk(min(width or beliefs.shape[1], beliefs.shape[1]), dim=1)
        return heads, values

    def hop(
        self,
        table: LinkTable,
        join: type[Norm],
        relations: np.ndarray,
        best: tuple[Tensor, Tensor],
        *,
        everyone: Tensor | None = None,
        denied: float | None = None,
        traced: bool = False,
    ) -> Hop:
        heads, values = map(torch.as_tensor, best)
        beliefs, via, link = [], [], []
        for number, relation in enumerate(relations.tolist()):
            rows = torch.from_numpy(table.dense(heads[number].numpy(), relation))  # (k, N)
            if denied is not None:
                rows = 1 - (denied * rows).clip(0, 1)
            given = join.both(torch, values[number][:, None], rows)
            most, which = given.max(dim=0)
            heads_of, link_of = heads[number][which], rows.gather(0, which[None])[0]
            if everyone is not None and denied is None:
                for head, tail in zip(*table.facts_of(relation), strict=True):
                    if everyone[number, head] > most[tail]:
                        most[tail], heads_of[tail], link_of[tail] = everyone[number, head], int(head), 1
            beliefs.append(most)
            via.append(heads_of)
            link.append(link_of)
        return Hop(torch.stack(beliefs), torch.stack(via), torch.stack(link))
