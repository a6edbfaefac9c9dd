"""Pathformer against a recursion over the tree, one query and one path at a time; its sizes; its start."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.recursion import DEEP, assert_recursive
from torch import Tensor

from pathformer.config import from_mapping
from pathformer.errors import ConfigError
from pathformer.models._batch import Batch
from pathformer.models.pathformer import Config, Pathformer
from pathformer.nn.packing import Packing
from pathformer.plan.build import build_plan
from pathformer.query.compile.paths import Fork, Path, to_paths
from pathformer.query.structures import NEGATION, STRUCTURES, structure

ENTITIES, RELATIONS = 30, 30
SMALL = {"dim": 24, "layers": 2, "heads": 4}


def model(**settings: object) -> Pathformer:
    torch.manual_seed(3)
    return Pathformer(Config(**{**SMALL, **settings}), ENTITIES, RELATIONS).eval()  # type: ignore[arg-type]


def encode(made: Pathformer, query: Path | Fork) -> Tensor:
    """Eqs. 3 and 4, recursively: a vector (d,)."""
    if isinstance(query, Fork):
        return made.forks([encode(made, branch)[None] for branch in query.branches])[0]
    start = made.entities.weight[query.start] if isinstance(query.start, int) else encode(made, query.start)
    if isinstance(query.start, Fork) and made.config.expected_variables:
        start = expected(made, start)
    operators = [made.operators.weight[RELATIONS if o == NEGATION else o] for o in query.operators]
    tokens = torch.stack([start, *operators])  # E_in
    return made.paths(tokens, Packing.of([len(tokens)])).mean(dim=0)  # E_pq


def expected(made: Pathformer, value: Tensor) -> Tensor:
    """The mean of all entities' rows, each as often as exp(-Dist), in a loop."""
    sizes = [torch.exp(-made.space.distance(value, row)) for row in made.entities.weight]
    rows = [size * row for size, row in zip(sizes, made.entities.weight, strict=True)]
    return torch.stack(rows).sum(dim=0) / torch.stack(sizes).sum()


RECURSIONS: list[dict[str, object]] = [
    {"fork": "mlp"},
    {"fork": "mixer"},
    {"fork": "mlp2vector"},
    {"fork": "set"},
    {"fork": "set", "dim": 15, "heads": 5},
    {"space": "hermitian"},
    {"expected_variables": True},
    {"expected_variables": True, "space": "sphere"},
]


@pytest.mark.parametrize("settings", RECURSIONS, ids=lambda settings: "-".join(map(str, settings.values())))
def test_every_structure_is_the_recursion_of_the_paper(settings: dict[str, object]) -> None:
    made, rng = model(**settings), np.random.default_rng(0)
    shapes = [*STRUCTURES.values(), structure(DEEP)]
    trees = [shape.tree(rng.permutation(30)[: len(shape.columns)].tolist()) for shape in shapes for _ in range(2)]
    assert_recursive(made, trees, lambda part: encode(made, to_paths(part)))


def test_distances_are_the_smallest_over_disjuncts() -> None:
    made = model()
    plan = build_plan([(STRUCTURES["2u"], np.array([[1, 2, 3, 4]])), (STRUCTURES["1p"], np.array([[5, 1]]))])
    batch, ids = Batch.of(plan.layout), torch.from_numpy(plan.ids)
    candidates = torch.arange(ENTITIES, dtype=torch.int32).repeat(2, 1)
    points = made.encode(batch, ids)
    every = torch.stack([sum((e - p).abs() for e, p in zip(made.entities.weight.t(), q, strict=True)) for q in points])
    expected = torch.stack([torch.minimum(every[0], every[1]), every[2]])
    torch.testing.assert_close(made.distances(batch, ids, candidates), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("layers", "millions"), [(1, 12.2), (2, 19.8), (4, 35.2), (6, 50.6), (8, 66.0)])
