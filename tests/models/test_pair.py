"""Two models side by side: their distances add up, their points are one, and who never met a negation keeps silent."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from pathformer.errors import ConfigError
from pathformer.models._base import Model, build
from pathformer.models._batch import Batch
from pathformer.models._forms import pack, unpack
from pathformer.models.composed import Composed
from pathformer.models.pair import Pair
from pathformer.models.pathformer import Pathformer
from pathformer.plan.build import Plan, build_plan
from pathformer.query.structures import structure
from pathformer.training import checkpoint

ENTITIES, RELATIONS = 30, 6
ONE = {"dim": 16, "heads": 2, "bare_path_length": 0, "add_to": "paths", "sharpness": 1.0}
OTHER = {"dim": 12, "layers": 1, "heads": 2, "space": "sphere", "fork": "set"}


def first(seed: int = 0) -> Composed:
    torch.manual_seed(seed)
    made = build("composed", ONE, entities=ENTITIES, relations=RELATIONS).eval()
    assert isinstance(made, Composed)
    return made


def second(seed: int = 1, **settings: Any) -> Pathformer:
    torch.manual_seed(seed)
    made = build("pathformer", {**OTHER, **settings}, entities=ENTITIES, relations=RELATIONS).eval()
    assert isinstance(made, Pathformer)
    return made


def pair_of(*, denies: bool = True) -> tuple[Composed, Pathformer, Pair]:
    one, other = first(), second()
    return one, other, Pair.of(one, other, 0.7, denies=denies)


def make_plan(model: Model, *names: str) -> Plan:
    """Three queries of each structure."""
    rng = np.random.default_rng(0)
    sizes = {"e": ENTITIES, "r": RELATIONS}
    parts = [
        (asked, np.stack([rng.integers(sizes[letter], size=3) for letter in asked.columns], 1))
        for asked in map(structure, names)
    ]
    return build_plan(parts, model.union)


@torch.inference_mode()
def distances(model: Model, *names: str) -> Tensor:
    plan = make_plan(model, *names)
    points = model.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    return model.space.distance_to_all(points, model.entities.weight)


@pytest.mark.parametrize("name", ["1p", "3p", "3i", "ip", "pi", "up", "pni"])
def test_distances_are_the_weighted_sum_of_both(name: str) -> None:
    one, other, pair = pair_of()
    torch.testing.assert_close(distances(pair, name), distances(one, name) + 0.7 * distances(other, name))


def test_who_never_met_a_negation_says_nothing_of_one() -> None:
    one, other, pair = pair_of(denies=False)
    found, mine, theirs = (distances(model, "2in", "2i", "inp") for model in (pair, one, other))
    constant = found - mine
    assert (constant[:3] - constant[:3, :1]).abs().max() < 1e-4  # 2in: the same for every entity
    assert (constant[6:] - constant[6:, :1]).abs().max() < 1e-4  # inp
    torch.testing.assert_close(constant[3:6], 0.7 * theirs[3:6])  # 2i, in the same batch
    loud = distances(pair_of()[2], "2in") - mine[:3]
    assert (loud - loud[:, :1]).abs().max() > 0.01


def test_it_is_silent_of_a_whole_union_and_of_no_neighbour() -> None:
    """Disjuncts of a query are compared: where one is denied something, the second speaks of none."""
    one, other, pair = pair_of(denies=False)
    names = ("2u", "2in", "2i", "(((e,(r,)),(e,(r,n))),(e,(r,)),(u,))", "up")
    asked = make_plan(pair, *names).layout.owners // 3
    assert np.bincount(asked).tolist() == [6, 3, 3, 6, 6]
    found, mine, theirs = (distances(model, *names) for model in (pair, one, other))
    silent = torch.from_numpy(np.isin(asked, (1, 3)))
    said = found - mine
    torch.testing.assert_close(said[~silent], 0.7 * theirs[~silent])
    assert (said[silent] - said[silent][0, 0]).abs().max() < 1e-4


def test_distances_of_pairs_of_all_and_of_products_are_one() -> None:
    """With gradients, without, to some entities and to all; an inner product is short of them by a constant a query."""
    _, _, pair = pair_of()
    space, table = pair.space, pair.entities.weight
    queries = torch.randn(5, space.query_width)
    every = space.distance_to_all(queries, table.detach())
    torch.testing.assert_close(space.distance_to_all(queries, table), every)
    torch.testing.assert_close(space.distance(queries[:, None], table), every)
    assert space.measure is not None
    products = space.measured_queries(queries) @ space.measured_entities(table).t()
    torch.testing.assert_close(space.measure.offset - products, every)


@pytest.mark.parametrize("space", ["point", "box", "beta"])
def test_spaces_of_any_kind_stand_side_by_side(space: str) -> None:
    """Rows of an entity and of a query may differ in width: a point among boxes is one without an offset."""
    one, other = first(), second(fork="mlp", space=space)
    pair = Pair.of(one, other, 0.7)
    names = ("2p", "3i", "2u")
    torch.testing.assert_close(distances(pair, *names), distances(one, *names) + 0.7 * distances(other, *names))
    rows = pair.entities.weight.detach()
    mine, theirs = pair.space.queries_of(pair.space.anchor(rows))
    assert torch.equal(mine, one.space.anchor(one.entities.weight))
    assert torch.equal(theirs, other.space.anchor(other.entities.weight))


def test_it_is_one_point_whose_products_are_its_distances() -> None:
    _, _, pair = pair_of()
    queries = torch.randn(5, pair.space.query_width)
    factors = pair.space.products(queries, pair.entities.weight)
    assert factors is not None
    assert (factors[0].shape[1], factors[1].shape) == (28, (ENTITIES, 28))
    summed = factors[0] @ factors[1].t() + pair.space.distance_to_all(queries, pair.entities.weight)
    assert (summed - summed[:, :1]).abs().max() < 1e-4  # a constant a query
    l1 = Pair.of(first(), second(space="point"), 0.7)
    assert l1.space.products(queries, l1.entities.weight) is None


def test_nothing_is_kept_twice_and_a_checkpoint_brings_it_back(tmp_path: Path) -> None:
    one, other, pair = pair_of()
    assert pair.sizes()["tables"] == one.sizes()["tables"] + other.sizes()["tables"]
    assert pair.sizes()["network"] == one.sizes()["network"] + other.sizes()["network"]
    facts = {"method": "pair", "model": checkpoint.as_stored(asdict(pair.config)), "entities": ENTITIES}
    weights = {f"model.{name}": tensor for name, tensor in pair.state_dict().items()}
    checkpoint.write(tmp_path / "pair.safetensors", {**facts, "relations": RELATIONS}, weights)
    again, _ = checkpoint.load_model(tmp_path / "pair.safetensors")
    assert torch.equal(distances(again, "pi", "2in"), distances(pair, "pi", "2in"))


def test_rows_of_both_are_rounded_apart() -> None:
    """Those of the one may be ten times larger, and would leave the other few steps."""
    _, other, pair = pair_of()
    assert pair.row_parts == {"entities.weight": (16, 12)}
    with torch.no_grad():
        pair.entities.weight[:, :16] *= 1000.0
    kept = pack(pair.state_dict(), "int8", pair.row_parts)
    found = unpack({"t": kept["model.entities.weight"]}, {"t": kept["scale.entities.weight"]}, {"t": (16, 12)})["t"]
    table = other.entities.weight.detach()
    assert (found[:, 16:] - table).abs().max() < 0.005 * table.abs().max()


@pytest.mark.parametrize("space", ["point", "box", "beta"])
def test_where_no_point_says_nothing_the_second_must_have_met_negations(space: str) -> None:
    settings = {"one": ONE, "other": {**OTHER, "fork": "mlp", "space": space}}
    for denies in (True, False):
        made = partial(build, "pair", {**settings, "denies": denies}, entities=9, relations=4)
        if denies:
            assert made().negation == (space == "point")
            continue
        with pytest.raises(
            ConfigError, match=f"in the space '{space}' no point says nothing.* in one of hermitian, sphere"
        ):
            made()


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_is_above_zero(weight: float) -> None:
    with pytest.raises(ConfigError, match=f"weight must be above 0, got {weight}"):
        build("pair", {"weight": weight}, entities=3, relations=2)
