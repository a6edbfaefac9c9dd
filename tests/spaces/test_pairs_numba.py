"""Boxes and cones against all entities on the processor: the spaces' own plain lines, and exact ties."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from pathformer.spaces._base import Space
from pathformer.spaces.box import Box
from pathformer.spaces.cone import Cone
from pathformer.spaces.kernels.pairs_numba import box_distances, cone_distances

N, D = 1030, 9  # more than two blocks of entities


def boxes() -> tuple[Box, Tensor, Tensor]:
    torch.manual_seed(0)
    return Box(D, 24.0), torch.randn(5, 2 * D), torch.randn(N, D)  # some offsets below zero


def cones() -> tuple[Cone, Tensor, Tensor]:
    torch.manual_seed(0)
    space = Cone(D, 30.0)
    queries = torch.cat([torch.rand(5, D) * 2 * math.pi - math.pi, torch.rand(5, D) * math.pi], dim=1)
    return space, queries, torch.randn(N, D) * space.range


@pytest.mark.parametrize("made", [boxes, cones])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_distance_is_the_plain_one(made: type, threads: int) -> None:
    space, queries, table = made()
    table[1029] = table[4]
    expected = Space.distance_to_all(space, queries, table)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.no_grad():
            found = space.distance_to_all(queries, table)
    finally:
        torch.set_num_threads(before)
    torch.testing.assert_close(found, expected.detach(), rtol=1e-4, atol=1e-5)
    assert torch.equal(found[:, 1029], found[:, 4])


def test_the_kernels_are_what_ranking_takes_and_training_does_not() -> None:
    space, queries, table = boxes()
    with torch.no_grad():
        assert torch.equal(space.distance_to_all(queries, table), box_distances(queries, table))
        assert torch.equal(space.distance_to_all(queries, table.bfloat16()), box_distances(queries, table.bfloat16()))
    queries.requires_grad_()
    space.distance_to_all(queries, table).sum().backward()
    assert queries.grad is not None
    cone, points, rows = cones()
    with torch.no_grad():
        kernel = cone.scale * cone_distances(points, cone.features(rows))
        assert torch.equal(cone.distance_to_all(points, rows), kernel)
