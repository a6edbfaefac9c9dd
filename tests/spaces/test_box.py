"""Boxes: the distance and the intersection as loops, and what a valid box is."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from pathformer.spaces.box import Box, BoxIntersection

INSIDE = 0.02  # the source's, whatever the code says


def loop(query: list[float], entity: list[float]) -> float:
    d, total = len(entity), 0.0
    for c, o, e in zip(query[:d], query[d:], entity, strict=True):
        away = abs(e - c)
        total += max(away - o, 0.0) + INSIDE * abs(min(away, o))
    return total


def linear(layer: nn.Linear, x: list[float]) -> list[float]:
    weight, bias = layer.weight.tolist(), [0.0] * layer.out_features if layer.bias is None else layer.bias.tolist()
    return [sum(w * v for w, v in zip(row, x, strict=True)) + b for row, b in zip(weight, bias, strict=True)]


def softmax(scores: list[float]) -> list[float]:
    shares = [math.exp(score) for score in scores]
    return [share / sum(shares) for share in shares]


def test_distance_by_loops_also_for_an_offset_below_zero() -> None:
    torch.manual_seed(0)
    space = Box(5, 24.0)
    queries, entities = torch.randn(3, 10), torch.randn(4, 5)
    assert (queries[:, 5:] < 0).any()
    every = space.distance_to_all(queries, entities)
    for q in range(3):
        for e in range(4):
            expected = loop(queries[q].tolist(), entities[e].tolist())
            assert every[q, e].item() == pytest.approx(expected, rel=1e-5)
            assert space.distance(queries[q], entities[e]).item() == pytest.approx(expected, rel=1e-5)


def test_inside_the_box_little_counts_and_at_its_centre_nothing() -> None:
    space = Box(2, 24.0)
    box = torch.tensor([1.0, 1.0, 2.0, 2.0])
    assert space.distance(box, torch.tensor([1.0, 1.0])).item() == 0.0
    assert space.distance(box, torch.tensor([2.0, 1.0])).item() == pytest.approx(0.02)
    assert space.distance(box, torch.tensor([4.0, 1.0])).item() == pytest.approx(1.0 + 0.02 * 2.0)


def test_the_centre_is_a_weighted_mean_and_the_offset_smaller_than_any() -> None:
    torch.manual_seed(0)
    d, net = 4, BoxIntersection(4)
    branches = [torch.randn(3, 8), torch.randn(3, 8), torch.randn(2, 8)]
    branches = [torch.cat([branch[:, :d], branch[:, d:].abs()], dim=-1) for branch in branches]
    found = net(branches)
    for fork in range(3):
        boxes = [branch[fork].tolist() for branch in branches if fork < len(branch)]
        scores = [
            linear(net.attention.scores, [max(0.0, v) for v in linear(net.attention.hidden, box[:d])]) for box in boxes
        ]
        seen = [[max(0.0, v) for v in linear(net.each.linears[0], box[d:])] for box in boxes]  # type: ignore[arg-type]
        mean = [sum(column) / len(boxes) for column in zip(*seen, strict=True)]
        shrink = linear(net.all.linears[0], mean)  # type: ignore[arg-type]
        for k in range(d):
            shares = softmax([score[k] for score in scores])
            centre = sum(share * box[k] for share, box in zip(shares, boxes, strict=True))
            offset = min(box[d + k] for box in boxes) / (1 + math.exp(-shrink[k]))
            assert found[fork, k].item() == pytest.approx(centre, abs=1e-5)
            assert found[fork, d + k].item() == pytest.approx(offset, abs=1e-5)
            assert offset < min(box[d + k] for box in boxes)


def test_anchors_are_points_and_relations_widen_at_first() -> None:
    space = Box(400, 24.0)
    table = space.relation_table(50).weight
    assert (space.entity_width, space.relation_width, space.query_width, space.parts) == (400, 800, 800, 2)
    assert table[:, :400].min() < -0.9 * space.range
    assert 0 <= table[:, 400:].min() < table[:, 400:].max() <= space.range
    point = torch.randn(3, 400)
    assert torch.equal(space.anchor(point), torch.cat([point, torch.zeros(3, 400)], dim=1))
    assert torch.equal(space.distance(space.anchor(point), point), torch.zeros(3))


def test_a_valid_offset_is_not_negative_and_keeps_its_gradient() -> None:
    space = Box(2, 24.0)
    raw = torch.tensor([[-1.0, 2.0, -3.0, 4.0]], requires_grad=True)
    valid = space.regularize(raw)
    assert valid.tolist() == [[-1.0, 2.0, 3.0, 4.0]]
    valid.sum().backward()
    assert raw.grad is not None
    assert raw.grad.tolist() == [[1.0, 1.0, -1.0, 1.0]]
