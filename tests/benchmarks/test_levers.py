"""Every named lever is a change that its run accepts; what levers start from is trained once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pathformer.experiments.settings import read_run

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import levers
from _levers import LEVERS, Lever, lever_of


@pytest.mark.parametrize("name", LEVERS)
def test_a_lever_changes_its_run(name: str) -> None:
    lever = lever_of(name, "nell995")
    assert lever.expected
    start = levers._start(lever)
    if start:
        before = read_run(start[0], list(start[1:]))
        assert (before.dataset, before.method) == ("nell995", "complex")
    settings = levers._from(lever, {start: Path("there")})
    changed, usual = read_run("scratch-nell995", settings), read_run("scratch-nell995")
    assert (changed.plain() == usual.plain()) == (name == "recipe")
    assert changed.start == ("there" if start else "")
    if start and changed.model.space == "hermitian":  # type: ignore[attr-defined]
        assert changed.model.dim == 2 * before.model.rank  # type: ignore[attr-defined]


def test_settings_of_ones_own_and_names_that_are_none() -> None:
    assert lever_of("mine:model.layers=1,training.batch=64", "any") == Lever(("model.layers=1", "training.batch=64"))
    with pytest.raises(SystemExit, match="no lever 'sofmax'; there are: recipe, margin"):
        lever_of("recipe+sofmax", "nell995")


def test_several_levers_at_once() -> None:
    both = lever_of("start+one-layer", "nell995")
    assert both.settings == ("start=complex-nell995", "model.layers=1")
    assert both.expected == "2 to 4 points on 1p alone, more on NELL995; model size against time"


def test_a_checkpoint_is_no_run_to_train_first() -> None:
    assert levers._start(Lever(("start=runs/links/best.safetensors",))) == ()
    lever = Lever(("start=complex-nell995", "start.model.rank=8", "model.layers=1"))
    assert levers._start(lever) == ("complex-nell995", "model.rank=8")
    found = levers._from(lever, {("complex-nell995", "model.rank=8"): Path("there")})
    assert found == ["model.layers=1", "start=there"]
