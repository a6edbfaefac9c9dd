"""The rules that every method keeps: the tests run them on ours, `pathformer models NAME --check` on any.

A rule takes a way to build a small model (a seed -> a model over ENTITIES and RELATIONS, on the processor) and raises
AssertionError where the model breaks it. Queries are of all structures that the method does not refuse, the benchmark's
and two that nest deeper.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.plan.build import Plan, build_plan
from pathformer.query.structures import STRUCTURES, Structure, structure

__all__ = [
    "ENTITIES",
    "RELATIONS",
    "RULES",
    "Build",
    "Watch",
    "broken_rules",
    "distances",
    "make_plan",
    "shapes",
    "tables",
]

ENTITIES, RELATIONS = 25, 6

# beyond the benchmark: four branches, a fork of forks, a negated fork, long paths
DEEP = "(((((e,(r,)),(e,(r,))),(r,r)),(e,(r,)),(e,(r,r)),(e,(r,))),(r,))"
DEEP_NEGATED = "(((((e,(r,)),(e,(r,n))),(r,r)),(((e,(r,)),(e,(r,)),(e,(r,)),(e,(r,r))),(n,)),(e,(r,))),(r,n,r))"
LONG = "(e,(r,r,r,r,r,r,r,r,r))"

_READS = {"_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "equal"}

Build = Callable[[int], Model]
Part = tuple[Structure, npt.NDArray[np.int64]]


def broken_rules(build: Build) -> dict[str, str]:
    """Runs all rules; returns those that a method breaks, with what was seen."""
    broken = {}
    for name, rule in RULES.items():
        try:
            rule(build)
        except AssertionError as error:
            broken[name] = str(error)
    return broken


def shapes(made: Model) -> list[Structure]:
    """Returns the structures that a method takes."""
    every = [*STRUCTURES.values(), structure(DEEP), structure(DEEP_NEGATED)]
    return [shape for shape in every if made.takes(shape)]


def tables(made: Model, count: int = 2) -> list[Part]:
    """Draws ids of `count` queries of each structure that the method takes."""
    rng = np.random.default_rng(1)
    high = {"e": ENTITIES, "r": RELATIONS}
    return [
        (shape, np.stack([rng.integers(high[letter], size=count) for letter in shape.columns], axis=1))
        for shape in shapes(made)
    ]


def make_plan(made: Model, parts: Sequence[Part]) -> Plan:
    """Builds a plan with unions as the method takes them."""
    return build_plan(parts, made.union)


def distances(made: Model, plan: Plan) -> Tensor:
    """Measures every query against every entity, given as candidates: (Q, N)."""
    candidates = torch.arange(ENTITIES, dtype=torch.int32).repeat(plan.layout.queries, 1)
    return made.distances(Batch.of(plan.layout), torch.from_numpy(plan.ids), candidates)


def _batched_is_one_by_one(build: Build) -> None:
    made = build(0)
    parts = tables(made)
    together = distances(made, make_plan(made, parts))
    assert torch.isfinite(together).all(), "some distances are not finite"
    alone = [distances(made, make_plan(made, [(shape, row[None])])) for shape, table in parts for row in table]
    _same(together, torch.cat(alone))


def _neighbours_change_nothing(build: Build) -> None:
    made = build(0)
    parts = tables(made)
    expected = distances(made, make_plan(made, parts)).split([len(table) for _, table in parts])
    long = structure(LONG)
    first: list[Part] = [(long, np.zeros((2, len(long.columns)), np.int64))] if made.takes(long) else []
    turned = [*first, *((shape, table[::-1].copy()) for shape, table in reversed(parts))]
    found = distances(made, make_plan(made, turned)).split([len(table) for _, table in turned])
    for one, other in zip(reversed(found[len(first) :]), expected, strict=True):
        _same(one.flip(0), other)


def _weights_are_all_there_is(build: Build) -> None:
    made, other = build(0), build(1)
    plan = make_plan(made, tables(made))
    assert not torch.equal(distances(made, plan), distances(other, plan)), "two seeds give the same distances"
    other.load_state_dict({name: weight.clone() for name, weight in made.state_dict().items()})
    assert torch.equal(distances(made, plan), distances(other, plan)), "the same weights give other distances"


def _gradients_reach_every_weight(build: Build) -> None:
    made = build(0).train()
    found = distances(made, make_plan(made, tables(made, 20)))
    (found * torch.randn_like(found)).mean().backward()  # a plain mean is blind to what moves all distances alike
    for name, weight in made.named_parameters():
        assert weight.grad is not None, f"{name} has no gradient"
        assert torch.isfinite(weight.grad).all(), f"the gradient of {name} is not finite"
        # above the rounding of a gradient that is zero
        assert weight.grad.abs().max() > 1e-8, f"the gradient of {name} is always 0"


def _rows_are_those_of_the_space(build: Build) -> None:
    made = build(0)
    plan = make_plan(made, tables(made))
    points = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    expected = (len(plan.layout.roots), made.space.query_width)
    assert points.shape == expected, f"queries have shape {tuple(points.shape)}, expected {expected}"
    expected = (ENTITIES, made.space.entity_width)
    shape = tuple(made.entities.weight.shape)
    assert shape == expected, f"the entity table has shape {shape}, expected {expected}"


def _all_entities_are_measured_as_candidates_are(build: Build) -> None:
    made = build(0)
    plan = make_plan(made, tables(made))
    batch, ids = Batch.of(plan.layout), torch.from_numpy(plan.ids)
    points, table = made.encode(batch, ids).detach(), made.entities.weight.detach()
    every, chosen = made.space.distance_to_all(points, table), distances(made, plan).detach()
    _same(batch.smallest(every), chosen)
    _same(made.space.distance(points[:, None], table).float(), every)
    few = made.distances(batch, ids, torch.tensor([[3]]).expand(plan.layout.queries, 1))  # fewer than entities
    _same(few, chosen[:, 3:4])
    if (products := made.space.products(points, table)) is not None:
        below = every + products[0] @ products[1].t()  # a constant a query
        _same(below, below[:, :1].expand_as(below), 1e-3)


def _low_precision_lies_beside_the_exact(build: Build) -> None:
    made = build(0)
    low, plan = copy.deepcopy(made).to(torch.bfloat16), make_plan(made, tables(made))
    found, exact = distances(low, plan), distances(made, plan)
    assert found.dtype is torch.float32, f"distances come as {found.dtype}, expected float32"
    # Forks of many branches and long chains add roundings up; in the mean the two lie together
    apart = ((found - exact).abs().mean() / exact.abs().mean()).item()
    assert apart < 0.15, f"distances in bfloat16 lie {apart:.0%} off on the mean"
    found.mean().backward()
    for name, weight in low.named_parameters():
        assert weight.grad is None or torch.isfinite(weight.grad).all(), f"the gradient of {name} is not finite"


def _nothing_is_read_back(build: Build) -> None:
    made = build(0).train()
    plan = make_plan(made, tables(made))
    batch, ids = Batch.of(plan.layout), torch.from_numpy(plan.ids)
    candidates = torch.zeros(plan.layout.queries, 3, dtype=torch.int32)
    made.distances(batch, ids, candidates)  # index tensors are made once, before a capture
    with Watch() as watch:
        made.distances(batch, ids, candidates).sum().backward()
    seen = ", ".join(dict.fromkeys(watch.seen))
    assert not seen, f"values are read back, so an update cannot be recorded as a CUDA graph: {seen}"


class Watch(TorchDispatchMode):
    """Notes operations that wait for a device, or whose result has a size that only values tell."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        name = func.name().removeprefix("aten::").partition(".")[0]
        by_mask = name in ("index", "index_put", "index_put_") and any(
            index is not None and index.dtype is torch.bool for index in args[1]
        )
        if name in _READS or by_mask:
            self.seen.append(name)
        return func(*args, **(kwargs or {}))


RULES: Mapping[str, Callable[[Build], None]] = {
    "a batch gives what its queries give one by one": _batched_is_one_by_one,
    "order and longer neighbours change nothing": _neighbours_change_nothing,
    "weights are all there is to save": _weights_are_all_there_is,
    "gradients reach every weight": _gradients_reach_every_weight,
    "queries and entities are rows of the space": _rows_are_those_of_the_space,
    "all entities are measured as candidates are": _all_entities_are_measured_as_candidates_are,
    "bfloat16 lies beside float32": _low_precision_lies_beside_the_exact,
    "nothing is read back": _nothing_is_read_back,
}


def _same(found: Tensor, expected: Tensor, tolerance: float = 1e-4) -> None:
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
