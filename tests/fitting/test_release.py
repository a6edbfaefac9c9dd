"""A release: opened as any engine, the same known answers, nearly the same predictions, in less space."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from support.engines import engine_over, load_with_torch
from support.saves import reseal

import pathformer as pf
from pathformer.engine.answer.read import Question
from pathformer.engine.engine import Engine
from pathformer.errors import EngineError, InputError
from pathformer.fitting.reindex import reindex
from pathformer.fitting.release import compress
from pathformer.index._base import build_for
from pathformer.kg import knowledge
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build

FELLINI = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"
FORMS = {"bf16": 0.55, "int8": 0.35}  # and the share of the weights' size that is left at most, in a small model


@pytest.fixture(scope="module")
def wide(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> Engine:
    """Fifty entities in 64 numbers each, spread as a trained table is: rows of very different lengths."""
    kg = KnowledgeGraph.from_triples(small_graph_triples["train"], name="small")
    torch.manual_seed(1)
    names = kg.vocabulary
    settings = {"dim": 64, "layers": 2, "heads": 4, "space": "sphere", "fork": "set"}
    model = build("pathformer", settings, entities=names.entity_count, relations=names.relation_count)
    with torch.no_grad():
        model.entities.weight.mul_(torch.logspace(-2, 2, names.entity_count)[:, None])
    return engine_over(kg, model, about={"seed": 1})


def questions(engine: Engine) -> list[Question]:
    names = engine.kg.vocabulary
    return [f"?x : r{n % 4}({names.entity(n)}, ?y) & r{n % 3}(?y, ?x)" for n in range(40)]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_opened_is_what_was_released(wide: Engine, form: str, tmp_path: Path) -> None:
    before = compress(wide, form)
    opened = load_with_torch(compress(wide, form).save(tmp_path / form))
    assert opened.encoder.form == before.encoder.form == form
    for one, other in zip(opened.ask(questions(wide)), before.ask(questions(wide)), strict=True):
        assert one == other
    assert {p.dtype for p in opened.encoder.model.parameters()} == {torch.float32}
    assert not any(p.requires_grad for p in opened.encoder.model.parameters())
    assert wide.encoder.form == "full"
    assert opened.about == wide.about


def test_a_release_of_the_bundled_graph_holds_its_notices(tmp_path: Path) -> None:
    kg = load("world")
    names = kg.vocabulary
    model = build("complex", {"rank": 2}, entities=names.entity_count, relations=names.relation_count)
    engine = engine_over(kg, model)
    folder = compress(engine, "int8").save(tmp_path / "small")
    assert (folder / "LICENSES.md").read_bytes() == (
        Path(knowledge.__file__).parent / "world" / "LICENSES.md"
    ).read_bytes()
    assert (
        "licence of the data: CC BY 4.0 (GeoNames, www.geonames.org; changed)" in (folder / "MODEL_CARD.md").read_text()
    )
    assert "LICENSES.md" in pf.load(folder).files
    assert not (engine.save(tmp_path / "full") / "LICENSES.md").exists()  # nobody passes that on


@pytest.mark.parametrize("form", FORMS)
def test_known_answers_are_the_same_and_predictions_nearly(wide: Engine, form: str) -> None:
    small = compress(wide, form)
    shared = []
    for full, less in zip(wide.ask(questions(wide)), small.ask(questions(wide)), strict=True):
        assert {a.entity for a in full if a.known} == {a.entity for a in less if a.known}
        ten, others = ({a.entity for a in answers if not a.known} for answers in (full, less))
        shared.append(len(ten & others) / max(1, len(ten)))
    assert np.mean(shared) >= 0.95  # of the ten best predictions; near ties may change places at the end of the ten
    exact, rounded = (engine.encoder.model.entities.weight.detach() for engine in (wide, small))
    assert not torch.equal(exact, rounded)
    torch.testing.assert_close(rounded, exact, rtol=0.0, atol=float(exact.abs().max()) / 250)


@pytest.mark.parametrize(("form", "share"), FORMS.items())
def test_it_takes_less_space(wide: Engine, form: str, share: float, tmp_path: Path) -> None:
    full, less = wide.save(tmp_path / "full"), compress(wide, form).save(tmp_path / "less")
    before, after = ((folder / "model.safetensors").stat().st_size for folder in (full, less))
    assert after < share * before
    assert (full / "index").is_dir()
    assert not (less / "index").exists()
    assert json.loads((less / "engine.json").read_text())["form"] == form
    assert "form" not in json.loads((full / "engine.json").read_text())


@pytest.mark.parametrize("form", FORMS)
def test_a_release_that_is_saved_again_keeps_its_bits(wide: Engine, form: str, tmp_path: Path) -> None:
    first = compress(wide, form).save(tmp_path / "first")
    again = pf.load(first).save(tmp_path / "again")
    third = compress(pf.load(again), form).save(tmp_path / "third")  # its own form is no other form
    for folder in (again, third):
        assert (folder / "model.safetensors").read_bytes() == (first / "model.safetensors").read_bytes()


def test_another_index_comes_along_and_holds_the_rounded_rows(wide: Engine, tmp_path: Path) -> None:
    opened = pf.load(compress(reindex(wide, "lsh", ["rerank=40"]), "int8").save(tmp_path / "lsh"))
    assert (opened.index.name, opened.encoder.form) == ("lsh", "int8")
    assert np.load(tmp_path / "lsh" / "index" / "rows.npy").dtype == np.uint16  # bf16
    plain = reindex(opened, "exact")
    assert plain.encoder.form == "int8"
    assert not (plain.save(tmp_path / "exact") / "index").exists()


def test_what_was_removed_stays_so(wide: Engine, tmp_path: Path) -> None:
    index = build_for(wide.encoder)
    index.remove([3, 7])
    opened = pf.load(compress(Engine(wide.kg, wide.encoder, index), "int8").save(tmp_path / "fewer"))
    assert opened.index.removed.tolist() == [3, 7]


def test_a_release_is_not_released_in_another_form(wide: Engine, tmp_path: Path) -> None:
    small = pf.load(compress(wide, "int8").save(tmp_path / "int8"))
    with pytest.raises(InputError, match="already a release in int8"):
        compress(small, "bf16").save(tmp_path / "bf16")
    with pytest.raises(InputError, match="there is no form 'int4' of a release: choose bf16 or int8"):
        compress(wide, "int4").save(tmp_path / "int4")
    assert {path.name for path in tmp_path.iterdir()} == {"int8"}


def test_a_form_of_another_version_is_refused(engine: Engine, tmp_path: Path) -> None:
    folder = compress(engine, "int8").save(tmp_path / "films")
    header = json.loads((folder / "engine.json").read_text())
    (folder / "engine.json").write_text(json.dumps(header | {"form": "int4"}))
    reseal(folder)
    with pytest.raises(EngineError, match="keeps its weights in the form 'int4', which this program does not read"):
        pf.load(folder)


def test_every_answer_of_a_small_release_is_ranked(engine: Engine, tmp_path: Path) -> None:
    small = pf.load(compress(engine, "int8").save(tmp_path / "films"))
    assert {a.entity for a in small.ask(FELLINI) if a.known} == {a.entity for a in engine.ask(FELLINI) if a.known}
