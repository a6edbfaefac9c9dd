"""Drawing: every query, answer and non-answer that is due, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from pathformer.kg.ragged import Ragged
from pathformer.query.structures import structure
from pathformer.querysets.queries import Queries
from pathformer.training.data import Drawer, TrainingSet

ENTITIES = 12


def queries(name: str, rows: list[list[int]], answers: list[list[int]]) -> Queries:
    return Queries(structure(name), np.array(rows, np.int32), Ragged.of(answers), Ragged.of([[] for _ in rows]))


@pytest.fixture
def data() -> TrainingSet:
    one = queries("1p", [[1, 2], [3, 4], [5, 6]], [[0], [1, 2, 3], [11]])
    two = queries("2i", [[1, 0, 2, 1], [7, 3, 8, 5]], [[4, 5], [6, 7, 8, 9, 10]])
    return TrainingSet.of([one, two], ENTITIES)


def test_batches_hold_whole_queries_with_their_own_answers(data: TrainingSet) -> None:
    torch.manual_seed(0)
    drawer = Drawer(data, {"2i": 4, "1p": 3}, negatives=5)
    known = {(1, 0, 2, 1): {4, 5}, (7, 3, 8, 5): {6, 7, 8, 9, 10}, (1, 2): {0}, (3, 4): {1, 2, 3}, (5, 6): {11}}
    seen, positives = set(), set()
    for _ in range(60):
        drawn = drawer.draw()
        assert drawn.candidates.shape == (7, 6)
        rows = [tuple(row) for row in drawn.ids[:16].view(4, 4).tolist() + drawn.ids[16:].view(3, 2).tolist()]
        for row, (positive, *negatives), count in zip(
            rows, drawn.candidates.tolist(), drawn.answers.tolist(), strict=True
        ):
            assert positive in known[row]
            assert not set(negatives) & known[row]
            assert count == len(known[row])
            seen.add(row)
            positives.add((row, positive))
    assert seen == set(known)
    assert len(positives) == sum(map(len, known.values()))


def test_unfiltered_negatives_hit_answers_too(data: TrainingSet) -> None:
    torch.manual_seed(0)
    drawer = Drawer(data, {"2i": 50}, negatives=50, filtered=False)
    drawn = drawer.draw()
    assert set(drawn.candidates[:, 1:].flatten().tolist()) == set(range(ENTITIES))


def test_the_same_seed_draws_the_same(data: TrainingSet) -> None:
    drawer = Drawer(data, {"1p": 5})
    torch.manual_seed(4)
    first = drawer.draw()
    torch.manual_seed(4)
    second = drawer.draw()
    assert torch.equal(first.ids, second.ids)
    assert torch.equal(first.candidates, second.candidates)


def test_what_cannot_be_trained_on_is_refused(data: TrainingSet) -> None:
    with pytest.raises(ValueError, match="1 of 2 training queries of 1p have no answer"):
        TrainingSet.of([queries("1p", [[1, 2], [3, 4]], [[0], []])], ENTITIES)
    empty = queries("1p", [], [])
    with pytest.raises(ValueError, match="there are no training queries of 1p"):
        TrainingSet.of([Queries(empty.structure, np.empty((0, 2), np.int32), empty.easy, empty.hard)], ENTITIES)
    with pytest.raises(ValueError, match="no training queries of 3p; there are: 1p, 2i"):
        Drawer(data, {"3p": 4})
    assert len(data) == 5


def negated(rows: list[list[int]], answers: list[list[int]], removed: list[list[int]]) -> Queries:
    return replace(queries("2in", rows, answers), removed=Ragged.of(removed))


def test_queries_bring_what_their_negations_take_away() -> None:
    one = queries("1p", [[1, 2], [3, 4]], [[0], [1, 2]])
    two = negated([[1, 0, 2, 1], [7, 3, 8, 5]], [[4], [6]], [[5, 7], [0, 1, 2, 3, 8, 9]])
    data = TrainingSet.of([one, two], ENTITIES, removed=3)
    drawer = Drawer(data, {"2in": 30, "1p": 2})
    torch.manual_seed(0)
    drawn = drawer.draw()
    assert drawn.removed is not None
    wanted = {1: [5, 7, -1], 7: [0, 2, 8]}  # of six, three that are spread evenly
    anchors = drawn.ids[:120].view(30, 4)[:, 0].tolist()
    assert set(anchors) == {1, 7}
    assert drawn.removed[:30].tolist() == [wanted[anchor] for anchor in anchors]
    assert drawn.removed[30:].tolist() == [[-1] * 3] * 2
    data.refill([one, negated([[9, 0, 2, 1]], [[4]], [[11]])])
    again = drawer.draw()
    assert again.removed is not None
    assert again.removed[:30].tolist() == [[11, -1, -1]] * 30


def test_what_is_drawn_does_not_depend_on_it() -> None:
    two = negated([[1, 0, 2, 1], [7, 3, 8, 5]], [[4], [6]], [[5, 7], []])
    found = []
    for removed in (0, 2):
        drawer = Drawer(TrainingSet.of([two], ENTITIES, removed=removed), {"2in": 9}, targets=2)
        torch.manual_seed(3)
        found.append(drawer.draw())
    assert found[0].removed is None
    assert torch.equal(found[0].ids, found[1].ids)
    assert torch.equal(found[0].candidates, found[1].candidates)


def test_queries_that_do_not_say_what_is_taken_away_are_refused() -> None:
    with pytest.raises(ValueError, match="training queries of 2in do not say what their negations take away"):
        TrainingSet.of([queries("2in", [[1, 0, 2, 1]], [[4]])], ENTITIES, removed=2)
