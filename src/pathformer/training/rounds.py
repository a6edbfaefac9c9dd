"""A step of a run: one update on all trained structures together, or one for each of them in turn.

The reference code nearest to the paper makes one update a structure, each on 512 queries of it alone, and calls the
round a step. One update on all of them at once sees the same queries, costs less time and is one fifth (EPFO) or one
tenth (EFOL) of the updates.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from pathformer.models._base import Model
from pathformer.training.adam import Adam
from pathformer.training.average import Average
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.step import Losses, TrainingStep

__all__ = ["Rounds"]


class Rounds:
    """Makes the steps of one model; all updates of a step share weights and optimiser."""

    def __init__(
        self,
        model: Model,
        data: TrainingSet,
        composition: Mapping[str, int],
        config: StepConfig,
        update_per_structure: bool = True,
        row_rates: Mapping[str, Tensor] | None = None,
    ) -> None:
        """composition: queries a step of each structure, by name; row_rates: as in `Task`.

        update_per_structure: whether each structure has an update of its own.
        """
        rounds = [{name: size} for name, size in composition.items()] if update_per_structure else [composition]
        first = TrainingStep(model, data, rounds[0], config, row_rates=row_rates)
        self._parts = [first, *(TrainingStep(model, data, part, config, sharing=first) for part in rounds[1:])]

    @property
    def adam(self) -> Adam:
        """The optimiser."""
        return self._parts[0].adam

    @property
    def average(self) -> Average | None:
        """The moving average of the weights, where one is kept."""
        return self._parts[0].average

    @property
    def device(self) -> torch.device:
        """The device that it trains on."""
        return self._parts[0].device

    @property
    def cold(self) -> int:
        """Steps until nothing is left to compile."""
        return max(part.cold for part in self._parts)

    @property
    def queries(self) -> int:
        """The number of queries in a step."""
        return sum(part.queries for part in self._parts)

    def run(self) -> None:
        """Makes one step; returns before the device has finished it."""
        for part in self._parts:
            part.run()

    def losses(self) -> Losses:
        """Returns the mean losses by structure since the last call; counts are in steps."""
        found = [part.losses() for part in self._parts]
        mean = {name: value for part in found for name, value in part.mean.items()}
        return Losses(found[0].updates, mean, {name: at for part in found for name, at in part.diverged.items()})

    def state(self) -> dict[str, Tensor]:
        """Returns the optimiser's state."""
        return self._parts[0].state()

    def load(self, state: Mapping[str, Tensor], steps: int) -> None:
        """Continues after so many steps; the model's weights have been loaded before."""
        for part in self._parts:
            part.load(state, steps)
