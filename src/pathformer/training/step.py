"""One whole update on the device: draw, encode, compare, differentiate, adjust; captured once, then replayed.

S structures, B queries, u negatives.

`TrainingStep.run(n)` makes n updates. On a CUDA device the first few run as they are, on a stream of their own, and
count like all others; then one update is recorded as a CUDA graph, and from there on an update is one launch. Nothing
is read back: losses are summed on the device until `losses()` asks for them.

In bf16 the network reads bf16 copies of its weights, while the model itself, which evaluation and checkpoints see,
stays float32 and is what Adam adjusts.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.training.adam import Adam
from pathformer.training.average import Average
from pathformer.training.data import Drawer, Drawn, TrainingSet
from pathformer.training.objectives._base import Objective, block_means, build, query_weights
from pathformer.training.settings import StepConfig

__all__ = ["Losses", "StepConfig", "TrainingStep"]

_EAGER = 3  # updates before the capture: kernels compile, libraries take their workspaces


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses since the last look."""

    updates: int
    mean: Mapping[str, float]  # by structure
    diverged: Mapping[str, int]  # structure -> number of the first update whose loss was not finite


class TrainingStep:
    """Updates of one model on batches of one composition."""

    def __init__(
        self,
        model: Model,
        data: TrainingSet,
        composition: Mapping[str, int],
        config: StepConfig,
        sharing: TrainingStep | None = None,
        row_rates: Mapping[str, Tensor] | None = None,
    ) -> None:
        """composition: queries an update of each structure, by name, e.g. {"1p": 512, "2i": 512}.

        sharing: another step of the same model, whose weights and optimiser are shared;
        row_rates: as in `Task`.
        """
        self.model, self.config, self._row_rates = model, config, row_rates
        self.device = data.ids.device
        self.objective: Objective = build(config, model)
        needs = self.objective.needs
        self.drawer = Drawer(
            data,
            composition,
            negatives=needs.negatives,
            filtered=needs.filtered,
            targets=needs.targets,
            union=model.union,
        )
        self.batch = Batch.of(self.drawer.layout, self.device)
        self.sizes = tuple(composition.values())
        self.structures = tuple(composition)
        model.check(self.drawer.layout)
        self.network: Model = self._working_copy() if sharing is None else sharing.network
        self.adam: Adam = self._optimiser() if sharing is None else sharing.adam.twin()
        self.average: Average | None = self._average() if sharing is None else sharing.average
        self.updates = 0  # made so far, by this object or before a resume
        self._seen = 0
        self._sums = torch.zeros(len(self.sizes), device=self.device)
        self._diverged = torch.full((len(self.sizes),), torch.inf, dtype=torch.float64, device=self.device)
        self._count = torch.zeros((), dtype=torch.float64, device=self.device)
        self._eager = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._stream = torch.cuda.Stream(self.device) if self.device.type == "cuda" else None

    @property
    def queries(self) -> int:
        """B, queries an update."""
        return sum(self.sizes)

    @property
    def cold(self) -> int:
        """Updates until nothing is left to compile or to record; a processor has nothing of that."""
        return 0 if self._stream is None else max(0, _EAGER - self._eager)

    def run(self, updates: int = 1) -> None:
        """Makes so many updates; returns before the device has finished them."""
        self.network.train()  # it may be the model itself, and somebody may have ranked with it
        for _ in range(updates):
            if self._graph is not None:
                self._graph.replay()
            elif self._stream is None:
                self.update()
            else:
                self._warm()
            self.updates += 1

    def losses(self) -> Losses:
        """Returns the mean losses since the last call, by structure; waits for the device."""
        made = self.updates - self._seen
        sums, diverged = self._sums.tolist(), self._diverged.tolist()
        self._seen = self.updates
        self._sums.zero_()
        return Losses(
            made,
            {name: total / max(made, 1) for name, total in zip(self.structures, sums, strict=True)},
            {name: int(at) for name, at in zip(self.structures, diverged, strict=True) if at != float("inf")},
        )

    def state(self) -> dict[str, Tensor]:
        """Returns the optimiser's state; with the weights, `updates` and torch's generator it continues exactly."""
        return self.adam.state()

    def load(self, state: Mapping[str, Tensor], updates: int) -> None:
        """Continues after `updates` updates; the model's weights have been loaded before."""
        self.adam.load(state)
        self.updates = self._seen = updates
        self._count.fill_(updates)

    def update(self) -> None:
        """Makes one update, which `run` records."""
        self.adam.clear()
        drawn = self.drawer.draw()
        means = self.loss(drawn)
        loss = means.mean()
        if loss.requires_grad:  # a structure may read nothing but tables that are kept as they are
            loss.backward()
        self._note(means.detach())
        self.adam.update()
        if self.average is not None:
            self.average.update()

    def loss(self, drawn: Drawn) -> Tensor:
        """Returns the loss of each structure's queries, (S,); their mean is minimised."""
        losses = self.objective.losses(self.network, self.batch, drawn)  # (B,)
        weights = (
            query_weights(drawn.answers, self.config.answer_count_exponent)
            if self.config.weighted
            else torch.ones_like(losses)
        )
        if self.config.average_over == "batch":
            weights = weights / weights.sum()
            return torch.stack([part.sum() for part in (losses * weights).split(self.sizes)]) * len(self.sizes)
        return block_means(losses, weights, self.sizes)

    def _note(self, means: Tensor) -> None:
        self._count += 1
        self._sums += means
        bad = torch.where(means.isfinite(), torch.inf, self._count)
        torch.minimum(self._diverged, bad, out=self._diverged)

    def _warm(self) -> None:
        """Makes an update on the stream that is captured later: autograd's own streams must be those of the capture."""
        assert self._stream is not None
        current = torch.cuda.current_stream(self.device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            self.update()
        current.wait_stream(self._stream)
        self._eager += 1
        if self.config.capture and self._eager == _EAGER:
            self._capture()

    def _capture(self) -> None:
        self.adam.clear()
        torch.cuda.synchronize(self.device)
        torch.cuda.empty_cache()  # what the updates so far had taken; the graph has its own pool
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self._stream):
            self.update()
        self.adam.settle()
        self._graph = graph

    def _average(self) -> Average | None:
        return Average(self.model, self.config.ema) if self.config.ema else None

    def _optimiser(self) -> Adam:
        config, groups = self.config, self.model.parameter_groups()
        factors = {"table": config.table_rate, "domain": config.domain_rate}
        rates = {name: factors[group] for name, group in groups.items() if group != "network"}
        return Adam(
            dict(self.model.named_parameters()),
            dict(self.network.named_parameters()),
            rate=config.rate,
            betas=config.betas,
            epsilon=config.epsilon,
            decay=config.weight_decay,
            factors=rates if self._row_rates is None else self._row_rates,
            spared=[name for name, weight in self.model.named_parameters() if weight.ndim < 2 or name in rates],
        )

    def _working_copy(self) -> Model:
        low = self.config.precision == "bf16" or (self.config.precision == "auto" and self.device.type == "cuda")
        network = copy.deepcopy(self.model).to(torch.bfloat16) if low else self.model
        for name in self._kept(network):
            network.get_parameter(name).requires_grad_(False)  # what is not moved costs no gradient
        return network

    def _kept(self, network: Model) -> list[str]:
        if self._row_rates is not None:
            return [name for name, _ in network.named_parameters() if name not in self._row_rates]
        if self.config.table_rate == 0.0:
            return [name for name, group in network.parameter_groups().items() if group == "table"]
        return []
