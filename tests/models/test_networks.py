"""MLP, MLP-Mixer and FuzzQE: their operators on one query at a time, their sizes, their unions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from pathformer.config import from_mapping
from pathformer.errors import ConfigError, UnsupportedQueryError
from pathformer.evaluation.evaluate import ModelRanker
from pathformer.kg.ragged import Ragged
from pathformer.models._base import build, find
from pathformer.models._batch import Batch
from pathformer.models.fuzzqe import Config, FuzzQE
from pathformer.models.mlp import MLPModel
from pathformer.plan.build import build_plan
from pathformer.plan.layout import UnionWay
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries

ENTITIES, RELATIONS = 12, 6


@pytest.mark.parametrize(("name", "millions"), [("mlp", 8.97), ("mlp-mixer", 2 * 1.604), ("fuzzqe", 96.12)])
def test_sizes_at_the_papers_dimension(name: str, millions: float) -> None:
    with torch.device("meta"):
        made = build(name, {}, entities=14_505, relations=474)
    assert made.sizes()["network"] / 1e6 == pytest.approx(millions, abs=0.005)
    assert made.entities.weight.shape == (14_505, 800)


def linear(weight: Tensor, bias: Tensor, x: list[float]) -> list[float]:
    return [
        sum(w * v for w, v in zip(row, x, strict=True)) + b
        for row, b in zip(weight.tolist(), bias.tolist(), strict=True)
    ]


def perceptron(net: torch.nn.Module, x: list[float]) -> list[float]:
    first, second = net.linears  # type: ignore[misc]
    hidden = [max(0.0, value) for value in linear(first.weight, first.bias, x)]
    return linear(second.weight, second.bias, hidden)


def test_mlp_by_loops() -> None:
    torch.manual_seed(0)
    made = build("mlp", {"dim": 3}, entities=ENTITIES, relations=RELATIONS)
    assert isinstance(made, MLPModel)
    rows, relations = torch.randn(2, 3), torch.randn(2, 3)
    project, meet = made.projection.mlp, made.intersection.pair.mlp
    assert isinstance(project, torch.nn.Module)
    assert isinstance(meet, torch.nn.Module)
    for row, relation, moved in zip(rows.tolist(), relations.tolist(), made.project(rows, relations), strict=True):
        assert moved.tolist() == pytest.approx(perceptron(project, [*row, *relation]), abs=1e-5)
    for row, turned in zip(rows.tolist(), made.negate(rows), strict=True):
        assert turned.tolist() == pytest.approx(perceptron(made.negation_net, row), abs=1e-5)
    x, y, z = rows.tolist()[0], relations.tolist()[0], rows.tolist()[1]
    three, two = made.intersect([rows[:2], relations[:2], rows[1:]])  # and(and(x, y), z), and(z, w)
    assert three.tolist() == pytest.approx(perceptron(meet, [*perceptron(meet, [*x, *y]), *z]), abs=1e-5)
    assert two.tolist() == pytest.approx(perceptron(meet, [*z, *relations.tolist()[1]]), abs=1e-5)


def test_mixer_operators_are_mixers() -> None:
    torch.manual_seed(0)
    settings = {"dim": 6, "channels": 3, "blocks": 2, "token_hidden": 5, "channel_hidden": 2}
    made = build("mlp-mixer", settings, entities=ENTITIES, relations=RELATIONS)
    x, y, z = torch.randn(3, 2, 6)
    assert torch.equal(made.project(x, y), made.projection(x, y))
    pair = made.intersection.pair
    torch.testing.assert_close(made.intersect([x, y, z[:1]])[0], pair(pair(x, y)[:1], z[:1])[0])
    torch.testing.assert_close(made.intersect([x, y, z[:1]])[1], pair(x, y)[1])
    assert not made.negation


def test_mixers_start_for_numbers_of_the_tables_size() -> None:
    def spread(start: str) -> tuple[float, float]:
        """The first distance of 1p queries to entities, and of one query to the next."""
        torch.manual_seed(0)
        made = build("mlp-mixer", {"dim": 400, "start": start}, entities=64, relations=RELATIONS)
        with torch.no_grad():
            queries = made.project(made.entities.weight[:16], made.relations.weight[:1].expand(16, -1))
            away = made.space.distance(queries[:, None], made.entities.weight)
            return float(away.mean()), float((queries[1:] - queries[:-1]).abs().sum(dim=1).mean())

    far, alike = spread("reference")
    near, apart = spread("table")
    assert far > 30.0  # against a margin of 24
    assert 12.0 < near < 24.0
    assert apart > 3 * alike


def fuzzqe(**settings: object) -> FuzzQE:
    torch.manual_seed(0)
    made = FuzzQE(Config(**{"dim": 5, "bases": 3, **settings}), ENTITIES, RELATIONS)  # type: ignore[arg-type]
    return made.eval()


@pytest.mark.parametrize("regularizer", ["sigmoid", "clamp"])
def test_fuzzqe_projection_by_its_own_map(regularizer: str) -> None:
    made = fuzzqe(regularizer=regularizer)
    rows, relations = torch.rand(4, 5), made.relations.weight[:4]
    for row, c, moved in zip(rows, relations, made.project(rows, relations), strict=True):
        matrix = sum(c[j] * made.projection.maps[j] for j in range(3))  # W_r
        shift = sum(c[j] * made.projection.shifts[j] for j in range(3))  # b_r
        x = row @ matrix + shift
        normed = (x - x.mean()) / (x.var(unbiased=False) + 1e-5).sqrt()
        expected = normed.clamp(0, 1) if regularizer == "clamp" else 1 / (1 + torch.exp(4 - 8 * normed))
        torch.testing.assert_close(moved, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("logic", ["goedel", "product", "lukasiewicz"])
def test_fuzzqe_logic_by_loops(logic: str) -> None:
    made = fuzzqe(logic=logic)
    x, y, z = torch.rand(3, 2, 5)
    both = {"goedel": min, "product": lambda a, b: a * b, "lukasiewicz": lambda a, b: max(0, a + b - 1)}[logic]
    either = {"goedel": max, "product": lambda a, b: a + b - a * b, "lukasiewicz": lambda a, b: min(1, a + b)}[logic]
    for operator, combine in ((made.intersect, both), (made.unite, either)):
        three, two = operator([x, y, z[:1]])
        for place in range(5):
            a, b, c = x[0, place].item(), y[0, place].item(), z[0, place].item()
            assert three[place].item() == pytest.approx(combine(combine(a, b), c), abs=1e-5)
            assert two[place].item() == pytest.approx(combine(x[1, place].item(), y[1, place].item()), abs=1e-5)
    torch.testing.assert_close(made.negate(x), 1 - x)


def points(made: FuzzQE, name: str, union: UnionWay) -> Tensor:
    shape = STRUCTURES[name]
    rng = np.random.default_rng(0)
    plan = build_plan([(shape, rng.integers(RELATIONS, size=(3, len(shape.columns))))], union)
    return made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))


@pytest.mark.parametrize("logic", ["goedel", "product", "lukasiewicz"])
@pytest.mark.parametrize("name", ["2u", "up"])
def test_a_fuzzy_union_is_de_morgans(logic: str, name: str) -> None:
    made = fuzzqe(logic=logic)
    native = points(made, name, "native")
    torch.testing.assert_close(points(made, name, "demorgan"), native, rtol=1e-3, atol=1e-4)
    assert len(native) == 3
    assert len(points(made, name, "dnf")) == 6


def up_queries() -> Queries:
    rng = np.random.default_rng(0)
    ids = rng.integers(RELATIONS, size=(4, 5)).astype(np.int32)
    answers = Ragged(np.arange(5, dtype=np.int64), np.array([1, 4, 7, 10], np.int32))
    nothing = Ragged(np.zeros(5, np.int64), np.empty(0, np.int32))
    return Queries(STRUCTURES["up"], ids, nothing, answers)


def test_ranks_follow_the_models_union_and_a_callers_choice() -> None:
    asked = up_queries()
    found = {}
    for setting in ("native", "dnf", "demorgan"):
        ranker = ModelRanker(fuzzqe(union=setting))
        found[setting], disjuncts = ranker.points(asked)
        assert ranker.union == setting
        assert disjuncts.tolist() == ([2] * 4 if setting == "dnf" else [1] * 4)
        chosen = ModelRanker(fuzzqe(), union=setting)  # type: ignore[arg-type]
        assert torch.equal(chosen.points(asked)[0], found[setting])
        ranks = ranker.rank(asked, asked.hard, [asked.hard])
        assert np.array_equal(ranks.closer, chosen.rank(asked, asked.hard, [asked.hard]).closer)
        distances = ranker.model.space.distance_to_all(found[setting], ranker.model.entities.weight)
        best = distances.view(4, -1, ENTITIES).amin(dim=1)
        closer = [int((best[q] < best[q, answer]).sum()) for q, answer in enumerate(asked.hard.values)]
        assert ranks.closer.tolist() == closer
    torch.testing.assert_close(found["native"], found["demorgan"], rtol=1e-3, atol=1e-4)


def test_a_union_as_it_is_needs_a_method_that_has_one() -> None:
    made = build("mlp", {"dim": 4}, entities=ENTITIES, relations=RELATIONS)
    with pytest.raises(UnsupportedQueryError) as refused:
        ModelRanker(made, union="native").points(up_queries())
    able = ", ".join(name for name in ("fuzzqe",) if find(name).native)
    assert str(refused.value) == (
        f"mlp cannot take a union as it is, only as union='dnf' (in up); methods that can: {able}"
    )
    mixer = build("mlp-mixer", {"dim": 4}, entities=ENTITIES, relations=RELATIONS)
    with pytest.raises(UnsupportedQueryError, match=r"^mlp-mixer cannot take a negation \(in up\); methods that can: "):
        ModelRanker(mixer, union="demorgan").points(up_queries())
    assert len(ModelRanker(made, union="demorgan").points(up_queries())[0]) == 4


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("mlp", {"dim": 0}, "dim must be at least 1, got 0"),
        ("mlp-mixer", {"blocks": 0}, "blocks must be"),
        ("fuzzqe", {"bases": 0}, "bases must be at least 1, got 0"),
        ("fuzzqe", {"scale": 0.0}, "scale must be above 0, got 0.0"),
        ("fuzzqe", {"logic": "godel"}, "logic"),
        ("q2p", {"particles": 0}, "particles must be"),
        ("q2p", {"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ("q2p", {"spread": 0.0}, "spread must be"),
        ("biqe", {"heads": 3}, "dim 800 does not divide into 3 heads"),
        ("biqe", {"positions": 0}, "positions must be"),
    ],
)
def test_settings_are_checked(name: str, settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_mapping(find(name).config_type, settings)
