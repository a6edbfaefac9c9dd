"""A run with another beside it is evaluated, released, asked, searched by every index, and taught."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from support.second_model_toy import save_runs
from typer.testing import CliRunner

import pathformer as pf
from pathformer.cli._main import app
from pathformer.engine.answer.read import read_question
from pathformer.engine.engine import Engine
from pathformer.errors import InputError
from pathformer.experiments.evaluate_run import find_checkpoint
from pathformer.experiments.make_engine import make_engine
from pathformer.experiments.second_model import PAIR
from pathformer.fitting.reindex import reindex
from pathformer.fitting.release import compress
from pathformer.fitting.update import update as update_engine
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models.pair import Pair
from pathformer.plan.encoder import FORMS

QUESTIONS = ("?x : r0(e3, ?v) & r1(?v, ?x)", "?x : r0(e3, ?x) & !r1(e5, ?x)", "?x : r0(e3, ?x) | r1(e5, ?x)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_runs(tmp_path_factory.mktemp("beside"))


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> Path:
    """A copy of the finished one."""
    return Path(shutil.copytree(folder / "run", tmp_path / "run"))


def command(*arguments: str | Path) -> str:
    done = CliRunner(env={"COLUMNS": "160"}).invoke(app, [*map(str, arguments)])
    if done.exception is not None:
        raise done.exception
    return done.output


@pytest.fixture(scope="module")
def engine(folder: Path) -> Engine:
    made = make_engine(folder / "run", asked=8)
    assert isinstance(made.encoder.model, Pair)
    return made


def test_it_is_evaluated_by_the_command(run: Path) -> None:
    shown = json.loads(command("evaluate", run, "--format", "json", "--device", "cpu"))
    known = json.loads((run / "test-best.json").read_text())
    assert shown["about"]["weights"].startswith("pair, step ")
    for name, scores in known["scores"].items():
        assert shown["scores"][name]["mrr"] == pytest.approx(scores["mrr"], abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_it_is_released_and_asked(folder: Path, engine: Engine, tmp_path: Path, form: str) -> None:
    out = tmp_path / "small"
    shown = command("release", folder / "run", out, "--form", form, "--queries", "4")
    assert f"in {form} and " in shown
    small = pf.load(out)
    assert (small.encoder.form, small.encoder.model.name) == (form, "pair")
    for question in QUESTIONS:
        known = [{a.entity for a in one.ask(question) if a.known} for one in (engine, small)]
        assert known[0] == known[1]
        assert small.ask(question, top=3).predicted
    assert "r0" in command("ask", out, QUESTIONS[1], "--explain")
    report = (out / "report.md").read_text()
    assert (folder / "run" / "test-best.md").read_text() in report
    assert "A pair that answers" in (out / "MODEL_CARD.md").read_text()
    with pytest.raises(InputError, match=r"a release in .* of a run of `pathformer train`: .* Fit the larger graph"):
        update_engine(out, KnowledgeGraph.from_triples([("e1", "r0", "new")]), progress=False)


def test_each_of_the_two_keeps_its_steps_in_a_release(folder: Path, tmp_path: Path) -> None:
    """Rows of the first may be far longer: the second has its own scale, in the file and when it is opened."""
    made = make_engine(folder / "run", asked=0)
    width, other = made.encoder.model.row_parts["entities.weight"]
    table = made.encoder.model.entities.weight.detach()
    table[:, :width] *= 1000.0
    small, opened = compress(made, "int8"), pf.load(compress(made, "int8").save(tmp_path / "small"))
    step = table[:, width:].abs().amax(dim=1, keepdim=True) / 127
    for engine in (small, opened):
        off = (engine.encoder.model.entities.weight[:, width:] - table[:, width:]).abs()
        assert off.shape[1] == other
        assert bool((off <= 0.51 * step).all())
    assert torch.equal(small.encoder.model.entities.weight, opened.encoder.model.entities.weight)


def test_every_index_finds_what_exact_distances_find(engine: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    asked = [f"?x : r{r}(e{a}, ?v) & r{s}(?v, ?x)" for a, r, s in rng.integers(0, [40, 3, 3], (20, 3))]
    asked += [f"?x : r{r}(e{a}, ?x) & !r{s}(e{b}, ?x)" for a, b, r, s in rng.integers(0, [40, 40, 3, 3], (20, 4))]
    points = engine.encoder.points([read_question(one, engine.kg).tree for one in asked]).rows
    truth = engine.encoder.distances(points)
    limit = np.sort(truth, axis=1)[:, 9:10]
    for backend in ("exact", "hnsw", "lsh"):
        made = reindex(engine, backend)
        assert made.index.measure.kind == "inner"
        opened = pf.load(made.save(tmp_path / backend))
        for index in (made.index, opened.index):
            found = index.nearest(points, 10)
            assert np.allclose(found.distances, np.take_along_axis(truth, found.ids, axis=1), rtol=1e-4, atol=1e-3)
            assert (found.distances <= limit + 1e-3).mean() >= 0.95


def test_its_index_is_shown_and_built_by_the_command(engine: Engine, tmp_path: Path) -> None:
    kept = engine.save(tmp_path / "full")
    assert command("index", kept).startswith("exact over 40 entities, by the inner product\n")
    assert "hnsw over 40 entities, by the inner product" in command("index", kept, "-b", "hnsw")


def test_it_learns_more_triples_while_it_is_not_rounded(engine: Engine, tmp_path: Path) -> None:
    kept = engine.save(tmp_path / "full")
    more = [("e1", "r0", "new"), ("new", "r1", "e2"), ("e3", "r3", "new")]
    grown = update_engine(kept, KnowledgeGraph.from_triples(more), minutes=0.02, device="cpu", progress=False)
    model = pf.load(kept).encoder.model
    assert isinstance(model, Pair)
    assert (model.entity_count, model.relation_count) == (41, 8)
    assert "new" in {answer.entity for answer in grown.ask("?x : r3(e3, ?x)")}


def test_a_run_that_is_anew_has_no_pair(folder: Path, run: Path) -> None:
    assert find_checkpoint(run) == run / PAIR
    command("train", folder / "first.toml", "--out", run, "--fresh", "--device", "cpu", "--no-test", "second_model=")
    assert find_checkpoint(run) == run / "best.safetensors"
