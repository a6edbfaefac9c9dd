"""Recipes are settings that a model and a loop accept; the run files of the benchmarks are recipes."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from support import training_toy as toy

from pathformer import plugins
from pathformer.errors import UnknownPluginError
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.experiments.settings import read_run
from pathformer.models._base import build
from pathformer.query.structures import EFOL_TRAINED
from pathformer.training.loop import train
from pathformer.training.recipes._base import find

RUNS = [
    (recipe, f"{name}{kind}", bool(kind))
    for recipe in ("fast", "scratch")
    for name in ("fb15k-237", "nell995")
    for kind in ("", "-efol")
]


def test_these_are_there() -> None:
    assert set(plugins.names("recipes")) == {"fast", "scratch", "small"}
    with pytest.raises(UnknownPluginError, match="slow"):
        find("slow")


@pytest.mark.parametrize(("kind", "name", "negation"), RUNS)
def test_a_run_file_is_its_recipe(kind: str, name: str, negation: bool) -> None:
    many = {"many_entities": True} if (kind, name.removesuffix("-efol")) == ("fast", "nell995") else {}
    run, recipe = read_run(f"{kind}-{name}"), find(kind)(negation=negation, **many)
    assert (run.method, run.trained) == (recipe.method, "efol" if negation else "epfo")
    assert run.start == recipe.start.format(dataset=run.dataset)
    assert asdict(run.training) == asdict(recipe.training)
    plain = asdict(build(recipe.method, dict(recipe.model), entities=3, relations=2).config)
    assert run.model_settings == plain


@pytest.mark.parametrize("name", ["fb15k-237", "nell995"])
def test_what_the_query2box_queries_judge_is_trained_on_walks_from_the_anchor(name: str) -> None:
    run, recipe = read_run(f"fast-{name}-q2b"), find("fast")(many_entities=name == "nell995")
    assert asdict(run.training) == {**asdict(recipe.training), "walk_from_answer": False}
    plain = asdict(build(recipe.method, dict(recipe.model), entities=3, relations=2).config)
    assert run.model_settings == plain


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
