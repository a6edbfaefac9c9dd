"""An engine's folder: saved whole, opened as it was, refused with a sentence where it is not one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from support.engines import engine_over
from support.saves import reseal

import pathformer as pf
from pathformer.engine.engine import Engine
from pathformer.errors import CheckpointError, DamagedError, EngineError, InputError
from pathformer.files.tensors import read, write
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build

FELLINI = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"


@pytest.fixture
def folder(engine: Engine, tmp_path: Path) -> Path:
    return engine.save(tmp_path / "films")


def test_what_is_opened_answers_as_what_was_saved(engine: Engine, folder: Path) -> None:
    opened = pf.load(folder)
    assert opened.ask(FELLINI) == engine.ask(FELLINI)
    assert opened.about == {"note": "toy"}
    assert repr(opened) == repr(engine) == "<Engine 'films': 18 entities, 20 triples, pathformer, exact index>"
    assert not any(p.requires_grad for p in opened.encoder.model.parameters())
    again = pf.load(opened.save(folder.parent / "copy"))
    assert again.ask(FELLINI) == engine.ask(FELLINI)


def test_an_engine_answers_as_it_did_when_another_takes_its_place(engine: Engine, folder: Path) -> None:
    opened, names = pf.load(folder), engine.kg.vocabulary
    backwards = KnowledgeGraph.from_triples(
        [(t["head"][::-1], t["relation"], t["tail"][::-1]) for t in reversed(engine.kg.to_table().to_pylist())]
    )
    assert backwards.vocabulary.entity_count == names.entity_count
    Engine(backwards, engine.encoder, engine.index).save(folder, force=True)
    assert opened.ask(FELLINI) == engine.ask(FELLINI)
    assert pf.load(folder).ask("?x : directed(inilleF, ?x)", known=True)[0].entity[::-1] in set(names.entities)


def test_the_folder_is_as_described(folder: Path) -> None:
    header = json.loads((folder / "engine.json").read_text())
    assert header["format"] == "pathformer engine"
    assert (header["entities"], header["relations"], header["triples"]) == (18, 8, 20)
    assert (header["method"], header["index"], header["model"]["dim"]) == ("pathformer", "exact", 16)
    assert {path.name for path in folder.iterdir()} == {
        "engine.json",
        "graph",
        "model.safetensors",
        "index",
        "calibration.json",
        "manifest.json",
    }


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("gpu", "no device is called 'gpu'; use auto, cpu, cuda, or cuda:1 for a second card"),
        ("cuda", "device 'cuda': this machine has no CUDA device; use cpu or auto"),
    ],
)
def test_a_device_that_is_not_there_is_told(
    folder: Path, device: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match=message):
        Engine.open(folder, device)
    assert Engine.open(folder, "auto").encoder.device.type == "cpu"


def test_an_engine_that_is_not_finished_is_told_to_be(tmp_path: Path) -> None:
    (tmp_path / ".films.fit").mkdir()
    with pytest.raises(EngineError, match="films is not fitted yet: run the same `pathformer fit` again"):
        pf.load(tmp_path / "films")
    with pytest.raises(EngineError, match=r"others does not exist: make an engine there with"):
        pf.load(tmp_path / "others")


def test_reports_are_kept(engine: Engine, tmp_path: Path) -> None:
    with_report = Engine(engine.kg, engine.encoder, engine.index, files={"report.md": b"# films\n"})
    opened = pf.load(with_report.save(tmp_path / "films"))
    assert opened.files == {"report.md": b"# films\n"}


def test_loading_draws_no_numbers_and_maps_the_weights(folder: Path) -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    opened = pf.load(folder)
    assert torch.equal(before, torch.random.get_rng_state())
    assert opened.encoder.model.paths.positions is not None  # what is not saved is there too
    assert bool(torch.isfinite(opened.encoder.model.paths.positions).all())


def test_weights_keep_their_precision(films: KnowledgeGraph, tmp_path: Path) -> None:
    vocabulary = films.vocabulary
    settings = {"dim": 16, "layers": 1, "heads": 2}
    model = build("pathformer", settings, entities=vocabulary.entity_count, relations=vocabulary.relation_count)
    model = model.to(torch.bfloat16)
    half = engine_over(films, model)
    opened = pf.load(half.save(tmp_path / "half"))
    assert {p.dtype for p in opened.encoder.model.parameters()} == {torch.bfloat16}
    assert opened.ask(FELLINI) == half.ask(FELLINI)


def test_an_engine_is_not_overwritten_unless_it_is_said(engine: Engine, folder: Path) -> None:
    with pytest.raises(InputError, match="exists already: choose another folder, or replace it with --force"):
        engine.save(folder)
    engine.save(folder, force=True)
    (folder.parent / "mine").mkdir()
    (folder.parent / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="was not made by this command"):
        engine.save(folder.parent / "mine", force=True)


def test_what_fails_while_saving_leaves_nothing(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.index, "save", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        engine.save(tmp_path / "films")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is not JSON"),
        ("[]", "holds no JSON object"),
        ('{"format": "something"}', "is not the header of an engine"),
        ('{"format": "pathformer engine", "version": 1}', "has version 1, this program reads 3: fit the engine again"),
        ('{"format": "pathformer engine", "version": 3}', r"engine\.json: 'fingerprint' is missing: the engine is dam"),
    ],
)
def test_a_damaged_header_is_refused(folder: Path, content: str, complaint: str) -> None:
    (folder / "engine.json").write_text(content)
    reseal(folder)
    with pytest.raises(EngineError, match=complaint):
        pf.load(folder)


def test_a_folder_that_is_no_engine_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="nowhere does not exist: make an engine there with"):
        pf.load(tmp_path / "nowhere")
    with pytest.raises(EngineError, match=r"graph holds no engine: .* --out DIR"):
        pf.load(folder / "graph")
    (tmp_path / "last.safetensors").touch()
    with pytest.raises(EngineError, match=r"is a run of `pathformer train`, .* `pathformer release \S+ DIR`"):
        pf.load(tmp_path)
    (folder / "calibration.json").unlink()
    with pytest.raises(DamagedError, match=r"calibration\.json is missing: `pathformer check \S+ --repair`"):
        pf.load(folder)


def test_parts_that_do_not_belong_together_are_refused(engine: Engine, folder: Path) -> None:
    other = KnowledgeGraph.from_triples([("a", "r", "b")])
    other.save(folder / "graph", force=True)
    with pytest.raises(DamagedError, match=r"graph/manifest\.json .*: the engine is damaged"):
        pf.load(folder)
    reseal(folder)
    with pytest.raises(CheckpointError, match="was trained on another graph"):
        pf.load(folder)


def renamed(engine: Engine, folder: Path) -> Path:
    """An engine with as many entities and relations, all of them others."""
    rows = engine.kg.to_table().to_pylist()
    triples = [tuple(f"other {row[place]}" for place in ("head", "relation", "tail")) for row in rows]
    return Engine(KnowledgeGraph.from_triples(triples, name="others"), engine.encoder, engine.index).save(folder)


def test_weights_of_an_engine_of_the_same_size_are_refused(engine: Engine, folder: Path, tmp_path: Path) -> None:
    other = renamed(engine, tmp_path / "others")
    shutil.copy(other / "model.safetensors", folder)
    with pytest.raises(DamagedError, match=r"model\.safetensors .*: the engine is damaged"):
        pf.load(folder)
    reseal(folder)
    ours, theirs = (pf.KnowledgeGraph.open(home / "graph").vocabulary.fingerprint() for home in (folder, other))
    assert ours != theirs
    complaint = rf"model\.safetensors was trained on another graph: .* {theirs} \(others\), that of films is {ours};"
    with pytest.raises(CheckpointError, match=complaint):
        pf.load(folder)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"relations": "8"}, "'relations' is not a count: the engine is damaged"),
        ({"method": None}, "'method' is not text: the engine is damaged"),
        ({"fingerprint": None}, "'fingerprint' is not text: the engine is damaged"),
    ],
)
def test_a_damaged_header_of_the_weights_is_refused(folder: Path, changed: dict[str, object], complaint: str) -> None:
    file = folder / "model.safetensors"
    saved = read(file)
    write(file, {**saved.facts, **changed}, {name: tensor.clone() for name, tensor in saved.tensors.items()})
    reseal(folder)
    with pytest.raises(EngineError, match=rf"model\.safetensors: {complaint}"):
        pf.load(folder)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"bias": None}, "'bias' is not a number"),
        ({"bias": float("nan")}, "'bias' is not a number"),
        ({"predictions": "many"}, "'predictions' is not a count"),
        ({"features": {}}, "not the numbers of a calibration: 'log rank'"),
        ({"features": []}, "'features' is not an object"),
        ({"steps": []}, "not the numbers of a calibration"),
        ({"levels": [0.1]}, "not the numbers of a calibration"),
        ({"levels": ["x", "y"]}, "not the numbers of a calibration: "),
        ({"steps": [0.0, 1.0], "levels": [0.0, float("nan")]}, "not the numbers of a calibration"),
        ({"steps": [0.0, 1.0], "levels": [0.0, 1.5]}, "'levels' are no probabilities"),
    ],
)
def test_probabilities_that_are_none_are_refused(folder: Path, changed: dict[str, object], complaint: str) -> None:
    file = folder / "calibration.json"
    curves = json.loads(file.read_text())["curves"]
    file.write_text(json.dumps({"curves": {**curves, "all": {**curves["all"], **changed}}}))
    reseal(folder)
    with pytest.raises(EngineError, match=rf"calibration\.json: {complaint}.*: the engine is damaged"):
        pf.load(folder)
