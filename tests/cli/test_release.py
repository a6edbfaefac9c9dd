"""`pathformer release`: engines and runs become small engines, shown with what that costs; nonsense is a sentence."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from support import command_line
from support.engines import engine_over

import pathformer as pf
from pathformer.errors import CheckpointError, EngineError, InputError
from pathformer.experiments.make_engine import make_engine
from pathformer.experiments.run import train_run
from pathformer.experiments.settings import read_run
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build
from pathformer.training.display import Display

pytestmark = pytest.mark.usefixtures("one_thread")

run = partial(command_line.run, "release", columns=160)


QUESTION = "?x : r0(e3, ?v) & r1(?v, ?x)"
RUN = ["queries=drawn", "valid_queries=20", "model.dim=16", "model.layers=1", "model.heads=2", "training.steps=6",
       "training.batch=16", "training.validations=2", "training.seed=4"]  # fmt: skip


@pytest.fixture(scope="module")
def graph(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(
        *(small_graph_triples[part] for part in ("train", "valid", "test")), name="small"
    )


@pytest.fixture(scope="module")
def engine(graph: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    names = graph.vocabulary
    settings = {"dim": 32, "layers": 1, "heads": 2}
    model = build("pathformer", settings, entities=names.entity_count, relations=names.relation_count)
    return engine_over(graph, model).save(tmp_path_factory.mktemp("engine") / "films")


@pytest.fixture(scope="module")
def trained(graph: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run on a saved graph."""
    folder = tmp_path_factory.mktemp("run")
    graph.save(folder / "graph")
    run = read_run(None, [f"dataset={folder / 'graph'}", *RUN])
    assert train_run(run, folder / "mine", device="cpu", display=Display()).result.finished
    return folder / "mine"


def test_an_engine_is_released_with_its_cost(engine: Path, tmp_path: Path) -> None:
    shown = run(engine, tmp_path / "small", "--queries", "5")
    assert "% in int8 and" in shown
    assert "of the 10 best predictions are the same" in shown
    assert f"The engine is in {tmp_path / 'small'}, with its card" in shown
    assert (tmp_path / "small" / "MODEL_CARD.md").is_file()
    full, small = pf.load(engine), pf.load(tmp_path / "small")
    known = [{a.entity for a in one.ask(QUESTION) if a.known} for one in (full, small)]
    assert known[0] == known[1] != set()
    whole, less = (sum(f.stat().st_size for f in path.rglob("*.safetensors")) for path in (engine, tmp_path / "small"))
    assert less < 0.4 * whole


def test_a_release_that_is_released_again_keeps_what_its_form_cost(engine: Path, tmp_path: Path) -> None:
    run(engine, tmp_path / "small", "--queries", "5")
    shown = run(tmp_path / "small", tmp_path / "copy", "--queries", "5")  # both sides would have the rounded weights
    assert "already a release in int8: its card says what that cost" in shown
    assert "the MRR is" not in shown
    for name in ("release.json", "MODEL_CARD.md"):
        assert (tmp_path / "copy" / name).read_bytes() == (tmp_path / "small" / name).read_bytes()


def test_half_precision_without_measuring(engine: Path, tmp_path: Path) -> None:
    shown = run(engine, tmp_path / "half", "--form", "bf16", "--no-measure")
    assert "MRR" not in shown
    assert json.loads((tmp_path / "half" / "release.json").read_text())["cost"] is None
    assert pf.load(tmp_path / "half").encoder.form == "bf16"


def test_a_run_becomes_an_engine(trained: Path, tmp_path: Path) -> None:
    shown = run(trained, tmp_path / "small", "--queries", "5")
    assert "held-out questions the MRR is" in shown
    cost = json.loads((tmp_path / "small" / "release.json").read_text())["cost"]
    assert "1p" in cost["full"]
    assert "2in" not in cost["full"]  # the run was not judged by negations
    small = pf.load(tmp_path / "small")
    assert small.calibration.fitted
    assert small.ask(QUESTION, top=3)
    page = (tmp_path / "small" / "MODEL_CARD.md").read_text()
    for fact in (
        "# mine",
        "- seed: 4",
        "- steps: 6",
        "- machine: ",
        "pathformer ask FOLDER",
        "It was not trained on negations",
    ):
        assert fact in page, fact
    report_page = (tmp_path / "small" / "report.md").read_text()
    assert report_page.startswith("# mine\n\nTest queries, in percent.\n\n| structure |")
    assert (trained / "test-best.md").read_text() in report_page
    assert "## In released form" in report_page


