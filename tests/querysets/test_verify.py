"""Every answer recomputed: agreement, and differences named."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.saves import reseal

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.ragged import Ragged
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets, read_folder
from pathformer.querysets.verify import Verdict, differing_rows, verify

rows_of_answers = st.lists(st.sets(st.integers(0, 9), max_size=5), max_size=8)

Sets = QuerySets[Queries]


def test_a_right_folder_agrees(small_graph: KnowledgeGraph, small_benchmark: Sets, tmp_path: Path) -> None:
    verdicts = verify(read_folder(small_benchmark.save(tmp_path / "q", "betae")), small_graph)
    assert len(verdicts) == 10 + 14 + 14
    assert all(v.agrees for v in verdicts)
    assert {v.checked for v in verdicts if v.split == "train"} == {("easy",)}
    assert {v.checked for v in verdicts if v.split == "test"} == {("easy", "hard")}
    assert sum(v.answers for v in verdicts if v.split == "test") == sum(
        len(q.easy.values) + len(q.hard.values) for q in small_benchmark["test"].values()
    )


def test_a_wrong_answer_is_named(small_graph: KnowledgeGraph, small_benchmark: Sets, tmp_path: Path) -> None:
    folder = small_benchmark.save(tmp_path / "q", "betae")
    file = folder / "valid-hard-answers.pkl"
    answers = pickle.loads(file.read_bytes())
    pi = small_benchmark["valid"]["pi"]
    instance = pi.structure.instance(pi.ids[4].tolist())
    lost = min(answers[instance])
    gained = next(e for e in range(50) if e not in answers[instance])
    answers[instance] = (answers[instance] - {lost}) | {gained}
    file.write_bytes(pickle.dumps(answers))
    reseal(folder)
    told: list[Verdict] = []
    verdicts = verify(read_folder(folder), small_graph, told.append)
    assert told == verdicts
    wrong = [v for v in verdicts if not v.agrees]
    assert [(v.split, v.structure, v.wrong) for v in wrong] == [("valid", "pi", (0, 1))]
    assert wrong[0].example == (
        f"{instance}: its hard answers: the folder lacks {lost} and has {gained}, which traversal does not find"
    )


def test_what_is_absent_is_not_counted(small_graph: KnowledgeGraph, small_benchmark: Sets, tmp_path: Path) -> None:
    folder = small_benchmark.save(tmp_path / "q", "betae")
    (folder / "test-easy-answers.pkl").unlink()
    (folder / "train-answers.pkl").unlink()
    reseal(folder)
    checked = {(v.split, v.checked, v.answers > 0) for v in verify(read_folder(folder), small_graph)}
    assert checked == {("train", (), False), ("valid", ("easy", "hard"), True), ("test", ("hard",), True)}


@given(rows_of_answers, rows_of_answers)
def test_differing_rows(one: list[set[int]], other: list[set[int]]) -> None:
    size = min(len(one), len(other))
    found = differing_rows(Ragged.of(map(list, one[:size])), Ragged.of(map(list, other[:size])))
    assert found.tolist() == [i for i in range(size) if one[i] != other[i]]


@given(rows_of_answers, st.data())
def test_ragged_take(rows: list[set[int]], data: st.DataObject) -> None:
    ragged = Ragged.of(map(list, rows))
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1))) if rows else []
    taken = ragged.take(np.array(chosen, np.int64))
    assert [taken[i].tolist() for i in range(len(taken))] == [sorted(rows[i]) for i in chosen]
