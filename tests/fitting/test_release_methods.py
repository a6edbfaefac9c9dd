"""Every method can be released: whatever its tables and matrices are, what is opened answers as what was rounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.contract_cases import CASES, make
from support.engines import engine_over, load_with_torch

from pathformer.fitting.release import compress
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.models._contract import ENTITIES, RELATIONS
from pathformer.query.structures import STRUCTURES

SHOWN = ("1p", "2p", "2i", "inp")
TESTED = [(name, variant) for name, variant in CASES if not variant or "space" in variant]


@pytest.fixture(scope="module")
def kg() -> KnowledgeGraph:
    random = np.random.default_rng(1)
    heads, relations, tails = (random.integers(0, bound, 90) for bound in (ENTITIES, RELATIONS // 2, ENTITIES))
    names = Vocabulary.of([f"e{n}" for n in range(ENTITIES)], [f"r{n}" for n in range(RELATIONS // 2)])
    return KnowledgeGraph("methods", names, {"train": np.stack([heads, 2 * relations, tails], axis=1).astype(np.int32)})


@pytest.mark.parametrize(("name", "variant"), TESTED, ids=str)
def test_a_method_is_released(name: str, variant: dict[str, Any], kg: KnowledgeGraph, tmp_path: Path) -> None:
    model = make(name, variant)
    engine = engine_over(kg, model)
    trees = [
        structure.tree(np.random.default_rng(n).integers(0, RELATIONS, len(structure.columns)).tolist())
        for n, structure in enumerate(STRUCTURES[shown] for shown in SHOWN)
        if model.takes(structure)
    ]
    small = compress(engine, "int8")
    opened = load_with_torch(small.save(tmp_path / "small"))
    state = model.state_dict()
    for weight, tensor in opened.encoder.model.state_dict().items():
        step = state[weight].abs().amax() / 127 if state[weight].ndim > 1 else torch.tensor(1e-12)
        assert bool(((tensor - state[weight]).abs() <= step).all()), weight
    for one, other in zip(small.candidates(trees, top=4), opened.candidates(trees, top=4), strict=True):
        assert one.entities.tolist() == other.entities.tolist()
        assert one.distances == pytest.approx(other.distances, rel=1e-5, abs=1e-5)
