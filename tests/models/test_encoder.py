"""Trees to points: in the order of the trees, whatever their mixture; shapes seen before; threads left as they were."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from pathformer.engine.engine import Engine
from pathformer.errors import DivergedError
from pathformer.models._base import build
from pathformer.models._batch import Batch
from pathformer.models._encoder import TorchEncoder
from pathformer.nn.mlp import _able
from pathformer.query.structures import STRUCTURES


def mixed(count: int) -> list:
    shapes = [STRUCTURES[name] for name in ("2u", "1p", "inp", "up", "1p", "3i")]
    return [shapes[n % 6].tree([(n + k) % 8 for k in range(len(shapes[n % 6].columns))]) for n in range(count)]


def test_points_are_those_of_each_tree_alone(engine: Engine) -> None:
    trees = mixed(12)
    together = engine.encoder.points(trees)
    assert together.ptr.tolist()[-1] == len(together.rows) == 12 + 4  # each of four unions has two
    for place, tree in enumerate(trees):
        alone = engine.encoder.points([tree]).rows
        assert np.allclose(together.of(place), alone, atol=1e-5)


def test_a_shape_seen_before_is_not_laid_out_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple] = []
    from pathformer.models import _encoder as encode

    build = encode.build_layout
    monkeypatch.setattr(encode, "build_layout", lambda blocks, union: made.append(blocks) or build(blocks, union))
    monkeypatch.setattr(encode, "_KEPT", 2)
    encoder = TorchEncoder(engine.encoder.model)
    one, two, three = STRUCTURES["1p"], STRUCTURES["2p"], STRUCTURES["3p"]
    for structure, ids in ((one, [0, 0]), (one, [3, 2]), (two, [1, 0, 2]), (one, [2, 1]), (three, [1, 0, 0, 0])):
        encoder.points([structure.tree(ids)])
    assert len(made) == 3
    encoder.points([two.tree([0, 0, 0])])  # the one used longest ago was forgotten
    assert len(made) == 4


@pytest.mark.parametrize(("trees", "parts"), [(1, [1]), (63, [63]), (64, [32, 32]), (129, [64, 65])])
def test_each_thread_encodes_a_part_of_many_trees_alone_and_the_number_of_threads_is_left_as_it_was(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, trees: int, parts: list[int]
) -> None:
    before, seen = torch.get_num_threads(), []
    encode = engine.encoder.model.encode

    def spy(batch: Batch, ids: torch.Tensor) -> torch.Tensor:
        seen.append((batch.layout.queries, torch.get_num_threads(), threading.get_ident()))
        return encode(batch, ids)

    monkeypatch.setattr(engine.encoder.model, "encode", spy)
    asked = mixed(trees)
    try:
        torch.set_num_threads(2)
        shared = engine.encoder.points(asked)
        assert sorted(queries for queries, _, _ in seen) == parts
        assert {threads for _, threads, _ in seen} == {1}
        assert len({thread for _, _, thread in seen}) == len(parts)
        assert torch.get_num_threads() == 2
        torch.set_num_threads(1)
        alone = engine.encoder.points(asked)
        assert shared.ptr.tolist() == alone.ptr.tolist()
        assert np.allclose(shared.rows, alone.rows, atol=1e-5)
        torch.set_num_threads(2)
        monkeypatch.setattr(engine.encoder.model, "encode", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            engine.encoder.points(asked)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_model_that_diverged_is_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.encoder.model, "encode", lambda *_: torch.full((1, 16), torch.nan))
    with pytest.raises(DivergedError, match="numbers that are not finite: the model's weights diverged"):
        engine.encoder.points([STRUCTURES["1p"].tree([0, 0])])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("fork", ["mlp", "set", "mixer", "mlp2vector"])
def test_laid_out_weights_give_the_same_points(dtype: torch.dtype, fork: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all fourteen structures, at once and one by one, against the products as torch takes them."""
    torch.manual_seed(0)
    model = build("pathformer", {"dim": 48, "layers": 2, "fork": fork}, entities=30, relations=12).to(dtype).eval()
    trees = [s.tree([(3 * k + n) % 12 for k in range(len(s.columns))]) for n, s in enumerate(STRUCTURES.values())]
    laid = TorchEncoder(model)
    together, alone = laid.points(trees).rows, [laid.points([tree]).rows for tree in trees]
    assert len(laid._laid) >= (8 if _able(dtype) else 0)
    plain = TorchEncoder(model)
    monkeypatch.setattr(plain, "_laid", SimpleNamespace(used=nullcontext))
    expected = plain.points(trees).rows
    room = 1e-5 if dtype is torch.float32 else 0.02  # of a point's size; bf16 has eight bits
    for found in (together, np.concatenate(alone)):
        assert (np.abs(found - expected).sum(1) <= room * np.abs(expected).sum(1)).all()
