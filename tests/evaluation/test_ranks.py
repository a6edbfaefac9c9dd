"""Filtered ranks against a loop that follows the protocol's words; property tests of what must not matter."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from pathformer.errors import DivergedError
from pathformer.evaluation.ranks import (
    Filters,
    Ranks,
    block_rows,
    even_blocks,
    fold_disjuncts,
    part,
    rank_block,
    rank_blocks,
)
from pathformer.kg.ragged import Ragged
from pathformer.spaces.kernels.l1_rank import L1Table

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Case:
    table: Tensor  # (N, d) of small integers: distances are exact, ties are many
    points: Tensor  # (R, d)
    disjuncts: np.ndarray
    easy: list[list[int]]
    hard: list[list[int]]

    @property
    def targets(self) -> Ragged:
        return Ragged.of(self.hard)

    @property
    def filters(self) -> Filters:
        return Ragged.of(self.easy), Ragged.of(self.hard)

    def ranks(self, memory: int | None = None) -> Ranks:
        bounds = np.concatenate(([0], np.cumsum(self.disjuncts)))
        table = L1Table.of(self.table)

        def distances(first: int, last: int) -> Tensor:
            rows = table.distances(self.points[bounds[first] : bounds[last]])
            return fold_disjuncts(rows, self.disjuncts[first:last])

        size = block_rows(len(self.table), CPU, memory)
        return rank_blocks(distances, self.targets, self.filters, even_blocks(len(self.disjuncts), size))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    entities, queries, width = draw(st.integers(2, 25)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    disjuncts = np.array(draw(st.lists(st.integers(1, 3), min_size=queries, max_size=queries)))
    seed = draw(st.integers(0, 2**31))
    generator = torch.Generator().manual_seed(seed)
    table = torch.randint(0, 3, (entities, width), generator=generator).float()
    points = torch.randint(0, 3, (int(disjuncts.sum()), width), generator=generator).float()
    answers = st.lists(st.integers(0, entities - 1), unique=True)
    easy = [draw(answers) for _ in range(queries)]
    hard = [sorted(set(draw(answers)) - set(e)) for e in easy]
    return Case(table, points, disjuncts, easy, hard)


class Made(TorchDispatchMode):
    """Notes the bytes of every tensor that is made."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes: list[int] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        made = func(*args, **(kwargs or {}))
        given = {arg.untyped_storage().data_ptr() for arg in args if isinstance(arg, Tensor)}
        if isinstance(made, Tensor) and made.untyped_storage().data_ptr() not in given:  # no view, nothing in place
            self.bytes.append(made.nbytes)
        return made


def naive(case: Case) -> list[tuple[int, int]]:
    """For each hard answer, in order: nearer and tied entities that are neither easy nor hard answers."""
    found, row = [], 0
    for easy, hard, count in zip(case.easy, case.hard, case.disjuncts, strict=True):
        distance = []
        for entity in case.table:
            each = [float((point - entity).abs().sum()) for point in case.points[row : row + count]]
            distance.append(min(each))
        row += count
        free = [e for e in range(len(case.table)) if e not in easy and e not in hard]
        for answer in hard:
            nearer = sum(distance[e] < distance[answer] for e in free)
            found.append((nearer, sum(distance[e] == distance[answer] for e in free)))
    return found


@given(case=cases())
def test_ranks_equal_the_naive_loop(case: Case) -> None:
    ranks = case.ranks()
    assert list(zip(ranks.closer.tolist(), ranks.tied.tolist(), strict=True)) == naive(case)
    assert len(ranks) == len(case.hard)
    assert np.diff(ranks.ptr).tolist() == [len(hard) for hard in case.hard]


@given(case=cases(), memory=st.integers(1, 2000))
def test_memory_changes_nothing(case: Case, memory: int) -> None:
    whole, pieces = case.ranks(), case.ranks(memory)
    for name in ("ptr", "closer", "tied"):
        assert np.array_equal(getattr(whole, name), getattr(pieces, name))


