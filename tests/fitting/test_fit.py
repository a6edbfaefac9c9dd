"""Fitting: any graph becomes an engine, an interruption costs nothing, and what cannot be learned is said."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import pathformer
from pathformer.engine.history import trained_structures
from pathformer.errors import InputError
from pathformer.fitting.fit import fit
from pathformer.fitting.heldout import draw_questions, hold_out
from pathformer.fitting.learn import training_queries
from pathformer.fitting.report import FitReport
from pathformer.fitting.settings import FitSettings, settings_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES

Triples = list[tuple[str, str, str]]


def quick(kg: KnowledgeGraph, steps: int = 3) -> FitSettings:
    """Settings for a few steps: everything happens, nothing is learned."""
    usual = settings_for(entities=kg.vocabulary.entity_count, triples=kg.triple_count, minutes=1.0)
    return smaller(usual.with_steps(steps))


def smaller(scale: FitSettings) -> FitSettings:
    """Less of everything at once."""
    assert scale.links is not None
    few = {"batch": 32, "validations": 1}
    links = replace(scale.links, model={**scale.links.model, "rank": 8}, training=replace(scale.links.training, **few))
    model = {**scale.model, "dim": 16, "heads": 2}
    return replace(
        scale,
        training=replace(scale.training, **few),
        links=links,
        trained_per_structure=50,
        held_out_per_structure=10,
        model=model,
    )


def quickly(kg: KnowledgeGraph, **options: object) -> pathformer.Engine:
    return fit(kg, settings=quick(kg), progress=False, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(graph: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> tuple[pathformer.Engine, Path]:
    out = tmp_path_factory.mktemp("fit") / "engine"
    return quickly(graph, out=out), out


def test_a_fit_writes_one_folder_that_opens_and_answers(
    graph: KnowledgeGraph, made: tuple[pathformer.Engine, Path]
) -> None:
    engine, out = made
    assert {path.name for path in out.parent.iterdir()} == {"engine"}
    assert {"engine.json", "report.md", "report.json", "calibration.svg"} <= {path.name for path in out.iterdir()}
    opened = pathformer.load(out)
    question = "?x : r0(e1, ?x)"
    answers = opened.ask(question, top=5)
    assert [answer.entity for answer in answers] == [answer.entity for answer in engine.ask(question, top=5)]
    whole = graph.graph()
    assert len(answers.known) == len(whole.tails_of(graph.vocabulary.entity_id("e1"), 0))  # held-out ones are known
    assert len(answers.predicted) == 5
    assert opened.about["held_out"] == {"valid": 46, "test": 46}


def test_parts_of_a_graph_are_taken_as_they_are(small_graph_triples: dict[str, Triples]) -> None:
    kg = KnowledgeGraph.from_triples(*small_graph_triples.values())
    assert hold_out(kg, 0.3) is kg
    alone = hold_out(KnowledgeGraph.from_triples(small_graph_triples["train"]), 0.1)
    assert len(alone.splits["valid"]) == len(alone.splits["test"]) == 38


def test_held_out_questions_are_not_in_what_is_learned(graph: KnowledgeGraph) -> None:
    parts = hold_out(graph, 0.1)
    questions = draw_questions(parts, quick(graph), seed=3)
    assert set(questions["train"]) == set(EFOL_TRAINED)
    train, everything = parts.graph("train"), parts.graph()
    for head, relation in questions["test"]["1p"].ids.tolist():
        assert len(train.tails_of(head, relation)) < len(everything.tails_of(head, relation))
    for split in ("valid", "test"):
        assert any((queries.hard.counts == 0).any() for queries in questions[f"everyday {split}"].values())
        assert all((queries.hard.counts > 0).all() for queries in questions[split].values())


def test_fresh_questions_are_others_of_the_same_shapes(graph: KnowledgeGraph) -> None:
    parts, scale = hold_out(graph, 0.1), quick(graph)
    questions = draw_questions(parts, scale)
    first, queries = questions["train"], training_queries(parts, questions, scale)
    second, third = (queries.draw_set(number) for number in (1, 2))
    assert [part.structure.name for part in second] == list(first)
    for before, one, two in zip(first.values(), second, third, strict=True):
        if before.structure.name == "1p":
            assert one is two is before
        else:
            assert not np.array_equal(one.ids[:20], before.ids[:20])
            assert not np.array_equal(one.ids[:20], two.ids[:20])
            assert (one.easy.counts > 0).all()


def test_the_report_says_what_was_learned(graph: KnowledgeGraph, made: tuple[pathformer.Engine, Path]) -> None:
    engine, out = made
    report = FitReport.from_json(engine.files["report.json"].decode())
    assert report.scores is not None
    assert report.frequency is not None
    assert set(report.scores.scores) == set(report.frequency.scores) >= {"1p", "2p", "2in", "up"}
    assert report.steps == 3
    assert sum(report.triples.values()) == graph.triple_count
    assert {score.relation for score in report.by_relation} <= {"r0", "r1", "r2", "r3"}
    assert report.reasons is not None
    text = engine.files["report.md"].decode()
    for words in (
        "# small",
        "| 2in |",
        "counting",
        "calibration.svg",
        "ECE",
        "| training |",
        "to learn from",
        "reasons hold",
    ):
        assert words in text
    stages = [
        "holding out",
        "drawing questions",
        "learning single links",
        "weighing the evidence",
        "training",
        "measuring and calibrating",
    ]
    assert list(report.seconds) == stages
    assert "| measuring and calibrating |" in text
    assert out.joinpath("report.md").read_bytes() == engine.files["report.md"]
    assert pathformer.load(out).about == engine.about
    assert engine.about["seconds"] == pytest.approx(sum(report.seconds.values()))
    assert report.markdown() == text
    assert report.worse  # after three steps
    assert f"On {', '.join(report.worse)} the model is no better" in text
    assert set(report.worse) == {
        name for name, found in report.scores.scores.items() if found.mrr <= report.frequency.scores[name].mrr
    }


def test_a_hundred_triples_one_relation_and_an_entity_that_stands_alone() -> None:
    rng = np.random.default_rng(0)
    triples = [(f"a{i}", "knows", f"a{j}") for i, j in rng.integers(0, 30, (100, 2)).tolist()]
    base = KnowledgeGraph.from_triples([*triples, ("hermit", "knows", "hermit")])
    hermit, rows = base.vocabulary.entity_id("hermit"), base.splits["train"]
    engine = quickly(KnowledgeGraph("g", base.vocabulary, {"train": rows[rows[:, 0] != hermit]}))
    notes = FitReport.from_json(engine.files["report.json"].decode()).notes
    assert any(note.startswith("The graph has only ") for note in notes)
    assert any(note.startswith("1 entity is in no triple to learn from.") for note in notes)
    assert "31 entities, 1 relation, " in engine.files["report.md"].decode()
    known = engine.ask(f"?x : knows({triples[0][0]}, ?x)", top=3).known
    assert triples[0][2] in [answer.entity for answer in known]
    assert len(engine.ask("?x : knows(hermit, ?x)", top=3).predicted) == 3


def test_what_can_spare_nothing_is_not_measured() -> None:
    chain = KnowledgeGraph.from_triples([(f"a{i}", f"r{i}", f"a{i + 1}") for i in range(8)])
    engine = quickly(chain)
    report = FitReport.from_json(engine.files["report.json"].decode())
    assert report.scores is None
    assert any("No triple could be held out" in note for note in report.notes)
    assert any("8 relations have fewer than 5 triples" in note for note in report.notes)
    assert any("The graph has no questions of the structures" in note for note in report.notes)
    assert not set(engine.about["structures"]) & set(engine.about["lacking"])
    assert set(engine.about["structures"]) | set(engine.about["lacking"]) == set(EFOL_TRAINED)
    assert trained_structures(engine.about) == tuple(engine.about["structures"])
    assert "calibration.svg" not in engine.files
    answers = engine.ask("?x : r0(a0, ?x)", top=2)
    assert answers.known[0].entity == "a1"
    assert not answers.calibrated


def test_a_handful_held_out_measures_no_probabilities() -> None:
    rows = [(f"a{i % 9}", f"r{i % 3}", f"b{i % 7}") for i in range(63)]
    engine = quickly(KnowledgeGraph.from_triples(rows))
    report = FitReport.from_json(engine.files["report.json"].decode())
    assert report.scores is not None
    assert report.calibration is None
    assert any("could be held out, too few to measure by" in note for note in report.notes)
    assert report.device.endswith(
        " 1 thread" if torch.get_num_threads() == 1 else f" {torch.get_num_threads()} threads"
    )
    assert "calibration.svg" not in engine.files
    assert not engine.ask("?x : r0(a0, ?x)", top=2).calibrated


def test_no_triples_are_refused() -> None:
    base = KnowledgeGraph.from_triples([("a", "r", "b")])
    empty = KnowledgeGraph("empty", base.vocabulary, {"train": base.splits["train"][:0]})
    with pytest.raises(InputError, match="the graph 'empty' holds no triples"):
        fit(empty, progress=False)


def test_training_tells_links_from_questions(graph: KnowledgeGraph, capsys: pytest.CaptureFixture[str]) -> None:
    fit(graph, settings=quick(graph))
    told = " ".join(capsys.readouterr().err.split())
    assert told.index("single links: step 2") < told.index("questions: step 3")


@pytest.mark.parametrize("kept", [True, False])
def test_an_interruption_of_measuring_says_what_follows(
    graph: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pathformer.fitting.fit.assess", stop)
    words = "repeats this stage and keeps" if kept else "nothing was kept, the same command starts over"
    with pytest.raises(KeyboardInterrupt, match=f"stopped while measuring and calibrating: .*{words}"):
        quickly(graph, out=tmp_path / "engine" if kept else None)
    assert (tmp_path / ".engine.fit/training/last.safetensors").is_file() == kept


def test_an_engine_that_is_there_is_refused_before_any_work(
    graph: KnowledgeGraph, made: tuple[pathformer.Engine, Path]
) -> None:
    _, out = made
    with pytest.raises(InputError, match="exists already"):
        quickly(graph, out=out)
    assert {path.name for path in out.parent.iterdir()} == {"engine"}


def test_an_unfinished_fit_of_something_else_is_refused(graph: KnowledgeGraph, tmp_path: Path) -> None:
    other = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c")])
    work = tmp_path / ".engine.fit"
    work.mkdir()
    (work / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match="exists and is not from `pathformer fit`"):
        quickly(graph, out=tmp_path / "engine", fresh=True)
    assert [path.name for path in work.iterdir()] == ["letter.txt"]
    (work / "fit.json").write_text(json.dumps({"fingerprint": other.fingerprint(), "settings": {}}))
    with pytest.raises(InputError, match=r"an unfinished fit of another graph.*--fresh"):
        quickly(graph, out=tmp_path / "engine")
    (work / "fit.json").write_text(json.dumps({"fingerprint": graph.fingerprint(), "settings": {}}))
    with pytest.raises(InputError, match=r"an unfinished fit with other settings \(.* was None and is .* more\)"):
        quickly(graph, out=tmp_path / "engine")
    quickly(graph, out=tmp_path / "engine", fresh=True)
    assert not work.exists()


STEPS = 150
PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from test_fit import quick
from pathformer.fitting.fit import fit
from pathformer.kg.knowledge import KnowledgeGraph
from dataclasses import replace
kg = KnowledgeGraph.read({triples!r})
scale = quick(kg, steps={steps})
scale = replace(scale, training=replace(scale.training, save_minutes=0.001))
fit(kg, out={out!r}, settings=scale, progress=True)
"""


