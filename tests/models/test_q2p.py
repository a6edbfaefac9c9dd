"""Query2Particles: its operators one set and one particle at a time, and its union against the published one."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pathformer.models._base import build
from pathformer.models._batch import Batch
from pathformer.models.q2p import Q2P, Config, Rounds, SharedAttention
from pathformer.nn.combine import by_arity
from pathformer.plan.build import build_plan
from pathformer.query.structures import STRUCTURES

ENTITIES, RELATIONS, DIM, PARTICLES = 12, 6, 4, 3


@pytest.fixture(scope="module")
def made() -> Q2P:
    torch.manual_seed(0)
    model = Q2P(Config(dim=DIM, particles=PARTICLES), ENTITIES, RELATIONS).eval()
    with torch.no_grad():
        model.space.offsets.normal_()
        for norm in (module for module in model.modules() if isinstance(module, nn.LayerNorm)):
            norm.weight.uniform_(0.5, 2.0)  # every one different, so that none can stand for another
            norm.bias.normal_()
    return model


def attend(attention: SharedAttention, particles: list[Tensor]) -> list[Tensor]:
    """S(X), a particle at a time."""
    seen = [attention.map(particle) for particle in particles]
    mixed = []
    for one in seen:
        scores = [math.exp(float(one @ other) / math.sqrt(DIM)) for other in seen]
        mixed.append(sum(score * other for score, other in zip(scores, seen, strict=True)) / sum(scores))
    return mixed


def rounds(net: Rounds, particles: list[Tensor]) -> list[Tensor]:
    for place in range(0, len(net.norms), 2):
        particles = [net.norms[place](x) for x in attend(net.attention, particles)]
        _, first, gelu, _, second = net.forward_net
        particles = [net.norms[place + 1](second(gelu(first(x))) + x) for x in particles]
    return particles


def hop(made: Q2P, particles: list[Tensor], relation: Tensor) -> list[Tensor]:
    cell = made.hop
    wz, wr, wh = cell.relation.weight.split(DIM)
    bz, br, bh = cell.relation.bias.split(DIM)
    uz, ur = cell.gates.weight.split(DIM)
    moved = []
    for p in particles:
        z = torch.sigmoid(wz @ relation + bz + uz @ p)
        k = torch.sigmoid(wr @ relation + br + ur @ p)
        h = torch.tanh(wh @ relation + bh + cell.candidate.weight @ (k * p))
        moved.append(cell.norms[0]((1 - z) * p + z * h))
    return [cell.norms[1](x) for x in attend(cell.attention, moved)]


def sets(rows: Tensor) -> list[list[Tensor]]:
    return [list(row.view(PARTICLES, DIM)) for row in rows]


def assert_sets(found: Tensor, expected: list[list[Tensor]]) -> None:
    assert found.shape == (len(expected), PARTICLES * DIM)
    torch.testing.assert_close(found, torch.stack([torch.cat(row) for row in expected]), rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_hops_and_complement_by_loops(made: Q2P) -> None:
    torch.manual_seed(1)
    rows, relations = torch.randn(3, PARTICLES * DIM), made.relations.weight[:3]
    later = [hop(made, rounds(made.before, row), r) for row, r in zip(sets(rows), relations, strict=True)]
    assert_sets(made.project(rows, relations), later)
    anchors = [[row[:DIM] + offset for offset in made.space.offsets] for row in made.entities.weight[:3]]
    first = [hop(made, row, r) for row, r in zip(anchors, relations, strict=True)]
    assert_sets(made.enter(made.entities.weight[:3], relations), first)
    assert_sets(made.negate(rows), [rounds(made.complement, row) for row in sets(rows)])
    assert len(made.complement.norms) == len(made.meeting.norms) == 4
    assert len(made.before.norms) == 2


@torch.no_grad()
def test_intersection_by_loops(made: Q2P) -> None:
    torch.manual_seed(1)
    branches = [torch.randn(size, PARTICLES * DIM) for size in (4, 4, 3, 1)]
    expected = []
    for fork, arity in enumerate((4, 3, 3, 2)):
        together = [particle for branch in branches[:arity] for particle in sets(branch)[fork]]
        seen = rounds(made.meeting, together)
        expected.append([seen[place * arity] for place in range(PARTICLES)])
    assert_sets(made.intersect(branches), expected)


def test_forks_of_one_arity_are_taken_together() -> None:
    branches = [torch.arange(size)[:, None] + 10.0 * place for place, size in enumerate((5, 5, 2, 2), 1)]
    four, two = by_arity(branches)
    assert four.squeeze(-1).tolist() == [[10, 20, 30, 40], [11, 21, 31, 41]]
    assert two.squeeze(-1).tolist() == [[12, 22], [13, 23], [14, 24]]


@pytest.mark.parametrize("name", ["2u", "up"])
@torch.no_grad()
def test_the_normal_form_is_the_published_union(made: Q2P, name: str) -> None:
    """Which keeps all particles of both branches, each branch projected on its own."""
    shape = STRUCTURES[name]
    rng = np.random.default_rng(0)
    table = rng.integers(RELATIONS, size=(3, len(shape.columns)))
    plan = build_plan([(shape, table)], made.union)
    candidates = torch.arange(ENTITIES).repeat(3, 1)
    found = made.distances(Batch.of(plan.layout), torch.from_numpy(plan.ids), candidates)
    for query, row in enumerate(table.tolist()):
        last = row[4:]
        particles = []
        for anchor, relation in (row[:2], row[2:4]):
            start = [made.entities.weight[anchor][:DIM] + offset for offset in made.space.offsets]
            reached = hop(made, start, made.relations.weight[relation])
            for following in last:
                reached = hop(made, rounds(made.before, reached), made.relations.weight[following])
            particles += reached
        assert len(particles) == 2 * PARTICLES
        for entity, weights in enumerate(made.entities.weight):
            score = max(float(p @ weights[:DIM]) for p in particles) + float(weights[DIM])
            assert found[query, entity].item() == pytest.approx(-score, abs=1e-4)


@pytest.mark.parametrize(("dropout", "alike"), [(0.3, False), (0.0, True)])
def test_dropout_parts_particles_that_start_alike(dropout: float, alike: bool) -> None:
    """Offsets start at 0, as published: nothing else tells the particles of an anchor from each other."""
    torch.manual_seed(0)
    model = Q2P(Config(dim=DIM, particles=2, dropout=dropout), ENTITIES, RELATIONS).train()
    plan = build_plan([(STRUCTURES["1p"], np.array([[1, 2], [3, 4]]))])
    distances = model.distances(Batch.of(plan.layout), torch.from_numpy(plan.ids), torch.arange(ENTITIES).repeat(2, 1))
    distances[:, 0].sum().backward()
    first, second = model.space.offsets.grad  # type: ignore[misc]
    assert torch.allclose(first, second) == alike


def test_size_at_the_published_dimension() -> None:
    with torch.device("meta"):
        made = build("q2p", {}, entities=14_505, relations=474)
    assert made.sizes()["network"] / 1e6 == pytest.approx(2.58, abs=0.005)
    assert made.entities.weight.shape == (14_505, 401)
    assert made.space.query_width == 800