@given(case=cases(), seed=st.integers(0, 99))
def test_renaming_entities_changes_nothing(case: Case, seed: int) -> None:
    new = np.random.default_rng(seed).permutation(len(case.table))
    moved = Case(
        case.table[torch.from_numpy(np.argsort(new))],
        case.points,
        case.disjuncts,
        [[int(new[e]) for e in row] for row in case.easy],
        [[int(new[e]) for e in row] for row in case.hard],
    )
    before, after = case.ranks(), moved.ranks()
    for query in range(len(before)):
        part = slice(before.ptr[query], before.ptr[query + 1])
        names = np.argsort(new[np.array(case.hard[query], int)])  # answers are kept ascending by name
        assert np.array_equal(before.closer[part][names], after.closer[part])
        assert np.array_equal(before.tied[part][names], after.tied[part])


@given(case=cases())
@settings(max_examples=30)
def test_a_repeated_disjunct_changes_nothing(case: Case) -> None:
    twice = Case(case.table, case.points.repeat_interleave(2, 0), 2 * case.disjuncts, case.easy, case.hard)
    assert np.array_equal(case.ranks().closer, twice.ranks().closer)


def test_the_scores_of_easy_answers_use_the_same_filter() -> None:
    distances = torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0]])
    ranks = rank_block(distances, targets=Ragged.of([[2, 4]]), filters=[Ragged.of([[1, 2, 4]])])
    assert ranks.closer.tolist() == [1, 2]  # entity 0; entities 0 and 3


def test_a_target_outside_the_filter_is_not_ranked_against_itself() -> None:
    ranks = rank_block(torch.zeros(1, 4), targets=Ragged.of([[1]]), filters=[])
    assert (ranks.closer.tolist(), ranks.tied.tolist()) == ([0], [3])


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_a_distance_that_is_no_number_is_refused(bad: float) -> None:
    distances = torch.zeros(3, 4)
    distances[1, 2] = bad
    for filters in ([], [Ragged.of([[0, 1, 2, 3]] * 3)]):  # in one part, and in several
        with pytest.raises(DivergedError, match="query 11 has an answer at a distance that is not finite"):
            rank_block(distances.clone(), Ragged.of([[0], [2], []]), filters, first=10)


def test_no_queries_and_no_answers() -> None:
    empty = Ragged.of([])
    assert len(rank_blocks(lambda *_: torch.zeros(0, 5), empty, [empty], even_blocks(0, 5))) == 0
    none = rank_block(torch.zeros(2, 3), Ragged.of([[], []]), [Ragged.of([[], [1]])])
    assert (none.ptr.tolist(), none.closer.tolist()) == ([0, 0, 0], [])


def test_disjuncts_fold_to_the_smallest() -> None:
    distances = torch.tensor([[3.0, 1.0], [2.0, 5.0], [7.0, 7.0], [4.0, 4.0], [5.0, 3.0], [6.0, 0.0]])
    folded = fold_disjuncts(distances, np.array([2, 1, 3]))
    assert folded.tolist() == [[2.0, 1.0], [7.0, 7.0], [4.0, 0.0]]


