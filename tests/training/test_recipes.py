"""Recipes are settings that a model and a loop accept; the run files of the benchmarks are recipes."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from support import training_toy as toy

from pathformer import plugins
from pathformer.config import to_toml
from pathformer.errors import ConfigError, UnknownPluginError
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.experiments.settings import read_run
from pathformer.models._base import build
from pathformer.query.structures import EFOL_TRAINED
from pathformer.training.loop import train
from pathformer.training.recipes._base import find


def test_these_are_there() -> None:
    names = plugins.names("recipes")
    assert set(names) == {"fast", "links", "scratch", "small"}
    for name in names:
        for options in ({}, {"negation": True, "many_entities": True, "minutes": 3.0, "seed": 7}):
            recipe = find(name)(**options)  # type: ignore[arg-type]
            build(recipe.method, dict(recipe.model), entities=3, relations=2)
            assert not options or (recipe.training.minutes, recipe.training.seed) == (3.0, 7)
    with pytest.raises(UnknownPluginError, match="slow"):
        find("slow")


def test_a_run_file_extends_its_recipe() -> None:
    run, recipe = read_run("fast-nell995-q2b"), find("fast")(many_entities=True)
    assert (run.method, run.start) == (recipe.method, "complex-nell995")
    assert run.training == replace(recipe.training, walk_from_answer=False)
    plain = asdict(build(recipe.method, dict(recipe.model), entities=3, relations=2).config)
    assert run.model_settings == plain
    ten = read_run("fast-nell995-q2b", ["trained=efol", "training.update.softmax.targets=3"])
    assert ten.training.weigh_by_removed == find("fast")(negation=True).training.weigh_by_removed > 0
    assert (ten.training.update.softmax.targets, ten.training.update.softmax.removed) == (3, 128)
    assert read_run("fast-fb15k-237").model_settings["sharpness"] != run.model_settings["sharpness"]
    with pytest.raises(ConfigError, match="slow"):
        read_run("fast-fb15k-237", ["recipe=slow"])


def test_a_saved_run_reads_back(tmp_path: Path) -> None:
    run = read_run("fast-nell995-efol", ["training.update.weight_decay=0.5"])
    (tmp_path / "settings.toml").write_text(to_toml(run), encoding="utf-8")
    assert read_run(tmp_path / "settings.toml").plain() == run.plain()


def test_a_small_graph_is_learned_by_the_small_recipe(tmp_path: Path) -> None:
    recipe = find("small")(minutes=0.05, seed=3)
    assert (recipe.training.seed, recipe.training.minutes) == (3, 0.05)
    assert set(recipe.training.mix) == set(EFOL_TRAINED)
    assert set(find("small")(negation=False).training.mix) == {"1p", "2p", "3p", "2i", "3i"}
    model = build(recipe.method, {**recipe.model, "dim": 32}, entities=toy.ENTITIES, relations=toy.RELATIONS)
    given = toy.task(validate=False)
    task = type(given)(model=model, data=given.data, facts=given.facts)
    before = evaluate(ModelRanker(model), toy.valid_queries(), answers="easy").mrr
    config = replace(recipe.training, steps=150, minutes=None, batch=64)  # steps: a busy machine decides nothing
    assert train(task, config, tmp_path, toy.quiet()).finished
    assert evaluate(ModelRanker(model), toy.valid_queries(), answers="easy").mrr > 2 * before
