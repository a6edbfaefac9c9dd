"""What a CUDA graph cannot hold is seen without a card: no method's pass asks for a value or an open shape.

Loss and gradients are computed on the processor under a mode that looks at every operation below autograd. Drawing and
optimiser have code of their own on a card.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support import training_toy as toy
from support.contract_cases import CASES, IDS, SMALL

from pathformer.models._base import build
from pathformer.models._contract import Watch
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.sampler import sample
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep


@pytest.fixture(scope="module")
def data() -> TrainingSet:
    pair = GraphPair.of(toy.graphs()[0])
    names = ("1p", "2p", "2i", "3i", "2in", "pni")
    return TrainingSet.of([sample(STRUCTURES[name], pair, 30) for name in names], toy.ENTITIES)


@pytest.mark.parametrize(("name", "variant"), CASES, ids=IDS)
def test_a_pass_reads_nothing_back(data: TrainingSet, name: str, variant: dict[str, Any]) -> None:
    torch.manual_seed(0)
    made = build(name, {**SMALL[name], **variant}, entities=toy.ENTITIES, relations=toy.RELATIONS)
    structures = [s.name for s in data.structures if made.takes(s)]
    step = TrainingStep(made, data, dict.fromkeys(structures, 4), StepConfig(negatives=6))
    step.run(1)  # index tensors and buffers are made once, before a capture
    drawn = step.drawer.draw()
    with Watch() as watch:
        step.loss(drawn).mean().backward()
    assert watch.seen == []


def test_the_watch_sees_what_reads_back() -> None:
    numbers = torch.tensor([1.0, 2.0, 0.0])
    with Watch() as watch:
        numbers.sum().item()
        numbers[numbers > 0]
        numbers.prod(dim=0)
        torch.nonzero(numbers)
    assert watch.seen == ["_local_scalar_dense", "index", "nonzero"]
