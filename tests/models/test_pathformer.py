"""Pathformer against a recursion over the tree, one query and one path at a time; its sizes; its start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from support.recursion import DEEP, assert_recursive
from torch import Tensor, nn

from pathformer.config import from_mapping
from pathformer.errors import ConfigError
from pathformer.models._base import build, find
from pathformer.models._batch import Batch
from pathformer.models.pathformer import Config, Pathformer
from pathformer.nn.packing import Packing
from pathformer.plan.build import build_plan
from pathformer.query.compile.paths import Fork, Path, to_paths
from pathformer.query.structures import NEGATION, STRUCTURES, structure
from pathformer.training.start import start_tables

ENTITIES, RELATIONS = 30, 30
SMALL = {"dim": 24, "layers": 2, "heads": 4}


def model(**settings: object) -> Pathformer:
    torch.manual_seed(3)
    made = Pathformer(Config(**{**SMALL, **settings}), ENTITIES, RELATIONS).eval()  # type: ignore[arg-type]
    if made.domains is not None:
        nn.init.normal_(made.domains.weight)  # 0 at first, which no test would see
    return made


def encode(made: Pathformer, query: Path | Fork, root: bool = True) -> Tensor:
    """Eqs. 3 and 4, recursively: a vector (d,)."""
    if isinstance(query, Fork):
        branches = [encode(made, branch, False)[None] for branch in query.branches]
        return made.forks(branches)[0]
    start = encode(made, query.start, False) if isinstance(query.start, Fork) else made.entities.weight[query.start]
    operators = [made.operators.weight[RELATIONS if o == NEGATION else o] for o in query.operators]
    if isinstance(query.start, Fork) and made.variable == "expected":
        start = expected(made, start, query.operators[0])
    tokens = torch.stack([start, *operators])  # E_in
    read = made.paths(tokens, Packing.of([len(tokens)])).mean(dim=0)  # E_pq
    if made.product is None:
        return read
    base = product(made, start, query.operators)
    silent = len(operators) <= made.config.alone or (made.config.adds == "roots" and not root)
    return base if silent else base + read


def expected(made: Pathformer, value: Tensor, following: int) -> Tensor:
    """The mean of all entities' rows, each as often as exp(-Dist), and having what follows, say, in a loop."""
    sizes = [torch.exp(-made.config.sharpness * made.space.distance(value, row)) for row in made.entities.weight]
    if made.domains is not None and following != NEGATION:
        domain = made.domains.weight[following]
        sizes = [size * torch.exp(domain @ row) for size, row in zip(sizes, made.entities.weight, strict=True)]
    rows = [size * row for size, row in zip(sizes, made.entities.weight, strict=True)]
    return torch.stack(rows).sum(dim=0) / torch.stack(sizes).sum()


def product(made: Pathformer, value: Tensor, operators: Sequence[int]) -> Tensor:
    """Complex numbers multiplied by Python's own rules, one operator after the other."""
    assert made.product is not None
    assert made.product.complement is not None
    for place, operator in enumerate(operators):
        if operator == NEGATION:
            value = value * made.product.complement
            continue
        if place:
            value = expected(made, value, operator)
        value = times(value, made.operators.weight[operator])
    return value


def times(one: Tensor, other: Tensor) -> Tensor:
    product = torch.complex(*one.chunk(2)) * torch.complex(*other.chunk(2))
    return torch.cat([product.real, product.imag])


