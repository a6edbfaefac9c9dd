"""The compiled ranking loops against their plain twins, bit for bit; the same tests on a card."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pathformer.spaces.kernels.l1_rank import L1Table, count_below, l1_distances_plain

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def plain_counts(distances: Tensor, rows: Tensor, thresholds: Tensor) -> tuple[list[int], list[int]]:
    closer, tied = [], []
    for row, threshold in zip(rows.tolist(), thresholds.tolist(), strict=True):
        entries = distances[row].tolist()
        closer.append(sum(entry < threshold for entry in entries))
        tied.append(sum(entry == threshold for entry in entries))
    return closer, tied


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("points", "entities", "width"), [(1, 1, 1), (3, 513, 7), (37, 1000, 50), (130, 129, 4), (5, 40, 33)]
)
def test_distances_have_the_bits_of_the_plain_sum(points: int, entities: int, width: int, device: str) -> None:
    generator = torch.Generator().manual_seed(points)
    p = torch.randn(points, width, generator=generator).to(device)
    table = (10 * torch.randn(entities, width, generator=generator)).to(device)
    found = L1Table.of(table).distances(p)
    assert found.shape == (points, entities)
    assert torch.equal(found, l1_distances_plain(p, table))
    assert torch.equal(found.cpu(), l1_distances_plain(p.cpu(), table.cpu()))  # one order of additions on every device


@pytest.mark.parametrize("device", DEVICES)
def test_distances_are_right_to_float32(device: str) -> None:
    p, table = torch.randn(9, 800, device=device), torch.randn(300, 800, device=device)
    exact = (p.double()[:, None] - table.double()[None]).abs().sum(-1)
    torch.testing.assert_close(L1Table.of(table).distances(p).double(), exact, rtol=1e-5, atol=0)


@pytest.mark.parametrize("device", DEVICES)
def test_equal_entities_are_exact_ties(device: str) -> None:
    table = torch.randn(700, 64, device=device)
    table[650] = table[3]
    found = L1Table.of(table).distances(torch.randn(20, 64, device=device))
    assert torch.equal(found[:, 3], found[:, 650])


def test_half_precision_tables_are_measured_in_float32() -> None:
    table = torch.randn(30, 16).bfloat16()
    p = torch.randn(4, 16)
    assert torch.equal(L1Table.of(table).distances(p), l1_distances_plain(p, table.float()))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_number_of_threads_changes_nothing(threads: int) -> None:
    before = torch.get_num_threads()
    p, table = torch.randn(23, 12), torch.randn(600, 12)
    rows = torch.arange(23).repeat_interleave(3)
    try:
        torch.set_num_threads(threads)
        distances = L1Table.of(table).distances(p)
        closer, tied = count_below(distances, rows, distances[rows, torch.arange(69)])
    finally:
        torch.set_num_threads(before)
    assert torch.equal(distances, l1_distances_plain(p, table))
    assert (closer.tolist(), tied.tolist()) == plain_counts(distances, rows, distances[rows, torch.arange(69)])


@given(data=st.data())
def test_counts_equal_the_naive_count(data: st.DataObject) -> None:
    queries, entities = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 30))
    entry = st.one_of(st.integers(-3, 6).map(float), st.just(float("nan")), st.just(float("inf")))
    table = data.draw(st.lists(entry, min_size=queries * entities, max_size=queries * entities))
    distances = torch.tensor(table).view(queries, entities)
    rows = torch.tensor(sorted(data.draw(st.lists(st.integers(0, queries - 1), max_size=12))), dtype=torch.int64)
    thresholds = torch.tensor(
        data.draw(st.lists(st.integers(-4, 7).map(float), min_size=len(rows), max_size=len(rows)))
    )
    closer, tied = count_below(distances, rows, thresholds)
    assert (closer.tolist(), tied.tolist()) == plain_counts(distances, rows, thresholds)


@pytest.mark.gpu
@pytest.mark.parametrize("answers", [1, 3, 40, 700])
def test_counts_on_a_card_equal_those_on_the_processor(answers: int) -> None:
    generator = torch.Generator().manual_seed(answers)
    distances = torch.randint(0, 500, (11, 3001), generator=generator).float()
    distances[torch.rand(distances.shape, generator=generator) < 0.1] = torch.nan
    rows = torch.randint(0, 11, (11 * answers,), generator=generator).sort().values
    thresholds = torch.randint(0, 500, (11 * answers,), generator=generator).float()
    strided = torch.empty(11, 3072, device="cuda")[:, :3001]
    strided.copy_(distances)
    found = count_below(strided, rows.cuda(), thresholds.cuda())
    assert [part.tolist() for part in found] == [part.tolist() for part in count_below(distances, rows, thresholds)]
