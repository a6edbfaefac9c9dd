"""Pathformer in spaces of two parameters (App. B, Eqs. 8 to 12) against a recursion, and where its settings end."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.recursion import assert_recursive
from torch import Tensor

from pathformer import plugins
from pathformer.models._batch import Batch
from pathformer.models._contract import ENTITIES as CONTRACT_ENTITIES
from pathformer.models._contract import RELATIONS as CONTRACT_RELATIONS
from pathformer.models._contract import RULES
from pathformer.models.pathformer import Config, Pathformer
from pathformer.nn.packing import Packing
from pathformer.nn.transformer import SideBySide
from pathformer.plan.build import build_layout
from pathformer.plan.layout import Block
from pathformer.query.compile.paths import Fork, Path, to_paths
from pathformer.query.structures import STRUCTURES, structure

DIM, ENTITIES, RELATIONS = 8, 30, 30
DEEP = "(((((e,(r,)),(e,(r,))),(r,r)),(e,(r,)),(e,(r,r)),(e,(r,))),(r,))"
two_parameters = pytest.mark.parametrize(("space", "margin"), [("box", 30.0), ("beta", 60.0)])


def model(space: str, margin: float) -> Pathformer:
    torch.manual_seed(3)
    config = Config(dim=DIM, heads=2, layers=1, space=space, margin=margin)
    return Pathformer(config, ENTITIES, RELATIONS).eval()


def encode(made: Pathformer, query: Path | Fork) -> Tensor:
    """A vector (2d,): first parameters, then second ones."""
    if isinstance(query, Fork):
        return made.forks([encode(made, branch)[None] for branch in query.branches])[0]  # Eq. 12
    if isinstance(query.start, Fork):
        start = encode(made, query.start)
    else:
        start = made.entities.weight[query.start]
        if made.config.space == "box":
            start = torch.cat([start, torch.zeros(DIM)])  # a point has no offset
    tokens = torch.stack([start, *(made.operators.weight[o] for o in query.operators)])
    assert isinstance(made.paths, SideBySide)
    first, second = (
        encoder(tokens[:, k * DIM : (k + 1) * DIM].contiguous(), Packing.of([len(tokens)])).mean(dim=0)
        for k, encoder in enumerate(made.paths.encoders)
    )  # Eqs. 8, 9
    if made.config.space == "box":
        return torch.cat([first, second.abs()])  # Eqs. 10, 11
    return (torch.cat([first, second]) + 1).clamp(0.05, 1e9)


@two_parameters
def test_every_positive_structure_is_the_recursion_of_the_paper(space: str, margin: float) -> None:
    made, rng = model(space, margin), np.random.default_rng(0)
    shapes = [shape for shape in STRUCTURES.values() if not shape.negated] + [structure(DEEP)]
    trees = [shape.tree(rng.permutation(30)[: len(shape.columns)].tolist()) for shape in shapes for _ in range(2)]
    assert_recursive(made, trees, lambda part: encode(made, to_paths(part)))


@pytest.mark.parametrize("space", sorted({*plugins.names("spaces")} - {"particles"}))
@pytest.mark.parametrize("rule", RULES)
def test_in_every_space_it_keeps_every_rule(space: str, rule: str) -> None:
    def made(seed: int) -> Pathformer:
        torch.manual_seed(seed)
        config = Config(dim=24, heads=4, layers=1, space=space)
        return Pathformer(config, CONTRACT_ENTITIES, CONTRACT_RELATIONS).eval()

    RULES[rule](made)


@two_parameters
def test_the_two_encoders_share_nothing(space: str, margin: float) -> None:
    made = model(space, margin)
    assert isinstance(made.paths, SideBySide)
    one, two = ({p.data_ptr() for p in encoder.parameters()} for encoder in made.paths.encoders)
    assert not one & two
    rows, packing = torch.randn(4, 2 * DIM), Packing.of([2, 2])
    before = made.paths(rows, packing)
    rows[:, DIM:] += 1 + torch.randn(4, DIM)  # the second parameters alone
    after = made.paths(rows, packing)
    assert torch.equal(before[:, :DIM], after[:, :DIM])
    assert not torch.equal(before[:, DIM:], after[:, DIM:])


def test_in_a_space_of_one_parameter_there_is_one_encoder_and_negation() -> None:
    made = Pathformer(Config(dim=DIM, heads=2, layers=1), ENTITIES, RELATIONS)
    assert not isinstance(made.paths, SideBySide)
    assert made.negation
    assert Pathformer.negation


@pytest.mark.parametrize(("space", "dim", "margin"), [("point", 200, 24.0), ("box", 200, 30.0), ("beta", 200, 60.0)])
def test_first_distances_lie_beside_the_margin(space: str, dim: int, margin: float) -> None:
    torch.manual_seed(0)
    config = Config(dim=dim, layers=1, space=space, margin=margin)
    made = Pathformer(config, 64, RELATIONS).eval()
    batch = Batch.of(build_layout([Block(STRUCTURES["1p"], 16)], made.union))
    with torch.no_grad():
        queries = made.encode(batch, torch.randint(RELATIONS, (32,)))
        away = float(made.space.distance_to_all(queries, made.entities.weight).mean())
    assert margin / 3 < away < 1.5 * margin


def test_how_far_numbers_may_deviate_is_a_matter_of_the_space() -> None:
    assert Config(dim=800).make_space().beside_margin == pytest.approx([24 / 800])
    assert Config(dim=400, space="box", margin=30.0).make_space().beside_margin == pytest.approx([30 / 400, 3 / 400])
    assert Config(dim=400, space="beta", margin=60.0).make_space().beside_margin == pytest.approx([0.15**0.5] * 2)
    assert Config(dim=800, space="hermitian").make_space().beside_margin == pytest.approx([24 / 800])
