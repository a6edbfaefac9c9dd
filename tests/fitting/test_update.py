"""An engine that learns more: old answers stay, new entities start where the model expects them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from support.engines import engine_over
from typer.testing import CliRunner

import pathformer
from pathformer.cli._main import app
from pathformer.engine.engine import Engine
from pathformer.engine.history import trained_structures
from pathformer.errors import InputError
from pathformer.evaluation.evaluate import ModelRanker
from pathformer.fitting.change import Change
from pathformer.fitting.fit import fit
from pathformer.fitting.new_entities import grow_model, initialise_new_entities
from pathformer.fitting.reindex import reindex
from pathformer.fitting.release import compress
from pathformer.fitting.report import FitReport
from pathformer.fitting.settings import settings_for
from pathformer.fitting.unknown_names import warn_about_unknown_names
from pathformer.fitting.update import update as update_engine
from pathformer.fitting.update_settings import row_rates, settings_for_update
from pathformer.fitting.workspace import open_workspace
from pathformer.kg.graph import Graph
from pathformer.kg.grow import Grown, grow
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.ragged import Ragged
from pathformer.models._base import Model, build
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.querysets.queries import Queries

NEW = [("fresh", "r0", "e1"), ("fresh", "r1", "e2"), ("e3", "r2", "fresh"), ("later", "r0", "fresh"), ("e4", "x", "e5")]


@pytest.fixture
def folder(graph: KnowledgeGraph, tmp_path: Path, made: Path) -> Path:
    """An engine of one's own to change."""
    shutil.copytree(made, tmp_path / "engine")
    return tmp_path / "engine"


