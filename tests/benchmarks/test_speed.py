"""How fast methods train: all of them are timed, none by a mistake of size."""

from __future__ import annotations

import dataclasses

import torch
from speed import LARGE, SMALL, measure_speed

from pathformer import plugins
from pathformer.experiments.settings import read_run
from pathformer.experiments.tables.catalogue import CASES
from pathformer.experiments.tables.paper import RUNNING_TIME


def test_every_method_has_a_case() -> None:
    methods = {read_run(run).method for run in CASES.values()}
    ours = {"complex", "composed", "pair"}  # a scorer of links, and two models side by side: no methods of the paper
    assert methods == set(plugins.names("models")) - ours
    assert list(CASES)[:4] == list(RUNNING_TIME)
    assert read_run(CASES["Pathformer"]).model.layers == 1  # type: ignore[attr-defined]  # as the paper times it


def test_sizes_are_said() -> None:
    assert LARGE.words.startswith("the paper's sizes, made-up queries over 14,505 entities, 512 of each structure")
    assert "cut down to {'dim': 32" in SMALL.words


def test_methods_are_timed_with_and_without_negation() -> None:
    size = dataclasses.replace(SMALL, batch=4, entities=50, queries=20, seconds=0.01)
    told: list[tuple[str, str]] = []
    found = measure_speed(
        ["GQE", "MLP"], device=torch.device("cpu"), size=size, commit="abc", report=lambda n, k, f: told.append((n, k))
    )
    assert told == [("GQE", "epfo"), ("MLP", "epfo"), ("MLP", "efol")]
    assert {name: set(kinds) for name, kinds in found["methods"].items()} == {"GQE": {"epfo"}, "MLP": {"epfo", "efol"}}
    figures = found["methods"]["MLP"]["efol"]
    assert figures["queries_per_second"] * figures["seconds_per_100_steps"] > 0.9 * 100 * 4 * 10
    assert figures["queries_per_second"] * figures["seconds_per_100_steps"] < 1.1 * 100 * 4 * 10
    assert (found["commit"], found["of_the_papers_size"]) == ("abc", False)