def test_as_many_disjuncts_each_fold_at_once() -> None:
    distances = torch.randint(0, 9, (6, 50)).float()
    for count in (2, 3):
        with Made() as watch:
            folded = fold_disjuncts(distances, np.full(6 // count, count))
        assert watch.bytes == [folded.nbytes]  # and nothing beside it
        assert folded.tolist() == [
            [min(row[entity] for row in rows) for entity in range(50)]
            for rows in (distances[first : first + count].tolist() for first in range(0, 6, count))
        ]


def test_disjuncts_fold_to_the_sum_of_their_probabilities() -> None:
    distances = torch.tensor([[3.0, 1.0, 2.0], [200.0, 203.0, 201.0], [7.0, 5.0, 6.0], [4.0, 4.0, 0.0]])
    kept = distances.clone()
    folded = fold_disjuncts(distances, np.array([2, 1, 1]), "probability")

    def likely(row: int) -> list[float]:
        odds = [math.exp(-value) for value in (kept[row] - kept[row].min()).tolist()]
        return [o / sum(odds) for o in odds]

    for query, rows in enumerate(([0, 1], [2], [3])):
        loop = [-math.log(sum(likely(row)[entity] for row in rows)) for entity in range(3)]
        assert folded[query].tolist() == pytest.approx(loop, rel=1e-4, abs=1e-5)
    assert folded[0].argmin() == 0  # row 1's nearest, which by the smallest distance row 0 would outdo
    assert fold_disjuncts(distances, np.array([2, 1, 1]))[0].argmin() == 1
    assert torch.equal(distances, kept)


def test_an_entity_can_stand_for_several() -> None:
    some = torch.tensor([[3.0, 1.0, 2.0], [2.0, 5.0, 1.0]])
    every = some[:, [0, 1, 1, 1, 2]]
    counts = torch.tensor([1.0, 3.0, 1.0])
    folded = fold_disjuncts(every, np.array([2]), "probability")[:, [0, 1, 4]]
    assert fold_disjuncts(some, np.array([2]), "probability", counts).flatten().tolist() == pytest.approx(
        folded.flatten().tolist(), rel=1e-5
    )


def test_without_unions_distances_stay_as_they_are() -> None:
    distances = torch.tensor([[3.0, 1.0], [2.0, 5.0]])
    assert fold_disjuncts(distances, np.array([1, 1]), "probability") is distances


def test_a_block_is_whole_tiles_or_one_row_at_the_least() -> None:
    assert block_rows(1000, CPU, memory=4000 * 300) == 256
    assert block_rows(1000, CPU, memory=4000 * 100) == 100
    assert block_rows(10**9, CPU, memory=1) == 1


def test_blocks_are_even_but_for_the_last() -> None:
    assert list(even_blocks(7, 3)) == [(0, 3), (3, 6), (6, 7)]
    assert list(even_blocks(6, 3)) == [(0, 3), (3, 6)]
    assert list(even_blocks(0, 3)) == []


@given(seed=st.integers(0, 2**32 - 1), queries=st.integers(0, 9), size=st.integers(1, 10))
def test_blocks_of_any_size_give_the_same_ranks(seed: int, queries: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    distances = torch.from_numpy(rng.integers(0, 5, (queries, 12)).astype(np.float32))
    targets, known = (
        Ragged.of([sorted(rng.choice(12, rng.integers(0, 4), replace=False).tolist()) for _ in range(queries)])
        for _ in range(2)
    )
    whole = rank_block(distances.clone(), targets, [known])
    found = rank_blocks(lambda first, last: distances[first:last].clone(), targets, [known], even_blocks(queries, size))
    assert found.ptr.tolist() == whole.ptr.tolist()
    assert (found.closer.tolist(), found.tied.tolist()) == (whole.closer.tolist(), whole.tied.tolist())
    assert found.closer.dtype == found.tied.dtype == np.int32


def test_nothing_is_kept_beside_a_block() -> None:
    """What a block leaves behind would lie where the next one could."""
    queries, size, traced = 600, 100, []
    targets = Ragged.of([list(range(20))] * queries)

    def distances(first: int, last: int) -> torch.Tensor:
        traced.append(tracemalloc.get_traced_memory()[0])
        return torch.zeros(last - first, 50)

    tracemalloc.start()
    try:
        rank_blocks(distances, targets, [], even_blocks(queries, size))
    finally:
        tracemalloc.stop()
    assert len(traced) == 6
    assert traced[-1] - traced[1] < size * 20 * 4  # not even the ranks of one of the blocks between, of int32


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("ranked", ["hard", "easy"])
def test_thousands_of_answers_take_no_more_memory_than_their_distances(ranked: str, device: str) -> None:
    queries, entities, few, many = 12, 4000, 20, 3000
    rng = np.random.default_rng(0)
    distances = torch.from_numpy(rng.integers(0, 50, (queries, entities)).astype(np.float32))
    answers = [rng.permutation(entities)[: few + many] for _ in range(queries)]
    hard, easy = (Ragged.of([sorted(row[part].tolist()) for row in answers]) for part in (slice(few), slice(few, None)))
    targets = hard if ranked == "hard" else easy
    given = distances.to(device, copy=True)
    with Made() as watch:
        ranks = rank_block(given, targets, [easy, hard])
    assert 0 < max(watch.bytes) <= distances.nbytes
    for query, row in enumerate(answers):
        free = np.delete(distances[query].numpy(), row)
        mine = distances[query].numpy()[targets[query]]
        place = slice(targets.ptr[query], targets.ptr[query + 1])
        assert ranks.closer[place].tolist() == (free < mine[:, None]).sum(axis=1).tolist()
        assert ranks.tied[place].tolist() == (free == mine[:, None]).sum(axis=1).tolist()


def test_a_part_of_rows() -> None:
    rows = Ragged.of([[1, 2], [], [3], [4, 5]])
    chosen = part(rows, 1, 4)
    assert [chosen[i].tolist() for i in range(3)] == [[], [3], [4, 5]]
    assert len(part(rows, 2, 2)) == 0
