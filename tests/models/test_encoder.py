"""The torch side of the joint: points in the order of the trees, and every method's distances, rows and weights."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from support.contract_cases import CASES, make

from pathformer.engine.engine import Engine
from pathformer.errors import DivergedError, InputError
from pathformer.index._base import OwnIndex, build_for, load
from pathformer.index.kernels.bf16 import to_float32
from pathformer.models._base import build
from pathformer.models._batch import Batch
from pathformer.models._encoder import TorchEncoder
from pathformer.nn.mlp import _can_lay_out
from pathformer.plan.encoder import FORMS, FULL
from pathformer.plan.layout import Block
from pathformer.query.structures import STRUCTURES

SPACES = [(name, variant) for name, variant in CASES if not variant or {"space", "regularizer"} & variant.keys()]


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
    assert len(laid._laid) >= (8 if _can_lay_out(dtype) else 0)
    plain = TorchEncoder(model)
    monkeypatch.setattr(plain, "_laid", SimpleNamespace(used=nullcontext))
    expected = plain.points(trees).rows
    room = 1e-5 if dtype is torch.float32 else 0.02  # of a point's size; bf16 has eight bits
    for found in (together, np.concatenate(alone)):
        assert (np.abs(found - expected).sum(1) <= room * np.abs(expected).sum(1)).all()


@pytest.mark.parametrize(("name", "variant"), SPACES, ids=str)
def test_every_way_to_measure_gives_the_distances_of_the_space(
    name: str, variant: dict[str, Any], tmp_path: Path
) -> None:
    """The encoder itself, its search, and an exact index over its rows, which is saved and opened."""
    encoder = TorchEncoder(make(name, variant))
    model, trees = encoder.model, [STRUCTURES["1p"].tree([n, n % 4]) for n in range(6)]
    points = encoder.points(trees)
    with torch.inference_mode():
        ids = torch.tensor([[n, n % 4] for n in range(6)], dtype=torch.int32).flatten()
        queries = model.encode(encoder._batch((Block(STRUCTURES["1p"], 6),)), ids).float()
        truth = model.space.distance(queries[:, None], model.entities.weight.float()).float().numpy()
    close = {"rtol": 1e-4, "atol": 1e-3}
    some = np.array([7, 0, 3])
    assert np.allclose(encoder.distances(points.rows), truth, **close)
    assert np.allclose(encoder.distances(points.rows, some), truth[:, some], **close)
    keep = np.arange(encoder.entity_count) % 3 > 0
    best = np.sort(np.where(keep, truth, np.inf))[:, :5]
    saved = load(build_for(encoder).save(tmp_path / "index"), encoder)
    for ids, distances in (near.nearest(points.rows, 5, keep) for near in (encoder, build_for(encoder), saved)):
        assert keep[ids].all()
        assert np.allclose(distances, best, **close)
        assert np.allclose(distances, np.take_along_axis(truth, ids, axis=1), **close)
    assert (encoder.nearest(points.rows, 40, keep)[0][:, keep.sum() :] == -1).all()
    if encoder.measure is None:
        with pytest.raises(InputError, match=f"lsh knows the L1 norm, .*; {name} has its own distance: use exact"):
            build_for(encoder, "lsh")
    else:
        assert to_float32(encoder.rows(some)).shape == (3, encoder.width) == (3, points.rows.shape[1])


@pytest.mark.parametrize(("name", "variant"), [("pathformer", {}), ("fuzzqe", {}), ("q2b", {})])
def test_an_index_of_a_machine_with_a_card_opens_on_one_without(
    name: str, variant: dict[str, Any], tmp_path: Path
) -> None:
    here, there = TorchEncoder(make(name, variant)), TorchEncoder(make(name, variant))
    there.on_card = True  # as far as an index asks
    points = here.points([STRUCTURES["1p"].tree([n, n % 4]) for n in range(6)]).rows
    found = build_for(here).nearest(points, 8)
    folder = build_for(there).save(tmp_path / "index")
    assert isinstance(load(folder, there), OwnIndex)
    assert isinstance(load(folder, here), OwnIndex) == (here.measure is None)
    for index in (load(folder, here), load(folder, there)):
        near = index.nearest(points, 8)
        assert np.array_equal(near.ids, found.ids)
        assert np.allclose(near.distances, found.distances, rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "variant"), SPACES, ids=str)
def test_the_card_finds_what_the_processor_finds(name: str, variant: dict[str, Any], tmp_path: Path) -> None:
    """An exact index over an encoder on a card is the encoder's own search, and opens on either machine."""
    here, there = TorchEncoder(make(name, variant)), TorchEncoder(make(name, variant).cuda())
    trees = [STRUCTURES["1p"].tree([n, n % 4]) for n in range(6)]
    points = here.points(trees).rows
    room = {"rtol": 1e-3, "atol": 1e-2}
    assert np.allclose(there.points(trees).rows, points, **room)
    assert np.allclose(there.distances(points), here.distances(points), **room)
    index, near = build_for(there), build_for(here).nearest(points, 8)
    assert there.on_card
    assert np.allclose(index.nearest(points, 8).distances, near.distances, **room)
    folder = index.save(tmp_path / "index")
    assert type(load(folder, there)) is type(index)
    assert np.allclose(load(folder, here).nearest(points, 8).distances, near.distances, **room)


@pytest.mark.parametrize("form", [FULL, *FORMS])
def test_what_is_saved_is_opened_in_any_form(form: str, tmp_path: Path) -> None:
    encoder = TorchEncoder(make("pathformer", {}), form)
    facts = {"entities": encoder.entity_count, "relations": encoder.model.relation_count}
    encoder.save(tmp_path, {**facts, "fingerprint": "same", "dataset": "toy"})
    opened = TorchEncoder.open(tmp_path, {"fingerprint": "same", "dataset": "toy", "form": form})
    assert (opened.name, opened.form, dict(opened.settings)) == (encoder.name, form, dict(encoder.settings))
    assert opened.rows().dtype == (np.float32 if form == FULL else np.uint16)
    trees = [STRUCTURES["2i"].tree([1, 0, 2, 1])]
    before, after = (one.points(trees).rows for one in (encoder, opened))
    assert np.abs(after - before).max() <= (0.0 if form == FULL else 0.1) * np.abs(before).max()


def test_an_index_of_a_distance_of_its_own_takes_no_rows_and_needs_its_encoder(tmp_path: Path) -> None:
    encoder = TorchEncoder(make("q2b", {}))
    index = build_for(encoder)
    index.remove([2])
    folder = index.save(tmp_path / "index")
    assert {file.name for file in folder.iterdir()} == {"index.json", "alive.npy", "manifest.json"}
    assert load(folder, encoder).removed.tolist() == [2]
    with pytest.raises(InputError, match="only the engine's own encoder can measure them"):
        load(folder)
    with pytest.raises(InputError, match="the entities of its encoder, no others"):
        index.add(np.ones((1, 12), np.float32))
    with pytest.raises(InputError, match="is not a whole index: 25 entities, 7 expected"):
        load(folder, TorchEncoder(build("q2b", {"dim": 12}, entities=7, relations=4)))