def test_sizes_of_the_papers_table_7(layers: int, millions: float) -> None:
    with torch.device("meta"):
        made = Pathformer(Config(layers=layers), 14_505, 474)
        bare = Pathformer(Config(layers=layers, bias=False), 14_505, 474)
    assert made.sizes()["network"] / 1e6 == pytest.approx(millions, abs=0.1)
    assert bare.sizes()["network"] / 1e6 == pytest.approx(millions, abs=0.1)
    assert made.sizes()["tables"] == (14_505 + 475) * 800


def test_the_mixer_fork_is_smaller_and_two_vectors_larger_than_the_mlp_fork() -> None:
    with torch.device("meta"):
        size = {
            fork: Pathformer(Config(fork=fork), 10, 2).sizes()["network"]  # type: ignore[arg-type]
            for fork in ("mlp", "mixer", "mlp2vector", "set")
        }
    assert size["mixer"] < size["mlp"] < size["mlp2vector"]
    assert size["set"] == size["mlp"]
    assert (size["mlp2vector"] - size["mlp"]) / 1e6 == pytest.approx(4.48, abs=0.01)


def test_first_distances_lie_at_the_margin_and_would_be_far_off_with_a_gain_of_one() -> None:
    torch.manual_seed(0)
    plan = build_plan(
        [(STRUCTURES[name], np.array([[1, 2, 3, 4][:k]])) for name, k in (("1p", 2), ("2p", 3), ("3p", 4))]
    )
    ids, candidates = torch.from_numpy(plan.ids), torch.arange(50).repeat(3, 1)
    means = {}
    for gain in ("margin", "one"):
        made = Pathformer(Config(layers=1, gain=gain), 50, 6).eval()  # type: ignore[arg-type]
        means[gain] = made.distances(Batch.of(plan.layout), ids, candidates).mean().item()
    assert 18 < means["margin"] < 30  # margin 24
    assert 500 < means["one"] < 700


def test_future_context_reaches_the_start_of_a_path_unless_attention_is_causal() -> None:
    for attention, reached in (("bidirectional", True), ("causal", False)):
        made = model(attention=attention)
        tokens = torch.randn(3, 24)
        changed = tokens.clone()
        changed[2] += torch.arange(24)  # a constant is lost in a LayerNorm
        first, second = (made.paths(rows, Packing.of([3]))[0] for rows in (tokens, changed))
        assert torch.equal(first, second) != reached


def test_without_positions_the_order_of_operators_is_lost() -> None:
    for positions, same in (("absolute", False), ("relative", False), ("none", True)):
        made = model(positions=positions)
        plan = build_plan([(STRUCTURES["2p"], np.array([[1, 2, 3], [1, 3, 2]]))])
        one, two = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
        assert torch.allclose(one, two, atol=1e-6) == same


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"dim": 100}, "dim 100 does not divide into 8 heads"),
        ({"layrs": 2}, "no setting 'layrs'; closest: 'layers'"),
        ({"layers": 0}, "at least 1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"space": "sphere", "space_settings": {"temperature": -0.1}}, "temperature must be above 0, got -0.1"),
        ({"space": "sphere", "space_settings": {"temprature": 0.1}}, "no setting 'temprature'.*temperature"),
        ({"space_settings": {"temperature": 0.1}}, "space 'point' has no setting 'temperature'"),
        ({"dim": 15, "heads": 5, "space": "hermitian"}, "dim must be even"),
        ({"space": "box", "expected_variables": True}, "expected_variables: in space 'box'"),
        ({"space": "box", "fork": "mixer"}, "space 'box' has its own intersection"),
        ({"space": "particles"}, "space 'particles' has 2 parts and no intersection"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        from_mapping(Config, settings)


def test_a_model_at_rest_drops_nothing_and_goes_on_as_it_was() -> None:
    made = model(dropout=0.5)
    for training in (True, False):
        made.train(training)
        with made.at_rest():
            assert not any(module.training for module in made.modules())
        assert made.training is training
    made.train()
    with pytest.raises(KeyError), made.at_rest():
        raise KeyError
    assert all(module.training for module in made.modules())
