"""Tables that start from another model's: inner products survive as far as the width allows."""

from __future__ import annotations

import pytest
import torch
from support import training_toy as toy

from pathformer.errors import CheckpointError
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.models._base import Model, build
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.sampler import sample
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.start import map_rows, start_tables
from pathformer.training.step import TrainingStep


def source(entities: int = 30, rank: int = 8, seed: int = 1) -> Model:
    torch.manual_seed(seed)
    return build("complex", {"rank": rank}, entities=entities, relations=6)


def pathformer(dim: int) -> Model:
    torch.manual_seed(0)
    return build("pathformer", {"dim": dim, "layers": 1, "heads": 2}, entities=30, relations=6)


def cosines(rows: torch.Tensor) -> torch.Tensor:
    unit = torch.nn.functional.normalize(rows.float(), dim=1)
    return unit @ unit.t()


@pytest.mark.parametrize("dim", [16, 24])  # as wide, and wider
def test_angles_between_rows_stay_and_so_does_the_tables_size(dim: int) -> None:
    made, given = pathformer(dim), source()
    before = made.entities.weight.detach().clone()
    negation = made.operators.weight[6].detach().clone()  # type: ignore[union-attr, index]
    start_tables(made, given)
    torch.testing.assert_close(cosines(made.entities.weight), cosines(given.entities.weight), rtol=1e-3, atol=1e-4)
    assert made.entities.weight.square().mean().item() == pytest.approx(before.square().mean().item(), rel=1e-4)
    operators = made.operators.weight.detach()  # type: ignore[union-attr]
    torch.testing.assert_close(cosines(operators[:6]), cosines(given.operators.weight), rtol=1e-3, atol=1e-4)  # type: ignore[union-attr, arg-type]
    assert torch.equal(operators[6], negation)


def test_rows_are_copied_as_they_are_where_scores_are_alike() -> None:
    settings = {"dim": 16, "heads": 2}
    made, given = build("composed", settings, entities=30, relations=6), source()
    negation = made.operators.weight[6].detach().clone()  # type: ignore[union-attr, index]
    start_tables(made, given)
    assert torch.equal(made.entities.weight, given.entities.weight)
    assert torch.equal(made.get_parameter("operators.weight")[:6], given.get_parameter("operators.weight"))
    assert torch.equal(made.get_parameter("operators.weight")[6], negation)
    wider = build("composed", {**settings, "dim": 24}, entities=30, relations=6)
    start_tables(wider, given)
    torch.testing.assert_close(cosines(wider.entities.weight), cosines(given.entities.weight), rtol=1e-3, atol=1e-4)


def test_a_narrower_table_keeps_the_directions_with_most_weight() -> None:
    chance = torch.Generator().manual_seed(0)
    low = torch.randn(40, 3, generator=chance) @ torch.randn(3, 10, generator=chance)  # rank three in ten columns
    noisy = low + 1e-3 * torch.randn(40, 10, generator=chance)
    torch.testing.assert_close(cosines(map_rows(noisy, 3, chance)), cosines(low), rtol=0, atol=2e-2)
    found = map_rows(noisy, 8, chance)
    assert found.shape == (40, 8)
    assert found.square().mean().item() == pytest.approx(1.0, rel=1e-4)
    spread = found.square().mean(dim=0)
    assert spread.min() > 0.05 * spread.max()  # no column is empty


def test_the_same_seed_maps_alike() -> None:
    one, two, three = pathformer(16), pathformer(16), pathformer(16)
    for made, seed in ((one, 0), (two, 0), (three, 1)):
        start_tables(made, source(), seed)
    assert torch.equal(one.entities.weight, two.entities.weight)
    assert not torch.equal(one.entities.weight, three.entities.weight)


def test_chains_of_a_link_predictor_answer_what_was_never_trained() -> None:
    """Paths, forks and variables by a ComplEx alone: 2p, ip and pi of a graph of which only links were learned."""
    pair = GraphPair.of(toy.graphs()[0])
    torch.manual_seed(0)
    links = build("complex", {"rank": 12, "n3": 0.0, "relation": 0.0}, entities=toy.ENTITIES, relations=toy.RELATIONS)
    data = TrainingSet.of([sample(STRUCTURES["1p"], pair, 200)], toy.ENTITIES)
    TrainingStep(links, data, {"1p": 64}, StepConfig(rate=2e-2, weighted=False)).run(200)
    settings = {"dim": 24, "heads": 2, "bare_path_length": 9, "sharpness": 1.0, "domains": False}
    torch.manual_seed(0)
    made = build("composed", settings, entities=toy.ENTITIES, relations=toy.RELATIONS)
    asked = {name: sample(STRUCTURES[name], pair, 40, stream="asked") for name in ("1p", "2p", "2i", "ip", "pi")}
    before = evaluate(ModelRanker(made), asked, answers="easy").scores
    start_tables(made, links)
    after = evaluate(ModelRanker(made), asked, answers="easy").scores
    for name, score in after.items():
        assert score.mrr > 2 * before[name].mrr, name
    exact = evaluate(ModelRanker(links), {"1p": asked["1p"]}, answers="easy").scores["1p"]
    assert after["1p"].mrr == pytest.approx(exact.mrr)


def test_another_graph_is_refused() -> None:
    with pytest.raises(CheckpointError, match="30 entities and 6 relations cannot start from one of 31 and 6"):
        start_tables(pathformer(16), source(31))
