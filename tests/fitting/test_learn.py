"""A link predictor first: the model starts as it ended, and answers single links as it does."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from pathformer.evaluation.evaluate import ModelRanker
from pathformer.fitting.evidence import learn_sources
from pathformer.fitting.heldout import draw_questions, hold_out
from pathformer.fitting.learn import learn, new_model, training_queries
from pathformer.fitting.settings import FitSettings, settings_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.querysets.removed_by_negation import add_removed
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training import checkpoint
from pathformer.training.display import Display
from pathformer.training.settings import Training

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def graph(graph: KnowledgeGraph) -> KnowledgeGraph:
    return hold_out(graph, 0.1)


@pytest.fixture(scope="module")
def scale() -> FitSettings:
    usual = settings_for(entities=50, triples=460, minutes=1.0).with_steps(6)
    assert usual.links is not None
    links = replace(usual.links, model={**usual.links.model, "rank": 8})
    return replace(
        usual,
        links=links,
        model={**usual.model, "dim": 16, "heads": 2},
        trained_per_structure=50,
        held_out_per_structure=10,
    )


@pytest.fixture(scope="module")
def questions(graph: KnowledgeGraph, scale: FitSettings) -> QuerySets[Queries]:
    return draw_questions(graph, scale)


def test_the_model_starts_as_the_link_predictor_ended_and_answers_links_as_it_does(
    graph: KnowledgeGraph, scale: FitSettings, questions: QuerySets[Queries], tmp_path: Path
) -> None:
    """An update of rate 0 leaves the model as it started."""
    still = replace(scale, training=replace(scale.training, update=replace(scale.training.update, rate=0.0)))
    model = new_model(graph, still, CPU)
    quiet = Display(Console(quiet=True))
    sources = learn_sources(tmp_path, graph, questions, still, CPU, quiet)
    result = learn(tmp_path, model, graph, questions, still, quiet, start=sources.start)
    assert result.step == 6
    assert checkpoint.read_facts(tmp_path / "training/last.safetensors")["step"] == 6
    source, facts = checkpoint.load_model(tmp_path / "links/last.safetensors")
    assert (facts["method"], facts["step"]) == ("complex", 4)  # the other 2 learn all links
    (again,) = sources.relearned
    assert not np.array_equal(again.rows(np.arange(3), 0), sources.made[0].rows(np.arange(3), 0))
    links = questions["test"]["1p"]
    ours, theirs = (
        one.space.distance_to_all(ModelRanker(one).points(links)[0], one.entities.weight).detach().numpy()
        for one in (model, source)
    )
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert np.ptp(theirs) > 0


def test_an_interruption_among_the_links_leaves_the_rest_for_later(
    graph: KnowledgeGraph, scale: FitSettings, questions: QuerySets[Queries], tmp_path: Path
) -> None:
    class Stopping(Display):
        def update(self, **_: object) -> None:
            os.kill(os.getpid(), signal.SIGINT)

        def for_part(self, label: str) -> Display:
            return Stopping(self.console, label=label)

    with pytest.raises(KeyboardInterrupt):
        learn_sources(tmp_path, graph, questions, scale, CPU, Stopping(Console(quiet=True)))
    assert (tmp_path / "links/last.safetensors").is_file()
    assert not (tmp_path / "all-links").exists()


def test_negations_bring_what_they_take_away_where_it_counts(
    graph: KnowledgeGraph, scale: FitSettings, questions: QuerySets[Queries]
) -> None:
    queries = training_queries(graph, questions, scale)
    again = queries.draw_set(1)
    for drawn in (queries.first_set(), again):
        assert [part.structure.name for part in drawn] == list(questions["train"])
        for part in drawn:
            if not part.structure.negated:
                assert part.removed is None
                continue
            expected = add_removed(part, GraphPair.of(graph.graph("train"))).removed
            assert part.removed is not None
            assert expected is not None
            assert part.removed.values.tolist() == expected.values.tolist()
            assert part.removed.ptr.tolist() == expected.ptr.tolist()
    assert sum(part.removed is not None and len(part.removed.values) > 0 for part in again) > 1
    plain = settings_for(entities=50, triples=460, minutes=1.0, hops=False)
    assert all(part.removed is None for part in training_queries(graph, questions, plain).first_set())


def test_the_time_for_training_is_shared() -> None:
    scale = settings_for(entities=500, triples=5000, minutes=5.0)
    timed = scale.with_training(replace(scale.training, minutes=4.0))
    assert timed.links is not None
    assert timed.links.training.minutes == pytest.approx(timed.links.share * 4.0)
    assert timed.training.minutes == pytest.approx((1.0 - timed.links.share) * 4.0)
    counted = scale.with_training(Training(steps=7))
    assert counted.training == Training(steps=7)
    assert counted.links == scale.links


def test_large_graphs_start_from_nothing() -> None:
    small, large = (settings_for(entities=n, triples=10 * n, minutes=5.0) for n in (5_000, 100_000))
    assert small.links is not None
    assert (small.method, large.method) == ("composed", "pathformer")
    assert small.model["dim"] == 2 * small.links.model["rank"]  # else its tables could not be taken as they are
    assert (large.links, large.model["space"]) == (None, "sphere")
    stepped = small.with_steps(9)
    assert stepped.links is not None
    assert (stepped.training.steps, stepped.links.training.steps) == (9, 9)
    assert (stepped.minutes, stepped.training.minutes, stepped.links.training.minutes) == (None, None, None)
    assert large.with_steps(9).links is None
