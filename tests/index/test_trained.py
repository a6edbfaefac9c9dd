"""The contract at full size: trained embeddings of NELL995, points of queries of all fourteen structures.

The embeddings are read from $PATHFORMER_EMBEDDINGS, a folder that `benchmarks/index_embeddings.py` wrote; without one
they are trained here, which takes a quarter of an hour.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from pathformer import plugins
from pathformer.index import build, load
from pathformer.query.structures import STRUCTURES

SMALL = (
    "model.layers=1", "model.hidden=1",
    "training.batch=24", "training.update.negatives=48", "training.update.rate=3e-3",
)  # fmt: skip

pytestmark = [pytest.mark.slow, pytest.mark.data]


@pytest.fixture(scope="module")
def embeddings(script: Callable[[str], ModuleType], data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = script("benchmarks/index_embeddings.py")
    given = os.environ.get("PATHFORMER_EMBEDDINGS")
    if given:
        return made.read(Path(given))
    folder = tmp_path_factory.mktemp("embeddings")
    model, sets, about = made.train(15.0, list(SMALL), data_dir, "cpu")
    made.write(folder, model.eval(), dict(sets["test"]), 36, False, about)
    return made.read(folder)


@pytest.mark.parametrize("backend", plugins.names("pathformer.index"))
def test_recall_of_every_structure(backend: str, embeddings: Any, tmp_path: Path) -> None:
    """Recall@10 against exact at the default setting, tuned on nothing but the table itself."""
    table = embeddings.entities
    assert table.shape[0] == 63_361
    assert table.shape[1] >= 256
    assert set(embeddings.points) == set(STRUCTURES)
    exact, index = build("exact", table), build(backend, table)
    recalls = {}
    for name, points in embeddings.points.items():
        limit = exact.search(points, 10).distances[:, -1:]
        found = index.search(points, 10)
        recalls[name] = (found.distances <= limit).float().mean().item()
        assert bool((found.distances.diff(dim=1) >= 0).all())
        true = (points[:, None] - table[found.ids].float()).abs().sum(-1)
        assert torch.allclose(found.distances, true, rtol=1e-5)
    assert min(recalls.values()) >= 0.95, recalls
    points = embeddings.points["2i"]
    assert torch.equal(load(index.save(tmp_path / "index")).search(points, 10).ids, index.search(points, 10).ids)