@pytest.fixture(scope="module")
def made(graph: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    usual = settings_for(entities=50, triples=460, minutes=1.0, hops=False).with_steps(3)
    training = replace(usual.training, batch=32, validations=1)
    scale = replace(
        usual,
        training=training,
        trained_per_structure=50,
        held_out_per_structure=10,
        model={**usual.model, "dim": 16, "heads": 2},
    )
    out = tmp_path_factory.mktemp("made") / "engine"
    fit(graph, out=out, settings=scale, progress=False)
    return out


def test_a_grown_model_says_the_same_of_what_it_knew(graph: KnowledgeGraph) -> None:
    torch.manual_seed(0)
    small = build("pathformer", {"dim": 16, "heads": 2, "layers": 1}, entities=50, relations=8).eval()
    grown = grow(graph, KnowledgeGraph.from_triples(NEW))
    large = grow_model(small, grown.kg).eval()
    assert large.entity_count == 52
    assert large.relation_count == 10
    for name, row in (("2p", [1, 0, 2]), ("2in", [1, 0, 3, 4])):  # the token of a negation is the table's last row
        asked = Queries(STRUCTURES[name], np.array([row], np.int32), Ragged.empty(1), Ragged.empty(1))
        with torch.inference_mode():
            before, after = (ModelRanker(model).points(asked)[0] for model in (small, large))
        assert after.equal(before)


def test_the_folder_one_is_in_is_refused_before_any_work(
    graph: KnowledgeGraph, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was found out after the training, which was lost."""
    message = r"^\. is this folder or one above it"
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    with pytest.raises(InputError, match=message):
        update_engine(".", KnowledgeGraph.from_triples(NEW), minutes=0.01, progress=False)
    assert sorted(folder.iterdir()) == before
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(InputError, match=message):
        fit(graph, out=".", minutes=0.01, progress=False)
    assert not list((tmp_path / "empty").iterdir())


def test_an_engine_that_another_command_changed_meanwhile_keeps_that_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two updates at once: what the first one wrote was lost."""
    more = KnowledgeGraph.from_triples(NEW)

    def slowly(kg: KnowledgeGraph, triples: KnowledgeGraph, seed: int) -> Grown:
        old = Engine.open(folder)
        Engine(old.kg, old.encoder, old.index, old.calibration, {**old.about, "note": "first"}).save(folder, force=True)
        return grow(kg, triples, seed=seed)

    monkeypatch.setattr("pathformer.fitting.update.grow", slowly)
    with pytest.raises(InputError, match=f"another command changed {folder} meanwhile: update it again with the same"):
        update_engine(folder, more, minutes=0.01, progress=False)
    monkeypatch.undo()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    assert Engine.open(folder).about["note"] == "first"
    assert update_engine(folder, more, minutes=0.01, progress=False).kg.vocabulary.entity_count == 52


TRIPLES = [("a", "r", "b"), ("b", "r", "c"), ("a", "r", "new"), ("new", "r", "c"), ("new", "r", "later")]


def predicted(model: Model, *links: tuple[int, int]) -> torch.Tensor:
    """The mean of what single links predict."""
    rows = np.array(links, np.int32)
    asked = Queries(STRUCTURES["1p"], rows, Ragged.empty(len(rows)), Ragged.empty(len(rows)))
    with torch.inference_mode():
        return ModelRanker(model).points(asked)[0].mean(dim=0)


def toy(space: str, seed: int = 0) -> tuple[Model, Graph]:
    torch.manual_seed(seed)
    kg = KnowledgeGraph.from_triples(TRIPLES)
    assert list(kg.vocabulary.entities) == ["a", "b", "c", "new", "later"]
    model = build("pathformer", {"dim": 8, "heads": 2, "layers": 1, "space": space}, entities=5, relations=2).eval()
    return model, kg.graph()


def test_a_new_entity_starts_at_the_mean_of_what_its_links_predict() -> None:
    model, graph = toy("point")
    old = model.entities.weight.detach().clone()
    expected = predicted(model, (0, 0), (2, 1))
    initialise_new_entities(model, graph, 3, rounds=1)
    assert model.entities.weight[3].detach().allclose(expected, atol=1e-6)
    assert model.entities.weight[:3].equal(old[:3])
    assert model.entities.weight[4].equal(old[4])  # nothing that it is linked to had a place yet
    follows = predicted(model, (3, 0))
    initialise_new_entities(model, graph, 4, rounds=1)
    assert model.entities.weight[4].detach().allclose(follows, atol=1e-6)


def test_on_a_sphere_it_lies_further_from_its_mean_than_old_ones_do() -> None:
    model, graph = toy("sphere", 2)  # of those in which old entities lie near what their links predict
    links = {0: [(1, 1)], 1: [(0, 0), (2, 1)], 2: [(1, 0)]}  # of the old entities to old ones
    old = model.entities.weight.detach().clone()
    cosines = [torch.cosine_similarity(old[e], predicted(model, *known), dim=0) for e, known in links.items()]
    expected = predicted(model, (0, 0), (2, 1))
    initialise_new_entities(model, graph, 3, rounds=1)
    placed = model.entities.weight[3].detach()
    typical = 0.3 * max(0.0, float(torch.stack(cosines).mean()))
    assert typical > 0.1
    assert float(torch.cosine_similarity(placed, expected, dim=0)) == pytest.approx(typical, abs=1e-5)
    assert float(placed.norm()) == pytest.approx(float(old[:3].norm(dim=1).mean()), rel=1e-5)


def test_an_update_knows_the_new_and_keeps_the_old(graph: KnowledgeGraph, folder: Path) -> None:
    before = pathformer.load(folder)
    engine = update_engine(folder, KnowledgeGraph.from_triples(NEW), minutes=0.01, progress=False)
    opened = pathformer.load(folder)
    assert not (folder.parent / ".engine.fit").exists()
    for one in (engine, opened):
        assert one.kg.triple_count == graph.triple_count + len(NEW)
        assert [found.entity for found in one.ask("?x : r0(fresh, ?x)", top=0)] == ["e1"]
        assert "e5" in [found.entity for found in one.ask("?x : x(e4, ?x)", top=0)]
    assert {t.tobytes() for t in before.kg.splits["test"]} <= {t.tobytes() for t in opened.kg.splits["test"]}
    [change] = opened.about["updates"]
    assert (change["triples"], change["entities"], change["relations"]) == (5, 2, 1)
    assert change["before"] is not None
    assert opened.about == engine.about
    for name in ("seconds", "minutes", "seed", "steps", "device", "version", "commit", "date", "structures", "lacking"):
        assert opened.about[name] == before.about[name]  # the first fit's: what an update had is told in `updates`
    report = FitReport.from_json(opened.files["report.json"].decode())
    assert list(report.seconds)[-1] == "measuring and calibrating"
    assert change["seconds"] >= sum(report.seconds.values())
    again = update_engine(folder, KnowledgeGraph.from_triples(NEW), progress=False)
    assert again.about["updates"] == [change]  # nothing new, nothing done


def test_an_update_without_a_step_knows_what_it_knew(folder: Path) -> None:
    engine = update_engine(folder, KnowledgeGraph.from_triples(NEW), minutes=1e-7, progress=False)
    notes = FitReport.from_json(engine.files["report.json"].decode()).notes
    assert any("No training step fitted into the time" in note for note in notes)
    assert engine.about["updates"][0]["steps"] == 0


def test_an_update_of_links_leaves_alone_what_new_triples_do_not_name(graph: KnowledgeGraph, tmp_path: Path) -> None:
    usual = settings_for(entities=50, triples=460, minutes=1.0)
    small = replace(
        usual.with_steps(3),
        trained_per_structure=50,
        held_out_per_structure=10,
        model={**usual.model, "dim": 16, "heads": 2},
    )
    assert small.links is not None
    small = replace(small, links=replace(small.links, model={**small.links.model, "rank": 8}))
    old = fit(graph, out=tmp_path / "engine", settings=small, progress=False)
    new = update_engine(tmp_path / "engine", KnowledgeGraph.from_triples(NEW), minutes=0.03, progress=False)
    assert new.about["updates"][0]["steps"] > 0
    before, after = old.encoder.model.state_dict(), new.encoder.model.state_dict()
    tables = {"entities.weight": 50, "operators.weight": 8, "domains.weight": 8}
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items() if name not in tables)
    changed = {
        name: {row for row in range(rows) if not torch.equal(before[name][row], after[name][row])}
        for name, rows in tables.items()
    }
    named = {graph.vocabulary.entities.find(name)[0] for name in ("e1", "e2", "e3", "e4", "e5")}
    assert changed == {"entities.weight": named, "operators.weight": set(), "domains.weight": set()}
    assert torch.equal(before["operators.weight"][-1], after["operators.weight"][-1])  # the token of a negation
    notes = FitReport.from_json(new.files["report.json"].decode()).notes
    assert not [note for note in notes if "no questions of the shape" in note]  # it did not ask for others
    assert trained_structures(new.about) == tuple(old.about["structures"]) == EFOL_TRAINED


def test_rows_move_as_fast_as_they_are_new(graph: KnowledgeGraph) -> None:
    grown = grow(graph, KnowledgeGraph.from_triples(NEW))
    small = build("composed", {"dim": 16, "heads": 2, "domains": False}, entities=50, relations=8)
    moved = row_rates(grow_model(small, grown.kg), grown)
    assert moved is not None
    find = grown.kg.vocabulary.entities.find
    rates = moved["entities.weight"].flatten().tolist()
    assert [rates[find(entity)[0]] for entity in ("e1", "e2", "e3", "e4", "e5")] == pytest.approx([0.05] * 5)
    assert rates[-2:] == [1.0, 1.0]
    assert sum(rate > 0 for rate in rates) == 7
    assert moved["operators.weight"].flatten().tolist() == [*[0.0] * 8, 1.0, 1.0, 0.0]


def test_a_release_is_not_updated(folder: Path, tmp_path: Path) -> None:
    small = compress(pathformer.load(folder), "int8").save(tmp_path / "small")
    before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=r"small is a release in int8.* Update the engine that it was made from"):
        update_engine(small, KnowledgeGraph.from_triples(NEW), minutes=0.01, progress=False)
    assert {path: path.read_bytes() for path in small.rglob("*") if path.is_file()} == before


