"""One contract for the two encoders of an engine's folder: numpy's answers are torch's, for what `fit` produces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.contract_cases import VARIANTS
from support.query_strategies import trees

from pathformer.encoders.numpy import NumpyEncoder, method_type
from pathformer.errors import CheckpointError, DivergedError, EngineError, QuerySizeError
from pathformer.files.tensors import read, write
from pathformer.fitting.settings import settings_for
from pathformer.models._base import build
from pathformer.models._base import find as find_model
from pathformer.models._contract import DEEP, DEEP_NEGATED, ENTITIES, LONG, RELATIONS
from pathformer.models._encoder import TorchEncoder, model_of
from pathformer.plan.encoder import FORMS, FULL, WEIGHTS, Encoder, find
from pathformer.query.structures import STRUCTURES, structure
from pathformer.query.tree import Tree

FACTS = {"fingerprint": "same", "dataset": "toy", "entities": ENTITIES, "relations": RELATIONS}
SIZE = {"dim": 24, "heads": 4}
FITTED = [  # the settings of fits: by what `fit` chooses, in a size that a test can afford
    (made.method, {**made.model, **SIZE, "dropout": 0.0})
    for made in (
        settings_for(entities=entities, triples=10 * entities, minutes=minutes, cuda=cuda)
        for entities in (500, 15_000, 40_000, 2_000_000)
        for minutes in (1.0, 20.0)
        for cuda in (False, True)
    )
]
CASES = [case for place, case in enumerate(FITTED) if case not in FITTED[:place]]
CASES += [("composed", {**SIZE, **variant}) for variant in VARIANTS["composed"]]
ASKED = [*STRUCTURES.values(), structure(DEEP), structure(DEEP_NEGATED), structure(LONG)]
CLOSE = 1e-5  # of the largest number: how far numpy's points and distances may lie from torch's


def test_both_recipes_of_a_fit_are_here() -> None:
    assert {name for name, _ in FITTED} == {"composed", "pathformer"}
    assert len(CASES) >= 5


@pytest.fixture(scope="module", params=[FULL, *FORMS])
def form(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]} {CASES.index(case)}")
def both(
    request: pytest.FixtureRequest, form: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[NumpyEncoder, TorchEncoder]:
    """The two encoders of one file, whose weights are all far from the zeros and the tiny gains they start from."""
    name, settings = request.param
    folder = tmp_path_factory.mktemp("engine")
    facts = save(name, settings, folder, form)
    return NumpyEncoder.open(folder, facts), TorchEncoder.open(folder, facts)


def save(name: str, settings: Mapping[str, Any], folder: Path, form: str = FULL) -> dict[str, Any]:
    """Saves an encoder of random weights, and returns what the engine's header would say."""
    torch.manual_seed(0)
    model = build(name, settings, entities=ENTITIES, relations=RELATIONS)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    TorchEncoder(model, form).save(folder, FACTS)
    return {**FACTS, "encoder": "torch", "method": name, "model": asdict(model.config), "form": form}


def drawn(count: int) -> list[Tree]:
    """Trees of every structure with random ids."""
    rng, high = np.random.default_rng(1), {"e": ENTITIES, "r": RELATIONS}
    return [
        shape.tree([int(rng.integers(high[letter])) for letter in shape.columns])
        for shape in ASKED
        for _ in range(count)
    ]