HERMITIAN = {"space": "hermitian", "gain": "one"}
RECURSIONS: list[dict[str, object]] = [
    {"fork": "mlp"},
    {"fork": "mixer"},
    {"fork": "mlp2vector"},
    {"fork": "set"},
    {"fork": "weighed"},
    {"fork": "weighed", "dim": 15, "heads": 5},
    {"fork": "both", "dim": 15, "heads": 5},
    {"fork": "both"},
    {"variable": "expected"},
    {"variable": "expected", "space": "sphere", "sharpness": 0.5},
    {"base": "expected", "space": "sphere"},
    {"base": "expected", "alone": 1, **HERMITIAN},
    {"base": "expected", "alone": 2, "fork": "both", **HERMITIAN},
    {"base": "expected", "variable": "expected", **HERMITIAN},
    {"base": "expected", "alone": 9, "variable": "expected", **HERMITIAN},
    {"base": "expected", "sharpness": 3.0, **HERMITIAN},
    {"base": "expected", "variable": "expected", "domains": True, "sharpness": 1.6, **HERMITIAN},
    {"base": "expected", "domains": True, "alone": 1, "adds": "roots", **HERMITIAN},
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
        changed[2] += 1
        first, second = (made.paths(rows, Packing.of([3]))[0] for rows in (tokens, changed))
        assert torch.equal(first, second) != reached


def test_without_positions_the_order_of_operators_is_lost() -> None:
    for positions, same in (("absolute", False), ("relative", False), ("none", True)):
        made = model(positions=positions)
        plan = build_plan([(STRUCTURES["2p"], np.array([[1, 2, 3], [1, 3, 2]]))])
        one, two = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
        assert torch.allclose(one, two, atol=1e-6) == same


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="dim 100 does not divide into 8 heads"):
        from_mapping(Config, {"dim": 100})
    with pytest.raises(ConfigError, match="no setting 'layrs'; closest: 'layers'"):
        build("pathformer", {"layrs": 2}, entities=5, relations=2)
    with pytest.raises(ConfigError, match="at least 1"):
        from_mapping(Config, {"layers": 0})
    with pytest.raises(ConfigError, match=r"dropout 1.0 is not in \[0, 1\)"):
        from_mapping(Config, {"dropout": 1.0})
    with pytest.raises(ConfigError, match=r"fork_dropout -0.1 is not in \[0, 1\)"):
        from_mapping(Config, {"fork_dropout": -0.1})
    with pytest.raises(ConfigError, match=r"sharpness 0.0 is not above 0"):
        from_mapping(Config, {"sharpness": 0.0})
    with pytest.raises(ConfigError, match=r"temperature -0.1 is not above 0"):
        from_mapping(Config, {"space": "sphere", "temperature": -0.1})
    with pytest.raises(ConfigError, match="dim 15 is odd: complex numbers have two parts"):
        from_mapping(Config, {"dim": 15, "heads": 5, "space": "hermitian"})
    with pytest.raises(ConfigError, match="alone, adds: of paths with a base, and base is 'none'"):
        from_mapping(Config, {"alone": 1, "adds": "roots"})
    with pytest.raises(ConfigError, match="domains are of the entities that a base of 'expected' ones reads"):
        from_mapping(Config, {"space": "sphere", "base": "expected", "domains": True})
    with pytest.raises(ConfigError, match="base 'expected' and variable 'vector' are of points, not of 'box'"):
        from_mapping(Config, {"space": "box", "base": "expected"})
    made = build("pathformer", {**SMALL, "fork": "set"}, entities=5, relations=2)
    assert isinstance(made, find("pathformer"))
    assert made.config.fork == "set"


@pytest.mark.parametrize(("name", "reads"), [("1p", False), ("2p", True), ("2i", False), ("ip", True)])
def test_domains_count_where_an_entity_is_read_before_a_relation(name: str, reads: bool) -> None:
    settings = {"base": "expected", "variable": "expected", **HERMITIAN}
    plain, drawn, first = model(**settings), model(**settings, domains=True), model(**settings, domains=True)
    for made in (drawn, first):
        made.load_state_dict(plain.state_dict(), strict=False)
    assert first.domains is not None
    nn.init.zeros_(first.domains.weight)  # as they are at first
    plan = build_plan([(STRUCTURES[name], np.arange(1, 1 + len(STRUCTURES[name].columns))[None])])
    without, unmoved, moved = (
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids)) for made in (plain, first, drawn)
    )
    torch.testing.assert_close(unmoved, without)
    assert torch.allclose(moved, without, atol=1e-4) != reads


def test_at_first_a_link_beside_its_product_has_the_score_of_the_link_predictor_it_starts_from() -> None:
    torch.manual_seed(0)
    source = build("complex", {"rank": 12}, entities=ENTITIES, relations=RELATIONS)
    plan = build_plan([(STRUCTURES["1p"], np.array([[1, 2], [3, 4]]))])
    batch, ids = Batch.of(plan.layout), torch.from_numpy(plan.ids)
    exact = source.encode(batch, ids)
    for alone, tolerance in ((1, 0.0), (0, 0.05)):
        made = model(space="hermitian", base="expected", gain="small", alone=alone)
        assert not torch.allclose(made.encode(batch, ids), exact, rtol=0.1, atol=0.05)
        start_tables(made, source)
        torch.testing.assert_close(made.encode(batch, ids), exact, rtol=0, atol=tolerance)


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