def test_an_update_keeps_the_index_as_it_was_asked_for(folder: Path) -> None:
    engine = reindex(pathformer.load(folder), "lsh", ["bits=128", "recall=0.7"])
    engine.index.remove([3])
    engine.save(folder, force=True)
    update_engine(folder, KnowledgeGraph.from_triples(NEW), minutes=0.01, progress=False)
    index = pathformer.load(folder).index
    assert (index.name, index.given) == ("lsh", engine.index.given)
    assert (index.config.bits, index.config.recall, index.rows) == (128, 0.7, 52)
    assert index.removed.tolist() == [3]


@pytest.mark.parametrize("entities", [50, 30_000])
def test_an_update_trains_as_the_engine_s_own_model_was(
    graph: KnowledgeGraph, entities: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many entities there are now, more than a new fit would make such a model for among them."""
    grown, engines = grow(graph, KnowledgeGraph.from_triples(NEW)), []
    methods = (("composed", {}), ("pathformer", {"space": "sphere"}))
    for method, settings in methods:
        model = build(method, {"dim": 16, "heads": 2, "layers": 1, **settings}, entities=50, relations=8)
        engines.append(engine_over(graph, model))
    monkeypatch.setattr(type(grown.kg.vocabulary), "entity_count", entities)
    for old, (method, _), rate in zip(engines, methods, (3e-2, 1e-1), strict=True):
        scale = settings_for_update(old, grown, 1.0, torch.device("cpu"), 0)
        assert scale.training.update.rate == rate, method
        assert (scale.training.update.softmax.n3 > 0) == (method == "composed")
        assert scale.links is None
        assert scale.method == method


def an_engine(graph: KnowledgeGraph, method: str = "pathformer", **config: object) -> Engine:
    """Of a model that knows nothing, over a graph of 50 entities and 8 relations."""
    torch.manual_seed(0)
    model = build(method, config, entities=50, relations=8)
    return engine_over(graph, model)


@pytest.mark.parametrize(("memory", "batch"), [(16 << 30, 640), (139 << 30, 2560)])
def test_a_larger_card_learns_more_at_once(
    graph: KnowledgeGraph, memory: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = grow(graph, KnowledgeGraph.from_triples(NEW))
    old = an_engine(graph, "composed", dim=16, heads=2)
    monkeypatch.setattr(type(grown.kg.vocabulary), "entity_count", 500_000)
    monkeypatch.setattr("pathformer.fitting.update_settings.memory_of", lambda device: memory)
    assert settings_for_update(old, grown, 60.0, torch.device("cuda"), 0).training.batch == batch


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("minutes", [0.3, 20.0])
def test_links_alone_take_nothing_away_and_the_average_forgets_half_learned_rows(
    graph: KnowledgeGraph, device: str, minutes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pathformer.fitting.update_settings.memory_of", lambda device: None)
    old = an_engine(graph, "composed", dim=16, heads=2)
    usual = settings_for(entities=50, triples=460, minutes=minutes, cuda=device == "cuda", hops=True).training.update
    assert usual.softmax.removed > 0  # of a fit, whose questions have negations
    grown = grow(graph, KnowledgeGraph.from_triples(NEW))
    found = settings_for_update(old, grown, minutes, torch.device(device), 0).training.update
    assert (found.softmax.removed, found.ema) == (0, 0.98)


POSITIVE = {"1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up"}


@pytest.mark.parametrize(
    ("method", "config", "asked"),
    [
        ("gqe", {"dim": 8}, POSITIVE),
        ("q2b", {"dim": 8}, POSITIVE),
        ("complex", {"rank": 8}, {"1p", "2u"}),
    ],
)
def test_an_update_asks_what_the_method_takes(
    graph: KnowledgeGraph, method: str, config: dict[str, int], asked: set[str], tmp_path: Path
) -> None:
    folder = an_engine(graph.split(0.1, 0.1), method, **config).save(tmp_path / "engine")
    engine = update_engine(folder, KnowledgeGraph.from_triples(NEW), minutes=0.03, progress=False)
    [change] = engine.about["updates"]
    assert change["steps"] > 0
    assert change["before"] is not None
    assert engine.encoder.model.name == method
    scores = FitReport.from_json(engine.files["report.json"].decode()).scores
    assert scores is not None
    assert set(scores.scores) == asked


def test_in_other_spaces_all_of_a_model_is_trained_at_a_tenth_of_the_rate(
    graph: KnowledgeGraph, tmp_path: Path
) -> None:
    old, more = an_engine(graph.split(0.1, 0.1), "mlp", dim=8), KnowledgeGraph.from_triples(NEW)
    scale = settings_for_update(old, grow(old.kg, more), 1.0, torch.device("cpu"), 0)
    usual = settings_for(entities=52, triples=465, minutes=1.0, hops=False).training.update
    assert scale.training.update.rate == pytest.approx(0.1 * usual.rate)
    assert scale.training.update.softmax == usual.softmax
    new = update_engine(old.save(tmp_path / "engine"), more, minutes=0.03, progress=False)
    scores = FitReport.from_json(new.files["report.json"].decode()).scores
    assert scores is not None
    assert set(scores.scores) == set(STRUCTURES)
    before, after = old.encoder.model.state_dict(), new.encoder.model.state_dict()
    assert not [name for name, tensor in before.items() if torch.equal(tensor, after[name][: len(tensor)])]
    unnamed = graph.vocabulary.entities.find("e20")[0]
    assert not torch.equal(before["entities.weight"][unnamed], after["entities.weight"][unnamed])


def test_what_an_update_says_of_itself() -> None:
    whole = Change(90, 16, 0, 0.237, 0.229, 0.667, 0.254, 22.2, 300, "2026-11-16")
    assert whole.sentence() == (
        "Learned 90 new triples with 16 new entities in 22 s."
        " Old held-out questions: MRR 23.7 before, 22.9 now."
        " Links of new entities: MRR 66.7, counting baseline 25.4."
    )
    worse = replace(whole, after=0.226, new=None).sentence()
    assert worse.endswith("MRR 23.7 before, 22.6 now, 1.1 points worse.")
    assert replace(whole, steps=0).sentence().startswith(f"{whole.sentence()} No training step ")
    assert replace(whole, steps=1).sentence() == whole.sentence()
    assert replace(whole, before=None, new=None).sentence() == "Learned 90 new triples with 16 new entities in 22 s."
    one = replace(whole, triples=1, entities=1, relations=1, before=None, new=None)
    assert one.sentence() == "Learned 1 new triple with 1 new entity and 1 new relation in 22 s."


def test_names_that_the_engine_does_not_have_are_told_of() -> None:
    old = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c")]).with_labels({"a": "Anna", "b": "Ben"})

    def told(*triples: tuple[str, str, str]) -> str:
        return warn_about_unknown_names(old.vocabulary, KnowledgeGraph.from_triples(triples).vocabulary)

    assert all(part in told(("x", "r", "y")) for part in ("knows no entity", "'x'", "'a'"))
    named = told(("Anna", "r", "c"), ("c", "r", "Ben"), ("c", "r", "d"))
    assert all(part in named for part in ("2 new entities", "'Anna'", "'a'"))
    for triples in ([("a", "r", "d"), ("d", "s", "e")], [("a", "r", "b")], [("a", "r", "b"), ("x", "r", "y")]):
        assert told(*triples) == ""
    unlabelled, named = old.with_labels(None).vocabulary, KnowledgeGraph.from_triples([("Anna", "r", "c")]).vocabulary
    assert warn_about_unknown_names(unlabelled, named) == ""


def test_strangers_are_told_of_before_anything_is_learned(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pathformer.fitting.update.settings_for_update", stop)
    with pytest.raises(KeyboardInterrupt):
        update_engine(folder, KnowledgeGraph.from_triples([("x", "r0", "y")]))
    assert "the engine knows no entity of these triples" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        update_engine(folder, KnowledgeGraph.from_triples(NEW))
    assert "knows no entity" not in capsys.readouterr().err


def test_labels_alone_are_added_without_training(
    graph: KnowledgeGraph, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Engine.open(folder).ask("?x : r0(e1, ?x)")
    more = graph.with_labels({"e1": "one", "e2": "two"}, {"r0": "likes"})
    assert update_engine(folder, more).kg.vocabulary.labelled == 3
    assert "The engine already knows all of these triples. 3 labels were added." in capsys.readouterr().err
    labelled = Engine.open(folder)
    after = labelled.ask("?x : likes(one, ?x)")
    assert [(a.entity, a.score) for a in after] == [(a.entity, a.score) for a in before]
    update_engine(folder, more)
    assert "The engine already knows all of these triples. Nothing was changed." in capsys.readouterr().err


def test_a_folder_that_was_named_holds_an_engine_though_nothing_was_learned(
    graph: KnowledgeGraph, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was not written, and whoever opened it next found nothing there."""
    (tmp_path / "link").symlink_to(folder)
    written = (folder / "engine.json").stat().st_mtime_ns
    update_engine(folder, graph, out=tmp_path / "link")
    assert capsys.readouterr().err.endswith("The engine already knows all of these triples. Nothing was changed.\n")
    made = update_engine(folder, graph, out=tmp_path / "copy")
    told = capsys.readouterr().err
    assert told.endswith(f"The engine already knows all of these triples. {tmp_path / 'copy'} is a copy.\n")
    labelled = update_engine(folder, graph.with_labels({"e1": "one"}), out=tmp_path / "labelled", progress=False)
    assert (folder / "engine.json").stat().st_mtime_ns == written
    assert {path.name for path in tmp_path.iterdir()} == {"engine", "link", "copy", "labelled"}
    for engine, place, labels in ((made, "copy", 0), (labelled, "labelled", 1)):
        opened = Engine.open(tmp_path / place)
        assert engine.kg.vocabulary.labelled == opened.kg.vocabulary.labelled == labels
        found = [(a.entity, a.score, a.probability) for a in opened.ask("?x : r0(e2, ?x)")]
        assert found == [(a.entity, a.score, a.probability) for a in Engine.open(folder).ask("?x : r0(e2, ?x)")]


def test_labels_wait_for_an_update_that_is_at_work(graph: KnowledgeGraph, folder: Path) -> None:
    """They were written, and lost when it was done; one that was interrupted goes on with them."""
    more = graph.with_labels({"e1": "one"})
    with open_workspace(folder, graph, settings_for(entities=50, triples=460)) as work:
        with pytest.raises(InputError, match=f"^another fit is writing {folder}: wait for it"):
            update_engine(folder, more, progress=False)
        shutil.copytree(work, folder.parent / "kept")
    assert Engine.open(folder).kg.vocabulary.labelled == 0
    (folder.parent / "kept").rename(work)
    assert update_engine(folder, more, progress=False).kg.vocabulary.labelled == 1
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, work.name}
    shutil.rmtree(work)
    update_engine(folder, graph.with_labels({"e2": "two"}), progress=False)
    assert {path.name for path in folder.parent.iterdir()} == {folder.name}
    assert Engine.open(folder).kg.vocabulary.labelled == 2