def test_sizes_are_of_the_weights_that_are_taken(trained: Path, tmp_path: Path) -> None:
    shown = run(trained, tmp_path / "small", "--no-measure", "--form", "bf16")
    best = (trained / "best.safetensors").stat().st_size / 1e6
    assert next(line for line in shown.splitlines() if line.startswith(" weights")).split()[1] == f"{best:.1f}"
    again = run(trained / "last.safetensors", tmp_path / "smaller", "--no-measure").splitlines()
    assert [line.split()[1] for line in again if line.startswith((" index", " graph"))] == ["none", "none"]


def test_a_checkpoint_is_taken_as_it_is_named(trained: Path) -> None:
    last = make_engine(trained / "last.safetensors", asked=0)
    assert last.about["card"]["weights"] == "last, step 6"
    assert not last.calibration.fitted
    assert last.about["ece"] is None
    assert (trained / "test-last.md").read_bytes() in last.files["report.md"]


def test_a_run_without_a_test_has_no_report(trained: Path, tmp_path: Path) -> None:
    shutil.copy(trained / "best.safetensors", tmp_path)
    assert make_engine(tmp_path, asked=0).files == {}


def test_a_graph_without_held_out_parts_has_nothing_to_measure(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kg = KnowledgeGraph.from_triples([(f"e{a}", "r", f"e{b}") for a, b in rng.integers(0, 20, (60, 2))], name="one")
    names = kg.vocabulary
    model = build("pathformer", {"dim": 8, "layers": 1, "heads": 2}, entities=names.entity_count, relations=2)
    engine_over(kg, model).save(tmp_path / "one")
    shown = run(tmp_path / "one", tmp_path / "small")
    assert "This graph has no held-out facts" in shown


def test_nonsense_is_refused_before_any_work(engine: Path, trained: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no form 'int4' of a release: choose bf16 or int8"):
        run(engine, tmp_path / "x", "--form", "int4")
    with pytest.raises(InputError, match="`pathformer release SOURCE OUT`"):
        run(engine)
    with pytest.raises(InputError, match=r"x and --out .*y: leave one out"):
        run(engine, tmp_path / "x", "--out", tmp_path / "y")
    with pytest.raises(InputError, match="nowhere does not exist: make one with `pathformer fit TRIPLES --out DIR` or"):
        run(tmp_path / "nowhere", tmp_path / "x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "family.tsv").write_text("Ada\tmother\tBob\n")
    with pytest.raises(
        EngineError, match=r"family\.tsv is a file, not an engine: make an engine from it with `pathformer fit "
    ):
        run(tmp_path / "family.tsv", tmp_path / "x")
    with pytest.raises(InputError, match="empty holds neither an engine nor a run"):
        run(tmp_path / "empty", tmp_path / "x")
    (tmp_path / "text.safetensors").write_text("no weights")
    with pytest.raises(CheckpointError, match="it was cut short, or is another file"):
        run(tmp_path / "text.safetensors", tmp_path / "x")
    with pytest.raises(InputError, match="is no checkpoint of `pathformer train`: it does not say of which dataset"):
        run(engine / "model.safetensors", tmp_path / "x")
    with pytest.raises(InputError, match="exists already: choose another folder, or replace it with --force"):
        run(engine, engine)
    assert not (tmp_path / "x").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "family.tsv", "text.safetensors"}


def test_a_release_is_replaced_only_when_it_is_said(engine: Path, tmp_path: Path) -> None:
    run(engine, tmp_path / "small", "--no-measure")
    with pytest.raises(InputError, match="exists already"):
        run(engine, tmp_path / "small", "--no-measure")
    run(engine, "--out", tmp_path / "small", "--no-measure", "--form", "bf16", "--force")
    assert pf.load(tmp_path / "small").encoder.form == "bf16"
    with pytest.raises(InputError, match="already a release in bf16"):
        run(tmp_path / "small", tmp_path / "smaller")
