"""Ways to chain links, against loops."""

from __future__ import annotations

import chains
import numpy as np
import pytest
import torch
from torch import Tensor

from pathformer.query.structures import STRUCTURES
from pathformer.symbolic.queries import Queries, Ragged

Tables = tuple[Tensor, Tensor]


@pytest.fixture
def tables() -> Tables:
    torch.manual_seed(3)
    return torch.randn(7, 6), torch.randn(4, 6)


def chance(tables: Tables, head: int, relation: int) -> Tensor:
    """p(t given h, r) of every t, of a ComplEx whose rows hold the real parts first."""
    entities, relations = (torch.complex(t[:, :3], t[:, 3:]) for t in tables)
    scores = [(entities[head] * relations[relation] * tail.conj()).sum().real for tail in entities]
    return torch.softmax(torch.stack(scores), dim=0)


def test_all_apart_is_the_sum_over_all_entities(tables: Tables) -> None:
    links = [torch.tensor([1]), torch.tensor([2]), torch.tensor([0])]
    first = chance(tables, 5, 1)
    second = sum(first[e] * chance(tables, e, 2) for e in range(7))
    third = sum(second[e] * chance(tables, e, 0) for e in range(7))
    found = chains.apart(torch.tensor([5]), links, tables=tables, best=7, largest=False)
    torch.testing.assert_close(found.exp()[0], third)
    largest = chains.apart(torch.tensor([5]), links[:2], tables=tables, best=7, largest=True)
    wanted = torch.stack([first[e] * chance(tables, e, 2) for e in range(7)]).amax(dim=0)
    torch.testing.assert_close(largest.exp()[0], wanted)


def test_a_sharp_expectation_follows_the_likeliest(tables: Tables) -> None:
    links = [torch.tensor([1]), torch.tensor([2])]
    likeliest = int(chance(tables, 5, 1).argmax())
    found = chains.expected(torch.tensor([5]), links, tables=tables, sharpness=1e4)
    torch.testing.assert_close(torch.softmax(found[0], dim=0), chance(tables, likeliest, 2))
    plain = chains.expected(torch.tensor([5]), links, tables=tables, sharpness=1.6)
    ahead = chains.looked_ahead(torch.tensor([5]), links, tables=tables, sharpness=1.6, power=0.0, best=7)
    torch.testing.assert_close(ahead, plain)
    surer = chains.looked_ahead(torch.tensor([5]), links, tables=tables, sharpness=1.6, power=1e4, best=7)
    sure = int(torch.stack([chance(tables, e, 2).max() for e in range(7)]).argmax())
    torch.testing.assert_close(torch.softmax(surer[0], dim=0), chance(tables, sure, 2))


def test_ranks_are_filtered() -> None:
    queries = Queries(STRUCTURES["2p"], np.array([[0, 0, 1]], np.int32), Ragged.of([[4]]), Ragged.of([[0, 2]]))
    scores = torch.tensor([[3.0, 5.0, 1.0, 2.0, 9.0]])  # 0 is behind 1 alone; 2 is behind 1 and 3
    assert chains.mrr(scores, queries, np.array([0])) == pytest.approx(100 * (1 / 2 + 1 / 3) / 2)
    tied = torch.tensor([[5.0, 5.0, 1.0, 2.0, 9.0]])  # 0 beside 1
    assert chains.mrr(tied, queries, np.array([0])) == pytest.approx(100 * (1 / 1.5 + 1 / 3) / 2)
