"""Runs that have ways of their own to draw training queries, at first and when they are drawn anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import training_toy as toy

from pathformer.experiments.records import trained_on
from pathformer.experiments.run import gather, train_run
from pathformer.experiments.settings import read_run
from pathformer.kg.datasets import load
from pathformer.query.structures import EFOL_TRAINED
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import graph_pair
from pathformer.querysets.sampler import Rules, sample
from pathformer.training import checkpoint
from pathformer.training.data import TrainingSet
from pathformer.training.settings import Training

SETTINGS = [
    "queries=drawn",
    "trained=efol",
    "valid_queries=5",
    "model.dim=16",
    "model.layers=1",
    "model.heads=2",
    "model.space=sphere",
    "training.steps=5",
    "training.batch=4",
    "training.validations=1",
    "training.redraw_every=2",
    "training.update_per_structure=false",
    "training.update.objective=softmax",
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy.save_graph(tmp_path_factory.mktemp("graph") / "graph")


def sets_seen(graph: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *settings: str) -> list[list[Queries]]:
    """All training sets that a run was given, one after the other."""
    run = read_run("umls-small", [f"dataset={graph}", *SETTINGS, *settings])
    seen: list[list[Queries]] = []
    begin, refill = TrainingSet.of, TrainingSet.refill

    def begun(queries: list[Queries], *rest: object) -> TrainingSet:
        seen.append(queries)
        return begin(queries, *rest)  # type: ignore[arg-type]

    def refilled(data: TrainingSet, queries: list[Queries]) -> None:
        seen.append(queries)
        refill(data, queries)

    monkeypatch.setattr(TrainingSet, "of", begun)
    monkeypatch.setattr(TrainingSet, "refill", refilled)
    assert train_run(run, folder, material=gather(run), test=False, display=toy.quiet()).result.finished
    return seen


def taken(queries: list[Queries]) -> dict[str, float]:
    return {part.structure.name: part.removed.counts.mean() for part in queries if part.removed is not None}


def test_every_set_is_contested_and_says_what_is_taken_away(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        walked = sets_seen(graph, tmp_path / "walked", patch, "training.update.softmax.removed=9")
    with monkeypatch.context() as patch:
        contested = sets_seen(
            graph, tmp_path / "contested", patch, "training.update.softmax.removed=9", "training.weigh_by_removed=20"
        )
    assert len(walked) == len(contested) == 3
    names = {"2in", "3in", "inp", "pin", "pni"}
    for plain, drawn in zip(walked, contested, strict=True):
        for queries in (plain, drawn):  # at first and anew, the ten trained structures and no other
            assert [part.structure.name for part in queries] == list(EFOL_TRAINED)
        assert set(taken(plain)) == set(taken(drawn)) == names
        assert sum(taken(drawn).values()) > sum(taken(plain).values())
        assert [len(part) for part in drawn] == [len(part) for part in plain]
    assert not np.array_equal(contested[1][5].ids, contested[2][5].ids)


def test_paths_are_walked_from_their_answers_where_a_run_says_so(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        usual = sets_seen(graph, tmp_path / "usual", patch)
    with monkeypatch.context() as patch:
        backward = sets_seen(graph, tmp_path / "backward", patch, "training.walk_from_answer=true")
    pair = graph_pair(load(str(graph)), "train")
    for number, (before, now) in enumerate(zip(usual, backward, strict=True)):
        for old, new in zip(before, now, strict=True):
            if old.structure.name not in ("2p", "3p"):
                assert np.array_equal(old.ids, new.ids)
                continue
            stream = f"fresh {number}" if number else "first"
            drawn = sample(old.structure, pair, len(old), stream=stream, rules=Rules(forward=False))
            assert np.array_equal(new.ids, drawn.ids)
            assert not np.array_equal(new.ids, old.ids)


def test_a_checkpoint_says_what_a_run_has_drawn_in_its_own_way(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = {
        "walk_from_answer=true": "2p 3p: drawn, walked from an answer",
        "weigh_by_removed=20": "drawn by what their negations",
    }
    for setting, words in ways.items():
        for told in (True, False):
            folder = tmp_path / setting / str(told)
            sets_seen(graph, folder, monkeypatch, *([f"training.{setting}"] if told else []))
            assert (words in trained_on(checkpoint.read_facts(folder / "last.safetensors"))) is told


def test_nothing_is_looked_for_where_nothing_asks_for_it(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [taken(queries) for queries in sets_seen(graph, tmp_path, monkeypatch)] == [{}] * 3


def test_less_than_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="weigh_by_removed must be at least 0, got -1"):
        Training(weigh_by_removed=-1)
