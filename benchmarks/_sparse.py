"""Training on a processor that leaves alone the entities a batch does not touch.

N entities, d dimensions, t touched ones.

An update of `training.step` adjusts the whole entity table, which on a card is nothing and on a processor, at NELL995's
63,361 rows, most of the time. Here each update sees a table of the touched rows alone, and Adam's moments of the others
stay as they are (as torch's SparseAdam has it). For benchmarks that need embeddings that have learned something, soon.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pathformer.models import Batch, Model
from pathformer.models._batch import Paths
from pathformer.training.data import Drawer, TrainingSet
from pathformer.training.losses import margin_loss


class SparseTraining:
    """Updates of one model by the margin loss."""

    def __init__(
        self, model: Model, data: TrainingSet, composition: Mapping[str, int], negatives: int, rate: float
    ) -> None:
        self.model, self.rate = model, rate
        self.drawer = Drawer(data, composition, negatives=negatives)
        self.batch = Batch.of(self.drawer.layout)
        paths = [step for step in self.batch.steps if isinstance(step, Paths)]
        self.anchors = torch.cat([step.entity_sources for step in paths])  # their places in a batch's ids
        self.table = model.entities.weight.detach().clone()  # (N, d)
        self.first, self.second = torch.zeros_like(self.table), torch.zeros_like(self.table)
        own = [parameter for name, parameter in model.named_parameters() if name != "entities.weight"]
        self.adam = torch.optim.Adam(own, lr=rate)
        self.updates = 0

    def train(self, minutes: float) -> int:
        """Updates for so long, the rate rising for a twentieth of it and then falling to nothing; their number."""
        begun, told = time.monotonic(), 0.0
        self.model.train()
        while (spent := (time.monotonic() - begun) / (60 * minutes)) < 1:
            loss = self.update(min(spent / 0.05, (1 - spent) / 0.95))
            if spent - told > 0.1:
                told = spent
                print(f"{self.updates:,} updates, {100 * spent:.0f} % of the time, loss {loss:.3f}", flush=True)
        self.model.entities.weight = nn.Parameter(self.table)
        return self.updates

    def update(self, factor: float) -> float:
        drawn = self.drawer.draw()
        ids, candidates = drawn.ids.long(), drawn.candidates.long()
        touched = torch.unique(torch.cat([ids[self.anchors], candidates.flatten()]))  # (t,)
        ids[self.anchors] = torch.searchsorted(touched, ids[self.anchors])
        rows = nn.Parameter(self.table[touched])
        self.model.entities.weight = rows
        distances = self.model.distances(self.batch, ids, torch.searchsorted(touched, candidates))
        loss = margin_loss(distances[:, 0], distances[:, 1:], self.model.space.margin).mean()
        self.adam.zero_grad()
        loss.backward()
        self.updates += 1
        self.adam.param_groups[0]["lr"] = self.rate * factor
        self.adam.step()
        assert rows.grad is not None
        self._adjust(touched, rows.detach(), rows.grad, self.rate * factor)
        return loss.item()

    def _adjust(self, touched: Tensor, rows: Tensor, gradient: Tensor, rate: float) -> None:
        """Adam on the touched rows."""
        first = self.first[touched].lerp_(gradient, 0.1)
        second = self.second[touched].lerp_(gradient.square(), 0.001)
        self.first[touched], self.second[touched] = first, second
        corrected = (second / (1 - 0.999**self.updates)).sqrt_().add_(1e-8)
        self.table[touched] = rows - rate / (1 - 0.9**self.updates) * first / corrected
