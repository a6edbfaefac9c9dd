"""A link predictor first: the model starts as it ended, and answers single links as it does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from pathformer.evaluation.evaluate import ModelRanker
from pathformer.fitting.heldout import draw_again, draw_questions, hold_out, to_learn
from pathformer.fitting.lesson import Lesson, new_model, start_from_links, train_in
from pathformer.fitting.settings import Scale, scale_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.querysets.removed_answers import with_removed
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training import checkpoint
from pathformer.training.display import Display
from pathformer.training.settings import Training

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def graph(graph: KnowledgeGraph) -> KnowledgeGraph:
    return hold_out(graph, 0.1)


@pytest.fixture(scope="module")
def scale() -> Scale:
    usual = scale_for(entities=50, triples=460, minutes=1.0).stepped(6)
    assert usual.links is not None
    links = replace(usual.links, model={**usual.links.model, "rank": 8})
    return replace(usual, links=links, model={**usual.model, "dim": 16, "heads": 2}, drawn=50, asked=10)


@pytest.fixture(scope="module")
def questions(graph: KnowledgeGraph, scale: Scale) -> QuerySets[Queries]:
    return draw_questions(graph, scale)


def test_the_model_answers_links_as_the_predictor_does(
    graph: KnowledgeGraph, scale: Scale, questions: QuerySets[Queries], tmp_path: Path
) -> None:
    model = new_model(graph, scale, CPU)
    assert scale.links is not None
    start_from_links(tmp_path, model, questions, scale.links, {"note": "test"}, Display(Console(quiet=True)))
    saved = checkpoint.read(tmp_path / "best.safetensors", CPU)
    assert (saved.facts["method"], saved.facts["note"]) == ("complex", "test")
    names = graph.vocabulary
    source = build("complex", scale.links.model, entities=names.entity_count, relations=names.relation_count)
    source.load_state_dict(saved.part("model"))
    links = questions["test"]["1p"]
    ours, theirs = (
        one.space.distance_to_all(ModelRanker(one).points(links)[0], one.entities.weight).detach().numpy()
        for one in (model.eval(), source.eval())
    )
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert np.ptp(theirs) > 0


def test_training_starts_with_the_links_and_is_interrupted_within_them(
    graph: KnowledgeGraph, scale: Scale, questions: QuerySets[Queries], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson, quiet = Lesson(graph, questions, scale), Display(Console(quiet=True))
    result = train_in(tmp_path, new_model(graph, scale, CPU), lesson, quiet)
    assert result.step == 6
    assert checkpoint.read(tmp_path / "links/last.safetensors", CPU).facts["step"] == 6
    assert checkpoint.read(tmp_path / "training/last.safetensors", CPU).facts["step"] == 6
    monkeypatch.setattr("pathformer.fitting.lesson.train", lambda *_: replace(result, finished=False))
    with pytest.raises(KeyboardInterrupt):
        train_in(tmp_path / "cut", new_model(graph, scale, CPU), lesson, quiet)
    assert not (tmp_path / "cut/training").exists()


def test_negations_bring_what_they_take_away_where_it_counts(
    graph: KnowledgeGraph, scale: Scale, questions: QuerySets[Queries]
) -> None:
    again = draw_again(graph, questions["train"], scale, seed=0, number=1)
    for learned in (to_learn(graph, questions["train"].values(), scale), again):
        assert [part.structure.name for part in learned] == list(questions["train"])
        for part in learned:
            if not part.structure.negated:
                assert part.removed is None
                continue
            expected = with_removed(part, GraphPair.of(graph.graph("train"))).removed
            assert part.removed is not None
            assert expected is not None
            assert part.removed.values.tolist() == expected.values.tolist()
            assert part.removed.ptr.tolist() == expected.ptr.tolist()
    assert sum(part.removed is not None and len(part.removed.values) > 0 for part in again) > 1
    plain = scale_for(entities=50, triples=460, minutes=1.0, hops=False)
    assert all(part.removed is None for part in to_learn(graph, questions["train"].values(), plain))


def test_the_time_for_training_is_shared() -> None:
    scale = scale_for(entities=500, triples=5000, minutes=5.0)
    timed = scale.timed(replace(scale.training, minutes=4.0))
    assert timed.links is not None
    assert timed.links.training.minutes == pytest.approx(timed.links.share * 4.0)
    assert timed.training.minutes == pytest.approx((1.0 - timed.links.share) * 4.0)
    counted = scale.timed(Training(steps=7))
    assert counted.training == Training(steps=7)
    assert counted.links == scale.links


def test_large_graphs_start_from_nothing() -> None:
    small, large = (scale_for(entities=n, triples=10 * n, minutes=5.0) for n in (5_000, 100_000))
    assert small.links is not None
    assert (small.method, large.method) == ("composed", "pathformer")
    assert small.model["dim"] == 2 * small.links.model["rank"]  # else its tables could not be taken as they are
    assert (large.links, large.model["space"]) == (None, "sphere")
    stepped = small.stepped(9)
    assert stepped.links is not None
    assert (stepped.training.steps, stepped.links.training.steps) == (9, 9)
    assert (stepped.minutes, stepped.training.minutes, stepped.links.training.minutes) == (None, None, None)
    assert large.stepped(9).links is None