def start(kg_file: Path, out: Path, steps: int) -> subprocess.Popen[bytes]:
    program = PROGRAM.format(tests=str(Path(__file__).parent), triples=str(kg_file), out=str(out), steps=steps)
    return subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)


def wait_for(there: Callable[[], bool]) -> None:
    for _ in range(600):
        if there():
            return
        time.sleep(0.1)
    pytest.fail("it never came")


@pytest.fixture(scope="module")
def triples_file(graph: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("triples") / "triples.tsv"
    rows = graph.to_table().to_pylist()
    file.write_text("".join(f"{row['head']}\t{row['relation']}\t{row['tail']}\n" for row in rows))
    return file


@pytest.fixture(scope="module")
def uninterrupted(triples_file: Path) -> pathformer.Engine:
    kg = KnowledgeGraph.read(triples_file)
    return fit(kg, settings=quick(kg, STEPS), progress=False)


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_an_interrupted_fit_goes_on_to_the_same_engine(
    triples_file: Path, uninterrupted: pathformer.Engine, tmp_path: Path, how: signal.Signals
) -> None:
    out, begun = tmp_path / "engine", tmp_path / ".engine.fit/training/last.safetensors"
    process = start(triples_file, out, STEPS)
    wait_for(lambda: begun.is_file() or process.poll() is not None)
    process.send_signal(how)
    assert process.wait(60) != 0
    assert begun.is_file()
    assert not out.exists(), "it was done before it could be stopped"
    kg = KnowledgeGraph.read(triples_file)
    scale = quick(kg, STEPS)
    scale = replace(scale, training=replace(scale.training, save_minutes=0.001))
    resumed = fit(kg, out=out, settings=scale, progress=False)
    assert not begun.exists()
    for name, tensor in uninterrupted.encoder.model.state_dict().items():
        assert tensor.equal(resumed.encoder.model.state_dict()[name]), name
    assert uninterrupted.calibration.to_json() == resumed.calibration.to_json()


@pytest.mark.gpu
def test_a_fit_on_a_card_opens_on_a_processor(graph: KnowledgeGraph, tmp_path: Path) -> None:
    made = fit(graph, settings=quick(graph, 20), device="cuda", out=tmp_path / "engine", progress=False)
    assert made.encoder.model.entities.weight.is_cuda
    opened = pathformer.load(tmp_path / "engine", device="cpu")
    tree = STRUCTURES["2p"].tree([1, 0, 2])
    one, other = made.ask(tree, top=5), opened.ask(tree, top=5)
    assert {answer.entity for answer in one.known} == {answer.entity for answer in other.known}
    assert len(other.predicted) == 5


def test_settings_follow_the_graph_and_the_machine() -> None:
    small, large = (settings_for(entities=n, triples=10 * n, minutes=5) for n in (500, 300_000))
    card = settings_for(entities=15_000, triples=300_000, minutes=5, cuda=True)
    assert small.training.update.softmax.entities == "all"
    assert large.training.update.softmax.entities == "drawn"  # a batch against all entities would not fit
    assert card.training.update.softmax.entities == "all"
    assert card.model["dim"] > small.model["dim"]
    assert small.held_out == 0.05
    assert large.held_out * 3_000_000 == pytest.approx(20_000)
    assert settings_for(entities=50, triples=100).held_out == 0.1
    boxes = [settings_for(entities=100, triples=n).minutes for n in (100, 3_000, 50_000, 10**6)]
    assert boxes == sorted(boxes)
    assert boxes[0] < 1 < boxes[-1] <= 10
    assert large.held_out_per_structure < small.held_out_per_structure
    assert set(small.training.mix) == set(EFOL_TRAINED)
    assert small.training.redraw_every > 0 == settings_for(entities=500, triples=5000, minutes=1).training.redraw_every


@pytest.mark.parametrize("minutes", [0.0, -1.0, float("nan"), float("inf"), "1"])
def test_a_time_that_is_none_is_refused_before_any_work(minutes: Any) -> None:
    with pytest.raises(InputError, match="minutes must be a positive finite number, got"):
        settings_for(entities=50, triples=100, minutes=minutes)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("films.tsv", r"not a str: make one with KnowledgeGraph\.read\('films\.tsv'\)"),
        ([("a", "r", "b")], r"not a list: make one with KnowledgeGraph\.from_triples\(\.\.\.\)"),
        (None, "not a NoneType: make one with"),
    ],
)
def test_what_is_no_graph_is_told_how_to_become_one(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"^fit takes a KnowledgeGraph, {message}"):
        fit(given, minutes=0.01, progress=False)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "a", None])
def test_a_seed_is_a_number_of_64_bits(seed: Any) -> None:
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    with pytest.raises(InputError, match=rf"^seed {seed}: expected a whole number from 0, below 2\^64$"):
        fit(kg, minutes=0.01, seed=seed, progress=False)