def same(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype == np.float32
    assert np.abs(found - expected).max(initial=0.0) <= CLOSE * np.abs(expected).max(initial=1.0)


def test_points_are_the_same(both: tuple[NumpyEncoder, TorchEncoder]) -> None:
    ours, theirs = both
    for asked in (drawn(3), drawn(1)[:1], drawn(9)):
        found, expected = ours.points(asked), theirs.points(asked)
        assert found.ptr.tolist() == expected.ptr.tolist()
        same(found.rows, expected.rows)


def test_distances_and_rows_are_the_same(both: tuple[NumpyEncoder, TorchEncoder]) -> None:
    ours, theirs = both
    points, some = theirs.points(drawn(1)).rows, np.array([7, 0, 3, 7])
    same(ours.distances(points), theirs.distances(points))
    same(ours.distances(points, some), theirs.distances(points, some))
    for ids in (None, some):
        assert ours.rows(ids).dtype == theirs.rows(ids).dtype
        assert np.array_equal(ours.rows(ids), theirs.rows(ids))


def test_the_nearest_are_the_same(both: tuple[NumpyEncoder, TorchEncoder]) -> None:
    ours, theirs = both
    points, keep = theirs.points(drawn(1)).rows, np.arange(ENTITIES) % 3 > 0
    for k in (1, 5, ENTITIES):
        (ids, distances), (_, expected) = ours.nearest(points, k, keep), theirs.nearest(points, k, keep)
        there = min(k, int(keep.sum()))
        same(distances[:, :there], expected[:, :there])
        assert np.isinf(distances[:, there:]).all()
        assert (ids[:, there:] == -1).all()
        assert keep[ids[:, :there]].all()
        same(np.take_along_axis(ours.distances(points), ids[:, :there], axis=1), distances[:, :there])


def test_what_they_say_of_themselves_is_the_same(both: tuple[NumpyEncoder, TorchEncoder]) -> None:
    ours, theirs = both
    told = ("kind", "name", "form", "entity_count", "width", "union", "combine", "on_card")
    assert [getattr(ours, fact) for fact in told] == [getattr(theirs, fact) for fact in told]
    assert ours.measure is not None
    assert theirs.measure is not None
    assert asdict(ours.measure) == pytest.approx(asdict(theirs.measure))
    assert json.loads(json.dumps([ours.facts({})])) == json.loads(json.dumps([theirs.facts({})]))
    assert all(ours.takes(tree) == theirs.takes(tree) for tree in drawn(1))


@pytest.mark.parametrize("case", CASES[:2] + CASES[-1:], ids=lambda case: case[0])
def test_any_tree_has_the_same_points(case: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    facts = save(*case, tmp_path)
    ours, theirs = NumpyEncoder.open(tmp_path, facts), TorchEncoder.open(tmp_path, facts)

    @given(st.lists(trees(), min_size=1, max_size=4))
    def check(asked: list[Tree]) -> None:
        try:
            expected = theirs.points(asked)
        except QuerySizeError:
            with pytest.raises(QuerySizeError):
                ours.points(asked)
            return
        found = ours.points(asked)
        assert found.ptr.tolist() == expected.ptr.tolist()
        same(found.rows, expected.rows)

    check()


def test_a_model_of_torch_is_made_of_the_same_weights(both: tuple[NumpyEncoder, TorchEncoder]) -> None:
    ours, theirs = both
    expected = model_of(theirs).state_dict()
    made = model_of(ours)
    assert {name: tensor.tolist() for name, tensor in made.state_dict().items()} == {
        name: tensor.tolist() for name, tensor in expected.items()
    }


def test_what_numpy_saves_is_what_torch_saves(both: tuple[NumpyEncoder, TorchEncoder], tmp_path: Path) -> None:
    for place, encoder in zip(("ours", "theirs"), both, strict=True):
        (tmp_path / place).mkdir()
        encoder.save(tmp_path / place, {**FACTS, "dataset": 'ünïcode "quoted"\n'})
    assert (tmp_path / "ours" / WEIGHTS).read_bytes() == (tmp_path / "theirs" / WEIGHTS).read_bytes()


@pytest.mark.parametrize("name", ["composed", "pathformer"])
def test_numpy_knows_each_setting_by_name(name: str) -> None:
    """A setting that is added to a method must be added to numpy's, which could not know what it changes."""
    ours, theirs = method_type(name).settings_type, find_model(name).config_type
    assert {field.name for field in fields(ours)} == {field.name for field in fields(theirs)}


def test_the_lightest_that_knows_the_method_opens_it(tmp_path: Path) -> None:
    facts = save(*CASES[0], tmp_path)
    assert find(facts) is NumpyEncoder
    assert find(facts, "cuda") is find(facts, "auto") is TorchEncoder
    for other in (
        {"method": "gqe", "model": {}},
        {"method": "pathformer", "model": asdict(build("pathformer", SIZE, entities=2, relations=2).config)},
        {"model": {**facts["model"], "new": 1}},
        {"model": {**facts["model"], "fork": "other"}},
        {"model": {}},
        {"method": None},
    ):
        assert find({**facts, **other}) is TorchEncoder


def test_weights_in_bf16_stay_so(tmp_path: Path) -> None:
    """A run may be trained and kept in bf16: the points are those of the wide weights, the rows are in bf16 still."""
    facts = save(*CASES[0], tmp_path)
    saved = read(tmp_path / WEIGHTS)
    kept = {name: tensor.bfloat16() for name, tensor in saved.tensors.items()}
    write(tmp_path / "half" / WEIGHTS, saved.facts, kept)
    write(tmp_path / "wide" / WEIGHTS, saved.facts, {name: tensor.float() for name, tensor in kept.items()})
    half = NumpyEncoder.open(tmp_path / "half", facts)
    assert np.array_equal(half.rows(), TorchEncoder.open(tmp_path / "half", facts).rows())
    same(half.points(drawn(1)).rows, TorchEncoder.open(tmp_path / "wide", facts).points(drawn(1)).rows)


@pytest.mark.parametrize(
    ("changed", "error", "complaint"),
    [
        (
            {"model.forks.more.each.linears.0.bias": None},
            EngineError,
            r"model\.safetensors lacks .*each\.linears\.0\.bias",
        ),
        (
            {"model.entities.weight": torch.zeros(ENTITIES, 24, dtype=torch.int8)},
            CheckpointError,
            "int8 without a scale",
        ),
    ],
)
def test_weights_that_lack_a_part_are_refused(
    changed: dict[str, Any], error: type[Exception], complaint: str, tmp_path: Path
) -> None:
    facts = save("composed", {**SIZE, "fork": "network"}, tmp_path)
    saved = read(tmp_path / WEIGHTS)
    whole = {name: tensor.clone() for name, tensor in saved.tensors.items()} | changed
    write(tmp_path / WEIGHTS, saved.facts, {name: tensor for name, tensor in whole.items() if tensor is not None})
    with pytest.raises(error, match=complaint):
        NumpyEncoder.open(tmp_path, facts)


def test_weights_that_diverged_are_told(tmp_path: Path) -> None:
    facts = save(*CASES[0], tmp_path)
    saved = read(tmp_path / WEIGHTS)
    weights = {name: torch.full_like(tensor, torch.nan) for name, tensor in saved.tensors.items()}
    write(tmp_path / WEIGHTS, saved.facts, weights)
    with pytest.raises(DivergedError, match="numbers that are not finite: the model's weights diverged"):
        NumpyEncoder.open(tmp_path, facts).points(drawn(1))


def test_an_encoder_of_another_kind_has_no_model() -> None:
    class Other(Encoder):
        kind = "other"

    Other.__abstractmethods__ = frozenset()
    with pytest.raises(EngineError, match="keeps no weights to train or to rank: its encoder is 'other'"):
        model_of(Other())
