"""A fit keeps to its time: late stages take from training, drawing and measuring do less, also when it is continued."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from support.engines import engine_over

from pathformer.fitting import measuring
from pathformer.fitting.fit import fit
from pathformer.fitting.heldout import draw_questions, hold_out, load_or_draw
from pathformer.fitting.learn import new_model, time_for_training
from pathformer.fitting.settings import FitSettings, settings_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.nn.device import choose_device
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.querysets.sampler import Rules, sample
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training.budget import TimeBudget
from pathformer.training.settings import Training


@pytest.fixture(scope="module")
def graph(graph: KnowledgeGraph) -> KnowledgeGraph:
    return hold_out(graph, 0.1)


@pytest.fixture(scope="module")
def questions(graph: KnowledgeGraph) -> QuerySets[Queries]:
    return draw_questions(graph, settings_for(entities=50, triples=460, minutes=1.0))


def with_minutes(minutes: float | None = 0.8) -> FitSettings:
    usual = settings_for(entities=50, triples=460, minutes=1.0, hops=False)
    return usual.with_training(Training(steps=7) if minutes is None else Training(minutes=minutes))


def test_training_has_what_is_left_and_a_tenth_at_the_least(tmp_path: Path) -> None:
    minutes = []
    for place, spent in enumerate((3.0, 33.0, 80.0)):
        folder = tmp_path / str(place)
        folder.mkdir()
        minutes.append(time_for_training(with_minutes(), TimeBudget(60.0, spent=spent), folder).training.minutes)
    assert minutes == pytest.approx([0.8, 0.3, 0.1], abs=0.01)


def test_a_continued_fit_trains_as_long_as_it_was_to(tmp_path: Path) -> None:
    first = time_for_training(with_minutes(), TimeBudget(60.0), tmp_path)
    assert time_for_training(with_minutes(), TimeBudget(60.0, spent=50.0), tmp_path) == first


def test_steps_and_no_limit_are_left_alone(tmp_path: Path) -> None:
    counted, timed = with_minutes(None), with_minutes(3.0)
    assert time_for_training(counted, TimeBudget(60.0), tmp_path) == counted
    assert time_for_training(timed, TimeBudget(), tmp_path) == timed
    assert not list(tmp_path.iterdir())


def test_a_draw_in_a_hurry_is_the_beginning_of_a_longer_one(graph: KnowledgeGraph) -> None:
    pair = GraphPair.of(graph.graph("train"))
    hasty, patient = (
        sample(STRUCTURES["3p"], pair, 50_000, rules=Rules(forward=True, seconds=seconds)) for seconds in (0.0, None)
    )
    assert 0 < len(hasty) < len(patient)
    assert np.array_equal(hasty.ids, patient.ids[: len(hasty)])


def test_a_box_that_is_over_still_draws_something(graph: KnowledgeGraph, questions: QuerySets[Queries]) -> None:
    scale = settings_for(entities=50, triples=460, minutes=1.0)
    found = draw_questions(graph, scale, budget=TimeBudget(60.0, spent=100.0))
    assert set(found["train"]) == set(EFOL_TRAINED)
    assert set(found["test"]) == set(questions["test"])
    counts = {name: (len(asked), len(questions["train"][name])) for name, asked in found["train"].items()}
    assert all(some <= whole for some, whole in counts.values())
    assert any(some < whole for some, whole in counts.values())


def test_questions_are_drawn_once(graph: KnowledgeGraph, questions: QuerySets[Queries], tmp_path: Path) -> None:
    assert load_or_draw(tmp_path, graph, lambda: questions) is questions
    again = load_or_draw(tmp_path, graph, lambda: pytest.fail("drawn twice"))
    pairs = [
        (questions["train"], again["train"]),
        (questions["valid"], again["valid"]),
        (questions["test"], again["test"]),
    ]
    pairs += [(questions[f"everyday {split}"], again[f"everyday {split}"]) for split in ("valid", "test")]
    for before, after in pairs:
        assert list(before) == list(after)
        for name, asked in before.items():
            other = after[name]
            assert np.array_equal(asked.ids, other.ids)
            for one, two in ((asked.easy, other.easy), (asked.hard, other.hard)):
                assert np.array_equal(one.ptr, two.ptr)
                assert np.array_equal(one.values, two.values)


def test_fewer_questions_are_some_of_them(questions: QuerySets[Queries]) -> None:
    fewer = questions.thin_held_out(5)
    assert fewer["train"] is questions["train"]
    for some, whole in ((fewer["test"], questions["test"]), (fewer["everyday valid"], questions["everyday valid"])):
        for name, asked in some.items():
            assert len(asked) == min(5, len(whole[name]))
            assert {tuple(row) for row in asked.ids.tolist()} <= {tuple(row) for row in whole[name].ids.tolist()}


def test_probabilities_rest_on_what_there_is_time_for(graph: KnowledgeGraph, questions: QuerySets[Queries]) -> None:
    scale = settings_for(entities=50, triples=460, minutes=1.0)
    model = new_model(graph, scale, choose_device("cpu"))
    engine = engine_over(graph, model)
    assert measuring._in_time(engine, questions, 1e9) is questions
    hasty = measuring._in_time(engine, questions, 0.0)
    assert max(len(asked) for asked in hasty["test"].values()) == 20
    assert len(measuring._answers_to_explain(hasty)) < len(measuring._answers_to_explain(questions))


@pytest.mark.slow
def test_a_short_box_is_kept(graph: KnowledgeGraph) -> None:
    start = time.monotonic()
    engine = fit(KnowledgeGraph("small", graph.vocabulary, {"train": graph.splits["train"]}), 0.25, progress=False)
    assert time.monotonic() - start < 1.1 * 15.0 + 5.0
    assert engine.about["steps"] > 0


def test_a_kill_while_the_time_is_written_down_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(self: Path, text: str, **_: str) -> int:
        with self.open("w") as file:
            file.write(text[:5])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            time_for_training(with_minutes(), TimeBudget(60.0), tmp_path)
    first = time_for_training(with_minutes(), TimeBudget(60.0), tmp_path)
    assert first.training.minutes == pytest.approx(0.85, abs=0.01)
    assert time_for_training(with_minutes(), TimeBudget(600.0), tmp_path) == first
