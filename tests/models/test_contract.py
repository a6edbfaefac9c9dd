"""What every method keeps to, found by its file, in every variant of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from pathformer import plugins
from pathformer.errors import UnknownPluginError, UnsupportedQueryError
from pathformer.models import Batch, Model, build, find
from pathformer.nn.table import Reading, Table
from pathformer.plan import Plan, build_plan
from pathformer.query.structures import STRUCTURES, Structure, structure

ENTITIES, RELATIONS = 25, 6
SMALL: dict[str, dict[str, Any]] = {"pathformer": {"dim": 24, "layers": 2, "heads": 4}}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "pathformer": [
        {},
        {"positions": "relative"},
        {"positions": "none"},
        {"attention": "causal"},
        {"norm": "post"},
        {"bias": False, "scale": False, "gain": "one"},
        {"fork": "mixer"},
        {"fork": "mlp2vector"},
        {"fork": "set"},
        {"layers": 1, "fork_hidden": (2,)},
    ]
}
CASES = [(name, variant) for name, variants in VARIANTS.items() for variant in variants]
every_variant = pytest.mark.parametrize(("name", "variant"), CASES, ids=[f"{n}-{v}" for n, v in CASES])


def make(name: str, variant: Mapping[str, Any], seed: int = 0) -> Model:
    torch.manual_seed(seed)
    return build(name, {**SMALL[name], **variant}, entities=ENTITIES, relations=RELATIONS).eval()


def shapes(made: Model) -> list[Structure]:
    return [shape for shape in STRUCTURES.values() if made.negation or not shape.negated]


def tables(made: Model, count: int = 3) -> list[tuple[Structure, np.ndarray]]:
    rng = np.random.default_rng(1)
    high = {"e": ENTITIES, "r": RELATIONS}
    return [
        (shape, np.stack([rng.integers(high[letter], size=count) for letter in shape.columns], axis=1))
        for shape in shapes(made)
    ]


def distances(made: Model, plan: Plan) -> Tensor:
    candidates = torch.arange(ENTITIES, dtype=torch.int32).repeat(plan.layout.queries, 1)
    return made.distances(Batch.of(plan.layout), torch.from_numpy(plan.ids), candidates)


def test_every_method_is_under_contract() -> None:
    assert set(plugins.names("pathformer.models")) == set(VARIANTS) == set(SMALL)
    for name in VARIANTS:
        assert find(name).name == name


@every_variant
def test_batched_is_one_by_one(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    parts = tables(made)
    together = distances(made, build_plan(parts))
    alone = [distances(made, build_plan([(shape, row[None])])) for shape, table in parts for row in table]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-4, atol=1e-4)


@every_variant
def test_row_order_and_longer_neighbours_change_nothing(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    parts = tables(made)
    expected = distances(made, build_plan(parts)).split([len(table) for _, table in parts])
    long = (structure("(e,(r,r,r,r,r,r,r))"), np.zeros((2, 8), np.int32))
    turned = [(shape, table[::-1]) for shape, table in reversed(parts)]
    found = distances(made, build_plan([long, *turned])).split([2, *(len(table) for _, table in turned)])[1:]
    for one, other in zip(reversed(found), expected, strict=True):
        torch.testing.assert_close(one.flip(0), other, rtol=1e-4, atol=1e-4)


@every_variant
def test_saved_and_loaded_it_answers_the_same(name: str, variant: dict[str, Any], tmp_path: Path) -> None:
    made, other = make(name, variant), make(name, variant, seed=1)
    plan = build_plan(tables(made))
    assert not torch.equal(distances(made, plan), distances(other, plan))
    save_file({k: v.contiguous() for k, v in made.state_dict().items()}, tmp_path / "model.safetensors")
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(distances(made, plan), distances(other, plan))


@every_variant
def test_gradients_reach_every_parameter(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant).train()
    distances(made, build_plan(tables(made, 20))).mean().backward()
    for parameter, weight in made.named_parameters():
        assert weight.grad is not None, parameter
        assert torch.isfinite(weight.grad).all(), parameter
        assert weight.grad.abs().sum() > 0, parameter


@every_variant
def test_a_row_of_the_space_for_every_disjunct(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    plan = build_plan(tables(made))
    points = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert points.shape == (len(plan.layout.roots), made.space.query_width)


class Positive(Model):
    """A method that knows no negation."""

    name: ClassVar[str] = "positive"
    negation: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__(None, ENTITIES, RELATIONS)
        self.entities = Table(ENTITIES, 1, 0.0, 1.0)

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        return torch.zeros(len(batch.roots), 1)


def test_what_a_method_cannot_express_is_refused_by_name() -> None:
    made = Positive()
    plan = build_plan([(STRUCTURES["2p"], np.zeros((1, 3), np.int32)), (STRUCTURES["2in"], np.zeros((1, 4), np.int32))])
    with pytest.raises(UnsupportedQueryError) as refused:
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert str(refused.value) == "positive cannot take a negation (in 2in); methods that can: pathformer"
    positive = build_plan([(STRUCTURES["2p"], np.zeros((1, 3), np.int32))])
    assert len(made.encode(Batch.of(positive.layout), torch.from_numpy(positive.ids))) == 1


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(UnknownPluginError, match="pathformr"):
        find("pathformr")