@pytest.mark.parametrize("known", [False, True])
def test_labels_that_another_command_added_meanwhile_stay(
    known: bool, graph: KnowledgeGraph, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They change nothing of what the engine says of itself."""
    more = graph.with_labels({"e3": "three"}) if known else KnowledgeGraph.from_triples(NEW)

    def slowly(kg: KnowledgeGraph, triples: KnowledgeGraph, seed: int) -> Grown:
        monkeypatch.undo()
        update_engine(folder, graph.with_labels({"e1": "one"}), progress=False)
        return grow(kg, triples, seed=seed)

    monkeypatch.setattr("pathformer.fitting.update.grow", slowly)
    with pytest.raises(InputError, match=f"another command changed {folder} meanwhile"):
        update_engine(folder, more, minutes=0.01, progress=False)
    assert {path.name for path in folder.parent.iterdir()} == {folder.name}
    assert Engine.open(folder).kg.vocabulary.label(graph.vocabulary.entity_id("e1")) == "one"


def test_where_old_questions_lost_it_says_what_helps() -> None:
    lost = Change(90, 16, 0, 0.429, 0.403, None, None, 5.0, 300, "2026-11-16")
    assert lost.advice().startswith("Raise --minutes")
    assert replace(lost, after=0.42).advice() == ""
    assert replace(lost, after=None).advice() == ""


@pytest.mark.parametrize("worse", [True, False])
def test_the_advice_is_a_line_of_its_own(
    folder: Path, worse: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = iter((0.5, 0.4 if worse else 0.5))
    monkeypatch.setattr("pathformer.fitting.update_training._mrr", lambda model, held: next(figures))
    update_engine(folder, KnowledgeGraph.from_triples(NEW), minutes=1e-7)
    lines = capsys.readouterr().err.splitlines()
    assert any("Learned 5 new triples with 2 new entities" in line for line in lines)
    assert any(line.startswith("Raise --minutes") for line in lines) == worse


def test_the_command_line_wants_one_place() -> None:
    for places, words in (
        ([], "no place for the result"),
        (["--out", "a", "--update", "b"], "--out and --update exclude each other"),
        (["--update", "b", "--index", "lsh"], "--index and --force go with --out"),
        (["--update", "b", "--force"], "--index and --force go with --out"),
    ):
        done = CliRunner().invoke(app, ["fit", "world", *places])
        assert done.exit_code == 2
        assert words in done.output


def test_a_graph_that_could_spare_nothing_grows(tmp_path: Path) -> None:
    fit(KnowledgeGraph.from_triples([("a", "r", "b")]), out=tmp_path / "engine", minutes=0.01, progress=False)
    more = KnowledgeGraph.from_triples([("c", "s", "d")])
    [change] = update_engine(tmp_path / "engine", more, minutes=0.01, progress=False).about["updates"]
    assert (change["triples"], change["entities"], change["before"], change["after"]) == (1, 2, None, None)
    assert [a.entity for a in pathformer.load(tmp_path / "engine").ask("?x : s(c, ?x)", top=0)] == ["d"]
