"""Domains in an engine: they grow with the relations, outlive a release, and an engine may have none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.engines import engine_over, load_with_torch
from torch import Tensor

from pathformer.engine.engine import Engine
from pathformer.fitting.fit import fit
from pathformer.fitting.new_entities import grow_model
from pathformer.fitting.release import compress
from pathformer.fitting.settings import FitSettings, settings_for
from pathformer.fitting.update import update as update_engine
from pathformer.fitting.update_settings import row_rates
from pathformer.kg.grow import grow
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model, build
from pathformer.query.structures import STRUCTURES

NEW = [("fresh", "r0", "e1"), ("e3", "r2", "fresh"), ("fresh", "x", "e2"), ("e4", "x", "e5"), ("later", "x", "fresh")]
SMALL = {"dim": 16, "heads": 2}


def small(*, domains: bool) -> FitSettings:
    """Three updates of a fit, narrow."""
    usual = settings_for(entities=50, triples=460, minutes=1.0).with_steps(3)
    assert usual.links is not None
    links = replace(usual.links, model={**usual.links.model, "rank": 8})
    model = {**usual.model, "dim": 16, "heads": 2, "domains": domains}
    return replace(usual, model=model, links=links, trained_per_structure=50, held_out_per_structure=10)


def table(model: Model) -> Tensor:
    """The domains as they are, (R, d)."""
    weight: Tensor = model.state_dict()["domains.weight"]
    return weight


def test_a_fit_learns_them_and_an_update_keeps_them(graph: KnowledgeGraph, tmp_path: Path) -> None:
    old = fit(graph, out=tmp_path / "engine", settings=small(domains=True), progress=False)
    new = update_engine(tmp_path / "engine", KnowledgeGraph.from_triples(NEW), minutes=0.03, progress=False)
    assert new.about["updates"][0]["steps"] > 0
    before, after = table(old.encoder.model), table(new.encoder.model)
    assert before.abs().amax(dim=1).count_nonzero() == 8  # every relation stands after another in some question
    assert (len(before), len(after)) == (8, 10)
    assert after[:8].equal(before)
    assert not after[8:].any()  # no single link reads them: after an unknown relation every entity will do
    operators = new.encoder.model.state_dict()["operators.weight"]
    assert not operators[8:10].equal(grow_model(old.encoder.model, new.kg).state_dict()["operators.weight"][8:10])
    opened = load_with_torch(tmp_path / "engine")
    assert table(opened.encoder.model).equal(after)
    for structure in STRUCTURES.values():
        assert opened.encoder.model.takes(structure)
    assert "e2" in [a.entity for a in opened.ask("?x : r2(e3, ?y) & x(?y, ?x)", top=0)]


def test_new_rows_are_zero_and_alone_may_move(graph: KnowledgeGraph) -> None:
    grown = grow(graph, KnowledgeGraph.from_triples(NEW))
    model = build("composed", SMALL, entities=50, relations=8)
    torch.nn.init.normal_(model.get_parameter("domains.weight"))
    large = grow_model(model, grown.kg)
    assert table(large).shape == (10, 16)
    assert table(large)[:8].equal(table(model))
    assert not table(large)[8:].any()
    moved = row_rates(large, grown)
    assert moved is not None
    assert moved["domains.weight"].flatten().tolist() == [*[0.0] * 8, 1.0, 1.0]


def test_an_engine_without_any_is_asked_and_updated(graph: KnowledgeGraph, tmp_path: Path) -> None:
    folder = tmp_path / "engine"
    fit(graph, out=folder, settings=small(domains=False), progress=False)
    old = load_with_torch(folder)
    assert len(old.ask("?x : r0(e1, ?y) & r1(?y, ?x)"))
    new = update_engine(folder, KnowledgeGraph.from_triples(NEW), minutes=0.03, progress=False)
    assert new.about["updates"][0]["steps"] > 0
    for one in (old, new, load_with_torch(folder)):
        assert one.encoder.model.config.domains is False
        assert "domains.weight" not in one.encoder.model.state_dict()
    names = {
        name
        for name, tensor in new.encoder.model.state_dict().items()
        if not _same(tensor, old.encoder.model.state_dict()[name])
    }
    assert names == {"entities.weight", "operators.weight"}


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and one.equal(other)


@pytest.fixture(scope="module")
def wide(graph: KnowledgeGraph) -> Engine:
    """Domains of very different sizes, one of them 0 as that of a new relation is."""
    torch.manual_seed(3)
    names = graph.vocabulary
    model = build("composed", {**SMALL, "dim": 64}, entities=names.entity_count, relations=names.relation_count)
    with torch.no_grad():
        model.get_parameter("entities.weight").normal_()
        model.get_parameter("operators.weight").normal_().mul_(0.5)
        model.get_parameter("domains.weight").normal_().mul_(torch.logspace(-1, 1, 8)[:, None])[3] = 0.0
    return _over(graph, model)


def _over(graph: KnowledgeGraph, model: Model) -> Engine:
    return engine_over(graph, model)


def _ten(engine: Engine, asked: Sequence[str]) -> list[set[str]]:
    return [{a.entity for a in answers if not a.known} for answers in engine.ask(list(asked), top=10)]


@pytest.mark.parametrize(("form", "step"), [("bf16", 2.0**-8), ("int8", 1.02 / 254)])
def test_a_release_keeps_them(wide: Engine, form: str, step: float, tmp_path: Path) -> None:
    folder = compress(wide, form).save(tmp_path / form)
    opened = load_with_torch(folder)
    exact, kept = table(wide.encoder.model), table(opened.encoder.model)
    assert not kept.equal(exact)
    largest = exact.abs().amax(dim=1, keepdim=True)
    assert ((kept - exact).abs() <= step * largest).all()  # each row by its own measure
    assert not kept[3].any()
    names = [wide.kg.vocabulary.entity(n) for n in range(40)]
    asked = [f"?x : r{n % 4}({name}, ?y) & r{(n + 2) % 4}(?y, ?x)" for n, name in enumerate(names)]
    bare = grow_model(wide.encoder.model, wide.kg)
    torch.nn.init.zeros_(bare.get_parameter("domains.weight"))
    ten = _ten(wide, asked)
    shared = [
        sum(len(one & two) for one, two in zip(ten, _ten(other, asked), strict=True)) / sum(map(len, ten))
        for other in (opened, compress(wide, form), _over(wide.kg, bare))
    ]
    assert shared[0] == shared[1] > 0.95
    assert shared[2] < 0.85  # without them, answers are others
    assert json.loads((folder / "engine.json").read_text())["form"] == form
